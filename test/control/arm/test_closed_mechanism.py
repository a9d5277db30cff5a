"""Mechanisms with closed loops in the coordinates of their actuated joints: torques, ways, and what is refused."""

import threading
from contextlib import suppress
from dataclasses import replace
from functools import cache

from support.robots import mechanisms
from support.robots.mechanisms import ACTUATED, ARMS, MECHANISMS, PALLETIZER_ACTUATED, actuated, start_of

import numpy as np
import pytest

from robot_dynamics_ros import Coupling, Payload
from robot_dynamics_ros.control.arm.closed_mechanism import ClosedMechanism
from robot_dynamics_ros.control.arm.described_arm import same_robot
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.arm.reachable_positions import within_reach
from robot_dynamics_ros.control.arm.static_torque import largest_static_torque
from robot_dynamics_ros.control.joints.position_limits import PositionLimits
from robot_dynamics_ros.errors import DynamicsError, LoopError, ModelError, SingularError

NAMES = pytest.mark.parametrize('name', ACTUATED)
OF_ONE_AXIS = [name for name in ACTUATED if 'Stewart' not in name and name != 'delta']
"""Mechanisms whose joints have one coordinate each."""
SECOND = 1_000_000_000


def closed(name: str) -> DrivenRobot:
    robot = actuated(MECHANISMS[name], ACTUATED[name])
    return DrivenRobot(robot.with_loops([]), ClosedMechanism(robot, robot.loops.actuated, 0.05))


@cache
def arm(name: str) -> DrivenRobot:
    return closed(name)


def states(name: str, count: int = 5):
    """Yield y, yd and ydd near the start."""
    rng, home = np.random.default_rng(3), arm(name).following.home
    for _ in range(count):
        yield home + rng.uniform(-0.05, 0.05, len(home)), *rng.uniform(-1.0, 1.0, (2, len(home)))


def whole(name: str):
    """Return the robot with its loops."""
    return arm(name).following.mechanism


@NAMES
def test_joints_are_the_actuated_ones(name):
    assert set(arm(name).joint_names) == set(ACTUATED[name])
    assert arm(name).nv == arm(name).nq == len(ACTUATED[name]) == MECHANISMS[name].mobility


@NAMES
def test_loops_are_closed_and_stay_closed_in_the_motion(name):
    robot = whole(name)
    for y, yd, ydd in states(name):
        motion = arm(name).following.motion(y, yd, ydd)
        assert np.abs(robot.loop_errors(motion.q)).max() < 1e-12
        assert np.abs(robot.loop_rates(motion.q, motion.qd)).max() < 1e-12
        assert np.abs(robot.loop_accelerations(motion.q, motion.qd, motion.qdd)).max() < 1e-11
        places = arm(name).following.places
        np.testing.assert_allclose(motion.qd[places], yd, atol=1e-12)
        np.testing.assert_allclose(motion.qdd[places], ydd, atol=1e-11)


@NAMES
def test_torques_are_the_actuated_ones_of_the_motion(name):
    """The outside calculation: multipliers and a rank decision of their own, see ``robot.actuated_torques``."""
    for y, yd, ydd in states(name):
        motion = arm(name).following.motion(y, yd, ydd)
        expected = whole(name).inverse_dynamics(*motion[:3], actuated=list(arm(name).joint_names))
        expected = expected[arm(name).following.places]
        found = arm(name).inverse_dynamics(y, yd, ydd)
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())
        terms = arm(name).bias_torque(y, yd) + arm(name).inertia_torque(y, ydd)
        np.testing.assert_allclose(terms, found, rtol=1e-10, atol=1e-10 * np.abs(expected).max())
        terms = arm(name).gravity_torque(y) + arm(name).coriolis_torque(y, yd)
        np.testing.assert_allclose(terms, arm(name).bias_torque(y, yd), rtol=1e-10, atol=1e-9)


def off_the_gradient(name: str, count: int) -> float:
    """Return how far gravity torques are from the gradient of the potential energy, relative to its largest entry."""
    robot, h, worst = whole(name), 1e-4, 0.0
    for y, _, _ in states(name, count):
        ahead, behind, far, farther = (
            np.array([robot.potential_energy(arm(name).positions(y + k * h * e)) for e in np.eye(len(y))])
            for k in (1.0, -1.0, 2.0, -2.0)
        )
        gradient = (8.0 * (ahead - behind) - (far - farther)) / (12.0 * h)
        worst = max(worst, np.abs(arm(name).gravity_torque(y) - gradient).max() / np.abs(gradient).max())
    return worst


@NAMES
def test_gravity_torques_are_the_gradient_of_the_potential_energy(name):
    assert off_the_gradient(name, 2) < 1e-8


@pytest.mark.slow
@NAMES
def test_gravity_torques_of_many_states_are_the_gradient_of_the_potential_energy(name):
    """The worst seen: 9e-10, of the Stewart platform, by the truncation of the differences; 9e-11 of the others."""
    assert off_the_gradient(name, 1000) < 1e-8


@NAMES
def test_the_kinetic_energy_is_that_of_all_links(name):
    for y, yd, _ in states(name, 2):
        motion = arm(name).following.motion(y, yd)
        energy = 0.5 * yd @ arm(name).mass_matrix(y) @ yd
        assert energy == pytest.approx(float(whole(name).kinetic_energy(motion.q, motion.qd)), rel=1e-11)


@NAMES
def test_accelerations_invert_torques(name):
    for y, yd, ydd in states(name, 2):
        tau = arm(name).inverse_dynamics(y, yd, ydd)
        np.testing.assert_allclose(arm(name).forward_dynamics(y, yd, tau), ydd, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize('name', OF_ONE_AXIS)
def test_the_coriolis_matrix_has_the_coriolis_torque_and_the_derivative_of_the_mass_matrix(name):
    h = 1e-5
    for y, yd, _ in states(name, 2):
        C = arm(name).coriolis_matrix(y, yd)
        np.testing.assert_allclose(C @ yd, arm(name).coriolis_torque(y, yd), rtol=1e-9, atol=1e-10)
        change = (arm(name).mass_matrix(y + h * yd) - arm(name).mass_matrix(y - h * yd)) / (2.0 * h)
        np.testing.assert_allclose(C + C.T, change, rtol=1e-6, atol=1e-7 * np.abs(arm(name).mass_matrix(y)).max())


@NAMES
def test_batches_have_the_results_of_their_states(name):
    y, yd, ydd = (np.array(rows) for rows in zip(*states(name), strict=True))
    for quantity, vectors in (
        ('gravity_torque', ()), ('bias_torque', (yd,)), ('coriolis_torque', (yd,)), ('inertia_torque', (ydd,)),
        ('inverse_dynamics', (yd, ydd)), ('mass_matrix', ()),
    ):  # fmt: skip
        found = getattr(arm(name), quantity)(y, *vectors)
        for k in range(len(y)):
            single = getattr(arm(name), quantity)(y[k], *(it[k] for it in vectors))
            np.testing.assert_allclose(found[k], single, rtol=1e-9, atol=1e-9 * (1.0 + np.abs(single).max()))
            out = np.empty_like(single)
            assert getattr(arm(name), quantity)(y[k], *(it[k] for it in vectors), out=out) is out
            np.testing.assert_allclose(out, single, rtol=1e-12, atol=1e-12)


def test_a_jacobian_is_that_of_the_actuated_joints():
    name, h = 'palletizer', 1e-6
    y = arm(name).following.home + 0.05
    J = arm(name).jacobian(y, 'tool', 'local_world_aligned')
    for k, e in enumerate(np.eye(4)):
        ahead, behind = (arm(name).link_pose(y + sign * h * e, 'tool')[:3, 3] for sign in (1.0, -1.0))
        np.testing.assert_allclose(J[3:, k], (ahead - behind) / (2.0 * h), atol=1e-8)
    # the wrist stays level
    assert np.abs(J[:2]).max() < 1e-12


def test_payload_and_gravity_are_those_of_the_whole_robot():
    name, payload = 'palletizer', Payload(20.0, (0.0, 0.0, -0.2))
    loaded = arm(name).with_payload(payload, 'tool').with_gravity((1.0, 0.0, -9.0))
    robot = whole(name).with_payload(payload, 'tool').with_gravity((1.0, 0.0, -9.0))
    y = arm(name).following.home
    q = arm(name).positions(y)
    zero = np.zeros(robot.nv)
    expected = robot.inverse_dynamics(q, zero, zero, actuated=list(arm(name).joint_names))[arm(name).following.places]
    np.testing.assert_allclose(loaded.gravity_torque(y), expected, rtol=1e-10, atol=1e-9)
    assert loaded.payloads.keys() == {'tool'}


def test_springs_of_closures_act():
    mechanism = MECHANISMS['four-bar, revolute']
    robot = mechanism.robot
    (pin,) = robot.loops.closures
    sprung = robot.with_loops(
        [type(pin)(pin.name, pin.link_a, pin.pose_a, pin.link_b, pin.pose_b, 'revolute', 3.0, 0.2, 0.1)],
        near=start_of(mechanism),
    )
    found = DrivenRobot(sprung.with_loops([]), ClosedMechanism(sprung, ['crank joint']))
    y, yd, ydd = np.array([1.2]), np.array([0.7]), np.array([-0.4])
    motion = found.following.motion(y, yd, ydd)
    expected = sprung.inverse_dynamics(*motion[:3], actuated=['crank joint'])[0]
    assert found.inverse_dynamics(y, yd, ydd)[0] == pytest.approx(expected, rel=1e-10)
    assert found.bias_torque(y, yd)[0] != pytest.approx(arm('four-bar, revolute').bias_torque(y, yd)[0], rel=1e-3)


def test_friction_is_that_of_the_actuated_joints():
    name = 'palletizer'
    viscous = np.linspace(1.0, 2.0, 10)
    rubbing = DrivenRobot(arm(name).robot.with_friction(viscous=viscous), closed(name).following)
    y, yd = rubbing.following.home + 0.01, np.array([0.3, -0.2, 0.5, 1.0])
    own = viscous[rubbing.following.places]
    np.testing.assert_allclose(rubbing.friction_torque(yd), own * yd, rtol=1e-12)
    np.testing.assert_array_equal(rubbing.friction.viscous, own)
    rigid = rubbing.inverse_dynamics(y, yd, 0.0 * yd)
    np.testing.assert_allclose(rubbing.torque(y, yd, 0.0 * yd), rigid + own * yd, rtol=1e-12)


@NAMES
def test_steps_and_motions_of_all_joints_are_written_where_asked(name):
    held, (y, _, _) = arm(name).following.held, next(states(name))
    q, rates = arm(name).positions(y), np.zeros(held.model.arrays.constraints)
    for quantity, vectors in (('closing_step', (q, rates)), ('driven_motion', (q, rates + 0.1, rates - 0.2))):
        expected = getattr(held, quantity)(*vectors)
        out = np.full(expected.shape, np.nan)
        assert getattr(held, quantity)(*vectors, out=out) is out
        np.testing.assert_array_equal(out, expected)
        batch = getattr(held, quantity)(*(np.tile(it, (3, 1)) for it in vectors))
        np.testing.assert_array_equal(batch, np.broadcast_to(expected, batch.shape))


# Ways


def test_a_way_ends_at_a_singular_position_and_names_the_loop():
    """The parallelogram is flat at 0, where it could become one with crossed sides."""
    flat = closed('parallelogram')
    with pytest.raises(SingularError, match=r"^loop 'closing': .*'crank joint'"):
        flat.gravity_torque([-0.8])
    np.testing.assert_allclose(flat.positions([0.4])[[0, 2]], [0.4, 0.4], atol=1e-12)


@pytest.mark.parametrize('step', [0.001, 0.01, 0.019])
def test_no_step_passes_a_singular_position(step):
    flat = closed('parallelogram')
    nothing = np.full(2, np.nan)
    with pytest.raises(SingularError):
        for k in range(round(1.7 / step)):
            y = np.array([0.8 - k * step])
            flat.following.measure(y, nothing, k * SECOND // 100)
    assert 0.0 < flat.following.measured.y[0] < 0.2


@pytest.mark.parametrize('near', [0.4, 0.2, 0.1, 0.06])
def test_a_start_near_a_singular_position_hides_none(near):
    mechanism = MECHANISMS['parallelogram']
    names = mechanism.robot.joint_names
    robot = mechanism.robot.with_loops(mechanism.loops, near=dict(zip(names, (near, -near, near), strict=True)))
    for step in (0.001, 0.011, 0.019):
        flat, nothing = ClosedMechanism(robot, ['crank joint']), np.full(2, np.nan)
        with pytest.raises(SingularError):
            for k in range(round((near + 0.3) / step)):
                flat.measure(flat.home - k * step, nothing, k * SECOND // 100)
        assert 0.03 < flat.measured.y[0] < near + 1e-9


@pytest.mark.parametrize('name', ['rocker', 'Stewart platform on a leg', 'delta'])
def test_long_ways_end_where_short_ones_do(name):
    """At the dead points of a rocker positions change with the root of the distance."""
    joints, name = (['rocker joint'], 'four-bar, revolute') if name == 'rocker' else (ACTUATED[name], name)
    reach = 0.2 if 'Stewart' in name else 1.0
    mechanism, rng = ClosedMechanism(actuated(MECHANISMS[name], joints), joints), np.random.default_rng(0)
    begin, compared = mechanism.at_home, 0
    for _ in range(150):
        y = begin.y + reach * rng.uniform(-1.0, 1.0, len(joints)) * rng.choice([0.02, 0.1, 0.5, 1.5])
        try:
            *_, found = mechanism.way(begin, y)
        except (LoopError, SingularError):
            continue
        short = begin
        for share in np.linspace(0.0, 1.0, 400)[1:]:
            *_, short = mechanism.way(short, begin.y + share * (found.y - begin.y))
        np.testing.assert_allclose(np.exp(1j * short.q), np.exp(1j * found.q), atol=1e-7)
        begin, compared = found, compared + 1
    assert compared > 50


def test_a_way_out_of_reach_ends_with_the_name_of_the_loop():
    # the crank of a triple rocker does not turn fully
    short = mechanisms.four_bar('revolute', (0.5, 0.3, 0.2, 0.3), (1.0, -1.3, 1.8))
    robot = short.robot.with_loops(short.loops, near=start_of(short))
    found = DrivenRobot(robot.with_loops([]), ClosedMechanism(robot, ['crank joint']))
    with pytest.raises((LoopError, SingularError), match=r"^loop 'closing'"):
        found.gravity_torque([3.0])


def test_a_mechanism_stays_in_its_assembly_mode_through_the_workspace():
    """A four-bar linkage whose crank turns fully has two positions of the rocker for each; one belongs to each mode."""
    crank = closed('four-bar, revolute')
    for y in np.arange(0.0, 40.0, 0.37):
        q = crank.positions([y])
        ground, length = mechanisms.FOUR_BAR[0], mechanisms.FOUR_BAR[1]
        tip = length * np.array([np.cos(y), np.sin(y)])
        rocker = np.array([np.cos(q[2]), np.sin(q[2])])
        # the rocker's end is always on the same side of the line from the crank's end to its own hinge
        across = np.cross([*(np.array([ground, 0.0]) - tip), 0.0], [*rocker, 0.0])[2]
        assert across > 0.01, y


def test_positions_that_are_no_numbers_are_refused():
    with pytest.raises(DynamicsError, match='finite'):
        arm('palletizer').gravity_torque([0.0, np.nan, 0.0, 0.0])


# Measured states


def seen(robot: DrivenRobot, y, stamp: float, **positions: float) -> None:
    """Let the robot see a state, with measured ``positions`` of other joints by their first words."""
    measured = np.full(len(robot.followers), np.nan)
    for word, position in positions.items():
        measured[robot.followers.index(f'{word.replace("_", " ")} joint')] = position
    robot.following.measure(np.asarray(y, float), measured, round(stamp * SECOND))


def followed(robot: DrivenRobot, y, stamp: float) -> None:
    """Let the robot see a state, and see that it is where the state says."""
    seen(robot, y, stamp)
    np.testing.assert_allclose(robot.following.measured.y, y, rtol=0.0, atol=1e-12)


GAPS = {
    'none': [0.002],
    'a repeated stamp': [0.0, 0.002],
    'lost states': [0.008],
}


@pytest.mark.parametrize('gaps', GAPS.values(), ids=GAPS)
def test_an_encoder_that_jumps_is_refused_until_it_is_back(gaps):
    robot, stamp = closed('palletizer'), 0.0
    home = robot.following.home
    for k in range(5):
        seen(robot, home + 0.001 * k, stamp := stamp + 0.002)
    jumped = home + 0.004
    jumped[1] += np.radians(5.0)
    for gap in [*gaps, *np.full(300, 0.002), 0.02, 0.1, 0.4]:
        with pytest.raises(LoopError, match=r"^loop 'lever rod': joint 'upper arm joint' has jumped by 0.08"):
            seen(robot, jumped, stamp := stamp + gap)
        np.testing.assert_array_equal(robot.following.measured.y, home + 0.004)
    seen(robot, home + 0.005, stamp + 0.002)
    np.testing.assert_array_equal(robot.following.measured.y, home + 0.005)


def test_a_state_that_comes_late_is_refused_and_changes_nothing():
    robot = closed('palletizer')
    home, along = robot.following.home, np.array([0.0, 1.0, 1.0, 0.0])
    for k in range(40):
        if k == 30:
            with pytest.raises(LoopError, match='the stamp of the state is before that of the last one'):
                seen(robot, home + along * 0.004 * (k - 12), 0.002 * (k - 12))
        elif k > 1:
            followed(robot, home + along * 0.004 * k, 0.002 * k)
        else:
            seen(robot, home + along * 0.004 * k, 0.002 * k)


def test_an_encoder_that_jumps_while_the_arm_moves_comes_back_to_where_it_has_moved():
    robot = closed('palletizer')
    y, jump = robot.following.home.copy(), np.radians([0.0, 5.0, 0.0, 0.0])
    for k in range(1000):
        y += 0.0005 * np.array([1.0, -0.5, 0.5, 2.0])
        if 300 <= k < 600:
            with pytest.raises(LoopError, match='has jumped'):
                seen(robot, y + jump, 0.002 * k)
        else:
            seen(robot, y, 0.002 * k)
    np.testing.assert_array_equal(robot.following.measured.y, y)


def test_a_jump_counts_no_more_after_an_activation():
    robot = closed('palletizer')
    for k in range(2):
        seen(robot, robot.following.home + 0.001 * k, 0.002 * k)
    moved = robot.following.home + 0.3
    with pytest.raises(LoopError, match='has jumped'):
        seen(robot, moved, 0.004)
    robot.following.begin()
    seen(robot, moved, 0.006)


def test_an_arm_that_moves_while_states_are_refused_is_accepted_at_once_when_they_are_right():
    robot = closed('palletizer')
    home = robot.following.home
    seen(robot, home, 0.0)
    for k in range(1, 300):
        y = home + 0.001 * k
        with pytest.raises(LoopError, match="joint 'wrist joint' is at"):
            seen(robot, y, 0.002 * k, wrist=5.0)
    np.testing.assert_array_equal(robot.following.measured.y, home)
    seen(robot, y + 0.001, 0.6)
    np.testing.assert_array_equal(robot.following.measured.y, y + 0.001)


def test_a_first_state_that_is_refused_does_not_count():
    """Drivers begin with zeros."""
    robot = closed('palletizer')
    home, flat = robot.following.home, np.zeros(4)
    for k in range(3):
        with pytest.raises(SingularError):
            seen(robot, flat, 0.002 * k)
    seen(robot, home + 0.1, 0.008)
    np.testing.assert_array_equal(robot.following.measured.y, home + 0.1)


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


CONFIRMS = r"^loop '.*': joint '.*' is [\d.]+ rad or m from where its motion leads: the next state has to confirm that"


def standing(robot: DrivenRobot, home, count: int, period: float = 0.002) -> float:
    """Let the robot see states of an arm that stands, with noise of encoders; return the last stamp."""
    random = np.random.default_rng(0)
    for k in range(count):
        seen(robot, home + 1e-4 * random.uniform(-1.0, 1.0, len(home)), period * k)
    return period * (count - 1)


@pytest.mark.parametrize('stands', [True, False])
def test_an_arm_that_moved_while_states_were_lost_is_followed_from_the_second_state_on(stands):
    """The first one alone may be wrong. An arm that stands repeats its position."""
    robot = closed('palletizer')
    home = robot.following.home
    stamp = standing(robot, home, 20)
    moved = home + np.array([0.0, 0.1, 0.0, 0.0])
    with pytest.raises(LoopError, match=CONFIRMS):
        seen(robot, moved, stamp := stamp + 0.1)
    refused = 0
    for k in range(1, 100):
        try:
            seen(robot, moved if stands else moved + 1e-4 * k, stamp + 0.002 * k)
        except LoopError:
            refused += 1
    assert refused <= 20 and robot.following.measured.y[1] == moved[1] + (0.0 if stands else 1e-4 * 99)


@pytest.mark.parametrize('gap', [0.012, 0.03, 0.06])
def test_one_wrong_state_after_a_gap_has_no_torque_and_right_ones_go_on(gap):
    robot = closed('palletizer')
    home = robot.following.home
    stamp = standing(robot, home, 20) + gap
    with pytest.raises(LoopError, match=f'{CONFIRMS}|has jumped'):
        seen(robot, home + np.radians([0.0, 5.0, 0.0, 0.0]), stamp)
    for k in range(1, 4):  # the first of them may be the wrong one
        with suppress(LoopError):
            seen(robot, home + 1e-4 * k, stamp + 0.002 * k)
    followed(robot, home, stamp + 0.008)


def test_one_wrong_state_after_a_gap_in_which_the_arm_speeds_up_stops_nothing():
    for period in (0.001, 0.004, 0.01):
        for off in (0.05, 0.15, 0.3):
            robot = closed('palletizer')
            home, along = robot.following.home, np.array([0.0, 1.0, 1.0, 0.0])
            standing(robot, home, 30, period)
            begin, stamp = period * 29, period * 29 + 0.1
            refused = 0
            for k in range(12):
                t = stamp + k * period - begin
                y = home - along * 0.5 * 10.0 * min(t, 0.1) ** 2 - along * max(t - 0.1, 0.0)
                try:
                    seen(robot, y + (off if k == 0 else 0.0) * np.array([0.0, 1.0, 0.0, 0.0]), begin + t)
                except LoopError:
                    refused += 1
            assert refused <= 3
            np.testing.assert_array_equal(robot.following.measured.y, y)


def test_a_jump_is_not_forgiven_after_a_gap_in_which_the_arm_moved_against_it():
    robot = closed('palletizer')
    home, jump = robot.following.home, np.radians([0.0, 5.0, 0.0, 0.0])
    standing(robot, home, 30)
    for k, sag in [(30, 0.0), (31, 0.0), (56, 0.05), (57, 0.05), (80, 0.08)]:
        with pytest.raises(LoopError, match='has jumped'):
            seen(robot, home + jump - sag * np.sign(jump), 0.002 * k)


def test_a_jump_after_a_stop_in_lost_states_is_refused():
    """The velocity before them counts no more."""
    for speed, lost in ((2.0, 0.1), (1.0, 0.1), (1.0, 0.05)):
        robot, along = closed('palletizer'), np.array([0.0, 1.0, 1.0, 0.0])
        home = robot.following.home - 0.3 * along
        for k in range(100):
            with suppress(LoopError):
                seen(robot, home + along * speed * 0.001 * k, 0.001 * k)
        stopped = home + along * speed * (0.1 + 0.5 * lost)
        for k in range(600):
            with suppress(LoopError):
                seen(robot, stopped, 0.1 + lost + 0.001 * k)
        np.testing.assert_array_equal(robot.following.measured.y, stopped)
        for k in range(600, 700):
            with pytest.raises(LoopError, match='has jumped'):
                seen(robot, stopped - np.radians([0.0, 5.0, 0.0, 0.0]), 0.1 + lost + 0.001 * k)


@pytest.mark.parametrize(('degrees', 'count'), [(30.0, 20), (10.0, 6), (5.0, 3)])
def test_an_encoder_that_runs_away_faster_than_the_joint_is_refused(degrees, count):
    robot = closed('palletizer')
    home, published = robot.following.home, 0
    standing(robot, home, 50, 0.001)
    for k in range(200):
        off = np.radians([0.0, degrees, 0.0, 0.0]) * min(1.0, (k + 1) / count)
        with suppress(LoopError):
            seen(robot, home + off + 1e-6 * k, 0.05 + 0.001 * k)
            published += 1
    # within the noise of encoders, and 5 rad/s
    assert published <= 3 and robot.following.measured.y[1] < home[1] + 0.06


@pytest.mark.parametrize('rate', [25.0, 40.0, 60.0, 125.0, 250.0, 500.0, 1000.0])
@pytest.mark.parametrize('speed', [0.0, 1.0, -1.0, 2.0])
def test_jumps_of_five_degrees_are_refused_at_all_rates(rate, speed):
    robot, along = closed('palletizer'), np.array([0.0, 1.0, 1.0, 0.0])
    home, period = robot.following.home - 0.2 * np.sign(speed) * along, 1.0 / rate
    for k in range(int(0.2 * rate) + 6):
        with suppress(LoopError):
            seen(robot, home + along * (speed * period + 1e-5) * k, period * k)
    followed(robot, home + along * (speed * period + 1e-5) * k, period * k)
    for n in range(k + 1, k + 3):
        with pytest.raises(LoopError, match='has jumped'):
            seen(robot, home + along * (speed * period + 1e-5) * n + np.radians([0.0, 5.0, 0.0, 0.0]), period * n)


WRONG_STATES = [(0.02, 1.0, 0.0873), (0.05, 1.0, 0.15), (0.01, 2.0, 0.06), (0.004, 2.0, 0.037), (0.001, 1.0, 0.031)]


@pytest.mark.parametrize(('period', 'speed', 'off'), WRONG_STATES)
@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_one_wrong_state_in_motion_has_no_torque_and_right_ones_go_on(period, speed, off, sign):
    robot, along = closed('palletizer'), np.array([0.0, 1.0, 1.0, 0.0])
    home = robot.following.home - 0.2 * along
    for k in range(12):
        y = home + along * speed * period * k
        if k == 7:
            with pytest.raises(LoopError, match=r'has moved|has jumped'):
                # against the motion it might be a stop
                wrong = off if sign > 0.0 else off + speed * period
                seen(robot, y + sign * wrong * np.array([0.0, 1.0, 0.0, 0.0]), period * k)
        elif k > 2 and not (k == 8 and period >= 0.05):  # at 20 Hz a second one says which of both was wrong
            seen(robot, y, period * k)
        else:
            with suppress(LoopError):
                seen(robot, y, period * k)


@pytest.mark.parametrize('hardware', [0.02, 0.01])
def test_a_jump_of_hardware_that_is_read_less_often_is_not_forgiven(hardware):
    robot, jump = closed('palletizer'), np.array([0.0, -0.3, 0.0, 0.0])
    for k in range(500):
        t = hardware * (0.001 * k // hardware)
        y = robot.following.home - np.array([0.0, 2.0, 2.0, 0.0]) * 0.3 * np.sin(t) * min(1.0, t)
        if k < 200:
            seen(robot, y, 0.001 * k)
        else:
            with pytest.raises(LoopError, match='has jumped'):
                seen(robot, y + jump, 0.001 * k)


def test_an_activation_in_motion_is_followed():
    """From the third state on: either of the first two may be wrong."""
    for period, speed in ((0.04, 1.5), (0.02, 2.4), (0.002, 2.4)):
        robot = closed('palletizer')
        for k in range(10):
            y = robot.following.home - np.array([0.0, 1.0, 1.0, 0.0]) * speed * period * k
            if k > 1:
                followed(robot, y, period * k)
            else:
                with suppress(LoopError):
                    seen(robot, y, period * k)


def test_another_order_of_the_joints_releases_nothing():
    before = closed('palletizer')
    robot = actuated(MECHANISMS['palletizer'], PALLETIZER_ACTUATED[::-1])
    after = ClosedMechanism(robot, robot.loops.actuated)
    after.joint_names = after.joint_names[::-1]
    home, nothing = before.following.home, np.full(len(before.followers), np.nan)
    standing(before, home, 2)
    with pytest.raises(LoopError, match='has jumped'):
        seen(before, home + np.radians([0.0, 5.0, 0.0, 0.0]), 0.004)
    after.continue_from(before.following)
    after.begin()
    for stamp in (6_000_000, 7_000_000):
        with pytest.raises(SingularError, match=r'this description came while .* activate again'):
            after.measure(after.home, nothing, stamp)
    after.begin()
    after.measure(after.home, nothing, 8_000_000)


def test_states_of_hardware_that_is_read_less_often_are_followed():
    """A controller of 1 kHz sees each position several times."""
    robot, velocity = closed('palletizer'), np.array([1.0, 0.6, 0.5, 1.0])
    for cycles in (5, 15, 30):
        robot.following.begin()
        for k in range(600):
            t = 0.001 * cycles * (k // cycles)
            swing = 0.3 * np.sin(t / 0.3 * velocity)
            followed(robot, robot.following.home + swing, 0.001 * k)


@pytest.mark.parametrize(('period', 'speed'), [(0.02, 1.7), (0.04, 1.0), (0.002, 2.4)])
def test_a_stamp_that_repeats_in_motion_stops_nothing(period, speed):
    robot, stamp = closed('palletizer'), 0.0
    home, along = robot.following.home, np.array([0.0, 1.0, 1.0, 0.0])
    for k in range(20):
        # begins at rest
        y = home + along * 0.2 * np.sin(min(1.0, k / 10) * speed * period * k / 0.2)
        stamp += 0.0 if k == 12 else period
        try:
            seen(robot, y, stamp)
        except LoopError as error:
            assert 'has to confirm' in str(error)
    seen(robot, y, stamp + period)


def test_after_a_pause_other_joints_or_an_activation_say_that_the_assembly_mode_is_the_same():
    robot = closed('four-bar, revolute')
    home, rocker = robot.following.home, robot.positions(robot.following.home)[2]
    seen(robot, home, 0.0)
    with pytest.raises(SingularError, match='can have been at a singular position in 2 s without states'):
        seen(robot, home, 2.0)
    with pytest.raises(SingularError, match='activate again'):
        seen(robot, home, 2.002, rocker=rocker)
    robot.following.begin()
    seen(robot, home, 2.004)
    seen(robot, home, 4.0, rocker=rocker)


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
    with pytest.raises(SingularError, match='activate again'):
        seen(robot, [0.8], 2.0)


def test_after_a_clock_that_is_set_back_other_joints_or_an_activation_say_the_assembly_mode():
    """How long it stood still is not known."""
    robot = closed('four-bar, revolute')
    home, rocker = robot.following.home, robot.positions(robot.following.home)[2]
    for k in range(5):
        seen(robot, home + 1e-5 * k, 1.0 + 0.002 * k)
    robot.following.clock_set_back()
    with pytest.raises(LoopError, match='has jumped'):
        seen(robot, home + np.radians(5.0), 0.4)
    seen(robot, home + 4e-5, 0.402, rocker=rocker)
    robot.following.clock_set_back()
    with pytest.raises(SingularError, match='can have been at a singular position while the clock was set back'):
        seen(robot, home + 4e-5, 0.3)
    with pytest.raises(SingularError, match='activate again'):
        seen(robot, home + 4e-5, 0.302, rocker=rocker)
    robot.following.begin()
    seen(robot, home, 0.304)


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


def test_after_a_pause_a_joint_of_each_loop_has_to_fit():
    """One of another loop says nothing of the loop that may have changed its assembly mode."""
    robot = closed('palletizer')
    home = robot.following.home
    q = dict(zip(robot.robot.joint_names, robot.positions(home), strict=True))
    loops = {'triangle': q['triangle joint'], 'forearm': q['forearm joint'], 'wrist': q['wrist joint']}
    seen(robot, home, 0.0)
    with pytest.raises(SingularError, match='can have been at a singular position in 2 s'):
        seen(robot, home, 2.0, triangle=loops['triangle'])
    robot.following.begin()
    seen(robot, home, 2.002)
    seen(robot, home, 4.0, **loops)


def test_measured_joints_that_fit_are_compared_and_others_refused_with_the_loop():
    robot = closed('palletizer')
    home = robot.following.home
    q = dict(zip(robot.robot.joint_names, robot.positions(home), strict=True))
    seen(robot, home, 0.0, forearm=q['forearm joint'] + 0.04, rod=q['rod joint'] + 2.0 * np.pi)
    for word, loop in (('forearm', 'lever rod'), ('wrist', 'fore ties'), ('triangle', 'upper ties')):
        wrong = {word: q[f'{word} joint'] - 0.06}
        with pytest.raises(LoopError, match=f"^loop '{loop}': joint '{word} joint' is at"):
            seen(robot, home, 0.002, **wrong)
    seen(robot, home, 0.004, forearm=q['forearm joint'])


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


def test_measured_joints_beyond_their_limits_and_infinite_ones_are_refused():
    robot = closed('palletizer')
    limits = PositionLimits(robot.robot, 0.1, robot.followers)
    wrist = robot.followers.index('wrist joint')
    limits.lower[wrist], limits.upper[wrist] = -3.0, -1.0
    home, nothing = robot.following.home, np.full(len(robot.followers), np.nan)
    robot.following.measure(home, nothing, 0, limits)
    nothing[wrist] = robot.positions(home)[robot.robot.joint_names.index('wrist joint')]
    with pytest.raises(DynamicsError, match=r"joint 'wrist joint': position .* is beyond"):
        robot.following.measure(home, nothing, 1, limits)
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


def test_turns_of_a_continuous_joint_are_followed():
    robot = closed('palletizer')
    home = robot.following.home.copy()
    for k, tool in enumerate((3.0, 3.14, 3.16 - 2.0 * np.pi, 3.3 - 2.0 * np.pi)):
        seen(robot, [*home[:3], tool], 0.02 * k)
    assert robot.following.measured.y[3] == pytest.approx(3.3)
    expected = arm('palletizer').gravity_torque([*home[:3], 3.3])
    np.testing.assert_allclose(robot.gravity_torque([*home[:3], 3.3 - 2.0 * np.pi]), expected, rtol=1e-9, atol=1e-9)


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


@pytest.mark.parametrize('name', SWINGS)
def test_noise_of_encoders_at_500_hz_is_followed(name):
    check_motion(name, 2.0)


@pytest.mark.slow
@pytest.mark.parametrize('name', SWINGS)
def test_ten_minutes_with_noise_of_encoders_are_followed(name):
    check_motion(name, 600.0)


# Searches


def test_a_search_ends_where_the_loops_do():
    robot = closed('palletizer')
    for k, y in enumerate((robot.following.home, robot.following.home + 0.3)):
        near = within_reach(robot).gravity_torque(y[None])
        np.testing.assert_allclose(near, robot.gravity_torque(y[None]), rtol=1e-8, atol=1e-7, err_msg=str(k))
    far = np.array([[0.0, 1.4, 1.8, 0.0]])
    with pytest.raises((LoopError, SingularError)):
        robot.gravity_torque(far)
    assert np.isfinite(within_reach(robot).gravity_torque(far)).all()


def test_the_largest_torque_is_one_that_occurs():
    robot = closed('four-bar, revolute')
    found = largest_static_torque(robot)
    around = np.abs([robot.gravity_torque([y])[0] for y in np.linspace(-np.pi, np.pi, 721)])
    assert found.torque[0] == pytest.approx(around.max(), rel=1e-3)


# What is refused


REFUSED = {
    'too few': (['upper arm joint', 'lever joint'], '2 joints are actuated .* leave 4 independent motions'),
    'too many': ([*PALLETIZER_ACTUATED, 'tie joint'], '5 joints are actuated'),
    'not independent': (
        ['column joint', 'upper arm joint', 'tie joint', 'tool joint'],
        'tie joint.* do not fix the others',
    ),
}


@pytest.mark.parametrize(('joints', 'said'), REFUSED.values(), ids=REFUSED)
def test_actuated_joints_that_do_not_fix_the_others_are_refused(joints, said):
    robot = actuated(MECHANISMS['palletizer'], PALLETIZER_ACTUATED)
    with pytest.raises(ModelError, match=said):
        ClosedMechanism(robot, joints)


def test_a_start_that_is_singular_or_open_is_refused():
    with pytest.raises(ModelError, match=r'parallelogram: .* near'):
        ClosedMechanism(MECHANISMS['parallelogram'].robot, ['crank joint'])
    with pytest.raises(ModelError, match=r"loop 'wrist .*near"):
        ClosedMechanism(MECHANISMS['delta of parallelograms'].robot, ARMS)


def test_an_actuated_joint_that_follows_another_is_refused():
    robot = MECHANISMS['gears'].open.with_loops([Coupling('second joint', 'first joint', (0.1, -2.0))])
    with pytest.raises(ModelError, match="joint 'second joint' is actuated, and follows 'first joint'"):
        ClosedMechanism(robot, ['first joint', 'second joint', 'follower joint', 'free end joint'])


def test_robots_whose_loops_differ_are_not_the_same():
    robot = actuated(MECHANISMS['palletizer'], PALLETIZER_ACTUATED)
    first, *others = robot.loops.closures
    moved = first.pose_a.copy()
    moved[0, 3] += 1e-4
    other = robot.with_loops(
        [replace(first, pose_a=moved), *others], actuated=robot.loops.actuated, near=robot.loops.near
    )
    one, same, changed = (
        DrivenRobot(it.with_loops([]), ClosedMechanism(it, it.loops.actuated)) for it in (robot, robot, other)
    )
    assert same_robot(one, same) and one.digest == same.digest
    assert not same_robot(one, changed) and one.digest != changed.digest


def test_threads_follow_their_own_ways():
    """Services and trajectories are computed while states of the arm come."""
    robot = closed('palletizer')
    home, wrong = robot.following.home, []
    near, far = home + 0.01, np.add(home, (1.0, -0.3, 0.3, 2.0))
    expected = robot.gravity_torque(near)
    of_batch = robot.gravity_torque(np.tile(far, (3, 1)))

    def batches():
        for _ in range(60):
            if np.abs(robot.gravity_torque(np.tile(far, (3, 1))) - of_batch).max() > 1e-7:
                wrong.append('batch')

    thread = threading.Thread(target=batches)
    thread.start()
    k = 0
    while thread.is_alive() or k < 100:
        k += 1
        seen(robot, near + 1e-9 * (k % 5), 0.002 * k)
        if np.abs(robot.gravity_torque(near) - expected).max() > 1e-7:
            wrong.append('state')
    thread.join()
    assert not wrong
