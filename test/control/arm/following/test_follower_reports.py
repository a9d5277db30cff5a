"""Positions of joints without a motor in messages of their own: what of the motion of a mechanism they may be."""

from contextlib import nullcontext

from support.robots.driven_mechanisms import closed

import numpy as np
import pytest

from robot_dynamics_ros.control.arm.following.follower_reports import WINDOW_NS, FollowerReports
from robot_dynamics_ros.errors import LoopError

MS = 1_000_000
START = 1000 * MS
FOREARM = 'forearm joint'


class Arm:
    """A palletizer whose lever moves, at 250 Hz."""

    def __init__(self, speed: float = 0.0):
        self.robot = closed('palletizer')
        self.following, self.home, self.speed = self.robot.following, self.robot.neutral(), speed
        self.place = self.following.followers.index(FOREARM)
        self.coordinate = self.robot.robot.joint_names.index(FOREARM)
        self.stamp, self.arrival = START, 0.0

    def y(self, stamp: int) -> np.ndarray:
        return self.home + self.speed * 1e-9 * (stamp - START) * np.array([0.0, 0.0, 1.0, 0.0])

    def forearm(self, stamp: int) -> float:
        return float(self.robot.positions(self.y(stamp))[self.coordinate])

    def states(self, duration: int) -> int:
        """See states; return how many were refused with the name of the forearm."""
        refused, nothing = 0, np.full(len(self.following.followers), np.nan)
        for _ in range(duration // (4 * MS)):
            self.stamp, self.arrival = self.stamp + 4 * MS, self.arrival + 0.004
            try:
                self.following.measure(self.y(self.stamp), nothing, self.stamp, arrival=self.arrival)
            except LoopError as error:
                # the first state after a pause has to be confirmed
                refused += f'joint {FOREARM!r} is at' in str(error) and 'by the last message that has it' in str(error)
        return refused

    def report(self, position: float, stamp: int) -> None:
        positions = np.full(len(self.following.followers), np.nan)
        positions[self.place] = position
        self.following.report(positions, stamp)


@pytest.mark.parametrize('late', [-20 * MS, 0, 30 * MS, 90 * MS])
def test_a_report_within_the_window_fits_where_the_joint_was(late):
    """The forearm moves by 0.09 rad in the time by which stamps may be apart, and loop_tolerance is 0.05."""
    arm = Arm(1.0)
    assert arm.states(300 * MS) == 0
    for _ in range(10):
        arm.report(arm.forearm(arm.stamp - late), arm.stamp)
        assert arm.states(44 * MS) == 0
    assert abs(arm.forearm(arm.stamp) - arm.forearm(arm.stamp - 90 * MS)) > 0.05


@pytest.mark.parametrize('error', [-0.06, 0.06, 1.0])
def test_one_that_does_not_is_refused_until_another_fits(error):
    arm = Arm()
    arm.report(arm.forearm(START), arm.stamp)
    assert arm.states(100 * MS) == 0
    arm.report(arm.forearm(START) + error, arm.stamp)
    assert arm.states(400 * MS) == 100
    arm.report(arm.forearm(START), arm.stamp)
    assert arm.states(100 * MS) == 0


def test_one_that_is_newer_than_the_states_waits_for_them():
    arm = Arm()
    arm.report(arm.forearm(START) + 1.0, arm.stamp + 40 * MS)
    assert arm.states(36 * MS) == 0 and arm.states(40 * MS) == 10


@pytest.mark.parametrize('ahead, times', [(1, 1), (3, 2), (40, 1), (900, 1)])
def test_wrong_ones_that_are_always_newer_than_the_states_are_compared(ahead, times):
    """As where states are late by a period of the reports: each of them comes before the last one was compared."""
    arm, refused = Arm(), 0
    for _ in range(500):
        for _ in range(times):
            arm.report(arm.forearm(START) + 0.2, arm.stamp + ahead * MS)
        refused += arm.states(4 * MS)
    assert refused >= 500 - ahead // 4 - 2


def test_one_that_is_too_old_is_a_warning():
    arm = Arm()
    arm.report(arm.forearm(START), arm.stamp)
    assert arm.states(500 * MS) == 0 and not arm.following.warnings()
    arm.report(arm.forearm(START) + 1.0, arm.stamp - 3 * WINDOW_NS)
    assert arm.states(100 * MS) == 0
    assert arm.following.warnings()[0].startswith('positions of forearm joint come more than 0.1 s after their stamps')


def test_states_before_a_pause_do_not_count():
    arm = Arm(1.0)
    arm.report(arm.forearm(START), arm.stamp)
    arm.states(200 * MS)
    before = arm.forearm(arm.stamp)
    arm.stamp += 250 * MS
    arm.states(4 * MS)
    arm.report(before, arm.stamp)
    assert abs(arm.forearm(arm.stamp) - before) > 0.1 and arm.states(40 * MS) == 10


def test_an_activation_begins_anew_and_another_description_does_not():
    arm, other = Arm(), Arm()
    arm.report(arm.forearm(START) + 1.0, arm.stamp)
    assert arm.states(40 * MS) == 10
    other.following.continue_from(arm.following)
    other.stamp = arm.stamp
    assert other.states(40 * MS) == 10
    arm.following.begin()
    assert arm.states(40 * MS) == 0


def test_another_description_goes_on_for_its_joints_and_keeps_the_others_for_the_next():
    followers, nothing = ('forearm', 'wrist', 'triangle'), np.full(3, np.nan)
    of = {n: FollowerReports(followers[:n], np.arange(n), np.zeros(n), 0.05, n) for n in (3, 1, 2)}
    of[3].add(np.array([np.nan, 0.3, np.nan]), 5)
    within = np.full(3, -np.inf), np.full(3, np.inf)
    assert of[3].off(np.zeros(3), 10, nothing, *within) == 1
    of[1].continue_from(of[3])
    assert of[1].off(np.zeros(1), 20, nothing[:1], *(it[:1] for it in within)) == -1 and of[1].all_off == {'wrist': 0.3}
    of[2].continue_from(of[1])
    within = within[0][:2], within[1][:2]
    assert of[2].off(np.zeros(2), 30, nothing[:2], *within) == 1
    of[2].add(np.zeros(2), 35)
    assert of[2].off(np.zeros(2), 40, nothing[:2], *within) == -1 and of[2].all_off == {}


def test_a_joint_that_was_off_stays_so_when_the_clock_is_set_back():
    arm = Arm()
    assert arm.states(40 * MS) == 0
    arm.report(arm.forearm(START) + 1.0, arm.stamp)
    assert arm.states(40 * MS) == 10
    arm.stamp -= 500 * MS
    arm.following.clock_set_back()
    assert arm.states(40 * MS) == 10
    arm.report(arm.forearm(START), arm.stamp)
    assert arm.states(40 * MS) == 0


def test_one_whose_stamp_is_ahead_does_not_hold_up_those_after_it():
    arm = Arm()
    assert arm.states(40 * MS) == 0
    arm.report(arm.forearm(START), arm.stamp + 900 * MS)
    arm.report(arm.forearm(START) + 1.0, arm.stamp)
    assert arm.states(40 * MS) == 10


def test_a_joint_that_turns_is_compared_modulo_a_turn():
    robot = closed('four-bar, revolute')
    following, home = robot.following, robot.neutral()
    for k, (error, fits) in enumerate(((2.0 * np.pi, True), (-4.0 * np.pi, True), (np.pi, False))):
        q = following.motion(home).q
        following.report(np.array([q[robot.robot.joint_names.index(it)] + error for it in following.followers]), k + 1)
        with nullcontext() if fits else pytest.raises(LoopError, match='by the last message that has it'):
            following.measure(home, np.full(len(following.followers), np.nan), 10 + k)


def test_a_position_of_which_no_angle_is_left_does_not_fit():
    arm = Arm()
    assert arm.states(40 * MS) == 0
    arm.report(1e300, arm.stamp)
    assert arm.states(40 * MS) == 10


def test_a_joint_that_was_wrong_once_is_named_where_right_reports_come_too_late():
    arm = Arm()
    assert arm.states(300 * MS) == 0
    arm.report(arm.forearm(START) + 1.0, arm.stamp)
    assert arm.states(40 * MS) == 10 and arm.following.warnings() == []
    arm.report(arm.forearm(START), arm.stamp - 500 * MS)
    assert arm.states(40 * MS) == 10
    (said,) = arm.following.warnings()
    assert said.startswith(f'positions of {FOREARM} come more than 0.1 s after their stamps')
    arm.report(arm.forearm(START), arm.stamp)
    assert arm.states(40 * MS) == 0 and arm.following.warnings() == []
