"""dynamics_server compares measured efforts with gravity at rest, where their meaning is stated."""

from support.nodes import graph as ros
from support.nodes.payload_gravity_followers import set_payload
from support.robots.facade_robots import TREE
from support.robots.simulated_robots import four_bar

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.parameter import Parameter
from rclpy.qos import qos_profile_sensor_data
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.nodes.executables.dynamics_server import DynamicsServer
from robot_dynamics_ros.nodes.inputs.effort_input import PERIOD, SILENCE

MIMICKING = TREE.replace(
    '<limit lower="-2" upper="2" velocity="2" effort="0"/>',
    '<limit lower="-2" upper="2" velocity="2" effort="0"/><mimic joint="z_turn" multiplier="-2" offset="0.3"/>',
)
ROBOT = Robot.named('aubo_i5')
NAMES = list(ROBOT.joint_names)
STRETCHED = np.array([0.0, -1.5, 0.1, 0.0, 0.3, 0.0])
GRAVITY = ROBOT.gravity_torque(STRETCHED)


class Server:
    """A server of this process whose diagnostics are read at once, and a publisher of joint states."""

    def __init__(self, process, effort, **parameters):
        self.process = process
        overrides = [Parameter(name, value=value) for name, value in {'effort': effort, **parameters}.items()]
        self.node = process.node(DynamicsServer, parameter_overrides=overrides)
        self.node.start()
        self.states = self.node.create_publisher(JointState, 'joint_states', qos_profile_sensor_data)
        self.stamp = 0

    def status(self):
        told = []
        self.node.diagnostics.publisher.publish = told.append
        self.node.diagnostics.publish()
        (status,) = told[0].status
        return status.level, status.message, {value.key: value.value for value in status.values}

    def stand(self, effort, until, names=NAMES, position=STRETCHED):
        """Publish states of a standing arm until the status is as wanted."""

        def wanted():
            self.stamp += ros.SECOND // 5
            self.states.publish(ros.joint_state(names, self.stamp, position, np.zeros(len(names)), effort))
            return until(*self.status())

        self.process.spin_until(wanted, f'{effort}: {self.status()}')


def test_efforts_that_agree_are_reported_and_others_warned_of(process):
    server = Server(process, 'torque')
    level, message, fields = server.status()
    assert (level, fields['effort']) == (DiagnosticStatus.OK, 'torque'), message
    assert fields['effort at rest'] == 'no joint_states with efforts'
    server.stand(GRAVITY + 1.0, lambda level, _, fields: 'agrees with torque' in fields['effort at rest'])
    level, message, fields = server.status()
    assert level == DiagnosticStatus.OK and message == 'publishing'
    assert [float(it) for it in fields['effort minus gravity at rest, N m'].split()] == pytest.approx(
        [1.0] * 6, abs=0.01
    )
    server.node.task.effort._heard -= SILENCE
    assert server.status()[2]['effort at rest'] == 'no joint_states with efforts'
    set_payload(server.node, 5.0, ramp_time=1e-3)
    server.stand(GRAVITY + 1.0, lambda level, *_: level == DiagnosticStatus.WARN)
    _, message, fields = server.status()
    assert message.startswith('effort: stated as torque, but it is 0.6 times gravity, as with')
    loaded = ROBOT.with_payload(Payload(5.0, (0.0, 0.0, 0.0)), 'ee_link').gravity_torque(STRETCHED)
    least = [float(it) for it in fields['effort minus gravity at rest, N m'].split()]
    assert least == pytest.approx(GRAVITY + 1.0 - loaded, abs=0.06)


def test_states_without_effort_are_a_warning_and_a_grippers_are_none(process):
    server = Server(process, 'torque_without_gravity')
    gripper = ros.joint_state(['finger'], 1, [0.0], [0.0])
    server.states.publish(gripper)
    process.spin(3.0 * PERIOD)
    assert server.status()[0] == DiagnosticStatus.OK, server.status()[1]
    server.stand((), lambda level, *_: level == DiagnosticStatus.WARN)
    assert server.status()[1] == (
        'effort: stated as torque_without_gravity, but joint_states has none: 6 joints have 0 efforts'
    )
    server.stand(np.zeros(6), lambda level, *_: level == DiagnosticStatus.OK)
    server.stand(np.full(6, np.nan), lambda level, *_: level == DiagnosticStatus.WARN)
    assert 'effort is not finite' in server.status()[1]
    server.stand(np.zeros(5), lambda level, message, _: 'is missing' in message, NAMES[:5], STRETCHED[:5])


def test_without_a_stated_meaning_nothing_is_subscribed_to(process):
    server = Server(process, '')
    assert server.node.count_subscribers('joint_states') == 0
    level, message, fields = server.status()
    assert (level, fields['effort']) == (DiagnosticStatus.OK, 'not stated'), message
    assert fields['effort at rest'] == fields['effort minus gravity at rest, N m'] == ''


def test_what_cannot_be_compared_is_refused(process, tmp_path):
    """Currents without torque constants, and the tree of a robot with closed loops."""
    bare, loops = tmp_path / 'arm.urdf', tmp_path / 'loops.yaml'
    bare.write_text(ROBOT.to_urdf())
    loops.write_text(four_bar().to_yaml())
    for path, effort, reason in (
        (bare, 'current', "effort: current: joint 'shoulder_joint': no torque constant is known"),
        (loops, 'torque', 'the parameter effort'),
    ):
        server = Server(process, effort, model=str(path), gravity=[0.0, -9.81, 0.0])
        assert not server.node.active and reason in server.node.silence, server.node.silence


def test_currents_of_driven_joints_have_their_own_constants(process, tmp_path):
    """A joint that mimics another one is no driven joint."""
    path = tmp_path / 'constants.yaml'
    path.write_text('torque_constant: {z_turn: 2.0, m_slide: 3.0, a_wag: 4.0}')
    server = Server(process, 'current', robot_description=MIMICKING, actuators=str(path), gravity=[0.0, 9.81, 0.0])
    assert server.node.active, server.node.silence
    q = np.array([0.4, -0.1])
    gravity = server.node.robot.gravity_torque(q)
    current = (gravity + 0.5) / [2.0, 3.0]
    server.stand(current, lambda *status: status[2]['effort minus gravity at rest, N m'], ['z_turn', 'm_slide'], q)
    assert server.status()[2]['effort minus gravity at rest, N m'] == '0.5 0.5'


def test_whatever_comes_is_told_and_the_next_state_counts(process):
    server = Server(process, 'torque')
    given = server.node.task.effort
    broken = [
        b'',
        b'\0\1\0\0',
        bytes(64),
        serialize_message(ros.joint_state(NAMES, 1, [1e30] * 6, [], GRAVITY)),
        serialize_message(ros.joint_state([*NAMES[:5], NAMES[0]], 1, STRETCHED, [], GRAVITY)),
        serialize_message(ros.joint_state(NAMES, 1, STRETCHED[:5], [], GRAVITY)),
    ]
    for data in broken:
        given._on_state(data, {})
        level, message, _ = server.status()
        assert level == DiagnosticStatus.WARN and 'but joint_states has none: ' in message
    for stamp in range(0, 4 * ros.SECOND, ros.SECOND):
        state = ros.joint_state(NAMES, stamp, STRETCHED, [], [1e300, -1e300] * 3)
        given._on_state(serialize_message(state), {})
    level, message, _ = server.status()
    assert level == DiagnosticStatus.WARN and 'does not fit the gravity torque' in message
    server.stamp = 10 * ros.SECOND
    server.stand(-GRAVITY, lambda level, *_: level == DiagnosticStatus.OK, position=-STRETCHED)
    assert not server.node.crash
