"""A trajectory with a zero stamp begins when the middleware received it, however long an executor is busy."""

from support.nodes import graph as ros
from support.nodes.feedforward import CONTROLLER, DAMPING, NAMES, ROBOT, STIFFNESS, A, command, send
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


def begin_of_control(graph, stamp):
    """Return when torque_controller's motion began, s before ``stamp``: from the PD torque of joint 6."""
    rate = WAY[5] / DURATION
    torque = command(graph, stamp, A)[5]
    return (torque - DAMPING[5] * rate) / STIFFNESS[5] / rate


def torque_of_feedforward(graph, stamp):
    """Return the gravity torque of joint 2 at a state of ``stamp``, which is sent until it has come."""
    torques = graph.listen(JointState, 'feedforward_torque')
    commands = graph.listen(Float64MultiArray, 'effort_commands')
    sent = []

    def state(stamp):
        sent.append(stamp)
        send(graph, stamp, A)

    torque = graph.answer(state, torques, stamp).effort[1]
    # torque_controller answers the same states: no command may be left over for the next one
    graph.until(lambda: len(commands) >= len(sent), 'commands at the same states')
    return torque


def begin_of_feedforward(graph, stamp):
    """Return when feedforward_node's motion began, s before ``stamp``: from the gravity torque of joint 2."""
    torque = torque_of_feedforward(graph, stamp)
    times = np.linspace(0.0, DURATION, 2001)
    known = ROBOT.gravity_torque(A + times[:, None] / DURATION * WAY)[:, 1]
    assert (np.diff(known) < 0.0).all()
    return float(np.interp(-torque, -known, times))


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
    # the way to the motion begins there for both, and takes less than 0.8 s
    command(graph, sent + 3 * ros.SECOND, A)
    torque_of_feedforward(graph, sent + 3 * ros.SECOND)
    since = 3.8
    stamp = sent + round(since * ros.SECOND)
    late = {
        CONTROLLER: since - begin_of_control(graph, stamp),
        FEEDFORWARD: since - begin_of_feedforward(graph, stamp),
    }
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
