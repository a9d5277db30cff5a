"""feedforward_node that follows controller_state: a process against messages of a joint_trajectory_controller.

Where control_msgs is not installed, a package of that name with this one message is generated for the tests.
"""

from support.message_packages.control_msgs_package import installed
from support.message_packages.generated_messages import folder_of_a_run
from support.nodes import graph as ros

import numpy as np
import pytest
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectoryPoint

from robot_dynamics_interfaces.msg import Payload as PayloadMessage
from robot_dynamics_interfaces.msg import PayloadState
from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.nodes.process.qos import WITH_LIVELINESS

NODE = 'feedforward_node'
ROBOT = Robot.named('aubo_i5')
NAMES = list(ROBOT.joint_names)
AGE_LIMIT, CUTOFF = 0.1, 20.0
STEP = 0.02
Q = np.array([0.1, -0.7, 0.2, -0.1, 0.3, 0.5])
QD = np.array([0.1, 0.2, -0.1, 0.2, -0.3, 0.4])
QDD = np.array([0.5, -0.3, 0.2, 0.6, -0.4, 0.1])


@pytest.fixture(scope='module')
def message_type(tmp_path_factory):
    """control_msgs/msg/JointTrajectoryControllerState, in this process and in those that it starts."""
    with installed(folder_of_a_run(tmp_path_factory)):
        from control_msgs.msg import JointTrajectoryControllerState  # noqa: PLC0415

        yield JointTrajectoryControllerState


@pytest.fixture(scope='module')
def graph(message_type, file_graph):
    file_graph.start(
        NODE,
        arguments=(
            *('-p', 'source:=controller_state', '-r', 'controller_state:=jtc/controller_state'),
            *('-p', f'age_limit:={ros.DAY}'),
        ),
    )
    return file_graph


def motion(t):
    """A motion of constant acceleration."""
    return np.array([Q + QD * t + QDD * t**2 / 2, QD + QDD * t, QDD])


def point(positions, velocities=(), accelerations=()):
    return JointTrajectoryPoint(
        positions=list(positions), velocities=list(velocities), accelerations=list(accelerations)
    )


def at(start, seconds):
    return start + round(seconds * ros.SECOND)


def controller_state(message_type, stamp, rows, names=NAMES, factor=1.0):
    message = ros.stamped(message_type(joint_names=list(names), reference=point(*rows)), stamp)
    if hasattr(message, 'speed_scaling_factor'):
        message.speed_scaling_factor = factor
    return message


def answer(graph, messages, stamp, position=Q):
    """Send controller states and a joint state of time ``stamp``; return its answer.

    The state lies nearer than the age limit to the last controller state only, so an answer means that all were taken.
    """
    torques = graph.listen(JointState, 'feedforward_torque')

    def send():
        for message in messages:
            graph.publish('jtc/controller_state', message)
        graph.publish('joint_states', ros.joint_state(NAMES, stamp, position))

    def answers():
        return [torque for torque in torques if ros.nanoseconds(torque.header.stamp) == stamp]

    graph.repeat_until(send, answers, f'an answer to {stamp}', 0.2)
    return answers()[0]


def assert_torque(message, q, qd, qdd, robot=ROBOT):
    expected = robot.inverse_dynamics(q, qd, qdd) + robot.friction_torque(qd)
    np.testing.assert_allclose(message.effort, expected, rtol=0, atol=1e-6)


AHEAD = AGE_LIMIT - STEP / 2


@pytest.mark.parametrize('rates', [3, 2, 1], ids=['all', 'no accelerations', 'positions'])
def test_the_torque_is_that_of_the_reference_carried_on_to_the_stamp(graph, start, message_type, rates):
    times = [0.0, STEP, 2 * STEP]
    messages = [controller_state(message_type, at(start, t), motion(t)[:rates]) for t in times]
    torque = answer(graph, messages, at(start, times[-1] + AHEAD))
    # velocities that are differentiated lag; these are the low-pass over two differences, the acceleration is constant
    q, qd, qdd = motion(times[-1])
    if rates == 1:
        gain = STEP / (STEP + 1 / (2 * np.pi * CUTOFF))
        qd = motion(STEP / 2)[1] + gain * QDD * STEP
    assert_torque(torque, q + qd * AHEAD + qdd * AHEAD**2 / 2, qd + qdd * AHEAD, qdd)
    assert torque.header.frame_id == ROBOT.link_names[0]


@pytest.fixture
def payload_states(graph):
    """A publisher that the node hears whenever it has joined."""
    publisher = graph.node.create_publisher(PayloadState, 'payload_state', WITH_LIVELINESS)
    yield publisher
    graph.node.destroy_publisher(publisher)


def test_what_the_arm_carries_counts(graph, message_type, payload_states):
    graph.reactivate(NODE)  # other tests are ahead of time
    start, mass, com = graph.now(), 3.0, (0.1, 0.0, 0.2)
    state = PayloadState(mass=mass, com=com, frame='ee_link')
    for told in (PayloadState(frame='ee_link'), state):
        payload_states.publish(told)
        graph.diagnostics(NODE, lambda status, told=told: status.fields['payload, kg'] == f'{told.mass:g}')
    stamp = at(start, 1.0)
    torque = answer(graph, [controller_state(message_type, stamp, motion(0.0))], stamp)
    # at once: the payload before is that in force
    payload_states.publish(PayloadState(frame='ee_link', before=[PayloadMessage(mass=mass, com=com, frame='ee_link')]))
    graph.diagnostics(NODE, lambda status: status.fields['payload, kg'] == '0')
    assert_torque(torque, *motion(0.0), robot=ROBOT.with_payload(Payload(mass, com), 'ee_link'))


def test_it_logs_once_that_rates_are_differentiated(graph, start, message_type):
    for k in range(2):
        times = [k, k + STEP]
        messages = [controller_state(message_type, at(start, t), motion(0.0)[:2]) for t in times]
        answer(graph, messages, at(start, times[-1]))
    lines = [line for line in graph.log(NODE).splitlines() if 'differentiated and filtered' in line]
    assert len(lines) == 1
    assert 'accelerations' in lines[0]


def test_joints_are_matched_by_name_whenever_the_layout_changes(graph, start, message_type):
    for k, names in enumerate([NAMES[::-1], ['rail', *NAMES[3:], *NAMES[:3]], NAMES]):
        t = float(k)
        places = [NAMES.index(name) if name in NAMES else 0 for name in names]
        message = controller_state(message_type, at(start, t), motion(0.01 * k)[:, places], names)
        assert_torque(answer(graph, [message], at(start, t)), *motion(0.01 * k))


def test_a_factor_slows_the_reference_down(graph, start, message_type):
    if not hasattr(message_type(), 'speed_scaling_factor'):
        pytest.skip('this control_msgs knows no speed scaling')
    messages = [controller_state(message_type, at(start, t), motion(t / 2), factor=0.5) for t in (0.0, STEP)]
    q, qd, qdd = motion(STEP / 2)
    assert_torque(answer(graph, messages, at(start, STEP)), q, qd / 2, qdd / 4)


def test_positions_and_velocities_may_be_the_measured_ones(graph, start, message_type):
    with graph.parameters(NODE, evaluate_at='measured'):
        torques = graph.listen(JointState, 'feedforward_torque')

        def send():
            graph.publish('jtc/controller_state', controller_state(message_type, start, motion(0.0)))
            graph.publish('joint_states', ros.joint_state(NAMES, start, Q + 0.1, QD - 0.2))

        graph.repeat_until(send, lambda: torques, 'an answer', 0.2)
        # friction of the measured velocity would be positive feedback
        expected = ROBOT.inverse_dynamics(Q + 0.1, QD - 0.2, QDD) + ROBOT.friction_torque(motion(0.0)[1])
        np.testing.assert_allclose(torques[0].effort, expected, rtol=0, atol=1e-6)


def test_silent_before_there_is_a_reference_and_far_from_it(graph, start, message_type):
    with graph.parameters(NODE, reference_age_limit=0.05):
        torques = graph.listen(JointState, 'feedforward_torque')
        graph.silence(NODE, 'no reference yet', lambda: send_state(graph, start))
        assert torques == []
        answer(graph, [controller_state(message_type, start, motion(0.0))], at(start, 0.05))
        torques.clear()
        graph.silence(NODE, 'within its age limit', lambda: send_state(graph, at(start, 0.051)))
        assert torques == []


def send_state(graph, stamp):
    graph.publish('joint_states', ros.joint_state(NAMES, stamp, Q))


def test_silent_while_rates_are_missing(graph, start, message_type):
    answer(graph, [controller_state(message_type, start, motion(0.0))], start)
    later = at(start, 1.0)
    torques = graph.listen(JointState, 'feedforward_torque')

    def send():
        graph.publish('jtc/controller_state', controller_state(message_type, later, motion(0.0)[:1]))
        send_state(graph, later)

    graph.silence(NODE, 'not known yet', send)
    assert torques == []


def test_an_unknown_source_is_refused(graph):
    with pytest.raises(ros.ProcessError, match='transition 1 failed'), graph.parameters(NODE, source='controller'):
        pass
    assert 'source: expected one of joint_trajectory, controller_state' in graph.log(NODE)


def test_a_wrong_message_is_refused_by_name_and_the_last_one_counts(graph, start, message_type):
    good = controller_state(message_type, start, motion(0.0))
    answer(graph, [good], start)
    bad = controller_state(message_type, at(start, 0.01), motion(0.0)[:, 1:], NAMES[1:])

    def refused():
        return f'controller state refused: joint {NAMES[0]!r} is missing' in graph.log(NODE)

    graph.repeat_until(lambda: graph.publish('jtc/controller_state', bad), refused, 'a refusal', 2.0)
    assert_torque(answer(graph, [], at(start, 0.02)), *motion(0.02))


def test_joint_trajectory_is_not_subscribed_to(graph):
    graph.until(lambda: graph.node.count_subscribers('jtc/controller_state'), 'a subscriber')
    assert graph.node.count_subscribers('joint_trajectory') == 0
