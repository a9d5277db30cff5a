"""The arm that a torque node controls: payload and gravity, whichever thread changes them; presets and motors."""

import time

import numpy as np
import pytest
import rclpy
import yaml
from rclpy.parameter import Parameter
from std_msgs.msg import Float64MultiArray

from robot_dynamics_interfaces.msg import GravityState, PayloadState
from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.law import MeasuredState
from robot_dynamics_ros.control.payload.payload_blending import GravityTorque
from robot_dynamics_ros.messages.stamps import set_nanoseconds
from robot_dynamics_ros.nodes.executables.gravity_compensation_node import GravityCompensationNode
from robot_dynamics_ros.nodes.executables.simulated_arm import SimulatedArm
from robot_dynamics_ros.nodes.executables.torque_controller import TorqueController
from robot_dynamics_ros.nodes.outputs.torque_publishers import JUMP_WARNED

SECOND = 1_000_000_000


@pytest.fixture
def arm(configured):
    """The ControlledArm of a configured node."""
    return configured(GravityCompensationNode).task.arm


def test_a_law_follows_a_clock_that_was_set_back_while_the_law_was_made(arm):
    now = arm.payload_gravity._node.get_clock().now().nanoseconds
    message = PayloadState(mass=2.0, frame='ee_link', ramp_time=1.0)
    set_nanoseconds(message.stamp, now)
    arm.payload_gravity._receive('payload_state', message)
    after = now - 300 * SECOND
    times = iter([(now + 2 * SECOND, after)])

    def make(robot):
        for before, then in times:  # once
            arm.payload_gravity.clock_set_back(before, then)
        return GravityTorque(robot)

    blender = arm.blended(make)
    assert arm.payload_gravity.current.payload.finished(after)
    q = np.full(arm.robot.nv, 0.5)
    found, expected = np.zeros((2, arm.robot.nv))
    blender.torque(after, q, out=found)
    arm.gravity.torque(after, q, out=expected)
    assert np.abs(expected - arm.robot.gravity_torque(q)).max() > 1.0
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ('values', 'expected'),
    [
        ({}, 0.0),
        ({'preset': 'sim'}, 0.0),
        ({'preset': 'motor_pd'}, 1.0),
        ({'preset': 'motor_pd', 'fade_in_time': 0.0}, 0.0),
        ({'fade_in_time': 2.5}, 2.5),
    ],
    ids=str,
)
def test_the_torque_fades_in_as_stated_else_as_the_preset_says(configured, values, expected):
    assert configured(GravityCompensationNode, **values).task.arm.fade_in_time == expected


def test_diagnostics_say_that_the_torque_fades_in(configured):
    node = configured(GravityCompensationNode, preset='motor_pd')
    node.trigger_activate()
    assert 'fading in' not in node.task.warnings()
    pipeline = node.task.pipeline
    pipeline._sends = True
    pipeline._fade_in.restart(np.zeros(6))
    assert 'fading in' in node.task.warnings()
    node.trigger_deactivate()
    assert 'fading in' not in node.task.warnings()


def test_torque_controller_whose_pd_would_fade_in_too_does_not_fade_in(configured):
    assert not configured(TorqueController, fade_in_time=1.0).has_parameter('fade_in_time')
    task = configured(TorqueController, stiffness=[9.0] * 6, damping=[1.0] * 6, state_rate=500.0).task
    assert task.arm.fade_in_time == 0.0


def test_a_torque_scale_that_no_motor_has_is_refused_when_it_is_set(configured):
    node = configured(GravityCompensationNode, torque_scale=[4.0])
    assert node.task.arm.torque_scale.tolist() == [4.0] * 6
    for wrong in ([0.0], [-4.0], [float('nan')], [float('inf')], [1.0, 2.0], [1e-310], [101.0]):
        (result,) = node.set_parameters([Parameter('torque_scale', value=wrong)])
        assert not result.successful and result.reason.startswith('torque_scale: expected'), wrong
    (result,) = node.set_parameters([Parameter('torque_scale', value=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])])
    assert result.successful


def test_a_negative_fade_in_time_other_than_that_of_the_preset_is_refused(configured):
    node = configured(GravityCompensationNode)
    for stated, successful in ((-0.5, False), (-1.0, True), (0.0, True)):
        (result,) = node.set_parameters([Parameter('fade_in_time', value=stated)])
        assert result.successful == successful
        assert successful or result.reason == 'fade_in_time: expected -1 or at least 0, got -0.5'


@pytest.mark.parametrize(
    ('kind', 'values', 'reason'),
    [
        (GravityCompensationNode, {'fade_in_time': -0.5}, 'fade_in_time: expected -1 or at least 0, got -0.5'),
        (TorqueController, {'preset': 'motor_pd'}, 'preset motor_pd: the PD of this controller would be added'),
        (GravityCompensationNode, {'hand_guiding': True}, 'hand_guiding: only motors with a PD'),
        (SimulatedArm, {'actuation': 'motor_pd'}, 'motor_stiffness: not stated'),
        (SimulatedArm, {'actuation': 'motor_pd', 'motor_stiffness': [9.0]}, 'motor_damping: not stated'),
        (
            SimulatedArm,
            {'actuation': 'motor_pd', 'motor_stiffness': [9.0, 1.0]},
            'motor_stiffness: expected one finite',
        ),
        (SimulatedArm, {'joint_stiffness': [1e4]}, "elastic joints: joint 'upperArm_joint' has no rotor inertia"),
        (SimulatedArm, {'joint_stiffness': [1e4, 2e4]}, 'joint_stiffness: expected one finite'),
        (SimulatedArm, {'joint_damping': [1.0]}, 'joint_damping: rigid joints have none; state joint_stiffness'),
    ],
    ids=lambda value: getattr(value, '__name__', str(value)),
)
def test_a_node_that_does_not_fit_the_motors_is_not_configured(configured, kind, values, reason):
    assert configured(kind, **values).silence.startswith(f'not configured: {reason}')


def test_a_payload_that_changes_while_the_arm_is_guided_holds_the_position_command(configured):
    node = configured(GravityCompensationNode, preset='motor_pd', hand_guiding=True)
    law, state = node.task.pipeline.law, MeasuredState(*np.zeros((2, 6)))
    reason = (
        'payload or gravity changed while the arm was guided: the position command is held; check the payload, then '
        'deactivate and activate'
    )

    def tell(topic, message):
        set_nanoseconds(getattr(message, 'header', message).stamp, node.get_clock().now().nanoseconds)
        node.task.arm.payload_gravity._receive(topic, message)
        return law.held, reason in node.task.warnings()

    def payload(mass):
        return PayloadState(mass=mass, frame='ee_link')

    node.trigger_activate()
    assert tell('payload_state', payload(2.0)) == (False, False)
    law.torque(state, np.zeros(6))
    assert tell('payload_state', payload(2.0)) == (False, False)  # of a server that has started again
    assert tell('payload_state', payload(0.0)) == (True, True)
    assert tell('payload_state', payload(2.0)) == (True, True)
    node.trigger_deactivate()
    assert reason not in node.task.warnings()
    node.trigger_activate()
    assert not law.held and reason not in node.task.warnings()
    law.torque(state, np.zeros(6))
    gravity = GravityState()
    gravity.gravity.z = -3.7
    gravity.header.frame_id = node.robot.link_names[0]
    assert tell('gravity_state', gravity) == (True, True)


def test_a_jump_of_a_joint_state_is_a_warning_for_a_while(configured, monkeypatch):
    node = configured(GravityCompensationNode, preset='motor_pd', hand_guiding=True)
    node.trigger_activate()
    law = node.task.pipeline.law
    reason = "joint 'wrist' moved further between two states than it can: the position command did not follow (3 times)"
    assert node.task.warnings() == []
    law.jumps, law.jumped = 3, 'wrist'
    assert node.task.warnings() == [reason]
    later = time.monotonic() + 2.0 * JUMP_WARNED
    monkeypatch.setattr(time, 'monotonic', lambda: later)
    assert node.task.warnings() == []
    law.jumps = 4
    assert node.task.warnings() == [reason.replace('3', '4')]
    law.stop_following()
    assert node.task.warnings() == []


def test_the_guiding_speed_is_positive_and_at_most_the_velocity_limit(configured):
    node = configured(GravityCompensationNode, preset='motor_pd', hand_guiding=True, guiding_speed=[0.5])
    for wrong in ([0.0], [-1.0], [float('inf')], [1.0, 2.0]):
        (result,) = node.set_parameters([Parameter('guiding_speed', value=wrong)])
        assert result.reason.startswith('guiding_speed: expected one finite number > 0 or 6'), wrong


def test_several_publishers_of_position_commands_are_a_warning(configured):
    node = configured(GravityCompensationNode, preset='motor_pd', hand_guiding=True)
    assert node.task.warnings() == []
    other = rclpy.create_node('another', context=node.context)
    other.create_publisher(Float64MultiArray, 'position_commands', 1)
    others = '(/another, /gravity_compensation_node)'
    assert f'2 publishers of /position_commands {others}: the arm gets' in node.task.warnings()[0]
    other.destroy_node()


def test_a_torque_from_before_the_activation_does_not_act_with_the_first_position_command(configured):
    gains = {'motor_stiffness': [100.0], 'motor_damping': [5.0]}
    node = configured(SimulatedArm, actuation='motor_pd', **gains)
    plant = node.task._arm
    node.trigger_activate()
    node.task._on_command(Float64MultiArray(data=[-20.0] * 6))
    node.trigger_deactivate()
    node.task._on_command(Float64MultiArray(data=[-10.0] * 6))
    node.trigger_activate()
    node.task._on_position(Float64MultiArray(data=plant.position.tolist()))
    assert not plant.brakes and not plant.torque.any()


def test_a_position_command_moves_a_simulated_arm_with_motors_of_the_mit_type(configured):
    gains = {'motor_stiffness': [100.0], 'motor_damping': [5.0]}
    node = configured(SimulatedArm, actuation='motor_pd', **gains)
    node.trigger_activate()
    plant, goal = node.task._arm, [0.3, 0.0, 0.0, 0.0, 0.0, 0.0]
    for wrong in (goal[:5], [np.nan] * 6):
        node.task._on_position(Float64MultiArray(data=wrong))
        assert plant.brakes
    node.task._on_position(Float64MultiArray(data=goal))
    assert not plant.brakes
    plant.step(500)
    assert plant.position[0] > 0.1
    node.task._on_timer()
    expected = 100.0 * (np.array(goal) - plant.position) - 5.0 * plant.velocity
    np.testing.assert_allclose(node.task._state.effort, expected, rtol=0, atol=1e-9)


def test_joint_states_of_an_arm_with_elastic_joints_are_those_of_its_motors(configured, tmp_path):
    """The torque of gravity on the links holds the motors, which move before their links."""
    rotors, start = dict.fromkeys(Robot.named('aubo_i5').joint_names, 0.5), [0.3, -0.6, 0.4, 0.2, 0.5, -0.1]
    (tmp_path / 'rotors.yaml').write_text(yaml.safe_dump({'rotor_inertia': rotors}), encoding='utf-8')
    values = {'actuators': str(tmp_path / 'rotors.yaml'), 'joint_stiffness': [5e3], 'joint_damping': [5.0]}
    node = configured(SimulatedArm, start=start, **values)
    node.trigger_activate()
    plant = node.task._arm
    links = np.array(start) + plant._data.qpos[plant._springs._q]
    assert 5e-3 < abs(links - start).max() < 0.03
    friction = node.robot.friction.offset
    node.task._on_command(Float64MultiArray(data=(node.robot.gravity_torque(links) + friction).tolist()))
    plant.step(50)
    node.task._on_timer()
    np.testing.assert_allclose(node.task._state.position, start, rtol=0, atol=1e-9)
    np.testing.assert_allclose(node.task._state.effort, plant.torque, rtol=0, atol=1e-12)
    node.task._on_command(Float64MultiArray(data=[200.0] + [0.0] * 5))
    before = plant._data.qpos[plant._springs._q[0]]
    plant.step(20)
    assert plant.position[0] - start[0] > 5e-3 and plant._data.qpos[plant._springs._q[0]] - before < -1e-3
    (result,) = node.set_parameters([Parameter('joint_stiffness', value=[0.0])])
    assert result.reason.startswith('joint_stiffness: expected one finite number > 0 or 6')
