"""States that cannot be right, by way of nodes of this process: no torque and the joint's name; and what is right."""

import time

from support.nodes import graph as ros

import numpy as np
import pytest
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message

from robot_dynamics_interfaces.srv import CheckTrajectory, GetMassMatrix
from robot_dynamics_ros import Robot
from robot_dynamics_ros.nodes.executables.dynamics_server import DynamicsServer
from robot_dynamics_ros.nodes.executables.feedforward_node import FeedforwardNode
from robot_dynamics_ros.nodes.executables.gravity_compensation_node import GravityCompensationNode
from robot_dynamics_ros.nodes.executables.torque_controller import TorqueController
from robot_dynamics_ros.nodes.lifecycle.configuration import redescribe

LINK = (
    '<link name="{}"><inertial><origin xyz="{}"/><mass value="{}"/>'
    '<inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)
JOINT = (
    '<joint name="{}" type="revolute"><parent link="{}"/><child link="{}"/><origin xyz="{}"/><axis xyz="0 1 0"/>'
    '<limit lower="-{limit}" upper="{limit}" velocity="3" effort="{}"/></joint>'
)
TORSO = ''.join(
    [
        '<robot name="on_a_torso"><link name="base"/>',
        LINK.format('torso', '0 0 0.3', 10), LINK.format('upper', '0.2 0 0', 2), LINK.format('fore', '0.15 0 0', 1),
        JOINT.format('torso_tilt', 'base', 'torso', '0 0 0', 300, limit=1),
        JOINT.format('shoulder', 'torso', 'upper', '0 0 0.6', 80, limit=3),
        JOINT.format('elbow', 'upper', 'fore', '0.4 0 0', 40, limit=3),
        '</robot>',
    ]
)  # fmt: skip
NAMES = ['shoulder', 'elbow']
ALL = ['torso_tilt', *NAMES]
Q = [0.3, 0.5]
TORQUE = [-3.517, 0.043]
"""At Q with the torso tilted by 0.8 rad; with all joints free: Pinocchio has the same."""
PERIOD = 4_000_000
GAINS = {'stiffness': [80.0, 40.0], 'damping': [8.0, 4.0], 'state_rate': 250.0, 'control_law': 'pd_gravity'}
OVER = {TorqueController: GAINS}


class Node:
    """A node of this process that gets states without the middleware; ``sent`` has its torques."""

    def __init__(self, process, kind, locked, **parameters):
        given = {'robot_description': TORSO, 'locked_joints': [locked], **parameters}
        given = {**OVER.get(kind, {}), **given, **({} if kind is DynamicsServer else {'age_limit': ros.DAY})}
        overrides = [Parameter(name, value=value) for name, value in given.items()]
        self.node = process.node(kind, parameter_overrides=overrides)
        self.node.start()
        assert self.node.active, self.node.silence
        self.task, self.sent = self.node.task, []
        self.stamp = self.node.get_clock().now().nanoseconds
        if kind is DynamicsServer:
            return
        self.task._hot_path.stop()
        self.task.pipeline._publish = lambda stamp, torque, answered: self.sent.append(torque.tolist())
        process.spin_until(lambda: not self.task._payload_gravity.missing, 'payload and gravity')

    def give(self, names, q, qd=None, period=PERIOD):
        """Give a state; return why it got no torque."""
        self.stamp += period
        rates = np.zeros(len(q)) if qd is None else qd
        self.task.pipeline.on_state(serialize_message(ros.joint_state(names, self.stamp, q, rates)))
        return self.task.pipeline.silence

    def status(self):
        told = []
        self.node.diagnostics.publisher.publish = told.append
        self.node.diagnostics.publish()
        return told[0].status[0]


def test_a_torso_that_is_locked_elsewhere_than_it_stands_ends_the_torques(process):
    node = Node(process, GravityCompensationNode, 'torso_tilt: 0.0')
    assert node.give(ALL, [0.04, *Q]) == node.give(NAMES, Q) == '' and len(node.sent) == 2
    reason = node.give(ALL, [0.8, *Q])
    assert reason.startswith(
        "joint state rejected: joint 'torso_tilt' is locked at 0 rad or m, and is at 0.8: more than"
    )
    assert len(node.sent) == 2 and node.status().level == b'\1' and "'torso_tilt'" in node.status().message
    assert node.give(NAMES, Q) == reason  # it has not come back, for all that is known
    assert node.give(['torso_tilt'], [0.0]) != '' and node.give(NAMES, Q) == ''  # of a publisher of its own


def test_a_torso_that_stands_elsewhere_stays_so_with_another_description(process, monkeypatch):
    node = Node(process, GravityCompensationNode, 'torso_tilt: 0.0')
    reason = node.give(['torso_tilt'], [0.8]) and node.give(NAMES, Q)
    assert "'torso_tilt' is locked at 0 rad or m, and is at 0.8" in reason
    heavier = TORSO.replace('<mass value="1"/>', '<mass value="1.5"/>')
    monkeypatch.setattr(node.node.description, 'source', lambda: heavier)
    assert redescribe(node.node) == '' and node.node.task is not node.task
    node.task = node.node.task
    node.task._hot_path.stop()
    process.spin_until(lambda: not node.task._payload_gravity.missing, 'payload and gravity')
    assert node.give(NAMES, Q) == reason
    assert node.give(['torso_tilt'], [0.0]) != '' and node.give(NAMES, Q) == ''


def test_a_torso_that_is_locked_where_it_is_measured_is_followed(process):
    node = Node(process, GravityCompensationNode, 'torso_tilt: measured')
    assert node.give(ALL, [0.8, *Q]) == ''
    np.testing.assert_allclose(node.sent[-1], TORQUE, atol=1e-3)
    whole = Robot.from_urdf(TORSO)
    for tilt in (-0.7, 0.0, 0.3):
        assert node.give(ALL[::-1], [*Q[::-1], tilt]) == ''
        np.testing.assert_allclose(node.sent[-1], whole.gravity_torque([tilt, *Q])[1:], rtol=1e-12)
    assert "joint 'torso_tilt' is missing or not finite; locked_joints says 'measured'" in node.give(NAMES, Q)
    assert 'torso_tilt' in node.give(ALL, [np.nan, *Q]) and len(node.sent) == 4


def test_a_measured_torso_in_degrees_gets_no_torque(process):
    node = Node(process, GravityCompensationNode, 'torso_tilt: measured')
    reason = node.give(ALL, [17.2, *Q])
    assert reason.startswith("joint state rejected: joint 'torso_tilt': position 17.2 is beyond its limits, -1 to 1")
    assert reason.endswith('are they degrees?') and not node.sent
    assert node.give(ALL, [1.1, *Q]) == '' and len(node.sent) == 1  # limits of descriptions are not exact
    node = Node(process, GravityCompensationNode, 'torso_tilt: measured', position_limit_tolerance=10000.0)
    assert node.give(ALL, [17.2, *Q]) == '' and len(node.sent) == 1


def test_a_measured_torso_in_a_rejected_state_changes_no_torque(process):
    """The torque of ``gravity_only`` is that of the last position, not that of a state that was refused."""
    node = Node(process, GravityCompensationNode, 'torso_tilt: measured')
    assert node.give(ALL, [0.8, *Q]) == ''
    assert 'out of order' in node.give(ALL, [-0.7, *Q], period=-PERIOD) and len(node.sent) == 1
    np.testing.assert_allclose(node.node.robot.gravity_torque(np.array(Q)), TORQUE, atol=1e-3)


@pytest.mark.parametrize('kind', [GravityCompensationNode, FeedforwardNode, TorqueController])
def test_degrees_get_no_torque(process, kind):
    node = Node(process, kind, 'torso_tilt: 0.0')
    reason = node.give(NAMES, np.rad2deg(Q))
    assert reason.startswith("joint state rejected: joint 'shoulder': position 17.1887 is beyond its limits, -3 to 3")
    assert reason.endswith('are they degrees?') and not node.sent
    assert node.status().level == b'\1'
    if kind is not FeedforwardNode:  # it has no motion to follow
        assert node.give(NAMES, [3.1, 0.0]) == '' and len(node.sent) == 1  # limits of descriptions are not exact


def test_and_they_do_where_the_tolerance_says_so(process):
    node = Node(process, GravityCompensationNode, 'torso_tilt: 0.0', position_limit_tolerance=10000.0)
    assert node.give(NAMES, np.rad2deg(Q)) == '' and len(node.sent) == 1


@pytest.mark.parametrize('kind', [FeedforwardNode, TorqueController])
def test_a_trajectory_in_degrees_is_refused(process, kind):
    node = Node(process, kind, 'torso_tilt: 0.0', start_tolerance=0.0)
    trajectory = node.task.trajectory

    def send(*points):
        now = {'source_timestamp': time.time_ns(), 'received_timestamp': time.time_ns()}
        trajectory._queue.on_message(serialize_message(ros.trajectory(NAMES, 0, *points)), now)
        process.spin_until(
            lambda: trajectory.verdicts.refused or trajectory._follower._plans, 'a trajectory that is read'
        )

    send((0.0, Q), (2.0, np.rad2deg([0.4, 0.1])))
    assert trajectory.verdicts.refused.startswith("trajectory point 1: joint 'shoulder': position 22.9183 is beyond")
    trajectory.verdicts.refused = ''
    send((0.0, Q), (2.0, [0.4, 0.1]))
    assert trajectory.verdicts.refused == ''


def test_services_refuse_degrees_and_have_measured_joints_in_their_requests(process):
    """The server reads no joint states for its answers: whoever asks says where the torso is."""
    server = Node(process, DynamicsServer, 'torso_tilt: measured').task

    def asked(service, call, **fields):
        return server._guarded(call)(service.Request(**fields), service.Response())

    right = asked(GetMassMatrix, server._mass_matrix, joint_names=ALL, positions=[0.8, *Q])
    assert right.success, right.message
    wrong = asked(GetMassMatrix, server._mass_matrix, joint_names=ALL, positions=[0.8, *Q, 0.8, 17.2, 28.6])
    assert wrong.message.startswith("positions: state 1: joint 'shoulder': position 17.2 is beyond its limits")
    motion = ros.trajectory(ALL, 0, (0.0, [0.8, *Q]), (1.0, [0.8, 0.3, 28.6]))
    wrong = asked(CheckTrajectory, server._check_trajectory, trajectory=motion)
    assert wrong.message.startswith("trajectory point 1: joint 'elbow': position 28.6 is beyond its limits")


@pytest.fixture
def controller(process):
    return Node(process, TorqueController, 'torso_tilt: 0.0')


def test_velocities_of_the_other_sign_end_the_torques_of_a_node_that_needs_them(process, controller):
    gravity = Node(process, GravityCompensationNode, 'torso_tilt: 0.0')
    found = {node: [] for node in (controller, gravity)}
    for t in np.arange(0.0, 0.4, 0.004):
        q, qd = [0.3 + 0.8 * t, 0.5], [-0.8, 1e-3]
        for node, reasons in found.items():
            reasons.append(node.give(NAMES, q, qd))
    assert not any(found[gravity])  # its torque does not depend on them
    reasons = found[controller]
    began = next(k for k, reason in enumerate(reasons) if reason)
    assert 0 < began < 20  # 0.08 s, in which the arm moves by 0.06 rad
    assert all(reason.startswith("velocity of joint 'shoulder' contradicts its position") for reason in reasons[began:])
    assert controller.status().message.startswith(
        "velocity of joint 'shoulder' contradicts its position, which moved by"
    )


def test_a_velocity_of_fifteen_times_its_limit_gets_no_torque(controller):
    assert controller.give(NAMES, Q) == ''
    reason = controller.give(NAMES, Q, [0.0, 45.0])
    assert reason.startswith("velocity of joint 'elbow' is 45 rad/s or m/s, above 3 times its limit 3")
    assert controller.give(NAMES, Q) == '' and len(controller.sent) == 2


def test_a_driver_that_reports_no_velocities_is_a_warning_where_they_are_needed(controller):
    for t in np.arange(0.0, 0.6, 0.004):
        assert controller.give(NAMES, [0.3 + 0.5 * t, 0.5]) == ''
    status = controller.status()
    assert status.level == b'\1' and status.message.startswith('velocities of shoulder are 0 in all states')


@pytest.fixture
def passing(monkeypatch):
    """Return a function that lets so many s pass for the diagnostics."""
    steady = [time.monotonic()]
    monkeypatch.setattr('robot_dynamics_ros.nodes.tasks.control_loop.time.monotonic', lambda: steady[0])

    def passing(duration):
        steady[0] += duration

    return passing


def test_a_torque_that_is_limited_while_the_arm_falls_is_a_warning_then_an_error(controller, passing):
    controller.task.pipeline.limiter.effort_limit[:] = 1.0  # far from what gravity needs
    levels, messages = [], []
    for second in range(4):
        for t in second + np.arange(0.0, 1.0, 0.004):
            assert controller.give(NAMES, [0.3 + 0.08 * t**2, 0.5], [0.16 * t, 0.0]) == ''
        passing(1.0)
        status = controller.status()
        levels.append(status.level)
        messages.append(status.message)
    assert levels == [b'\1', b'\2', b'\2', b'\2'], messages
    assert "torque of joint 'shoulder' beyond the effort limit in" in messages[0]
    assert "joint 'shoulder' moves away while its torque is limited" in messages[1]
    assert "joint 'shoulder' was 1.27" in messages[3] and 'more than start_tolerance (0.5)' in messages[3]


def test_states_that_are_older_than_stated_are_a_warning_where_the_gains_do_not_allow_it(controller, passing):
    controller.stamp -= 5 * ros.SECOND
    for _ in range(50):
        assert controller.give(NAMES, Q) == ''
    passing(1.0)
    status = controller.status()
    assert status.level == b'\1' and ' s old when they come, by their stamps; torque_delay: ' in status.message
    (age,) = [float(it.value) for it in status.values if it.key == 'age of states, ms']
    assert age > 4000.0


def test_states_that_became_slower_than_the_gains_allow_are_a_warning_within_a_second(controller, passing):
    limit = controller.task._unstable.__self__._limit.period
    assert PERIOD * 1e-9 < limit < 0.03
    for _ in range(100):
        assert controller.give(NAMES, Q) == ''
    passing(1.0)
    assert controller.status().level == b'\0'
    for _ in range(25):  # in one second
        assert controller.give(NAMES, Q, period=40_000_000) == ''
    passing(1.0)
    status = controller.status()
    assert status.level == b'\1' and 'sampled control is unstable from 2 on' in status.message
