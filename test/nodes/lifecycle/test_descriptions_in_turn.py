"""Descriptions of the robot that follow each other closely: a node that holds the arm goes on, and waits for nothing.

Nothing was set: payload and gravity are what the server assumes. Only where a test says so does an executor run between
a description and the next torque.
"""

from types import SimpleNamespace

from support.nodes.described_nodes import ROBOT, STAMPS, STRONGER, UPRIGHT, URDF, WALL, Described, Q, torque, torque_of

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import Vector3, Wrench, WrenchStamped
from rclpy.parameter import Parameter
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.nodes.executables.torque_controller import TorqueController
from robot_dynamics_ros.nodes.inputs import wrench_input
from robot_dynamics_ros.nodes.inputs.payload_gravity_topics import KINDS
from robot_dynamics_ros.nodes.lifecycle.base_node import BaseNode
from robot_dynamics_ros.nodes.tasks import held_values

STIFFNESS = np.array([100.0, 100.0, 50.0, 5.0, 5.0, 5.0])
CONTROLLED = {'stiffness': STIFFNESS.tolist(), 'damping': [0.0] * 6, 'control_law': 'pd_gravity'}
IMPEDANCE = {
    'control_law': 'cartesian_impedance',
    'rotational_stiffness': [20.0] * 3,
    'translational_stiffness': [300.0] * 3,
    **dict.fromkeys(('stiffness', 'damping'), [0.0] * 6),
    **dict.fromkeys(('translational_error_limit', 'rotational_error_limit'), 3.0),
    'force_limit': 30.0,
    'wrench_ramp_time': 0.01,
}
RENAMED = STRONGER.replace('ee_link', 'tool_flange')
SAGGED = Q + 0.01
OTHER_BASE = STRONGER.replace(f'"{ROBOT.link_names[0]}"', '"pedestal"')
ANOTHER = 'another robot description: the node is configured again'


@pytest.fixture
def described(process):
    described = Described(process)
    described.hold()
    return described


@pytest.mark.parametrize('server_first', [True, False])
def test_a_node_that_holds_the_arm_does_not_wait_again_for_what_the_server_assumes(described, server_first):
    nodes = [described.server, described.node][:: 1 if server_first else -1]
    for text in (STRONGER, URDF, RENAMED, URDF):
        for node in nodes:
            described.say(text, node)
            assert torque_of(described.node) == pytest.approx(torque(0.0, UPRIGHT))
    assert described.diagnosed(described.node)[1] == 'publishing'


def test_descriptions_without_a_state_between_them_do_not_make_it_wait_either(described):
    for text in (STRONGER, URDF, STRONGER):
        described.say(text, described.server, described.node)
    assert torque_of(described.node) is not None


def test_assumed_gravity_in_force_goes_on_without_a_ramp(process):
    """It is that of the server's parameter, which the node does not know."""
    described = Described(process, server={'gravity': list(WALL)})
    described.hold()
    assert torque_of(described.node) == pytest.approx(torque(0.0, WALL))
    described.say(STRONGER, described.node)
    assert torque_of(described.node) == pytest.approx(torque(0.0, WALL))


def test_a_node_that_held_nothing_waits_as_at_an_activation(process, monkeypatch):
    for patience in ('DISCOVERY', 'PATIENCE'):
        monkeypatch.setattr(held_values, patience, 1e9)  # nothing is ever settled
    described = Described(process)
    described.say(STRONGER, described.server, described.node)
    assert torque_of(described.node) is None
    assert described.node.silence.startswith('waiting for payload_state: dynamics_server has just started')


def test_assumed_gravity_in_another_base_link_is_waited_for(described):
    described.say(OTHER_BASE, described.node)
    assert torque_of(described.node) is None
    assert described.node.silence.startswith("refused: gravity_state: gravity: expected it in the base link 'pedestal'")
    described.say(OTHER_BASE, described.server)
    assert torque_of(described.node) == pytest.approx(torque(0.0, UPRIGHT))


def test_what_a_server_assumes_stays_settled(described):
    assert described.server.task.payload_gravity.settled == set(KINDS)
    described.say(STRONGER, described.server)
    assert described.server.task.payload_gravity.settled == set(KINDS)
    newest = dict(described.node.payload_gravity_topics.newest())
    assert {topic: message.settled for topic, message in newest.items()} == dict.fromkeys(KINDS, True)


def test_the_wait_of_a_server_goes_on_with_the_next_description(process, monkeypatch):
    time = SimpleNamespace(now=0.0)
    monkeypatch.setattr(held_values, 'time', SimpleNamespace(monotonic=lambda: time.now))
    described = Described(process)
    process.spin_until(lambda: all(described.server.task._held_values._words.values()), 'what the node holds')
    assert described.server.task.payload_gravity.settled == set()
    time.now = 0.9 * held_values.DISCOVERY
    described.say(STRONGER, described.server)
    described.server.task._held_values.look()
    assert described.server.task.payload_gravity.settled == set()
    time.now = 1.1 * held_values.DISCOVERY
    described.server.task._held_values.look()
    assert described.server.task.payload_gravity.settled == set(KINDS)


def test_each_description_is_on_the_diagnostics_at_once_and_does_not_delay_the_next_status(described):
    for node in (described.server, described.node):
        timer = node.diagnostics.timer
        ((level, message),) = described.statuses(node, lambda node=node: described.say(STRONGER, node))
        assert level == DiagnosticStatus.WARN and message.endswith(ANOTHER)
        assert node.diagnostics.timer is timer and not timer.is_canceled()
        assert described.statuses(node, lambda node=node: described.say(STRONGER, node)) == []  # the same one
    assert torque_of(described.node) is not None
    assert described.diagnosed(described.node) == (DiagnosticStatus.OK, 'publishing')


def test_the_status_names_the_new_robot(described):
    found = []
    described.node.diagnostics.publisher.publish = found.append
    described.say(RENAMED, described.node)
    (digest,) = (value.value for value in found[0].status[0].values if value.key == 'model digest')
    assert digest == described.node.robot.digest


def sagging(process, **parameters):
    """Return nodes of which torque_controller holds the arm at Q, while it is at SAGGED, and the torque there."""
    described = Described(process, TorqueController, **CONTROLLED, **parameters)
    described.hold()
    held = torque_of(described.node, SAGGED)
    assert held == pytest.approx(ROBOT.gravity_torque(SAGGED) - 0.01 * STIFFNESS)
    return described, held


@pytest.mark.parametrize('state_rate', [500.0, 0.0], ids=['stated', 'measured'])
def test_the_hold_position_goes_on_and_a_measured_period_of_the_states_is_known(process, state_rate):
    described, held = sagging(process, state_rate=state_rate)
    described.say(STRONGER, described.server, described.node)
    assert torque_of(described.node, SAGGED) == pytest.approx(held)


def test_a_stiffness_that_was_lowered_goes_on(process):
    impedance = {
        'control_law': 'cartesian_impedance',
        'translational_stiffness': [500.0] * 3,
        'rotational_stiffness': [30.0] * 3,
        'state_rate': 500.0,
    }
    described = Described(process, TorqueController, **{**CONTROLLED, 'stiffness': [0.0] * 6, **impedance})
    described.hold()
    client = process.node(BaseNode, name='client').create_publisher(WrenchStamped, 'target_stiffness', 1)
    half = {'x': 250.0, 'y': 250.0, 'z': 250.0}
    message = WrenchStamped(wrench=Wrench(force=Vector3(**half), torque=Vector3(x=15.0, y=15.0, z=15.0)))

    def is_soft():
        client.publish(message)
        for _ in range(600):
            torque_of(described.node)
        return described.node.task.report()['translational stiffness in force, N/m'] == '250 250 250'

    process.spin_until(is_soft, 'the stiffness')
    held = torque_of(described.node, SAGGED)
    assert np.abs(held - ROBOT.gravity_torque(SAGGED)).max() > 0.5
    described.say(STRONGER, described.server, described.node)
    assert torque_of(described.node, SAGGED) == pytest.approx(held)
    described.node.trigger_deactivate()
    described.node.trigger_activate()
    torque_of(described.node)
    assert described.node.task.report()['translational stiffness in force, N/m'] == '500 500 500'


def test_the_hold_position_is_measured_where_the_node_was_inactive(process):
    described, _ = sagging(process)
    described.node.trigger_deactivate()
    described.say(STRONGER, described.server, described.node)
    described.node.trigger_activate()
    assert torque_of(described.node, SAGGED) == pytest.approx(ROBOT.gravity_torque(SAGGED))


def test_an_arm_that_rests_at_the_end_of_a_trajectory_is_held_there(process):
    described, held = sagging(process)
    node = described.node
    start, follower = next(STAMPS), node.task.trajectory._follower
    follower.receive(Trajectory([0.0, 0.1], np.array([Q, Q + 0.002])), start, start)
    while not follower.rests:
        torque_of(node, SAGGED)
    at_the_end = pytest.approx(held + 0.002 * STIFFNESS)
    assert torque_of(node, SAGGED) == at_the_end
    described.say(STRONGER, described.server, node)
    assert torque_of(node, SAGGED) == at_the_end


@pytest.mark.parametrize(('on_stale', 'reason'), [('gravity_only', 'gravity only'), ('ramp_to_zero', 'down to zero')])
def test_the_fallback_goes_on_while_no_state_comes(process, on_stale, reason):
    described = Described(process, on_stale=on_stale)
    described.hold()
    described.say(STRONGER, described.server, described.node)
    pipeline = described.node.task.pipeline
    pipeline.fallback.timeout.missing = 2.0 * pipeline._gate.limit
    pipeline.on_pause()
    assert reason in described.node.silence
    held = torque(0.0, UPRIGHT)
    last = pipeline.limiter.last.copy()  # the ramp goes on in another thread
    share = last[1] / held[1]
    assert share == pytest.approx(1.0) if on_stale == 'gravity_only' else 0.0 <= share <= 1.0
    assert last == pytest.approx(share * held)


def test_the_position_command_of_hand_guiding_goes_on(process):
    guiding = {'preset': 'motor_pd', 'hand_guiding': True, 'guiding_dead_band': [0.1], 'guiding_speed': [1.0]}
    described = Described(process, fade_in_time=0.0, **guiding)
    described.hold()
    assert described.node.task._hold.position_command == pytest.approx(Q)
    described.say(STRONGER, described.server, described.node)
    torque_of(described.node, Q + 0.003)
    assert described.node.task._hold.position_command == pytest.approx(Q)


@pytest.mark.parametrize('stopped', [False, True])
def test_wrenches_that_go_on_count_with_another_robot_unless_a_stop_came_before_it(process, monkeypatch, stopped):
    monkeypatch.setattr(wrench_input, 'AGE', 100.0)  # none comes while the description is read
    described = Described(process, TorqueController, **IMPEDANCE)
    described.hold()
    pushes = described.hand.create_publisher(WrenchStamped, 'target_wrench', 1)
    stops = described.hand.create_publisher(JointTrajectory, 'joint_trajectory', 1)
    wrench = np.array([0.0, 0.0, 0.0, 10.0, 0.0, 0.0])
    pushed = pytest.approx(torque(0.0, UPRIGHT) + ROBOT.jacobian(Q, ROBOT.link_names[-1]).T @ wrench)

    def push():
        pushes.publish(WrenchStamped(wrench=Wrench(force=Vector3(x=10.0))))
        return torque_of(described.node)

    process.spin_until(lambda: push() == pushed, 'the push')
    if stopped:
        stops.publish(JointTrajectory())
        process.spin_until(lambda: push() == pytest.approx(torque(0.0, UPRIGHT)), 'the stop')
    described.say(STRONGER, described.server, described.node)
    if not stopped:
        process.spin_until(lambda: push() == pushed, 'the push')
    for _ in range(10):
        assert push() == (pytest.approx(torque(0.0, UPRIGHT)) if stopped else pushed)
        process.spin(0.01)


@pytest.mark.parametrize('frame', ['', 'ee_link'])
def test_a_frame_that_was_guided_is_held_there_with_another_robot_and_another_frame_where_it_is(process, frame):
    described = Described(process, TorqueController, **IMPEDANCE)
    described.hold()
    stiffness, guided = described.node.task.pipeline.law._stiffness, Q + 0.02
    for k in (0.0, 300.0):
        stiffness.K[5, 5], stiffness.G[5, 5] = k, np.sqrt(k)
        before = torque_of(described.node, guided)
    gravity = ROBOT.with_gravity(UPRIGHT).gravity_torque(guided)
    assert np.abs(before - gravity).max() > 0.1
    described.node.set_parameters([Parameter('impedance_frame', value=frame)])
    described.say(STRONGER, described.server, described.node)
    expected = gravity if frame else before
    assert torque_of(described.node, guided) == pytest.approx(expected, abs=1e-6)


def test_a_soft_limit_that_pushes_goes_on_with_another_robot(process):
    described = Described(process, TorqueController, **IMPEDANCE, soft_limit_distance=[0.3], soft_limit_torque=[3.0])
    described.hold()
    near = np.where(np.arange(6) == 4, ROBOT.limits.upper - 0.1, Q)
    before = torque_of(described.node, near)
    described.say(STRONGER, described.server, described.node)
    assert torque_of(described.node, near) == pytest.approx(before)
    (push,) = described.node.task.pipeline.law._soft_limits.push[[4]]
    assert push == pytest.approx(-2.0)
