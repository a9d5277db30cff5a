"""A hand on simulated_arm: torque_controller's springs yield to it, it ends by itself, and a wrong one is refused."""

from support.nodes.feedforward import CONTROLLER, ROBOT
from support.nodes.impedance import BASE, BENT
from support.nodes.messages import stamped

import numpy as np
import pytest
import rclpy
from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_dynamics_ros.nodes.executables.simulated_arm import SimulatedArm

ARM, TOOL, TOPIC = 'simulated_arm', 'ee_link', 'applied_wrench'
AXES = ROBOT.link_pose(BENT, TOOL)[:3, :3]
STIFFNESS = np.array([500.0, 800.0, 1000.0])
PARAMETERS = {
    'start': BENT.tolist(),
    'rate': 125.0,
    'contact_frame': TOOL,
    'friction_error': -1.0,  # none: what friction carries does not move the tool
    'control_law': 'cartesian_impedance',
    'impedance_frame': TOOL,
    'translational_stiffness': STIFFNESS.tolist(),
    'rotational_stiffness': [60.0] * 3,
    **dict.fromkeys(('stiffness', 'damping'), [0.0] * 6),
    'age_limit': 10.0,
}
PUSH = np.array([4.0, -8.0, 10.0])


def wrench(force=PUSH, frame='', stamp=0, moment=(0.0, 0.0, 0.0)) -> WrenchStamped:
    message = stamped(WrenchStamped(), stamp)
    message.header.frame_id = frame
    for part, values in ((message.wrench.force, force), (message.wrench.torque, moment)):
        part.x, part.y, part.z = map(float, values)
    return message


@pytest.fixture(scope='module')
def graph(file_graph):
    arguments = [word for it in PARAMETERS.items() for word in ('-p', '{}:={}'.format(*it))]
    file_graph.bring_up(ARM, CONTROLLER, arguments=arguments)
    file_graph.diagnostics(CONTROLLER, lambda status: status.message == 'publishing')
    return file_graph


def numbers(status, field):
    return np.array([float(x) for x in status.fields[field].split()])


@pytest.mark.parametrize(('frame', 'axes'), [('', np.eye(3)), (BASE, np.eye(3)), (TOOL, AXES)])
def test_the_tool_yields_by_force_over_stiffness_and_comes_back(graph, frame, axes):
    states = graph.listen(JointState, 'joint_states', 1)

    def moved():
        place = ROBOT.link_pose(np.array(states[-1].position), TOOL) if states else np.full((4, 4), np.nan)
        return place[:3, 3] - ROBOT.link_pose(BENT, TOOL)[:3, 3]

    expected = axes @ PUSH / STIFFNESS
    with graph.repeating(lambda: graph.publish(TOPIC, wrench(frame=frame)), 0.05):
        graph.until(lambda: np.abs(moved() - expected).max() < 4e-4, f'a tool that has moved by {expected}')
        status = graph.diagnostics(ARM, lambda status: numbers(status, 'applied force, N').any())
        np.testing.assert_allclose(numbers(status, 'applied force, N'), axes @ PUSH, atol=0.3)  # the tool turns, too
    graph.until(lambda: np.abs(moved()).max() < 4e-4, 'a tool that is back')
    graph.diagnostics(ARM, lambda status: not numbers(status, 'applied force, N').any())


def test_what_is_refused_is_on_diagnostics_and_once_in_the_log(graph):
    said = f"{TOPIC}: wrench: expected it in the axes of {BASE!r} or {TOOL!r}, got frame 'camera'"
    refused = int(graph.diagnostics(ARM).fields['wrenches refused'])
    for count in (1, 2, 3):
        graph.publish(TOPIC, wrench(frame='camera'))
        status = graph.diagnostics(ARM, lambda status: status.fields['wrench refused last'] == said)
        status = graph.diagnostics(ARM, lambda status, n=count: int(status.fields['wrenches refused']) == refused + n)
        assert not numbers(status, 'applied force, N').any()
    assert graph.log('bringup').count(said) == 1


def test_two_publishers_are_a_warning(graph):
    graph.publish(TOPIC, wrench())
    second = rclpy.create_node('second_hand', context=graph.node.context)
    try:
        second.create_publisher(WrenchStamped, TOPIC, 1)
        graph.tells(ARM, f'2 publishers of {TOPIC} (/second_hand, /test_client): the newest wrench counts')
    finally:
        second.destroy_node()


@pytest.fixture
def arm(configured):
    """An active arm of this process with open brakes, in no executor."""
    node = configured(SimulatedArm, contact_frame=TOOL)
    node.trigger_activate()
    node.task._on_command(Float64MultiArray(data=[0.0] * 6))
    return node


def send(node, message):
    """Let a node receive a message; return the wrench in force."""
    node.task._applied_wrench._on_wrench(serialize_message(message))
    return node.task._arm.wrench.in_force


def reason(node):
    return node.task.report()['wrench refused last']


def test_a_wrench_acts_at_once_and_a_moment_is_first_in_the_wrench_of_the_arm(arm):
    send(arm, wrench(moment=(1.0, 2.0, 3.0)))
    arm.task._arm.step()
    np.testing.assert_array_equal(arm.task._arm.wrench.in_force, [1.0, 2.0, 3.0, *PUSH])
    report = arm.task.report()
    assert (report['applied force, N'], report['applied moment, N m']) == ('4 -8 10', '1 2 3')
    assert (report['wrenches taken'], report['wrenches refused'], reason(arm)) == ('1', '0', '')


@pytest.mark.parametrize(
    ('message', 'said'),
    [
        (wrench(force=(0.0, np.nan, 0.0)), 'force.y: nan is not finite'),
        (wrench(moment=(np.inf, 0.0, 0.0)), 'torque.x: inf is not finite'),
        (wrench(frame='wrist3_Link'), f'wrench: expected it in the axes of {BASE!r} or {TOOL!r}, got frame'),
        (wrench(stamp=10**9), 'its stamp is '),
    ],
)
def test_a_wrong_wrench_is_refused_by_name(arm, message, said):
    send(arm, message)
    arm.task._arm.step()
    assert reason(arm).startswith(f'{TOPIC}: {said}') and not arm.task._arm.wrench.in_force.any()


def test_a_stamp_of_now_counts(arm):
    send(arm, wrench(stamp=arm.get_clock().now().nanoseconds))
    assert reason(arm) == '' and arm.task._arm.wrench.steps_left


def test_closed_brakes_and_an_arm_that_is_not_active_refuse_it(arm):
    arm.trigger_deactivate()
    send(arm, wrench())
    assert reason(arm) == f'{TOPIC}: {ARM} is not active'
    arm.trigger_activate()
    send(arm, wrench())
    assert reason(arm) == f'{TOPIC}: the brakes are closed, which hold the arm'
    arm.task._on_command(Float64MultiArray(data=[0.0] * 6))
    arm.task._arm.step()
    assert not arm.task._arm.wrench.in_force.any()
