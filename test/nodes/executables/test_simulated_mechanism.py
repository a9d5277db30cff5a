"""simulated_arm with a palletizer: states of all joints, commands of the actuated ones, and where it cannot go on."""

import time

from support.nodes import graph as ros
from support.robots.mechanisms import MECHANISMS, PALLETIZER_ACTUATED, actuated

import numpy as np
import pytest
import rclpy
from rclpy.parameter import Parameter
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.arm.following.closed_mechanism import ClosedMechanism
from robot_dynamics_ros.nodes.executables.simulated_arm import SimulatedArm

ROBOT = actuated(MECHANISMS['palletizer'], PALLETIZER_ACTUATED)
ARM = DrivenRobot(ROBOT.with_loops([]), ClosedMechanism(ROBOT, ROBOT.loops.actuated))


@pytest.fixture
def make(tmp_path):
    """Return a function that makes an active node of this process; all are destroyed afterwards."""
    path, context, nodes = tmp_path / 'palletizer.yaml', rclpy.Context(), []
    path.write_text(ROBOT.to_yaml(), encoding='utf-8')
    context.init(domain_id=ros.DOMAIN)

    def made(**values):
        values = {'model': str(path), 'command_timeout': 5.0, **values}
        overrides = [Parameter(key, value=value) for key, value in values.items()]
        nodes.append(SimulatedArm(parameter_overrides=overrides, context=context))
        nodes[-1].get_logger().set_level(rclpy.logging.LoggingSeverity.FATAL)
        nodes[-1].start()
        return nodes[-1]

    yield made
    for node in nodes:
        node.fall_silent()
        node.destroy_node()
    context.try_shutdown()


def state_after(node, torque, seconds: float):
    """Send torques for some time; return the joint state afterwards."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        node.task._on_command(Float64MultiArray(data=list(torque)))
        node.task._on_timer()
    return node.task._state


def test_states_have_the_actuated_joints_first_and_all_loops_closed(make):
    node = make()
    torque = ARM.gravity_torque(ARM.neutral()) + np.array([30.0, -20.0, 10.0, 1.0])
    state = state_after(node, torque, 0.3)
    assert state.name == [*ARM.joint_names, *ARM.followers]
    y = np.array(state.position[:4])
    assert np.abs(y - ARM.neutral()).max() > 1e-3
    q = dict(zip(state.name, state.position, strict=True))
    np.testing.assert_allclose([q[name] for name in ROBOT.joint_names], ARM.positions(y), atol=1e-9)
    qd = dict(zip(state.name, state.velocity, strict=True))
    rates = ROBOT.loop_rates(ARM.positions(y), np.array([qd[name] for name in ROBOT.joint_names]))
    assert np.abs(rates).max() < 1e-9
    np.testing.assert_allclose(state.effort, [*torque, *[0.0] * 6])


def test_commands_are_those_of_the_actuated_joints(make):
    node = make()
    node.task._on_command(Float64MultiArray(data=[0.0] * 10))
    assert node.task.report()['brakes'] == 'closed'
    node.task._on_command(Float64MultiArray(data=[0.0] * 4))
    assert node.task.report()['brakes'] == 'open'


def test_the_start_that_is_not_stated_is_where_the_loops_are_closed(make):
    assert np.array(make().task._state.position).size == 10
    np.testing.assert_allclose(make().task._arm.position, ARM.neutral())
    np.testing.assert_allclose(make(start=[0.1, 1.5, -0.1, 0.2]).task._arm.position, [0.1, 1.5, -0.1, 0.2])


def test_a_start_out_of_reach_is_refused_with_the_loop(make):
    node = make(start=[0.0, 1.4, 2.9, 0.0])
    assert not node.active and "loop 'fore ties'" in node.silence


def test_where_it_cannot_go_on_it_is_silent_until_its_reset(make):
    node = make()
    torque = ARM.gravity_torque(ARM.neutral()) + np.array([0.0, 0.0, 300.0, 0.0])
    state_after(node, torque, 3.0)
    assert node.silence.startswith("the arm cannot go on, its brakes are closed: loop '")
    assert node.silence.endswith('; call ~/reset')
    assert node.task._on_reset(None, Trigger.Response()).success
    node.task._on_timer()
    assert not node.silence
    np.testing.assert_allclose(node.task._state.position[:4], ARM.neutral())
