"""The whole torque of motors and its inverse: against its terms, MuJoCo, what nodes add up, and exported C."""

from support.robots.robots_with_friction import FRICTION, coupled, expected_torque, identified, learnt, sprung
from support.robots.small_robots import general

import mujoco
import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.terms.compensation import KNOWN_TERMS, TERMS, Compensation
from robot_dynamics_ros.errors import ArgumentError, ModelError

COUNT = 20
ROBOTS = {'springs': sprung, 'identified': identified, 'bare': lambda: Robot.named('aubo_i5')}
EACH = pytest.mark.parametrize('name', ROBOTS)


def motion(robot: Robot, seed: int = 0) -> np.ndarray:
    """Return q, qd and qdd (3, COUNT, nv)."""
    return np.random.default_rng(seed).normal(size=(3, COUNT, robot.nv))


@EACH
def test_it_is_the_sum_of_its_terms_in_single_states_batches_and_own_code(name):
    robot = ROBOTS[name]()
    q, qd, qdd = motion(robot)
    expected = expected_torque(robot, q, qd, qdd)
    bound = 1e-12 * np.abs(expected).max()
    for of in (robot, robot.compiled('torque')):
        np.testing.assert_allclose(of.torque(q, qd, qdd), expected, rtol=0.0, atol=bound)
        for k in range(COUNT):
            np.testing.assert_allclose(of.torque(q[k], qd[k], qdd[k]), expected[k], rtol=0.0, atol=bound)


@EACH
def test_the_acceleration_is_its_inverse(name):
    robot = ROBOTS[name]()
    q, qd, qdd = motion(robot)
    tau = robot.torque(q, qd, qdd)
    for of in (robot, robot.compiled('acceleration')):
        np.testing.assert_allclose(of.acceleration(q, qd, tau), qdd, rtol=0.0, atol=1e-10)
        np.testing.assert_allclose(of.acceleration(q[0], qd[0], tau[0]), qdd[0], rtol=0.0, atol=1e-10)


def test_without_friction_springs_and_residual_it_is_inverse_dynamics():
    robot = Robot.named('aubo_i5').with_friction(
        **{**dict.fromkeys(FRICTION, 0.0), 'transition': 1, 'stribeck_velocity': 1}
    )
    q, qd, qdd = motion(robot)
    np.testing.assert_array_equal(robot.torque(q, qd, qdd), robot.inverse_dynamics(q, qd, qdd))
    tau = robot.torque(q, qd, qdd)
    np.testing.assert_array_equal(robot.acceleration(q, qd, tau), robot.forward_dynamics(q, qd, tau))


def test_springs_and_viscous_friction_are_those_of_mujoco():
    text = """<mujoco><option gravity="0 0 -9.81"/><compiler autolimits="true"/><worldbody>
      <body pos="0 0 1"><joint name="a" axis="0 1 0" stiffness="30" springref="20" damping="2" armature="0.1"/>
        <geom type="capsule" size="0.05" fromto="0 0 0 0.4 0 0"/>
        <body pos="0.4 0 0"><joint name="b" type="slide" axis="0 0 1" stiffness="90" springref="0.1" damping="5"/>
          <geom type="capsule" size="0.04" fromto="0 0 0 0 0 0.3"/></body></body></worldbody></mujoco>"""
    robot, model = Robot.from_mjcf(text), mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    for q, qd, qdd in np.random.default_rng(1).normal(size=(10, 3, 2)):
        data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, qdd
        mujoco.mj_inverse(model, data)
        np.testing.assert_allclose(robot.torque(q, qd, qdd), data.qfrc_inverse, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize('residual', [False, True])
def test_it_is_what_nodes_add_up(residual):
    robot = identified()
    model = robot.residual if residual else None
    terms = KNOWN_TERMS if residual else TERMS
    of_node = Compensation(robot.with_residual(None), terms, model)
    of_node_with = robot if residual else robot.with_residual(None)
    out = np.empty(robot.nv)
    for q, qd, qdd in motion(robot).swapaxes(0, 1):
        of_node.torque(q, qd, qdd, out)
        expected = of_node_with.torque(q, qd, qdd)
        np.testing.assert_allclose(out, expected, rtol=0.0, atol=1e-12 * np.abs(expected).max())


def test_coupled_motors_count_with_their_own_velocities():
    robot = coupled()
    q, qd, qdd = motion(robot)
    tau = robot.torque(q, qd, qdd)
    np.testing.assert_allclose(
        tau, robot.inverse_dynamics(q, qd, qdd) + robot.friction_torque(qd), rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(robot.acceleration(q, qd, tau), qdd, atol=1e-10)
    with pytest.raises(ModelError, match=r"acceleration: the motor of joint '.*' is coupled"):
        robot.with_friction(load=0.1).acceleration(q, qd, tau)


def test_what_has_no_inverse_is_refused():
    robot = Robot.named('aubo_i5').with_friction(load=[0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    q, qd, qdd = motion(robot)
    assert np.isfinite(robot.torque(q, qd, qdd)).all()
    with pytest.raises(
        ModelError, match=r"acceleration: joint 'foreArm_joint' cannot move, its friction grows by 1 per"
    ):
        robot.acceleration(q, qd, qdd)


def test_a_residual_of_another_robot_is_refused():
    robot = Robot.named('aubo_i5')
    residual = learnt(robot)
    with pytest.raises(ArgumentError, match='fitted to another model'):
        robot.with_residual(residual._replace(model_digest='0' * 16))
    with pytest.raises(ArgumentError, match='residual model is for joints'):
        robot.with_residual(residual._replace(joint_names=('a',)))
    with pytest.raises(ArgumentError, match='fitted to another model'):
        robot.with_residual(residual).with_rotor_inertia(1.0 + robot.rotor_inertia)
    planar = general('planar')
    with pytest.raises(ArgumentError, match=r"residual: joint 'a': expected one degree of freedom, got a planar joint"):
        planar.with_residual(learnt(planar))
