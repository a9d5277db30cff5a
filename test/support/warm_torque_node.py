"""Prints as JSON what an active torque node compiles or looks for on disk while it computes torques.

A process of its own, ``warm_torque_node.py FOLDER NODE``: nothing that ran before it has compiled or loaded anything.
"""

import sys
from pathlib import Path

from support import graph as ros
from support import watched_code
from support.feedforward import NAMES, REST, A, B

from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_dynamics_interfaces.msg import PayloadState
from robot_dynamics_ros.nodes.feedforward_node import FeedforwardNode
from robot_dynamics_ros.nodes.gravity_compensation_node import GravityCompensationNode
from robot_dynamics_ros.nodes.qos import WITH_LIVELINESS
from robot_dynamics_ros.nodes.torque_controller import TorqueController

ANY_TIME = {'age_limit': ros.DAY, 'on_stale': 'gravity_only'}
MOTION = {**ANY_TIME, 'start_tolerance': 0.0}
NODES = {
    'gravity_compensation_node': (GravityCompensationNode, ANY_TIME, JointState, 'gravity_torque'),
    'feedforward_node': (FeedforwardNode, MOTION, JointState, 'feedforward_torque'),
    'torque_controller': (
        TorqueController,
        {**MOTION, 'control_law': 'computed_torque'},
        Float64MultiArray,
        'effort_commands',
    ),
}
PAYLOADS = (
    PayloadState(frame='ee_link'),
    PayloadState(frame='ee_link', mass=2.0, com=[0.0, 0.0, 0.1]),
    PayloadState(frame='ee_link', mass=1.0, ramp_time=100.0),
)


def main():
    folder, name = sys.argv[1:]
    kind, settings, message_type, topic = NODES[name]
    watched_code.watch()
    with ros.Graph(Path(folder)) as graph:
        node = kind(parameter_overrides=[Parameter(key, value=value) for key, value in settings.items()])
        graph.client._executor.add_node(node)
        node.trigger_configure()
        node.trigger_activate()
        assert node.active
        torques = graph.listen(message_type, topic)
        try:
            with watched_code.told():
                for payload in PAYLOADS:
                    graph.say_latched('payload_state', payload, WITH_LIVELINESS)
                    graph.until(lambda mass=payload.mass: carried(node) == mass, 'the payload')
                    torques.clear()
                    graph.repeat_until(lambda: move(graph, node), lambda: len(torques) >= 5, 'torques', 0.1)
        finally:
            node.trigger_deactivate()
            graph.client._executor.remove_node(node)
            node.destroy_node()


def carried(node) -> float:
    """Return the mass of the payload that a node uses, at the end of its ramp."""
    return node.task.arm.payload_gravity.current.payload.mass


def move(graph, node):
    """Send a motion that has begun to a node that follows one, and a state of it."""
    points = ((seconds, position, REST, REST) for seconds, position in ((0.0, A), (60.0, B)))
    if node.task.trajectory:
        graph.publish('joint_trajectory', ros.trajectory(NAMES, graph.now(), *points))
    graph.publish('joint_states', ros.joint_state(NAMES, graph.now(), A, REST))


if __name__ == '__main__':
    main()
