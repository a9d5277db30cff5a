"""Nodes as processes, for an arm whose gripper reports its fingers in messages of its own and holds an object."""

from support.nodes import graph as ros
from support.robots.gripper import FINGER, FOLLOWER, HELD, TIP, arm_with_gripper, full_torque

import numpy as np
import pytest
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_dynamics_interfaces.srv import SetPayload
from robot_dynamics_ros import Robot

NODES = 'dynamics_server', 'gravity_compensation_node', 'feedforward_node', 'torque_controller'
NAMES = list(Robot.named('aubo_i5').joint_names)
Q, REST = np.array([0.4, -0.7, 0.9, -0.3, 0.5, 0.2]), np.zeros(6)
STATED = 0.02
PARAMETERS = """/**:
  ros__parameters:
    model: {urdf}
    locked_joints: ['{finger}: measured from 0.02']
    effort_limit: [.inf]
    age_limit: {age}
    start_tolerance: 0.0
    payload_gravity_ramp_time: 0.0
    await_payload_gravity: true
    control_law: pd_gravity
    stiffness: [20.0, 20.0, 20.0, 20.0, 20.0, 20.0]
    damping: [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
dynamics_server:
  ros__parameters:
    payload_file: {payload}
"""


@pytest.fixture
def arm(graph, tmp_path):
    """All nodes, active, with an object on a finger that the server keeps in a file."""
    (tmp_path / 'arm.urdf').write_text(arm_with_gripper())
    places = {'urdf': tmp_path / 'arm.urdf', 'payload': tmp_path / 'payload.yaml', 'finger': FINGER, 'age': ros.DAY}
    (tmp_path / 'params.yaml').write_text(PARAMETERS.format(**places))
    graph.bring_up(*NODES, arguments=('--params-file', str(tmp_path / 'params.yaml')))
    ixx, iyy, izz = np.diagonal(HELD.inertia)
    inertia = [ixx, iyy, izz, 0.0, 0.0, 0.0]
    request = SetPayload.Request(mass=HELD.mass, com=HELD.com, inertia=inertia, frame=TIP)
    response = graph.client.call(SetPayload, 'dynamics_server/set_payload', request)
    assert response.success, response.message
    assert f'frame: {TIP}' in (tmp_path / 'payload.yaml').read_text()
    return graph


def send(graph, *fingers):
    """Send what the gripper reports, if anything, and a state of the arm at rest."""
    if fingers:
        graph.publish('joint_states', ros.joint_state([FINGER, FOLLOWER], graph.now(), fingers))
    graph.publish('joint_states', ros.joint_state(NAMES, graph.now(), Q, REST))


def test_an_object_moves_with_the_finger_that_reports_itself(arm):
    rest = ros.trajectory(NAMES, arm.now(), (0.0, Q, REST, REST), (1e6, Q, REST, REST))
    arm.follow('bringup', rest, receivers=2)
    gravity, feedforward = (arm.listen(JointState, topic) for topic in ('gravity_torque', 'feedforward_torque'))
    commands = arm.listen(Float64MultiArray, 'effort_commands')
    for fingers in ((0.01, 0.01), (0.08, 0.08), (0.03, 0.05)):
        wanted = full_torque(Q, fingers[0], follower=fingers[1])

        def all_are(wanted=wanted):
            newest = [it[-1] for it in (gravity, feedforward, commands) if it]
            found = [getattr(it, 'effort', None) or getattr(it, 'data', None) for it in newest]
            return len(found) == 3 and all(np.abs(np.array(it) - wanted).max() < 1e-9 for it in found)

        arm.repeat_until(lambda fingers=fingers: send(arm, *fingers), all_are, f'torques at {fingers}', period=0.02)
    assert np.abs(wanted - full_torque(Q, STATED)).max() > 0.05
    # the reports stop: it stays there, and the nodes say so
    for node in NODES[1:]:
        told = f'joint {FINGER!r} is not in joint_states any more: it counts as where it was last, at 0.03 rad or m'
        arm.tells(node, told, lambda: send(arm))
    assert all_are()


@pytest.mark.slow  # tasks/test_gripper.py has it without processes, and the next one
def test_a_finger_that_nobody_reports_counts_as_stated(arm):
    torques = arm.listen(JointState, 'gravity_torque')
    for node in NODES[1:3]:
        told = f'joint {FINGER!r} is not in joint_states: it counts as where locked_joints states it, at 0.02 rad or m'
        arm.tells(node, told, lambda: send(arm))
    np.testing.assert_allclose(torques[-1].effort, full_torque(Q, STATED), rtol=0, atol=1e-9)


@pytest.mark.slow
def test_wrong_reports_are_refused_by_name(arm):
    torques = arm.listen(JointState, 'gravity_torque')
    wanted = full_torque(Q, 0.05)

    def is_there():
        return torques and np.abs(np.array(torques[-1].effort) - wanted).max() < 1e-9

    arm.repeat_until(lambda: send(arm, 0.05, 0.05), is_there, 'the torque at 0.05', period=0.02)
    told = f'report refused: joint {FINGER!r}: position is missing or not finite'
    arm.tells('gravity_compensation_node', told, lambda: send(arm, np.nan, 0.0))
    assert is_there()
