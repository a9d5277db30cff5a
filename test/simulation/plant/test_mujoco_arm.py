"""The MuJoCo plant: without errors it follows our forward dynamics, with errors it differs by them."""

import re

from support.robots.facade_robots import TREE

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.arm.following.mimic_joints import MimicJoints
from robot_dynamics_ros.errors import ArgumentError, UnstableError
from robot_dynamics_ros.formats.library import named_urdf
from robot_dynamics_ros.simulation.plant.mujoco_arm import MujocoArm

URDF = named_urdf('aubo_i5').read_text(encoding='utf-8')
ROBOT = Robot.named('aubo_i5').with_gravity((1.0, -2.0, -9.0))
NO_FRICTION = Robot.from_urdf(re.sub(r'<dynamics[^>]*>', '', URDF)).with_gravity((1.0, -2.0, -9.0))
START = np.array([0.3, 0.8, -1.2, 0.5, 0.9, -0.4])
STEP = 1e-5  # s


def plant(robot=ROBOT, period=STEP, start=START, **errors) -> MujocoArm:
    arm = MujocoArm(robot, period, start, **errors)
    arm.brakes = False
    return arm


def moving(seed, friction_error=0.0):
    """Return a plant whose joints move at about 1 rad/s, either way, and a torque that changes that by some rad/s^2.

    MuJoCo's Coulomb friction slows a joint down by at most about 100 times its speed per second: much harder braking
    than asked for here would feel less of it.
    """
    rng = np.random.default_rng(seed)
    wanted, arm = rng.choice([-1.0, 1.0], 6) * rng.uniform(0.8, 1.3, 6), plant(friction_error=friction_error)

    def torque(qdd):
        friction = (1 + friction_error) * ROBOT.friction_torque(arm.velocity)
        return ROBOT.inverse_dynamics(arm.position, arm.velocity, qdd) + friction

    for _ in range(600):
        arm.torque[:] = torque(100.0 * (wanted - arm.velocity))
        arm.step(10)
    assert (abs(arm.velocity) > 0.5).all()
    return arm, torque(rng.uniform(-10.0, 10.0, 6))


def acceleration(arm, torque):
    """Return q, qd and the mean acceleration over the next step under ``torque``."""
    q, qd = arm.position, arm.velocity
    arm.torque[:] = torque
    arm.step()
    return q, qd, (arm.velocity - qd) / arm.period


@pytest.mark.compiled
@pytest.mark.parametrize('seed', range(5))
def test_it_follows_our_forward_dynamics_less_friction(seed):
    """To 0.05 rad/s^2 of some 10: a step of 10 us, and Coulomb friction that in ours has 0.9998 of its size there."""
    arm, torque = moving(seed)
    q, qd, qdd = acceleration(arm, torque)
    wanted = ROBOT.forward_dynamics(q, qd, torque - ROBOT.friction_torque(qd))
    assert qdd == pytest.approx(wanted, abs=0.05)
    assert abs(ROBOT.forward_dynamics(q, qd, torque) - wanted).max() > 5.0


def test_without_friction_it_follows_to_a_millionth():
    """From rest, with no friction at all, over a step of 10 us."""
    torque = np.array([30.0, -50.0, 20.0, 5.0, -3.0, 2.0])
    q, qd, qdd = acceleration(plant(NO_FRICTION), torque)
    wanted = NO_FRICTION.forward_dynamics(q, qd, torque)
    assert q.tolist() == START.tolist() and not qd.any()
    assert qdd == pytest.approx(wanted, abs=1e-6 * abs(wanted).max())


def test_the_torque_that_gravity_asks_for_holds_it():
    arm = plant(NO_FRICTION, period=0.001)
    arm.torque[:] = NO_FRICTION.gravity_torque(START)
    arm.step(50)
    assert arm.position == pytest.approx(START, abs=1e-9)
    arm.torque[1] += 1.0
    arm.step(50)
    assert arm.position[1] - START[1] > 1e-6


@pytest.mark.parametrize('error', [-0.3, 0.1, 1.0])
def test_a_mass_error_scales_every_mass_and_inertia(error):
    """(1 + error) times the model's bodies, beside rotors that stay: M and the torques of gravity say so."""
    torque = np.array([30.0, -50.0, 20.0, 5.0, -3.0, 2.0])
    robot = NO_FRICTION.with_actuators(
        {'rotor_inertia': dict(zip(ROBOT.joint_names, ROBOT.rotor_inertia, strict=True))}
    )
    _, _, qdd = acceleration(plant(robot, mass_error=error), torque)
    bodies = robot.mass_matrix(START) - np.diag(robot.rotor_inertia)
    M = (1 + error) * bodies + np.diag(robot.rotor_inertia)
    wanted = np.linalg.solve(M, torque - (1 + error) * robot.gravity_torque(START))
    assert qdd == pytest.approx(wanted, abs=1e-6 * abs(wanted).max())


@pytest.mark.compiled
@pytest.mark.parametrize('error', [-1.0, -0.5, 0.2, 1.0])
def test_a_friction_error_scales_viscous_coulomb_and_offset(error):
    arm, torque = moving(1, error)
    q, qd, qdd = acceleration(arm, torque)
    assert qdd == pytest.approx(
        ROBOT.forward_dynamics(q, qd, torque - (1 + error) * ROBOT.friction_torque(qd)), abs=0.05
    )
    for figure in (ROBOT.friction.viscous * qd, ROBOT.friction.coulomb, ROBOT.friction.offset):
        assert abs(ROBOT.forward_dynamics(q, qd, figure) - ROBOT.forward_dynamics(q, qd, 0 * qd)).max() > 0.5


@pytest.mark.parametrize('direction', [-1.0, 1.0])
def test_below_coulomb_friction_it_creeps_and_above_it_runs(direction):
    """After 0.2 s at 0.8 and 1.5 times Coulomb friction, less than 0.04 and more than 0.15 rad/s."""
    hold = ROBOT.gravity_torque(START) + ROBOT.friction.offset
    speeds = []
    for part in (0.8, 1.5):
        arm = plant(period=0.001)
        arm.torque[:] = hold + direction * part * ROBOT.friction.coulomb
        arm.step(200)
        speeds.append(direction * arm.velocity)
    assert (abs(speeds[0]) < 0.04).all() and (speeds[1] > 0.15).all()


def test_brakes_hold_it_from_the_start_and_whenever_set():
    arm = MujocoArm(ROBOT, 0.001, START)
    assert arm.brakes is True
    arm.torque[:] = 50.0
    arm.step(100)
    assert arm.position.tolist() == START.tolist() and not arm.velocity.any()
    arm.brakes = False
    arm.step(20)
    met = arm.position
    assert abs(met - START).max() > 1e-3 and arm.velocity.any()
    arm.close_brakes()
    arm.step(100)
    assert arm.position.tolist() == met.tolist() and not arm.velocity.any()


@pytest.mark.parametrize('torque', [1e30, -1e8])
def test_a_motion_that_diverges_ends_on_the_brakes_where_it_was(torque, monkeypatch, tmp_path, capfd):
    monkeypatch.chdir(tmp_path)
    arm = plant(period=1e-3)
    arm.torque[2] = torque
    with pytest.raises(UnstableError) as error:
        for _ in range(100):
            before = arm.position
            arm.step()
    assert str(error.value).endswith(f"largest torque {torque:.4g} at joint 'foreArm_joint'")
    np.testing.assert_array_equal(arm.position, before)
    assert arm.brakes and not arm.velocity.any() and not arm.torque.any()
    assert capfd.readouterr() == ('', '') and not [*tmp_path.iterdir()]  # MuJoCo would print, and write a file
    arm.reset()
    arm.brakes = False
    arm.step(100)
    assert 1e-3 < abs(arm.velocity).max() < 10.0


def test_reset_engages_the_brakes():
    arm = plant(period=0.001)
    runs = []
    for _ in range(2):
        assert arm.position.tolist() == START.tolist() and not arm.velocity.any()
        arm.brakes = False
        arm.torque[:] = 40.0
        arm.step(50)
        runs.append([arm.position, arm.velocity])
        arm.reset()
        assert arm.brakes and not arm.torque.any()
    assert runs[0][1].any()
    assert np.array(runs[0]) == pytest.approx(np.array(runs[1]), abs=1e-9)  # the same torque, the same motion


def test_steps_may_be_computed_together_or_one_by_one():
    one, two = plant(period=0.001), plant(period=0.001)
    for arm in (one, two):
        arm.torque[:] = 30.0
    one.step(40)
    for _ in range(40):
        two.step()
    assert np.array_equal(one.position, two.position) and np.array_equal(one.velocity, two.velocity)
    before = one.position
    one.step(0)
    assert np.array_equal(one.position, before)


def test_a_position_belongs_to_the_caller():
    arm = plant(period=0.001)
    position, velocity = arm.position, arm.velocity
    arm.torque[:] = 30.0
    arm.step(10)
    assert position.tolist() == START.tolist() and not velocity.any()
    arm.position[:] = 9.0
    assert abs(arm.position).max() < 3.0


def test_joints_are_in_the_robots_order():
    """MuJoCo numbers joints depth first; an attached robot's come last, whatever it is attached to."""
    tree = Robot.from_urdf(TREE).with_friction(viscous=0.0, coulomb=0.0)
    robot = tree.with_attached(tree, 'sledge', prefix='b_').with_gravity((1.0, -2.0, -9.0))
    start = np.array([0.3, 0.1, -0.4, 0.5, -0.2, 0.6])
    arm = MujocoArm(robot, STEP, start)
    assert [arm._model.joint(i).name for i in range(6)] != list(robot.joint_names)
    arm.brakes = False
    q, qd, qdd = acceleration(arm, np.array([30.0, -50.0, 2.0, 5.0, -3.0, 1.0]))
    wanted = robot.forward_dynamics(q, qd, [30.0, -50.0, 2.0, 5.0, -3.0, 1.0])
    assert qdd == pytest.approx(wanted, abs=1e-6 * abs(wanted).max())


@pytest.mark.parametrize('start', [[0.0] * 5, [], [[0.0] * 6], [np.nan] * 6, [np.inf] * 6, 0.0], ids=str)
def test_a_wrong_start_is_refused(start):
    with pytest.raises(ArgumentError, match=r'^start(: expected shape \(6,\), got |\[0\]: (nan|inf) is not finite)'):
        MujocoArm(ROBOT, 0.001, start)


def test_followers_of_a_robot_with_mimic_joints_follow():
    text = TREE.replace('effort="0"/>', 'effort="0"/><mimic joint="z_turn" multiplier="-2" offset="0.3"/>')
    robot = Robot.from_urdf(text, mimic='couple')
    driven = DrivenRobot(robot.with_loops([]), MimicJoints(robot.with_loops([]), robot.loops.couplings))
    start = np.array([0.4, -0.1])
    plant = MujocoArm(driven, 1e-4, start)
    assert plant.position.tolist() == start.tolist() and len(plant.torque) == 2
    plant.brakes = False
    push = np.array([5.0, 8.0])
    plant.torque[:] = driven.gravity_torque(start) + push
    plant.step(200)
    # less Coulomb and mean viscous friction
    slid = (
        push - driven.robot.friction.coulomb[:2] - 0.5 * np.array([0.8, 5.0]) * plant.velocity
    )  # mean viscous friction
    expected = driven.forward_dynamics(start, np.zeros(2), driven.gravity_torque(start) + slid)
    # constraints of MuJoCo are soft
    np.testing.assert_allclose(plant.velocity, expected * 200 * 1e-4, rtol=0.1)
