"""A wrench on a simulated arm: torques J' w at each step, an end by itself, and an impedance that yields to it."""

from support.control.allocations import most_allocated
from support.robots.small_robots import AUBO, seven_joints

import numpy as np
import pytest

from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.arm.following.mimic_joints import MimicJoints
from robot_dynamics_ros.control.laws.impedance.cartesian_impedance import CartesianHold, Impedance
from robot_dynamics_ros.errors import ArgumentError, UnknownNameError, UnstableError
from robot_dynamics_ros.model.closed_loops.loop_types import Coupling
from robot_dynamics_ros.simulation.elastic_joints import ElasticJoints
from robot_dynamics_ros.simulation.plant.mujoco_arm import MujocoArm

ARM, SEVEN = AUBO.with_friction(viscous=0.0, coulomb=0.0, offset=0.0), seven_joints()
START = np.array([0.1, -0.7, 0.9, -0.1, 0.8, 0.0])
LOCKED = SEVEN.with_locked_joints({'joint_6': 0.4})  # its link_6 is a frame on link_5, away from its origin
BENT = {6: START, 7: np.full(7, 0.7)}
WRENCH = np.array([1.0, -2.0, 0.5, 20.0, -10.0, 15.0])
STEPS = 250
"""Of 1 ms, in which a wrench acts."""


def plant(robot=ARM, frame='ee_link', **more):
    arm = MujocoArm(robot, 1e-3, BENT[robot.nv], frame=frame, **more)
    arm.brakes = False
    return arm


def torque_of(robot, q, frame, is_local):
    """Return J' w in N m."""
    return robot.jacobian(q, frame, 'local' if is_local else 'local_world_aligned').T @ WRENCH


@pytest.mark.parametrize('is_local', [False, True])
@pytest.mark.parametrize(
    ('robot', 'frame'),
    [(ARM, 'ee_link'), (ARM, 'foreArm_Link'), (ARM, ''), (ARM, 'base_link'), (SEVEN, 'link_6'), (LOCKED, 'link_6')],
)
def test_motors_hold_it_with_the_torques_of_statics(robot, frame, is_local):
    arm, q = plant(robot, frame), BENT[robot.nv]
    pushed = torque_of(robot, q, frame or robot.link_names[-1], is_local)
    arm.torque[:] = robot.gravity_torque(q) - pushed
    arm.wrench.apply(WRENCH, is_local)
    arm.step(STEPS)
    np.testing.assert_allclose(arm.position, q, rtol=0.0, atol=1e-6)
    arm.step(50)  # it has ended
    assert bool(pushed.any()) == bool(np.abs(arm.position - q).max() > 1e-3) == (frame != 'base_link')


def energy(arm):
    return ARM.kinetic_energy(arm.position, arm.velocity) + ARM.potential_energy(arm.position)


@pytest.mark.compiled
@pytest.mark.parametrize('is_local', [False, True])
def test_its_power_becomes_energy_of_the_arm(is_local):
    arm = MujocoArm(ARM, 1e-4, START, frame='ee_link')
    arm.brakes, before, work = False, energy(arm), 0.0
    arm.torque[:] = ARM.gravity_torque(START)
    arm.wrench.apply(WRENCH, is_local)
    for _ in range(2500):
        q = arm.position
        arm.step()
        middle, moved = 0.5 * (q + arm.position), arm.position - q
        work += (torque_of(ARM, middle, 'ee_link', is_local) + arm.torque) @ moved
    assert np.abs(arm.position - START).max() > 0.3
    assert energy(arm) - before == pytest.approx(work, rel=0.01)


@pytest.mark.compiled
def test_steps_that_are_simulated_at_once_are_those_one_by_one():
    arms = plant(), plant()
    for arm, count in zip(arms, (1, 300), strict=True):
        arm.wrench.apply(WRENCH, True)
        for _ in range(300 // count):
            arm.step(count)
    np.testing.assert_array_equal(*(arm.position for arm in arms))


def test_it_ends_after_a_quarter_of_a_second_of_the_arm_and_with_the_brakes():
    arm = plant()
    arm.torque[:] = ARM.gravity_torque(START)
    assert not arm.wrench.in_force.any()
    for again in (0, 100):  # a newer one begins anew
        arm.reset()
        arm.brakes = False
        arm.wrench.apply(WRENCH, False)
        arm.step(again)
        arm.wrench.apply(WRENCH, True)
        arm.step(STEPS - 2)
        axes = ARM.link_pose(arm.position, 'ee_link')[:3, :3]
        arm.step()
        assert arm.wrench.steps_left == 1
        np.testing.assert_allclose(arm.wrench.in_force, np.ravel([axes @ part for part in np.split(WRENCH, 2)]))
        arm.step()
        assert not arm.wrench.in_force.any()
    arm.wrench.apply(WRENCH, False)
    arm.close_brakes()
    arm.brakes = False
    held = arm.position
    arm.torque[:] = ARM.gravity_torque(held)
    arm.step(STEPS // 5)
    np.testing.assert_allclose(arm.position, held, rtol=0.0, atol=1e-6)


def test_closed_brakes_hold_against_it():
    arm = plant()
    arm.close_brakes()
    arm.wrench.apply(100.0 * WRENCH, False)
    arm.step(STEPS)
    np.testing.assert_array_equal(arm.position, START)


@pytest.mark.compiled
@pytest.mark.parametrize('robot', [ARM, SEVEN], ids=['six joints', 'seven joints'])
@pytest.mark.parametrize('direction', range(3))
def test_an_arm_on_springs_of_its_tool_yields_by_force_over_stiffness(robot, direction):
    frame, stiffness, n = robot.link_names[-1], np.array([40.0, 40.0, 40.0, 500.0, 800.0, 1000.0]), robot.nv
    law = CartesianHold(robot, Impedance(stiffness, np.full(n, 2.0), np.full(n, 2.0), 1.0))
    arm, held = plant(robot, ''), BENT[n].copy()
    push, out = np.zeros(6), np.empty(n)
    push[3 + direction] = 10.0

    def moved(steps, push):
        """Return by how much the tool has moved after so many steps."""
        for k in range(steps):
            if k % 50 == 0 and push.any():
                arm.wrench.apply(push, False)
            law.torque(arm.position, arm.velocity, held, out)
            arm.torque[:] = out
            arm.step()
        return (robot.link_pose(arm.position, frame) - robot.link_pose(held, frame))[direction, 3]

    assert moved(3000, push) == pytest.approx(10.0 / stiffness[3 + direction], rel=0.03)
    assert moved(3000, np.zeros(6)) == pytest.approx(0.0, abs=2e-4)  # it comes back


def test_it_acts_behind_the_springs_of_joints_and_on_links_of_followers():
    arm = plant(elastic=ElasticJoints(ARM.with_rotor_inertia(np.full(6, 0.5)), np.full(6, 1e4)))
    arm.wrench.apply(WRENCH, False)
    arm.wrench.add_to(found := np.zeros(12))
    expected = torque_of(ARM, START, 'ee_link', False)  # of motors, and of deflections of springs beside them
    np.testing.assert_allclose(found.reshape(6, 2), np.column_stack([expected, expected]), rtol=0.02)
    driven = DrivenRobot(ARM, MimicJoints(ARM, [Coupling('wrist1_joint', 'foreArm_joint', (0.0, -1.0))]))
    arm = MujocoArm(driven, 1e-3, START[[0, 1, 2, 4, 5]], frame='ee_link')
    arm.wrench.apply(WRENCH, False)
    arm.wrench.add_to(found := np.zeros(6))
    np.testing.assert_allclose(found, torque_of(ARM, arm._data.qpos, 'ee_link', False), rtol=1e-9, atol=1e-9)


def test_no_memory_is_taken_for_each_step():
    arm = plant()

    def steps(count):
        arm.wrench.apply(WRENCH, True)
        arm.step(count)

    steps(1)
    few, many = (most_allocated(lambda count=count: steps(count)) for count in (2, 200))
    assert many < few + 500


def test_a_force_that_throws_the_arm_is_named_where_its_motion_diverges():
    arm = plant()
    arm.wrench.apply(np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1e30]), False)
    with pytest.raises(UnstableError, match=r', applied force 1e\+30 N$'):
        arm.step(10)
    assert arm.brakes and not arm.wrench.in_force.any()
    np.testing.assert_array_equal(arm.position, START)


def test_a_wrong_wrench_and_a_wrong_frame_are_refused_by_name():
    with pytest.raises(ArgumentError, match=r'^wrench\[1\]: nan is not finite'):
        plant().wrench.apply([0.0, np.nan, 0.0, 0.0, 0.0, 0.0], False)
    with pytest.raises(UnknownNameError, match='nose'):
        plant(frame='nose')
