"""A plant of a mechanism with closed loops: accelerations of the actuated joints, closed loops, brakes and refusals.

Accelerations are compared with ``DrivenRobot.forward_dynamics``, which knows nothing of MuJoCo; MuJoCo has the loops as
constraints of its own.
"""

from dataclasses import replace
from functools import cache

from support.matrices import matrix
from support.robots.mechanisms import ACTUATED, ARMS, MECHANISMS, X, actuated, four_bar, moving, pose, rod

import mujoco
import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.arm.following.closed_mechanism import ClosedMechanism
from robot_dynamics_ros.errors import ArgumentError, LoopError, ModelError, SingularError, UnstableError
from robot_dynamics_ros.model.model import Model
from robot_dynamics_ros.simulation.elastic_joints import ElasticJoints
from robot_dynamics_ros.simulation.plant.motor_pd import MotorPd
from robot_dynamics_ros.simulation.plant.mujoco_arm import MujocoArm
from robot_dynamics_ros.simulation.plant.mujoco_plant import mujoco_plant
from robot_dynamics_ros.simulation.plant.surfaces import Surfaces

NAMES = pytest.mark.parametrize('name', ACTUATED)


def driven(robot: Robot) -> DrivenRobot:
    return DrivenRobot(robot.with_loops([]), ClosedMechanism(robot, robot.loops.actuated))


@cache
def mechanism(name: str) -> DrivenRobot:
    return driven(actuated(MECHANISMS[name], ACTUATED[name]))


def plant(robot: DrivenRobot, period=1e-3, start=None, **more) -> MujocoArm:
    arm = MujocoArm(robot, period, robot.neutral() if start is None else start, **more)
    arm.brakes = False
    return arm


def put(arm: MujocoArm, robot: DrivenRobot, y, yd) -> None:
    """Put the plant into a state."""
    *_, found = robot.following.way(robot.following.at_home, y)
    arm._mechanism._place(found, yd)


def acceleration(arm: MujocoArm, torque) -> np.ndarray:
    """Return that of the next step."""
    before = arm.velocity
    arm.torque[:] = torque
    arm.step()
    return (arm.velocity - before) / arm.period


def states(robot: DrivenRobot, count: int):
    """Yield positions, velocities and torques."""
    rng, home = np.random.default_rng(1), robot.neutral()
    for _ in range(count):
        y = home + rng.uniform(-0.05, 0.05, robot.nv)
        yield y, rng.uniform(-2.0, 2.0, robot.nv), robot.gravity_torque(y) + rng.uniform(-5.0, 5.0, robot.nv)


@NAMES
def test_it_accelerates_as_our_forward_dynamics_of_closed_loops(name):
    robot = mechanism(name)
    arm = plant(robot)
    for y, yd, tau in states(robot, 20):
        put(arm, robot, y, yd)
        expected = robot.forward_dynamics(y, yd, tau)
        np.testing.assert_allclose(acceleration(arm, tau), expected, rtol=0.0, atol=5e-7 * np.abs(expected).max())


@pytest.mark.parametrize('name', ['palletizer', 'delta', 'Stewart platform on a leg'])
def test_velocities_of_all_joints_are_those_of_the_motion(name):
    """By MuJoCo's positions a moment later: they are q + h T qd."""
    robot = mechanism(name)
    arm, h = plant(robot), 1e-6
    y, yd, _ = next(states(robot, 1))
    model, data = arm._model, arm._data
    put(arm, robot, y - h * yd, yd)
    behind = data.qpos.copy()
    put(arm, robot, y + h * yd, yd)
    ahead = data.qpos.copy()
    put(arm, robot, y, yd)
    moved = np.empty(model.nv)
    mujoco.mj_differentiatePos(model, moved, 2.0 * h, behind, ahead)
    np.testing.assert_allclose(moved, data.qvel, atol=1e-8 * np.abs(data.qvel).max() + 1e-8)


@pytest.mark.parametrize('name', matrix(list(ACTUATED), ['palletizer']))
def test_loops_stay_closed_in_ten_seconds_and_energy_changes_with_the_step(name):
    """Motors are springs about home; loops by MuJoCo's own constraints, which nothing else computes."""
    robot = mechanism(name)
    home, changes = robot.neutral(), []
    g, K = robot.gravity_torque(home), 400.0 * np.diag(robot.mass_matrix(home))
    whole = robot.following.mechanism
    for step, seconds in ((1e-3, 10.0), (2.5e-4, 2.0)):
        arm, energies = plant(robot, step), []
        put(arm, robot, home, np.full(robot.nv, 0.3))
        for k in range(round(seconds / step)):
            y = arm.position
            arm.torque[:] = g - K * (y - home)
            arm.step()
            assert np.abs(arm._data.efc_pos[: arm._data.ne]).max() < 1e-6
            if k % 20 == 0:
                motion = robot.following.motion(arm.position, arm.velocity)
                x = arm.position - home
                energies.append(
                    whole.kinetic_energy(motion.q, motion.qd) + whole.potential_energy(motion.q) - g @ x + K @ x**2 / 2
                )
                assert np.abs(whole.loop_errors(motion.q)).max() < 1e-9
        changes.append(np.ptp(energies[: round(2.0 / step / 20)]))
        kinetic = 0.5 * 0.09 * robot.mass_matrix(home).sum()
        assert np.ptp(energies) < 0.15 * kinetic
    assert changes[1] < 0.4 * changes[0]  # the method is of the first order


@pytest.mark.parametrize('name', ['four-bar, weld', 'gears', 'delta'])
def test_friction_of_all_joints_brakes_and_a_torque_that_overcomes_it_keeps_the_velocity(name):
    """That of joints without a motor acts by MuJoCo's damping, friction loss and applied forces; some are light."""
    robot = mechanism(name).with_friction(viscous=0.02, coulomb=0.5, offset=0.2, transition=1e-6)
    arm = plant(robot, 1e-4)
    for y, yd, _ in states(robot, 3):
        rigid = robot.bias_torque(y, yd)
        braked = robot.acceleration(y, yd, rigid)
        motors = robot.friction.viscous * yd + robot.friction.coulomb * np.sign(yd) + robot.friction.offset
        of_motors = robot.forward_dynamics(y, yd, rigid - motors)
        scale = np.abs(braked).max()
        assert np.abs(braked - of_motors).max() > 0.02 * scale, 'that of joints without a motor counts'
        for tau, expected in ((rigid, braked), (robot.torque(y, yd, 0.0 * yd), 0.0 * yd)):
            put(arm, robot, y, yd)
            np.testing.assert_allclose(acceleration(arm, tau), expected, rtol=0.0, atol=2e-3 * scale)


def test_strong_damping_of_motors_acts_on_the_inertia_of_the_whole_mechanism():
    """The implicit step with the mass matrix of the actuated joints: (M_y + h D) ydd = tau."""
    robot = mechanism('delta')
    pd = MotorPd(np.zeros(3), np.full(3, 50.0))
    arm = plant(robot, motors=pd)
    y, yd = robot.neutral(), np.array([0.5, -0.3, 0.2])
    put(arm, robot, y, yd)
    load = -robot.bias_torque(y, yd) - 50.0 * yd
    expected = np.linalg.solve(robot.mass_matrix(y) + 1e-3 * 50.0 * np.eye(3), load)
    np.testing.assert_allclose(acceleration(arm, np.zeros(3)), expected, rtol=1e-5)


def test_motors_with_pd_hold_it_near_a_position_command():
    robot = mechanism('palletizer')
    arm = plant(robot, motors=MotorPd(np.full(4, 1e5), np.full(4, 5e3)))
    arm.position_command[:] = robot.neutral() + 0.1
    arm.step(1000)
    np.testing.assert_allclose(arm.position, robot.neutral() + 0.1, atol=0.02)


def test_gravity_torques_and_a_wrench_hold_it_together():
    robot = mechanism('palletizer')
    arm, y = plant(robot, frame='tool'), robot.neutral()
    wrench = np.array([0.0, 0.0, 0.0, 20.0, -30.0, 100.0])
    arm.torque[:] = robot.gravity_torque(y) - robot.jacobian(y, 'tool', 'local_world_aligned').T @ wrench
    arm.wrench.apply(wrench, is_local=False)
    arm.step(100)
    np.testing.assert_allclose(arm.position, y, atol=1e-7)


def test_a_surface_holds_the_tool():
    robot = mechanism('palletizer')
    y = robot.neutral()
    height = robot.link_pose(y, 'tool')[2, 3]
    arm = plant(robot, surfaces=Surfaces([0.0, 0.0, 1.0, height - 1e-3], 'tool'), frame='tool')
    arm.torque[:] = robot.gravity_torque(y) - robot.jacobian(y, 'tool', 'local_world_aligned')[5] * 50.0
    arm.torque[0] = arm.torque[3] = 0.0
    for _ in range(1500):
        arm.torque[1:3] -= 0.5 * arm.velocity[1:3]
        arm.step()
    assert robot.link_pose(arm.position, 'tool')[2, 3] > height - 3e-3
    assert arm.contact_force[2] > 10.0


def test_brakes_and_reset():
    robot = mechanism('palletizer')
    start = robot.neutral() + 0.1
    arm = plant(robot, start=start)
    np.testing.assert_allclose(np.r_[arm.position, arm.passive_position], _all(robot, start), atol=1e-12)
    arm.step(50)
    assert np.abs(arm.velocity).max() > 0.05 and np.abs(arm.passive_velocity).max() > 0.05
    arm.close_brakes()
    held = np.r_[arm.position, arm.passive_position]
    arm.step(50)
    np.testing.assert_array_equal(np.r_[arm.position, arm.passive_position], held)
    assert not arm.velocity.any() and not arm.passive_velocity.any()
    arm.reset()
    np.testing.assert_array_equal(arm.position, start)
    assert arm.passive_joint_names == robot.followers


def _all(robot, y):
    q = dict(zip(robot.robot.joint_names, robot.positions(y), strict=True))
    return [q[name] for name in (*robot.joint_names, *robot.followers)]


def test_turns_of_a_crank_are_counted():
    """The crank turns by 7 rad from home, where a turn of it would be nearer."""
    robot = mechanism('four-bar, revolute')
    arm, home = plant(robot), robot.neutral()
    while arm.position[0] < home[0] + 7.0:
        before = arm.position[0]
        arm.torque[:] = robot.gravity_torque(arm.position) + 5.0 * (4.0 - arm.velocity)
        arm.step()
        assert 0.0 <= arm.position[0] - before < 0.01


def test_where_a_mechanism_cannot_go_on_the_brakes_close_and_the_loop_is_named():
    robot = driven(actuated(four_bar('revolute', (0.5, 0.3, 0.2, 0.3), (1.0, -1.3, 1.8)), ('crank joint',)))
    arm = plant(robot)
    with pytest.raises((LoopError, SingularError), match=r"^loop 'closing'"):
        for _ in range(3000):
            arm.torque[:] = robot.gravity_torque(arm.position) + 2.0
            arm.step()
    assert arm.brakes and not arm.velocity.any()
    assert np.abs(robot.following.mechanism.loop_errors(robot.positions(arm.position))).max() < 1e-9
    arm.reset()
    arm.brakes = False
    arm.step(10)


@pytest.mark.parametrize('torque', [1e12, 1e6])
def test_a_motion_that_diverges_ends_on_the_brakes_where_it_was(torque):
    """At once, or in a later one of several steps."""
    robot = mechanism('palletizer')
    arm = plant(robot)
    arm.torque[3] = torque
    with pytest.raises(UnstableError, match=r"largest torque 1e\+\d+ at joint 'tool joint'"):
        arm.step(20)
    np.testing.assert_allclose(arm.position, robot.neutral(), atol=1e-12)
    assert arm.brakes and not arm.velocity.any()


# What is refused


def test_a_start_out_of_reach_is_refused_with_the_loop():
    with pytest.raises((LoopError, SingularError), match=r"^loop '.*: the mechanism is at a singular position"):
        MujocoArm(mechanism('palletizer'), 1e-3, [0.0, 1.4, 2.9, 0.0])


def test_elastic_joints_are_refused():
    with pytest.raises(ArgumentError, match='palletizer has closed loops'):
        ElasticJoints(mechanism('palletizer'), 1e4)


def test_a_pin_whose_axes_are_rounded_moves_as_a_planar_point():
    """The point along its axis would hold it."""
    exact, joints = MECHANISMS['parallelogram'], [*MECHANISMS['parallelogram'].open.model.joints]
    turned = np.array([[1.0, 0.0, 0.0], [0.0, np.cos(1e-4), -np.sin(1e-4)], [0.0, np.sin(1e-4), np.cos(1e-4)]])
    joints[0] = replace(joints[0], rotation=turned @ joints[0].rotation)
    tree = Robot(Model.of('rounded', exact.open.link_names[0], joints))
    near = dict(zip(tree.joint_names, map(float, exact.q), strict=True))
    robot = driven(tree.with_loops(exact.loops, actuated=ACTUATED['parallelogram'], near=near))
    arm = plant(robot)
    for y, yd, tau in states(robot, 10):
        put(arm, robot, y, yd)
        expected = robot.forward_dynamics(y, yd, tau)
        np.testing.assert_allclose(acceleration(arm, tau), expected, rtol=0.0, atol=5e-7 * np.abs(expected).max())


def test_springs_and_dampers_of_closures_act():
    robot = mechanism('four-bar, revolute').following.mechanism
    (pin,) = robot.loops.closures
    strong = replace(pin, stiffness=30.0, damping=2.0, rest=0.4)
    loops = [*robot.loops.couplings, strong]
    near = dict(zip(robot.joint_names, map(float, mechanism('four-bar, revolute').following.at_home.q), strict=True))
    sprung = driven(robot.with_loops(loops, actuated=robot.loops.actuated, near=near))
    arm = plant(sprung)
    for y, yd, tau in states(sprung, 10):
        put(arm, sprung, y, yd)
        expected = sprung.forward_dynamics(y, yd, tau)
        unsprung = mechanism('four-bar, revolute').forward_dynamics(y, yd, tau)
        np.testing.assert_allclose(acceleration(arm, tau), expected, rtol=0.0, atol=5e-7 * np.abs(expected).max())
        assert np.abs(expected - unsprung).max() > 0.5


def test_joints_of_several_coordinates_are_refused_where_mujoco_lacks_them_or_no_loops_move_them():
    ball = moving('ball', 'base', (0.0, 0.0, 0.0), rod(0.3, 1.0), X, 'spherical')
    with pytest.raises(ModelError, match="joint 'ball joint' is spherical"):
        MujocoArm(Robot(Model.of('r', 'base', [ball])), 1e-3, np.zeros(4))
    first = moving('arm', 'base', (0.0, 0.0, 0.0), rod(0.3, 1.0))
    floating = moving('body', 'arm', (0.0, 0.0, 0.0), rod(0.3, 1.0), X, 'free')
    with pytest.raises(ModelError, match="joint 'body joint': MuJoCo has free joints on the base alone, not on 'arm'"):
        mujoco_plant(Model.of('r', 'base', [first, floating]))


def test_a_free_joint_with_an_origin_is_where_it_is():
    """The platform of a delta robot whose free joint is turned and moved."""
    given = MECHANISMS['delta']
    turned = pose((0.1, -0.2, -0.3))[:3, 3], np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    joints = tuple(
        moving('platform', 'base', turned[0], it.inertia, X, 'free', turned[1]) if it.kind == 'free' else it
        for it in given.joints
    )
    near = given.near.copy()
    near[:3] = turned[1].T @ (near[:3] - turned[0])
    near[3:7] = 0.0, 0.0, -np.sqrt(0.5), np.sqrt(0.5)
    model = Robot(Model.of('r', 'base', joints)).with_loops(given.loops)
    q = model.close_loops(near).q
    names = [model.model.joint_of_coordinate(k) for k in range(model.nq)]
    robot = driven(
        model.with_loops(
            given.loops, actuated=ARMS, near={n: float(x) for n, x in zip(names, q, strict=True) if names.count(n) == 1}
        )
    )
    arm = plant(robot)
    for y, yd, tau in states(robot, 3):
        put(arm, robot, y, yd)
        expected = robot.forward_dynamics(y, yd, tau)
        np.testing.assert_allclose(acceleration(arm, tau), expected, rtol=0.0, atol=5e-7 * np.abs(expected).max())
