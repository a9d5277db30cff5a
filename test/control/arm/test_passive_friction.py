"""Friction of joints without a motor in the torques of those with one, against power, finite differences and MuJoCo."""

from support.robots.driven_mechanisms import arm
from support.robots.mechanisms import ACTUATED, MECHANISMS, start_of

import numpy as np
import pytest

from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot, in_driven_joints
from robot_dynamics_ros.control.joints.joint_friction import dry_friction, has_friction, static_friction
from robot_dynamics_ros.control.laws.joint_space_control import JointSpaceControl
from robot_dynamics_ros.control.observers.momentum_observer import MomentumObserver
from robot_dynamics_ros.control.terms.compensation import TERMS, Compensation
from robot_dynamics_ros.control.trajectories.trajectory_check import Motion, time_scaling
from robot_dynamics_ros.errors import ArgumentError

NAMES = pytest.mark.parametrize('name', ['palletizer', 'four-bar, revolute', 'delta'])
LOAD = 0.08


def friction_of(name: str) -> dict[str, np.ndarray]:
    """Return the friction of each joint, without that by load."""
    n, rng = MECHANISMS[name].robot.nv, np.random.default_rng(8)
    fields = 'viscous', 'coulomb', 'offset', 'stribeck', 'quadratic'
    return {field: rng.uniform(0.1, 1.0, n) for field in fields} | {
        'transition': rng.uniform(0.02, 0.1, n),
        'stribeck_velocity': rng.uniform(0.05, 0.3, n),
    }


def rubbing(name: str, load: float = 0.0) -> DrivenRobot:
    """Return a mechanism all of whose joints have friction."""
    own = np.isin(np.arange(MECHANISMS[name].robot.nv), arm(name).following.places)
    terms = friction_of(name) | {'load': load * own}
    mechanism = MECHANISMS[name]
    whole = mechanism.robot.with_friction(**terms).with_loops(
        mechanism.loops, actuated=ACTUATED[name], near=start_of(mechanism)
    )
    found = in_driven_joints(whole)
    assert isinstance(found, DrivenRobot) and found.passive_friction is not None
    return found


def states(robot: DrivenRobot, count: int = 5) -> np.ndarray:
    """Return positions, velocities and accelerations of the actuated joints, (3, count, m)."""
    rng = np.random.default_rng(9)
    y = robot.neutral() + rng.uniform(-0.05, 0.05, (count, robot.nv))
    return np.array([y, *rng.normal(size=(2, count, robot.nv))])


def textbook(name: str, qd: np.ndarray) -> np.ndarray:
    """Return the friction of all joints at their velocities, by CONVENTIONS 33."""
    f = friction_of(name)
    level = f['coulomb'] + f['stribeck'] / (1.0 + (qd / f['stribeck_velocity']) ** 2)
    smooth = qd / np.hypot(qd, f['transition'])
    return (f['viscous'] + f['quadratic'] * abs(qd)) * qd + level * smooth + f['offset']


@NAMES
def test_power_of_the_motors_is_that_of_friction_of_all_joints(name):
    robot = rubbing(name)
    y, yd, _ = states(robot)
    qd = robot.following.motion(y, yd).qd
    power = (robot.friction_along(y)(yd) * yd).sum(axis=1)
    np.testing.assert_allclose(power, (textbook(name, qd) * qd).sum(axis=1), rtol=1e-12)


def test_friction_is_that_at_velocities_by_finite_differences():
    name, h = 'palletizer', 1e-4
    robot = rubbing(name)
    for y, yd, _ in states(robot).swapaxes(0, 1):
        G = np.array([(robot.positions(y + e) - robot.positions(y - e)) / (2.0 * h) for e in h * np.eye(robot.nv)]).T
        np.testing.assert_allclose(robot.friction_along(y)(yd), G.T @ textbook(name, G @ yd), rtol=1e-6, atol=1e-6)


@NAMES
def test_the_whole_torque_moves_the_robot_with_its_loops_as_asked(name):
    """The outside calculation: multipliers of the loops, and friction by velocity and load at each joint."""
    robot = rubbing(name, LOAD)
    whole, places = robot.mechanism, robot.following.places
    for y, yd, ydd in states(robot).swapaxes(0, 1):
        motion = robot.following.motion(y, yd, ydd)
        net = -textbook(name, motion.qd)
        tau = robot.torque(y, yd, ydd)
        # transmitted + load |transmitted| sign(qd) = tau - friction
        left, ratio = (tau + net[places]), LOAD * yd / np.hypot(yd, friction_of(name)['transition'][places])
        net[places] = left / (1.0 + ratio * np.sign(left))
        qdd = whole.forward_dynamics(motion.q, motion.qd, net)
        np.testing.assert_allclose(qdd[places], ydd, rtol=1e-7, atol=1e-7 * abs(qdd).max())
        np.testing.assert_allclose(robot.acceleration(y, yd, tau), ydd, rtol=1e-9, atol=1e-9)


def test_a_batch_is_its_states():
    robot = rubbing('palletizer', LOAD)
    y, yd, ydd = states(robot)
    one = [robot.torque(*it) for it in zip(y, yd, ydd, strict=True)]
    np.testing.assert_allclose(robot.torque(y, yd, ydd), one, rtol=1e-11)
    rigid, out = robot.inverse_dynamics(y, yd, ydd), np.empty_like(y)
    given = rigid.copy()
    assert robot.friction_along(y)(yd, given, out) is out
    np.testing.assert_allclose(rigid + out, one, rtol=1e-11)
    np.testing.assert_array_equal(given, rigid)
    np.testing.assert_allclose(robot.friction_along(y)(yd[0])[1], robot.friction_along(y[1])(yd[0]), rtol=1e-11)
    np.testing.assert_allclose(robot.friction_along(y[0])(yd)[1], robot.friction_along(y[0])(yd[1]), rtol=1e-11)
    np.testing.assert_allclose(robot.acceleration(y[0], yd, one)[1], robot.acceleration(y[0], yd[1], one[1]), rtol=1e-9)


def test_friction_without_positions_is_refused():
    with pytest.raises(ArgumentError, match='depends on positions q: use friction_along'):
        rubbing('four-bar, revolute').friction_torque([0.1])


def test_friction_by_load_of_joints_without_a_motor_does_not_count():
    robot = arm('four-bar, revolute')
    loaded = DrivenRobot(robot.robot.with_friction(load=0.2), robot.following)
    assert loaded.passive_friction is None
    assert loaded.friction.load.tolist() == [0.2]


@pytest.mark.parametrize('terms', [TERMS, ('friction',), ('gravity', 'inertia')])
def test_laws_of_nodes_add_it_as_the_robot_does(terms):
    robot = rubbing('palletizer', LOAD)
    (y, _), (yd, wanted), (ydd, _) = states(robot, 2)
    chosen, motor, out = Compensation(robot, terms), rubbing('palletizer', LOAD), np.empty(robot.nv)
    chosen.with_friction_at(wanted, y, yd, ydd, out)
    rigid = motor.inverse_dynamics(y, yd, ydd)
    expected = motor.friction_along(y)(wanted, rigid)
    if terms == TERMS:
        np.testing.assert_allclose(out, rigid + expected, rtol=1e-11)
        chosen.torque(y, yd, ydd, out)
        assert out.tobytes() == motor.torque(y, yd, ydd).tobytes()
        law = JointSpaceControl(robot, 'computed_torque', np.ones(4), np.ones(4), 1.0)
        law.torque(y, yd, (y, yd, ydd), np.zeros(4), out)
        assert out.tobytes() == motor.torque(y, yd, ydd).tobytes()
    elif 'friction' in terms:
        np.testing.assert_allclose(out, expected, rtol=1e-9)
    else:
        expected = motor.gravity_torque(y) + motor.inertia_torque(y, ydd)
        np.testing.assert_allclose(out, expected, rtol=1e-10, atol=1e-10)


def test_at_rest_motors_may_carry_the_dry_friction_of_all_joints():
    robot, f = rubbing('four-bar, revolute', LOAD), friction_of('four-bar, revolute')
    y = robot.neutral()
    G = robot.following.motion(y).G
    dry = abs(G).T @ (f['coulomb'] + f['stribeck'])
    np.testing.assert_allclose(dry_friction(robot, y), dry, rtol=1e-12)
    expected = dry + LOAD * 3.0 + abs(G.T @ f['offset'])
    np.testing.assert_allclose(static_friction(robot, y, np.array([-3.0])), expected, rtol=1e-12)
    passive = f['viscous'].copy()
    passive[robot.following.places] = 0.0
    bare = arm('four-bar, revolute')
    assert has_friction(DrivenRobot(bare.robot.with_friction(viscous=passive), bare.following)) and not has_friction(
        bare
    )


def test_plans_leave_effort_for_it():
    robot, bare = rubbing('four-bar, revolute'), arm('four-bar, revolute')
    t = np.linspace(0.0, 1.0, 50)
    y = robot.neutral() + 0.1 * (1.0 - np.cos(np.pi * t))[:, None]
    speed, change = 0.1 * np.pi * np.sin(np.pi * t), 0.1 * np.pi**2 * np.cos(np.pi * t)
    motion = Motion(t, y, speed[:, None], change[:, None], np.ones(50, bool))
    limit = np.abs(bare.inverse_dynamics(*motion[1:4])).max(axis=0) + 0.01
    assert time_scaling(bare, motion, limit, np.array([100.0])) < 1.01
    assert not time_scaling(robot, motion, limit, np.array([100.0]))


def test_an_observer_sees_no_external_torque_in_it():
    bare = arm('four-bar, revolute')
    passive = ~np.isin(np.arange(bare.robot.nv), bare.following.places)
    robot = DrivenRobot(bare.robot.with_friction(viscous=2.0 * passive, coulomb=1.0 * passive), bare.following)
    observer, home, valid = MomentumObserver(robot, 20.0), robot.neutral(), 0
    for k in range(1000):
        t = 1e-3 * k
        y, yd, ydd = home + 0.1 * np.sin(3.0 * t), np.array([0.3 * np.cos(3.0 * t)]), np.array([-0.9 * np.sin(3.0 * t)])
        valid += observer.update(1_000_000 * (k + 1), y, yd, robot.torque(y, yd, ydd))
        if valid:
            assert np.abs(observer.residual).max() < 0.02
    assert valid > 500 and np.abs(observer.friction).max() > 1.0
