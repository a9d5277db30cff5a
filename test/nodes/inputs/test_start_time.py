"""A trajectory with a zero stamp begins when the middleware received it, however long an executor is busy."""

from support.nodes import graph as ros
from support.nodes.feedforward import CONTROLLER, DAMPING, NAMES, ROBOT, STIFFNESS, A, at, send
from support.nodes.feedforward import NODE as FEEDFORWARD

import numpy as np
import pytest
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_dynamics_interfaces.srv import CheckTrajectory

SERVER = 'dynamics_server'
DURATION = 20.0
WAY = np.array([0.0, 0.4, 0.0, 0.0, 0.0, 1.0])
"""Of a motion at a constant rate: joint 2 is seen in the gravity torque, joint 6 in the controller's."""


@pytest.fixture(scope='module')
def graph(file_graph):
    parameters = ('age_limit:=60.0', 'control_law:=pd', 'compensation:=[gravity]')
    arguments = [part for parameter in parameters for part in ('-p', parameter)]
    file_graph.processes.start(FEEDFORWARD, *arguments)
    file_graph.bring_up(SERVER, CONTROLLER, arguments=arguments)
    file_graph.client.wait_until_active(FEEDFORWARD)
    return file_graph


def answers(graph, stamp):
    """Return the command of torque_controller and the torque of feedforward_node at a state of ``stamp``."""
    topics = (Float64MultiArray, 'effort_commands'), (JointState, 'feedforward_torque')
    heard = [graph.listen(kind, topic) for kind, topic in topics]
    command, torque = graph.first_answers(lambda: send(graph, stamp, A), *heard)
    assert ros.nanoseconds(torque.header.stamp) == stamp
    return command.data, torque.effort


def begin_of_control(command):
    """Return how long before a state torque_controller's motion began, s: from the PD torque of joint 6."""
    rate = WAY[5] / DURATION
    return (command[5] - DAMPING[5] * rate) / STIFFNESS[5] / rate


def begin_of_feedforward(torque):
    """Return how long before a state feedforward_node's motion began, s: from the gravity torque of joint 2."""
    times = np.linspace(0.0, DURATION, 2001)
    known = ROBOT.gravity_torque(A + times[:, None] / DURATION * WAY)[:, 1]
    assert (np.diff(known) < 0.0).all()
    return float(np.interp(-torque[1], -known, times))


def begins_beside_a_long_call(graph):
    """Return when each node began a motion, when both had received it and when the call ended, s after it was sent."""
    request = CheckTrajectory.Request(sample_period=1e-4, resample=True)
    request.trajectory = ros.trajectory(NAMES, 0, (0.0, A), (9.0, A + 0.1))
    client = graph.node.create_client(CheckTrajectory, f'{SERVER}/check_trajectory')
    motion = ros.trajectory(NAMES, 0, (0.0, A), (DURATION, A + WAY))
    graph.until(client.service_is_ready, 'the service')
    graph.until(lambda: graph.node.count_subscribers('joint_trajectory') == 2, 'two subscribers')
    graph.send('joint_trajectory', ros.trajectory(NAMES, 0))
    publisher = graph._publishers['joint_trajectory']
    graph.until(lambda: publisher.get_subscription_count() == 2, 'both in touch')
    call = client.call_async(request)
    graph.client.spin_while_waiting(call.done, 0.05)
    sent = graph.now()
    graph.send('joint_trajectory', motion)
    assert publisher.wait_for_all_acked()
    received = (graph.now() - sent) / ros.SECOND
    graph.until(call.done, 'the answer of the long call', 60.0)
    busy = (graph.now() - sent) / ros.SECOND
    assert call.result().success, call.result().message
    # the way to the motion begins at the first one for both, and takes less than 0.8 s
    for before in (0.9, 1.8, 2.7):
        answers(graph, at(sent, before))
    since = 3.6
    command, torque = answers(graph, at(sent, since))
    late = {CONTROLLER: since - begin_of_control(command), FEEDFORWARD: since - begin_of_feedforward(torque)}
    return late, received, busy


def test_beside_a_long_service_call_controller_and_feedforward_begin_together(graph):
    for _ in range(5):
        late, received, busy = begins_beside_a_long_call(graph)
        told = ', '.join(f'{node} began {delay:.3f} s' for node, delay in late.items())
        reason = (
            f'{told} after the trajectory was sent, received within {received:.3f} s, executor busy for {busy:.1f} s'
        )
        assert abs(late[CONTROLLER] - late[FEEDFORWARD]) < 0.1 + received, reason
        assert all(-0.1 < delay < 0.1 + received for delay in late.values()), reason
        if busy > received + 0.3:
            return
    pytest.skip(f'the executor was free before the trajectory, or soon after it: {reason}')
