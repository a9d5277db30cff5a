"""What the diagnostics say of limited torques, and of an arm that moves away, from what the hot path counts."""

from types import SimpleNamespace

import numpy as np
import pytest

from robot_dynamics_ros.control.guards.arm_watch import LIMITED, NEAR, ArmWatch
from robot_dynamics_ros.control.guards.position_error import PositionError

NAMES = ('shoulder', 'elbow')
TURN = 2.0 * np.pi
RATE = 100


def test_the_largest_distance_since_the_last_question_is_told():
    error = PositionError(np.array([0.0, TURN]))
    assert error.largest() is None
    for q in ([0.1, 0.0], [-0.3, 0.2], [0.0, TURN - 0.1]):
        error.add(np.array([0.0, 0.1]), np.array(q))
    np.testing.assert_allclose(error.largest(), [0.3, 0.2], atol=1e-15)
    assert error.largest() is None
    error.add(np.array([0.0, 0.0]), np.array([0.05, 0.0]))
    np.testing.assert_allclose(error.largest(), [0.05, 0.0], atol=1e-15)
    np.testing.assert_allclose(error.between(np.array([1.0, 6.2]), np.array([0.5, 0.1])), [0.5, TURN - 6.1])


class Watched:
    """A watch, and the seconds that it judges: ``second`` returns warnings and errors."""

    def __init__(self, tolerance=0.5):
        self.limiter = SimpleNamespace(limited=np.zeros((2, 2), np.int64))
        self.error, self.position = PositionError(np.zeros(2)), np.zeros(2)
        self.watch = ArmWatch(NAMES, self.limiter, self.error, self.position, tolerance)
        self.now = self.count = 0

    def second(self, effort=0.0, rate=0.0, error=None, moved=0.0, torques=RATE):
        """Send torques, shares of which are limited at the elbow, which has an error or moves."""
        self.limiter.limited[:, 1] += round(effort * torques), round(rate * torques)
        self.position[1] += moved
        if error is not None:
            self.error.add(np.zeros(2), np.array([0.0, error]))
        self.now, self.count = self.now + 1, self.count + torques
        self.watch.look(float(self.now), self.count)
        return self.watch.warnings, self.watch.errors


def test_an_arm_under_control_is_no_warning():
    watched = Watched()
    for error in (0.0, 0.3, 0.49, 0.2, None):
        assert watched.second(error=error, moved=1.0) == ([], [])
    assert watched.second(effort=0.9 * LIMITED) == ([], [])
    assert watched.second(torques=0) == ([], [])


@pytest.mark.parametrize(
    ('limits', 'text'), [({'effort': 1.0}, 'beyond the effort limit'), ({'rate': 0.2}, 'faster than the rate limit')]
)
def test_a_limited_torque_is_a_warning_of_that_second(limits, text):
    watched = Watched()
    warnings, errors = watched.second(**limits, error=0.01)
    share = 100.0 * next(iter(limits.values()))
    assert warnings == [f"torque of joint 'elbow' {text} in {share:.0f} % of the last 1.0 s"] and errors == []
    assert watched.second(error=0.01) == ([], [])


def test_an_arm_that_is_far_from_where_it_is_held_is_an_error_whatever_the_torque():
    watched = Watched()
    for _ in range(3):
        warnings, (error,) = watched.second(error=0.51)
        assert error == (
            "joint 'elbow' was 0.510 rad or m from where it is held or led, more than start_tolerance (0.5)"
        )
        assert warnings == []
    assert Watched(np.inf).second(error=9.0) == ([], [])


def test_an_arm_that_moves_away_under_a_limited_torque_is_an_error_while_it_does():
    watched = Watched()
    found = [bool(watched.second(effort=1.0, error=error)[1]) for error in (0.02, 0.05, 0.15, 0.3, 0.3, 0.25, 0.4)]
    assert found == [False, False, True, True, False, False, True]
    assert 'moves away while its torque is limited: 0.400 rad or m, 0.250 before' in watched.watch.errors[0]


def test_so_is_one_that_nothing_leads():
    """gravity_compensation_node: from where the limit began to act."""
    watched = Watched()
    assert watched.second(moved=5.0)[1] == []  # guided by hand
    found = [bool(watched.second(effort=1.0, moved=moved)[1]) for moved in (0.0, 0.3, 0.3, 0.0)]
    assert found == [False, True, True, False]
    assert watched.second(moved=1.0) == ([], [])
    assert watched.second(effort=1.0, moved=0.9 * NEAR)[1] == []


def test_less_than_half_a_second_is_not_judged_and_a_new_beginning_forgets():
    watched = Watched()
    watched.second(effort=1.0, error=0.6)
    watched.watch.look(watched.now + 0.4, watched.count)
    assert watched.watch.warnings and watched.watch.errors
    watched.watch.reset(float(watched.now), watched.count)
    assert (watched.watch.warnings, watched.watch.errors) == ([], [])
    assert watched.second(error=0.1) == ([], [])
