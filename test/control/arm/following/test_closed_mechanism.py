"""Mechanisms with closed loops in the coordinates of their actuated joints: torques, searches, and what is refused."""

import threading
from dataclasses import replace

from support.robots.driven_mechanisms import arm, closed, seen
from support.robots.mechanisms import ACTUATED, ARMS, MECHANISMS, PALLETIZER_ACTUATED, actuated, start_of

import numpy as np
import pytest

from robot_dynamics_ros import Coupling, Payload
from robot_dynamics_ros.control.arm.described_arm import same_robot
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.arm.following.closed_mechanism import ClosedMechanism
from robot_dynamics_ros.control.arm.reachable_positions import within_reach
from robot_dynamics_ros.control.arm.static_torque import largest_static_torque
from robot_dynamics_ros.errors import LoopError, ModelError, SingularError

pytestmark = pytest.mark.compiled  # long without

NAMES = pytest.mark.parametrize('name', ACTUATED)
OF_ONE_AXIS = [name for name in ACTUATED if 'Stewart' not in name and name != 'delta']
"""Mechanisms whose joints have one coordinate each."""


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
