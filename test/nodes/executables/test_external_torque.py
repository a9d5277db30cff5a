"""external_torque_node: what it publishes for a state, its silence, calibration, payload, and a simulated arm."""

from support.nodes import graph as ros
from support.nodes.payload_gravity_followers import set_payload

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from lifecycle_msgs.msg import Transition
from rclpy.parameter import Parameter
from rclpy.qos import qos_profile_sensor_data
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from robot_dynamics_interfaces.msg import Contact
from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.control.observers.external_torque_law import NO_EFFORTS, REPEATED, SETTLES
from robot_dynamics_ros.control.observers.threshold_learning import NEEDED
from robot_dynamics_ros.nodes.executables.dynamics_server import DynamicsServer
from robot_dynamics_ros.nodes.executables.external_torque_node import ExternalTorqueNode
from robot_dynamics_ros.nodes.tasks.torque_pipeline import NO_INPUT

ROBOT = Robot.named('aubo_i5')
NAMES, N = list(ROBOT.joint_names), ROBOT.nv
Q = np.array([0.2, -0.5, 0.7, 0.3, 0.6, 0.1])
WRENCH = np.array([0.0, 0.0, 0.0, 5.0, -10.0, 20.0])
PUSH = ROBOT.jacobian(Q, ROBOT.link_names[-1], 'local').T @ WRENCH
AT_REST = ROBOT.gravity_torque(Q) + ROBOT.friction.offset
PERIOD = 4_000_000


class Monitor:
    """A node of this process to which states are given without the middleware; ``sent`` has what it publishes."""

    def __init__(self, process, **parameters):
        given = {'effort': 'torque', 'age_limit': ros.DAY, 'contact_threshold': [2.0], **parameters}
        overrides = [Parameter(name, value=value) for name, value in given.items()]
        self.process, self.node = process, process.node(ExternalTorqueNode, parameter_overrides=overrides)
        self.node.start()
        if not self.node.active:
            return
        self.task, self.sent = self.node.task, {}
        self.task._hot_path.stop()
        output = self.task.pipeline._publish.__self__
        for owner, name, kind in (
            (output._torque, '_send', JointState),
            (output, '_send_wrench', WrenchStamped),
            (output, '_send_contact', Contact),
        ):
            setattr(owner, name, lambda data, kind=kind: self.sent.setdefault(kind, []).append((kind, data)))
        process.spin_until(lambda: not self.task._payload_gravity.missing, 'payload and gravity')
        self.stamp = self.node.get_clock().now().nanoseconds

    def give(self, effort, count=1, q=Q, qd=None, period=PERIOD):
        """Give states; return why the last one got nothing."""
        for _ in range(count):
            self.stamp += period
            message = ros.joint_state(NAMES, self.stamp, q, np.zeros(N) if qd is None else qd, effort)
            self.task.pipeline.on_state(serialize_message(message))
        return self.task.pipeline.silence

    def last(self, kind):
        return deserialize_message(self.sent[kind][-1][1], kind)

    def count(self):
        return {kind: len(found) for kind, found in self.sent.items()}

    def call(self, name):
        """Return the answer of a service."""
        (service,) = [it for it in self.node.services if it.srv_name.endswith(f'/{name}')]
        return service.callback(Trigger.Request(), Trigger.Response())

    def status(self):
        told = []
        self.node.diagnostics.publisher.publish = told.append
        self.node.diagnostics.publish()
        (status,) = told[0].status
        return status.message, {value.key: value.value for value in status.values}


def test_torque_wrench_and_contact_of_a_state_have_its_stamp(process):
    monitor = Monitor(process)
    assert monitor.give(AT_REST) == SETTLES.reason and not monitor.sent
    assert monitor.give(AT_REST, 100) == ''
    torque, wrench, contact = (monitor.last(kind) for kind in (JointState, WrenchStamped, Contact))
    np.testing.assert_allclose(torque.effort, 0.0, atol=1e-9)
    assert not contact.contact and contact.calibrated
    assert monitor.give(AT_REST - PUSH, 200) == ''
    torque, wrench, contact = (monitor.last(kind) for kind in (JointState, WrenchStamped, Contact))
    assert {ros.nanoseconds(message.header.stamp) for message in (torque, wrench, contact)} == {monitor.stamp}
    assert (list(torque.name), torque.header.frame_id) == (NAMES, ROBOT.link_names[0])
    np.testing.assert_allclose(torque.effort, PUSH, atol=1e-3)
    assert wrench.header.frame_id == ROBOT.link_names[-1]
    force = wrench.wrench.force
    np.testing.assert_allclose([force.x, force.y, force.z], WRENCH[3:], atol=0.1)
    assert contact.contact and contact.joint == np.abs(PUSH).argmax() and contact.ratio > 1.0
    assert list(contact.joint_names) == NAMES and list(contact.external_torque) == list(torque.effort)
    message, fields = monitor.status()
    assert f'contact at joint {NAMES[contact.joint]!r}' in message and fields['contact'] == 'yes'
    assert fields['contacts'] == '1'


def test_a_state_without_what_it_needs_gets_nothing_and_diagnostics_say_why(process):
    monitor = Monitor(process)
    monitor.give(AT_REST, 100)
    before = monitor.count()
    for reason, given in (
        (NO_EFFORTS.reason, {'effort': ()}),
        (NO_EFFORTS.reason, {'effort': np.full(N, np.nan)}),
        ('the joint state has no velocities', {'effort': AT_REST, 'qd': ()}),
        (REPEATED.reason, {'effort': AT_REST, 'period': 0}),
        ('joint state rejected: out of order', {'effort': AT_REST, 'period': -2 * ros.SECOND}),
    ):
        if given.get('period') == 0:
            monitor.give(AT_REST)
            before = monitor.count()
        stamp = monitor.stamp
        assert monitor.give(**given) == reason
        monitor.stamp = max(stamp, monitor.stamp)
        assert reason in monitor.status()[0]
        assert monitor.status()[1]['external torque, N m'] == ''
        assert monitor.status()[1]['contact'] == ('no' if reason == REPEATED.reason else 'unknown')
    assert monitor.count() == before
    assert monitor.give(np.full(N, 1e308), 3).startswith(f'effort of joint {NAMES[0]!r} above 10 times its limit')
    assert monitor.count() == before


def test_after_an_activation_it_settles_again_and_no_contact_is_kept(process):
    monitor = Monitor(process)
    monitor.give(AT_REST - PUSH, 200)
    assert monitor.task._detector.contact
    monitor.node.trigger_deactivate()
    assert monitor.node.silence == 'not active'
    monitor.node.trigger_activate()
    monitor.task._hot_path.stop()
    process.spin_until(lambda: not monitor.task._payload_gravity.missing, 'payload and gravity')
    assert monitor.node.silence == NO_INPUT
    before = monitor.count()
    assert monitor.give(AT_REST - PUSH) == SETTLES.reason
    assert not monitor.task._detector.contact and monitor.count() == before


def test_thresholds_are_learnt_in_free_motion_alone(process):
    monitor = Monitor(process, contact_threshold=[0.0], calibration_time=1.5)
    assert 'contact is not detected: call ~/calibrate' in monitor.status()[0]
    assert monitor.call('calibrate').message == NO_INPUT
    monitor.give(AT_REST, 100)
    refused = monitor.call('calibrate')
    assert (refused.success, refused.message) == (False, f'the arm stands still: {NEEDED}')

    def swing(count):
        for _ in range(count):
            k = swing.k = swing.k + 1
            angle = 8.0 * k * PERIOD * 1e-9
            q, qd, qdd = Q + 0.1 * np.sin(angle), 0.8 * np.cos(angle) + 0.0 * Q, -6.4 * np.sin(angle) + 0.0 * Q
            rigid = ROBOT.inverse_dynamics(q, qd, qdd)
            monitor.give(rigid + 1.3 * ROBOT.friction_torque(qd), q=q, qd=qd)

    swing.k = 0
    swing(20)
    assert monitor.call('calibrate').success
    swing(100)
    assert monitor.status()[1]['calibration'] == 'learning for 1.5 s'
    swing(400)
    message, fields = monitor.status()
    assert fields['calibration'] == 'learnt' and 'contact' not in message, message
    assert fields['contact'] == 'no' and 'inf' not in fields['contact thresholds, N m']
    assert monitor.last(Contact).calibrated and np.isfinite(monitor.last(Contact).threshold).all()
    scale = [float(part) for part in fields['friction scale'].split()]
    assert all(1.05 < part < 1.4 for part in scale), scale  # up to a share of the thresholds
    swing(400)
    assert monitor.status()[1]['contact'] == 'no' and monitor.status()[1]['contacts'] == '0'
    monitor.give(AT_REST - 100.0, 50)
    assert monitor.call('calibrate').message.startswith('contact at joint ')
    assert monitor.call('reset').success
    assert monitor.status()[1]['calibration'] == 'not learnt'
    assert monitor.status()[1]['friction scale'] == '1 1 1 1 1 1'


def test_a_payload_that_is_set_is_no_external_torque(process):
    server = process.node(DynamicsServer)
    server.start()
    monitor = Monitor(process)
    monitor.give(AT_REST, 100)
    loaded = ROBOT.with_payload(Payload(3.0, (0.0, 0.0, 0.0)), 'ee_link').gravity_torque(Q) + ROBOT.friction.offset
    monitor.give(loaded, 200)
    monitor.task._tracker.offset[:] = 0.1  # as if a part of the payload were learnt
    assert np.abs(monitor.last(JointState).effort).max() > 5.0
    set_payload(server, 3.0, ramp_time=1e-3)
    process.spin_until(lambda: monitor.task._payload_gravity.current.payload.mass == 3.0, 'the payload')
    monitor.give(loaded, 200)
    np.testing.assert_allclose(monitor.last(JointState).effort, 0.0, atol=1e-3)
    assert not monitor.task._tracker.offset.any()


@pytest.mark.parametrize(
    ('parameters', 'reason'),
    [
        ({'effort': ''}, 'effort: not stated'),
        ({'wrench_frame': 'nobody'}, "'nobody'"),
        ({'contact_threshold': [1.0, 2.0]}, 'contact_threshold: '),
        ({'reversal_threshold': [-1.0]}, 'reversal_threshold: '),
        ({'inertia_threshold': [0.1, 0.2]}, 'inertia_threshold: '),
    ],
)
def test_what_is_wrong_is_refused_by_name(process, parameters, reason):
    node = Monitor(process, **parameters).node
    assert not node.active and reason in node.silence


def test_beside_a_simulated_arm_a_push_is_found_and_free_motion_is_none(file_graph):
    """The arm holds itself by gravity compensation; the push is in the states that this test publishes afterwards."""
    file_graph.bring_up(
        'simulated_arm',
        'gravity_compensation_node',
        'external_torque_node',
        arguments=(
            *('-p', 'age_limit:=5.0', '-p', 'contact_threshold:=[30.0]', '-p', 'preset:=sim'),
            *('-r', 'gravity_torque/commands:=effort_commands', '-p', 'start:=[0.2, -0.5, 0.7, 0.3, 0.6, 0.1]'),
        ),
    )
    torques = file_graph.listen(JointState, 'external_torque', 10)
    contacts = file_graph.listen(Contact, 'external_torque_node/contact', 10)
    file_graph.until(lambda: len(torques) > 100 and len(contacts) > 100, 'external torques of the simulated arm')
    # at rest a motor torque is undetermined within the static friction
    room = ROBOT.friction.coulomb + np.abs(ROBOT.friction.offset) + 0.5
    assert (np.abs(torques[-1].effort) < room).all() and not contacts[-1].contact
    file_graph.client.change_state('simulated_arm', Transition.TRANSITION_DEACTIVATE)
    publisher = file_graph.node.create_publisher(JointState, 'joint_states', qos_profile_sensor_data)
    hits = []

    def push():
        effort = AT_REST - 5.0 * PUSH
        publisher.publish(ros.joint_state(NAMES, file_graph.now(), Q, np.zeros(N), effort))
        hits[:] = [message for message in contacts if message.contact]

    with file_graph.repeating(push, 0.005):
        file_graph.until(lambda: hits, 'contact')
    assert hits[0].calibrated and hits[0].ratio > 1.0
