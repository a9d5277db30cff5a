"""What a simulated arm does about the time that a busy machine has lost."""

from types import SimpleNamespace

import support.graph  # noqa: F401 - sets the ROS domain before rclpy is imported

import numpy as np
import pytest
from rclpy.parameter import Parameter
from std_msgs.msg import Float64MultiArray

from robot_dynamics_ros.nodes import plant_loop
from robot_dynamics_ros.nodes.simulated_arm import SimulatedArm
from robot_dynamics_ros.simulation.arm_clock import ArmClock


@pytest.fixture
def arm(file_graph):
    """An active node of this process, in no executor."""
    node = SimulatedArm(namespace='alone', parameter_overrides=[Parameter('model', value='aubo_i5')])
    node.trigger_configure()
    node.trigger_activate()
    yield node
    node.fall_silent()
    node.destroy_node()


@pytest.mark.parametrize(('speed', 'regained'), [(0.0, True), (0.5, False)], ids=['at rest', 'in motion'])
def test_lost_time_is_made_up_while_the_arm_rests(monkeypatch, arm, speed, regained):
    loop, now, numbers = arm.task, [0], np.zeros(6)
    loop._arm = SimpleNamespace(
        brakes=False,
        position=numbers,
        velocity=numbers,
        torque=numbers.copy(),
        motor_torque=numbers,
        step=lambda count: None,
    )
    loop._arm_time = ArmClock(plant_loop.STEP, lambda: now[0], lambda: now[0], lambda: False)

    def tick(duration):
        now[0] += duration
        loop._on_command(Float64MultiArray(data=[0.0] * 6))
        loop._on_timer()

    tick(2_000_000)
    monkeypatch.setattr(loop._arm, 'velocity', np.full(6, speed))
    tick(500_000_000)  # the machine was busy
    lost = loop._arm_time.steps_lost
    assert lost > 400 and loop._arm_time.stamp == now[0] - lost * plant_loop.STEP
    for _ in range(300):
        tick(2_000_000)
    assert loop._arm_time.steps_lost == (0 if regained else lost)
    assert loop._arm_time.stamp == now[0] - loop._arm_time.steps_lost * plant_loop.STEP
