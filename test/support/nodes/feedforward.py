"""For tests of feedforward_node: arguments of its process, motions, states, and the torques expected for them."""

from support.nodes import graph as ros

import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_dynamics_ros import Robot

NODE = 'feedforward_node'
ROBOT = Robot.named('aubo_i5')
NAMES = list(ROBOT.joint_names)
A = np.array([0.1, -0.7, 0.2, -0.1, 0.3, 0.0])
B = np.array([0.5, -0.4, -0.2, 0.3, 0.1, -0.4])
RATE_A = np.array([0.1, 0.2, -0.1, 0.2, -0.3, 0.1])
RATE_B = np.array([-0.2, 0.1, 0.3, 0.1, 0.2, 0.3])
REST = np.zeros(6)
ARGUMENTS = ('-p', f'age_limit:={ros.DAY}', '-p', 'start_tolerance:=0.0')
"""States of any time are answered, and trajectories may begin anywhere."""
CONTROLLER = 'torque_controller'
STIFFNESS = np.array([300.0, 400.0, 300.0, 60.0, 60.0, 60.0])
DAMPING = np.array([30.0, 40.0, 30.0, 4.0, 4.0, 4.0])
"""Of torque_controller, as config/nodes.yaml has them."""


def at(start, seconds):
    return start + round(seconds * ros.SECOND)


def send(graph, stamp, position=A, velocity=REST, names=NAMES):
    graph.publish('joint_states', ros.joint_state(names, stamp, position, velocity))


def answer(graph, stamp, position=A, velocity=REST, names=NAMES):
    """Send a state and return its answer."""
    torques = graph.listen(JointState, 'feedforward_torque')
    return graph.answer(lambda stamp: send(graph, stamp, position, velocity, names), torques, stamp)


def assert_torque(message, q, qd, qdd, robot=ROBOT):
    expected = robot.inverse_dynamics(q, qd, qdd) + robot.friction_torque(qd)
    np.testing.assert_allclose(message.effort, expected, rtol=0, atol=1e-9)


def between(t, duration, first, last):
    """Position, velocity and acceleration at t of the polynomial that meets (q, qd, ...) at both ends; slow twin."""
    powers = np.arange(2 * len(first))

    def row(time, derivative):
        factor = np.prod([powers - k for k in range(derivative)], axis=0) if derivative else np.ones(len(powers))
        return factor * time ** np.maximum(powers - derivative, 0.0)

    conditions = [row(time, k) for time in (0.0, duration) for k in range(len(first))]
    coefficients = np.linalg.solve(np.array(conditions), np.array([*first, *last]))
    return [row(t, k) @ coefficients for k in range(3)]


def quintic(start):
    """From A to B in 2 s, and what it is at t."""
    ends = (A, RATE_A, REST), (B, RATE_B, REST)
    return ros.trajectory(NAMES, start, (0.0, *ends[0]), (2.0, *ends[1])), lambda t: between(t, 2.0, *ends)


def rest_at(start, position=A):
    """Stay where you are."""
    return ros.trajectory(NAMES, start, (0.0, position, REST, REST), (1e6, position, REST, REST))


def turned(position, joint, by):
    """Return positions with one joint, by its number from 0, moved by some rad."""
    return position + by * np.eye(len(position))[joint]


def command(graph, stamp, position, velocity=REST):
    """Send a state until torque_controller has answered, and return its first command."""
    commands = graph.listen(Float64MultiArray, 'effort_commands')
    (first,) = graph.first_answers(lambda: send(graph, stamp, position, velocity), commands)
    return np.array(first.data)


def controlled(desired, position, velocity=REST, desired_velocity=REST, added=None):
    """Return the torque of PD at gains as in config/nodes.yaml and of ``added``, gravity where it is None, clamped."""
    added = ROBOT.gravity_torque(position) if added is None else added
    limit = ROBOT.limits.effort
    torque = STIFFNESS * (desired - position) + DAMPING * (desired_velocity - velocity) + added
    return np.clip(torque, -limit, limit)


def assert_command(found, expected, reason, topic='effort_commands'):
    """Compare torques to 1e-6, relative to 1 N m at least; ``reason`` says why they must be so."""
    found = np.asarray(found)
    error = np.abs(found - expected) / np.maximum(1.0, np.abs(expected))
    assert error.max() < 1e-6, f'{topic}: expected {np.round(expected, 3)}, got {np.round(found, 3)} N m: {reason}'
