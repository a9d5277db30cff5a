"""Measured states of mechanisms: singular positions, assembly modes after lost states, and joints that do not fit."""

from contextlib import suppress
from dataclasses import replace

from support.robots import mechanisms
from support.robots.driven_mechanisms import closed, driven_robot, followed, positions_of, seen
from support.robots.mechanisms import ACTUATED, MECHANISMS, Mechanism, Z, actuated, box, moving, three_rpr

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robot_dynamics_ros import Coupling
from robot_dynamics_ros.control.joints.position_limits import PositionLimits
from robot_dynamics_ros.errors import DynamicsError, LoopError, SingularError


def test_no_state_is_accepted_after_a_singular_position_until_an_activation():
    """The parallelogram may have become one with crossed sides there."""
    robot = closed('parallelogram')
    angles = 0.8 - 0.004 * np.arange(250)
    for k, angle in enumerate([*angles, *angles[::-1]]):
        if angle > 0.06 and k < 250:
            seen(robot, [angle], 0.002 * k)
        elif angle < 0.02 or k > 250:
            with pytest.raises(SingularError, match=r"^loop 'closing'"):
                seen(robot, [angle], 0.002 * k)
    with pytest.raises(
        SingularError, match=r"^loop 'closing': the mechanism was at a singular position.*activate again"
    ):
        seen(robot, [0.8], 1.0)
    robot.following.begin()
    seen(robot, [0.8], 1.002)


def test_an_arm_that_comes_near_a_singular_position_and_leaves_it_is_accepted_again():
    robot = closed('parallelogram')
    angles = 0.1 - 0.001 * np.arange(65)
    seen(robot, [0.1], 0.0)
    refused = 0
    for k, angle in enumerate([*angles, *angles[::-1]]):
        try:
            seen(robot, [angle], 0.002 * k)
        except SingularError:
            refused += 1
    assert 4 < refused < 40 and robot.following.measured.y[0] == 0.1


def test_after_a_pause_all_other_joints_or_an_activation_say_that_the_assembly_mode_is_the_same():
    robot = closed('four-bar, revolute')
    home, others = robot.following.home, positions_of(robot, robot.following.home)
    seen(robot, home, 0.0)
    with pytest.raises(SingularError, match='can have been at a singular position in 2 s without states'):
        seen(robot, home, 2.0)
    with pytest.raises(SingularError, match='activate again'):
        seen(robot, home, 2.002, **others)
    robot.following.begin()
    seen(robot, home, 2.004)
    seen(robot, home, 4.0, **others)


def test_an_activation_beyond_a_singular_position_is_silent_until_the_next_one():
    robot = closed('parallelogram')
    for k, angle in enumerate(np.arange(-0.5, 0.8, 0.004)):
        with pytest.raises(SingularError):
            seen(robot, [angle], 0.002 * k)
    robot.following.begin()
    seen(robot, [0.8], 2.0)


def test_a_jump_hides_no_singular_position():
    robot = closed('parallelogram')
    there = np.arange(0.8, -0.4, -0.004)
    for k in range(3):
        seen(robot, [0.8 + 1e-5 * k], 0.002 * k)
    for k, angle in enumerate([*there, *there[::-1]]):
        with pytest.raises((LoopError, SingularError)):
            seen(robot, [angle + np.radians(5.0)], 0.006 + 0.002 * k)
    for k in range(5):
        with pytest.raises((LoopError, SingularError), match='activate again'):
            seen(robot, [0.8 + 1e-5 * k], 2.0 + 0.002 * k)


def test_a_stop_before_a_singular_position_is_not_said_to_be_one_beyond():
    """The motion of the joint leads there, but it was never measured there."""
    robot, rate = closed('parallelogram'), 250
    for k in range(rate):
        try:
            seen(robot, [0.6 - 2.0 * min(k / rate, 0.21)], k / rate)
        except (LoopError, SingularError) as error:
            assert 'was at a singular position' not in str(error)
            said = str(error)
    assert said == (
        "loop 'closing': the mechanism can have been at a singular position where the motion of a joint in doubt "
        'leads: see that it is in its assembly mode, then activate again'
    )
    robot.following.begin()
    for k in range(5):
        seen(robot, [0.18 + 1e-5 * k], 2.0 + k / rate)
    assert robot.following.measured.y[0] == pytest.approx(0.18, abs=1e-3)


@pytest.mark.parametrize('pause', [np.inf, 2.0, 0.002])
def test_after_a_clock_that_is_set_back_other_joints_or_an_activation_say_the_assembly_mode(pause):
    """Unless a short pause is known: whenever the clock was set back meanwhile."""
    robot, known = closed('four-bar, revolute'), np.isfinite(pause)
    home, others = robot.following.home, positions_of(robot, robot.following.home)

    def after_the_clock_was_set_back(time: float, arrival: float, **measured) -> str:
        """Return why the third state is refused: after a long pause the next ones have to confirm the first."""
        robot.following.clock_set_back()
        said = ''
        for k in range(3):
            try:
                seen(robot, home + 1e-6 * k, time + 0.002 * k, arrival + 0.002 * k if known else np.nan, **measured)
                said = ''
            except (LoopError, SingularError) as error:
                said = str(error)
        return said

    for k in range(5):
        seen(robot, home + 1e-6 * k, 1.0 + 0.002 * k, 50.0 + 0.002 * k)
    first = 50.008 + pause
    assert after_the_clock_was_set_back(0.6, first, **others) == ''
    assert ('activate again' in after_the_clock_was_set_back(0.4, first + 0.004 + pause)) == (pause > 1.0)
    robot.following.begin()
    for k in range(3):
        seen(robot, home + 1e-6 * k, 0.41 + 0.002 * k, 60.0 + 0.002 * k)
    robot.following.clock_set_back()
    with pytest.raises(LoopError, match=r'has jumped|has to confirm'):
        seen(robot, home + np.radians(5.0), 0.2, 60.006)


def test_a_clock_that_is_set_back_during_a_pause_does_not_shorten_it():
    """By less than the pause: the next stamp is after the last one."""
    robot = closed('four-bar, revolute')
    home = robot.following.home
    for k in range(5):
        seen(robot, home + 1e-6 * k, 0.002 * k, 50.0 + 0.002 * k)
    with pytest.raises(LoopError, match='has to confirm'):
        seen(robot, home, 0.010, 55.008)
    with pytest.raises(SingularError, match=r'can have been at a singular position in 4\.9 s.*activate again'):
        seen(robot, home, 0.012, 55.010)


def test_after_a_clock_that_is_set_back_the_arm_may_be_elsewhere():
    """As where a simulation begins again: then nothing is known of the time, nor of the way."""
    robot = closed('four-bar, revolute')
    home, there = robot.following.home, robot.following.home + 0.3
    for k in range(5):
        seen(robot, home, 1.0 + 0.002 * k)
    robot.following.clock_set_back()
    seen(robot, there, 0.1, **positions_of(robot, there))
    np.testing.assert_array_equal(robot.following.measured.y, there)
    robot.following.clock_set_back()
    with pytest.raises(SingularError, match=r'while the clock was set back.*activate again'):
        seen(robot, home, 0.05)


def test_states_lost_near_a_singular_position_need_an_activation():
    """The rocker of the parallelogram may flip at 0, and the crank is back in less than 0.2 s."""
    for near, lost, passed in ((0.06, 0.2, True), (0.06, 0.004, False), (0.7, 0.1, False)):
        robot = closed('parallelogram')
        angles = np.arange(0.8, near, -0.004)
        for k, angle in enumerate(angles):
            seen(robot, [angle], 0.002 * k)
        stamp = 0.002 * (len(angles) - 1) + lost
        refused = ''
        for k in range(10):
            try:
                seen(robot, [angles[-1] + 0.0001 * k], stamp + 0.002 * k)
            except (LoopError, SingularError) as error:
                refused = str(error)
        assert ('at a singular position' in refused) == passed
        assert (robot.following.measured.y[0] == angles[-1] + 0.0009) == (not passed)


@pytest.mark.parametrize(('rate', 'acceleration'), [(40.0, 10.0), (100.0, 25.0), (250.0, 25.0)])
def test_a_crank_that_turns_back_at_its_dead_point_between_two_states_needs_an_activation(rate, acceleration):
    """There coupler and rocker are stretched, and may flip."""
    sides, dead, start = (0.5, 0.3, 0.2, 0.2), np.arccos(0.6), 0.5
    tip, ground = 0.3 * np.array([np.cos(start), np.sin(start)]), np.array([0.5, 0.0])
    between = ground - tip
    apart = np.hypot(*between)
    pin = tip + 0.5 * between + np.sqrt(0.04 - 0.25 * apart**2) * np.array([-between[1], between[0]]) / apart
    coupler, rocker = (np.arctan2(*(pin - end)[::-1]) for end in (tip, ground))
    linkage = mechanisms.four_bar('point', sides, (start, coupler - start, rocker))
    robot = driven_robot(actuated(linkage, ('crank joint',)))
    turn, stamp, refused = np.sqrt(2.0 * (dead - start) / acceleration), 0.0, ''
    for k in range(round(2.0 * turn * rate)):
        # half a period beside the dead point
        t = (k + 0.5) / rate + turn - round(turn * rate) / rate
        try:
            seen(robot, [dead - 0.5 * acceleration * (t - turn) ** 2], stamp := (k + 1) / rate)
        except (LoopError, SingularError) as error:
            refused = str(error)
    assert 'activate again' in refused
    with pytest.raises(SingularError, match='activate again'):
        seen(robot, [start], stamp + 1.0 / rate)


@pytest.mark.parametrize('name', ['palletizer', 'parallelogram', 'four-bar, weld'])
def test_after_a_pause_all_other_joints_have_to_fit(name):
    """Where other loops put it, or far from a singular position, a joint may be at the same place in both modes."""
    robot = closed(name)
    home = robot.following.home
    others = positions_of(robot, home)
    for k, left_out in enumerate(others):
        robot.following.begin()
        seen(robot, home, 10.0 * k)
        with pytest.raises(SingularError, match='can have been at a singular position in 5 s'):
            seen(robot, home, 10.0 * k + 5.0, **{word: it for word, it in others.items() if word != left_out})
    robot.following.begin()
    seen(robot, home, 1000.0)
    seen(robot, home, 1005.0, **others)


def test_after_a_pause_nothing_tells_where_joints_cannot_be_measured():
    """The joints of the delta's platform turn about a point."""
    robot = closed('delta')
    home = robot.following.home
    seen(robot, home, 0.0)
    with pytest.raises(SingularError, match='activate again'):
        seen(robot, home, 5.0, **positions_of(robot, home))


@pytest.mark.parametrize('released', [True, False])
def test_zeros_with_which_a_driver_begins_release_nothing_that_was_seen_before_them(released):
    robot = closed('parallelogram')
    for k, angle in enumerate([] if released else np.arange(0.3, -0.3, -0.005)):
        with suppress(LoopError, SingularError):
            seen(robot, [angle], 0.005 * k)
    robot.following.begin()
    for k, angle in enumerate([] if released else np.arange(-0.3, 0.3, 0.005)):
        with pytest.raises((LoopError, SingularError)):
            seen(robot, [angle], 1.0 + 0.005 * k)
    for k in range(3):
        with pytest.raises((LoopError, SingularError)):
            seen(robot, [0.0], 2.0 + 0.005 * k)
    said = ''
    for k in range(10):
        try:
            seen(robot, [0.8], 2.1 + 0.005 * k)
            said = ''
        except (LoopError, SingularError) as error:
            said = str(error)
    assert said == '' if released else 'activate again' in said


@pytest.mark.parametrize('lever, told', [(0.7, True), (1.0, False), (1.15, False)])
def test_near_a_singular_position_joints_fit_in_both_assembly_modes(lever, told):
    """The fore tie differs by 0.046 rad at 1.15, less than loop_tolerance; at 1.0 nothing says by how much."""
    robot = closed('palletizer')
    y, count = robot.following.home.copy(), 500
    for k, angle in enumerate(np.linspace(y[2], lever, count)):
        y[2] = angle
        seen(robot, y, 0.01 * k)
    for k in range(20):
        seen(robot, y, 0.01 * (count + k))
    positions = positions_of(robot, y)
    said = ''
    for k in range(3):  # the first one after the pause has to be confirmed
        try:
            seen(robot, y, 0.01 * count + 2.5 + 0.01 * k, **positions)
            said = ''
        except (LoopError, SingularError) as error:
            said = str(error)
    assert said == '' if told else 'activate again' in said


def test_measured_joints_that_fit_are_compared_and_others_refused_with_the_loop():
    robot = closed('palletizer')
    home = robot.following.home
    q = dict(zip(robot.robot.joint_names, robot.positions(home), strict=True))
    seen(robot, home, 0.0, forearm=q['forearm joint'] + 0.04, rod=q['rod joint'] + 2.0 * np.pi)
    loops = ('forearm', 'lever rod'), ('wrist', 'fore ties'), ('triangle', 'upper ties')
    for k, (word, loop) in enumerate(loops):
        wrong = {word: q[f'{word} joint'] - 0.06}
        with pytest.raises(LoopError, match=f"^loop '{loop}': joint '{word} joint' is at"):
            seen(robot, home, 0.006 * k + 0.002, **wrong)
        with pytest.raises(LoopError, match=f"^loop '{loop}': joint '{word} joint' is at.* by the last message"):
            seen(robot, home, 0.006 * k + 0.004)
        seen(robot, home, 0.006 * k + 0.006, **{word: q[f'{word} joint']})


def test_an_arm_in_the_other_assembly_mode_is_refused_where_another_joint_is_measured():
    robot = closed('four-bar, revolute')
    y = robot.following.home
    tip = mechanisms.FOUR_BAR[1] * np.array([np.cos(y[0]), np.sin(y[0])])
    to_hinge = np.arctan2(-tip[1], mechanisms.FOUR_BAR[0] - tip[0])
    rocker = robot.positions(y)[2]
    mirrored = 2.0 * to_hinge - rocker  # about the line between both ends
    seen(robot, y, 0.0, rocker=rocker)
    with pytest.raises(LoopError, match=r"^loop 'closing': joint 'rocker joint'"):
        seen(robot, y, 0.002, rocker=mirrored)


@pytest.mark.parametrize(('y', 'stamp'), [(0.1, 0.02), (0.0, 0.3)])
def test_a_joint_that_is_wrong_in_a_state_that_is_refused_is_compared_with_the_next_one(y, stamp):
    """An encoder that jumps for one state, or the first state after lost ones."""
    robot = closed('palletizer')
    home = robot.following.home
    forearm = positions_of(robot, home)['forearm']
    for k in range(10):
        seen(robot, home + 1e-5 * (k % 2), 0.002 * k)
    with pytest.raises(LoopError, match=r'motion leads|jumped'):
        seen(robot, home + y, stamp, forearm=forearm + 1.0)
    for k in range(1, 5):
        with pytest.raises(LoopError, match=r"'forearm joint' is at .* by the last message that has it"):
            seen(robot, home + 1e-5 * (k % 2), stamp + 0.002 * k)
    seen(robot, home, stamp + 0.01, forearm=forearm)


def test_measured_joints_beyond_their_limits_and_infinite_ones_are_refused():
    robot = closed('palletizer')
    limits = PositionLimits(robot.robot, 0.1, robot.followers)
    wrist = robot.followers.index('wrist joint')
    limits.lower[wrist], limits.upper[wrist] = -3.0, -1.0
    home, nothing = robot.following.home, np.full(len(robot.followers), np.nan)
    robot.following.measure(home, nothing, 0, limits)
    nothing[wrist] = robot.positions(home)[robot.robot.joint_names.index('wrist joint')]
    without = np.full(len(robot.followers), np.nan)
    with pytest.raises(DynamicsError, match=r"^loop 'fore ties': joint 'wrist joint': position .* is beyond"):
        robot.following.measure(home, nothing, 1, limits)
    # until it is measured again, and fits
    with pytest.raises(DynamicsError, match=r"'wrist joint': position .* is beyond .* by the last message that has it"):
        robot.following.measure(home, without, 2, limits)
    limits.lower[wrist], limits.upper[wrist] = -3.0, 3.0
    robot.following.measure(home, nothing, 3, limits)
    limits.upper[wrist] = -1.0
    robot.following.report(nothing, 4)
    with pytest.raises(DynamicsError, match=r"'wrist joint': position .* is beyond .* by the last message that has it"):
        robot.following.measure(home, without, 5, limits)
    for wrong in (np.inf, -np.inf, 1e300):
        with pytest.raises(LoopError, match=r"joint 'wrist joint' is at"):
            seen(robot, home, 0.002, wrist=wrong)


def test_another_description_goes_on_from_where_the_arm_was():
    before, after = closed('palletizer'), closed('palletizer')
    y = before.following.home + np.array([0.0, 0.3, -0.2, 2.0])
    seen(before, before.following.home, 0.0)
    for share in np.linspace(0.01, 1.0, 100):
        seen(before, before.following.home + share * (y - before.following.home), share)
    after.following.continue_from(before.following)
    np.testing.assert_allclose(after.following.measured.q, before.following.measured.q, atol=1e-9)
    with pytest.raises(LoopError, match='has jumped'):
        seen(after, y + 0.1, 1.002)


@pytest.mark.parametrize('period', [0.004, 0.016])
@pytest.mark.parametrize('target', [0.28, 0.1, 0.07])
def test_another_description_with_one_more_passive_joint_goes_on_near_a_singular_position(target, period):
    """A gripper with a finger: other positions of all joints, and another G."""
    name = 'parallelogram'
    mechanism, before = MECHANISMS[name], closed(name)
    body = box(0.3, (0.02, 0.02, 0.02))
    finger = moving('finger', mechanism.joints[-1].link, (0.0, 0.0, 0.1), body, kind='prismatic')
    more = replace(
        mechanism,
        joints=(*mechanism.joints, finger),
        loops=(*mechanism.loops, Coupling('finger joint', None, (0.01,))),
        near=np.array([*mechanism.q, 0.01]),
    )
    after, y, time = driven_robot(actuated(more, ACTUATED[name])), before.following.home.copy(), 0.0
    while before.following.measured.distance > target:
        y, time = y - 0.002, time + period
        seen(before, y, time)
    after.following.continue_from(before.following)
    for k in range(1, 4):
        followed(after, y + 1e-5 * k, time + k * period)


def test_another_description_that_is_closed_near_the_other_assembly_mode_is_another_mechanism():
    """A crank at 0.8 is not within its reach: the flat position is in between."""
    before, linkage = closed('parallelogram'), MECHANISMS['parallelogram']
    for k in range(10):
        seen(before, [0.8 + 1e-5 * k], 0.004 * k)
    near = {'crank joint': -0.8, 'coupler joint': 2.07, 'rocker joint': 2.07}
    after = driven_robot(linkage.open.with_loops(linkage.loops, actuated=('crank joint',), near=near))
    after.following.continue_from(before.following)
    for k in range(10, 13):
        with pytest.raises(SingularError, match='activate again' if k > 10 else 'singular'):
            seen(after, [0.8 + 1e-5 * k], 0.004 * k)


def test_another_description_does_not_lead_a_mechanism_that_left_its_assembly_mode_back_to_it():
    """Another straight line than that from the stated position leads to this place, around a cusp."""
    mechanism, rods = three_rpr((-1.155839, -1.104850), -0.895424), [f'rod {k} joint' for k in range(3)]
    before = driven_robot(actuated(mechanism, rods).with_gravity([0.0, -9.81, 0.0]))
    home, via, y = before.following.home, [0.97728689, 3.33056320, 2.05019551], [0.72146586, 2.49791222, 2.29049013]
    time = 0.0
    for begin, end in ((home, via), (via, y)):
        for share in np.linspace(0.0, 1.0, 800):
            followed(before, begin + share * (np.array(end) - begin), time)
            time += 0.004
    expected, other = before.gravity_torque(y), driven_robot(before.mechanism).gravity_torque(y)
    assert np.abs(other - expected).max() > 100.0, 'the straight line leads to another position'

    def joints(mechanism, *more):
        return replace(mechanism, joints=(*mechanism.joints, *more), near=np.append(mechanism.q, np.zeros(len(more))))

    part = box(0.001, (0.01, 0.01, 0.01))
    tool, finger = (moving(it, 'platform', (0.0, 0.0, 0.0), part, Z) for it in ('tool', 'finger'))
    gripper = replace(
        joints(mechanism, finger), loops=(*mechanism.loops, Coupling('finger joint', 'leg 0 joint', (0.0, 1.0)))
    )
    renamed = tuple(replace(it, name='turntable') if it.link == 'platform' else it for it in mechanism.joints)
    others = (
        (mechanism, rods, True, True),
        (gripper, rods, False, True),
        (joints(replace(mechanism, mobility=4), tool), [*rods, 'tool joint'], False, True),
        (replace(mechanism, joints=renamed, near=mechanism.q), rods, False, False),
    )
    for another, motors, goes_on, begins_there in others:
        after, position = driven_robot(actuated(another, motors).with_gravity(before.gravity)), [*y, 0.0][: len(motors)]
        after.following.continue_from(before.following)
        if len(motors) > 3:
            after.following.begin()  # of the description
        if not goes_on:
            with pytest.raises(SingularError, match=r'in doubt where the mechanism is: .*activate again'):
                seen(after, position, time)
            after.following.begin()
        if begins_there:
            followed(after, position, time + 0.004)
            np.testing.assert_allclose(after.gravity_torque(position)[:3], expected, atol=0.05)


def test_another_description_begins_at_the_last_state_also_where_that_was_refused():
    """States are refused since a joint was reported off, while a platform comes to another solution."""
    mechanism, rods = three_rpr((-1.155839, -1.104850), -0.895424), [f'rod {k} joint' for k in range(3)]
    robot = actuated(mechanism, rods).with_gravity([0.0, -9.81, 0.0])
    before, free = driven_robot(robot), driven_robot(robot)
    home, time = before.following.home, 0.0
    via, y = [0.97728689, 3.33056320, 2.05019551], [0.72146586, 2.49791222, 2.29049013]
    seen(before, home, time)
    for begin, end in ((home, via), (via, y)):
        for share in np.linspace(0.0, 1.0, 800):
            time += 0.004
            place = begin + share * (np.array(end) - begin)
            followed(free, place, time)
            with pytest.raises(LoopError, match="joint 'leg 1 joint'"):
                seen(before, place, time, **({'leg_1': 9.0} if time == 0.004 else {}))
    after = driven_robot(robot)
    after.following.continue_from(before.following)
    place = {'leg_1': positions_of(free, y)['leg_1']}
    seen(after, y, time + 0.004, **place)
    np.testing.assert_allclose(after.gravity_torque(y), free.gravity_torque(y), rtol=1e-9)


def test_a_joint_that_was_off_is_not_forgotten_with_its_name():
    bars, before = MECHANISMS['parallelogram'], closed('parallelogram')
    home = before.following.home
    seen(before, home, 0.0)
    with pytest.raises(LoopError, match="joint 'rocker joint'"):
        seen(before, home, 0.004, rocker=positions_of(before, home)['rocker'] + 0.4)
    renamed = tuple(replace(it, name='lever') if it.link == 'rocker' else it for it in bars.joints)
    after = driven_robot(actuated(replace(bars, joints=renamed, near=bars.q), ('crank joint',)))
    after.following.continue_from(before.following)
    with pytest.raises(SingularError, match='activate again'):
        seen(after, home, 0.008)


def at_zero(mechanism: Mechanism) -> Mechanism:
    """Return a mechanism of revolute joints whose loops are closed where all are at 0."""
    turns = (
        Rotation.from_rotvec(angle * it.axis).as_matrix()
        for it, angle in zip(mechanism.joints, mechanism.q, strict=True)
    )
    joints = tuple(replace(it, rotation=it.rotation @ turn) for it, turn in zip(mechanism.joints, turns, strict=True))
    return replace(mechanism, joints=joints, near=np.zeros(len(joints)))


@pytest.mark.parametrize('crank', [-2.4, -1.3, -1.01, -1.0, -0.6, 0.001, 0.8, 2.6])
def test_another_description_whose_axes_point_the_other_way_leads_to_no_other_assembly_mode(crank):
    """As exporters choose them; zero is where the loops are closed, so nothing is stated about it."""
    linkage = at_zero(MECHANISMS['four-bar, revolute'])
    before, y, torques = driven_robot(actuated(linkage, ('crank joint',))), [crank], []
    for k, share in enumerate(np.linspace(0.0, 1.0, 400)):
        followed(before, [share * crank], 0.01 * k)
    for names in (('coupler', 'rocker'), ('coupler',), ('rocker',)):
        joints = tuple(replace(it, axis=-it.axis) if it.link in names else it for it in linkage.joints)
        after = driven_robot(actuated(replace(linkage, joints=joints), ('crank joint',)))
        after.following.continue_from(before.following)
        try:
            followed(after, y, 4.0)
        except SingularError as error:
            assert 'activate again' in str(error)
            after.following.begin()
            followed(after, y, 4.01)
        torques.append(after.gravity_torque(y)[0])
    np.testing.assert_allclose(torques, before.gravity_torque(y)[0], rtol=1e-9)


def test_a_description_with_other_actuated_joints_needs_an_activation():
    """Nobody knows where the arm was between the states of both, and the rocker may be at its dead point."""
    bars = MECHANISMS['four-bar, revolute']
    for states in (0, 3):
        before, after = (driven_robot(actuated(bars, (f'{it} joint',))) for it in ('crank', 'rocker'))
        for k in range(states):
            followed(before, before.following.home, 0.01 * k)
        after.following.continue_from(before.following)
        after.following.begin()  # of the description
        if states:
            with pytest.raises(SingularError, match='activate again'):
                seen(after, after.following.home, 0.1)
            after.following.begin()
        followed(after, after.following.home, 0.2)


def test_descriptions_that_come_before_a_state_release_nothing():
    robot = closed('parallelogram')
    for k, angle in enumerate(np.arange(0.3, -0.05, -0.004)):
        with suppress(LoopError, SingularError):
            seen(robot, [angle], 0.002 * k)
    for _ in range(2):
        after = closed('parallelogram')
        after.following.continue_from(robot.following)
        after.following.begin()  # of the description
        robot = after
    with pytest.raises(SingularError, match='activate again'):
        seen(robot, [0.3], 0.3)
    robot.following.begin()
    seen(robot, [0.3], 0.302)


def test_zeros_and_a_third_description_release_nothing():
    """The second description has one more motor, whose driver begins with zeros; the third one is the same again."""
    name, mechanism = 'palletizer', MECHANISMS['palletizer']
    tool = moving('extra', mechanism.joints[-1].link, (0.0, 0.0, 0.1), box(0.3, (0.02, 0.02, 0.02)))
    more = replace(mechanism, joints=(*mechanism.joints, tool), near=np.array([*mechanism.q, 0.0]), mobility=5)
    first, (second, third) = (
        closed(name), (driven_robot(actuated(more, (*ACTUATED[name], 'extra joint'))) for _ in range(2))
    )  # fmt: skip
    home, y, time = first.following.home, first.following.home.copy(), 0.0
    for _ in range(400):
        y[2], time = y[2] + 0.005, time + 0.01
        with suppress(SingularError):
            seen(first, y, time)
    second.following.continue_from(first.following)
    second.following.begin()  # of the description
    with pytest.raises(SingularError, match='activate again'):
        seen(second, np.zeros(5), time + 0.5)
    third.following.continue_from(second.following)
    for k in range(3):
        with pytest.raises(SingularError, match='activate again'):
            seen(third, [*home, 0.0], time + 0.6 + 0.01 * k)


ENCODER = 5e-5
"""rad, m: noise of an encoder."""
SWINGS = {  # of the actuated joints, rad
    'palletizer': (1.5, 0.7, 0.5, 2.0),
    'four-bar, revolute': (20.0,),
    'delta': (0.4, 0.4, 0.4),
    'delta of parallelograms': (0.4, 0.4, 0.4),
    'Stewart platform': (0.03,) * 6,
}


def check_motion(name: str, duration: float) -> None:
    """Follow actuated joints alone at 500 Hz, with noise of encoders: never a step, and loops stay closed."""
    robot, rng = closed(name), np.random.default_rng(5)
    mechanism, home, swing = robot.following, robot.following.home, np.array(SWINGS[name])
    nothing, before, torque = np.full(len(robot.followers), np.nan), None, None
    scale = np.abs(robot.gravity_torque(home)).max() + 1.0
    speed = np.sqrt(np.arange(2.0, 2.0 + len(home))) / max(1.0, swing.max())
    for k in range(round(500 * duration)):
        y = home + swing * np.sin(0.002 * k * speed) + rng.uniform(-ENCODER, ENCODER, len(home))
        mechanism.measure(y, nothing, 2_000_000 * k)
        q, tau = mechanism.measured.q, robot.gravity_torque(y)
        assert np.abs(mechanism.mechanism.loop_errors(q)).max() < 1e-9, k
        if before is not None:
            # the fastest joint moves 0.006 rad between two states, and passive ones by G
            assert np.abs(q - before).max() < 0.05, k
            assert np.abs(tau - torque).max() < 0.1 * (scale + np.abs(torque).max()), k
        before, torque = q, tau
    back = mechanism.motion(home).q
    for link in robot.link_names[1:]:
        there, before = (robot.robot.link_pose(it, link) for it in (back, mechanism.at_home.q))
        np.testing.assert_allclose(there, before, atol=1e-9, err_msg=f'another assembly mode: {link}')


@pytest.mark.compiled  # long without
@pytest.mark.parametrize('name', SWINGS)
def test_noise_of_encoders_at_500_hz_is_followed(name):
    check_motion(name, 2.0)


@pytest.mark.slow
@pytest.mark.parametrize('name', SWINGS)
def test_ten_minutes_with_noise_of_encoders_are_followed(name):
    check_motion(name, 600.0)


@pytest.mark.compiled  # long without
@pytest.mark.parametrize('rate', [60, 250, 1000])
@pytest.mark.parametrize('off', [0.72, 0.75])
def test_an_arm_that_stands_near_a_singular_position_goes_on(rate, off):
    """However far joints that are in no loop can have gone since their position was read last."""
    robot, along = closed('palletizer'), np.array([0.0, 1.0, 1.0, 0.0])
    for _ in range(2):
        robot.following.begin()
        for k in range(100):
            followed(robot, robot.following.home + off * along, 1.0 + k / rate)
