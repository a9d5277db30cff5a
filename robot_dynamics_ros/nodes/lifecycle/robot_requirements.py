"""What each node requires of its robot; importing it needs no ROS."""

from typing import NamedTuple

from robot_dynamics_ros.model.audit import AFFECTED


class Requirements(NamedTuple):
    """What of a model has to be right for what a node computes, whether it computes closed loops, and reads states."""

    needs: tuple[str, ...] = AFFECTED
    serves_loops: bool = False
    reads_joint_states: bool = False


OF_NODE = {
    'aubo_node': Requirements(needs=('masses',)),
    'dynamics_server': Requirements(serves_loops=True),
    'external_torque_node': Requirements(reads_joint_states=True),
    'feedforward_node': Requirements(reads_joint_states=True),
    'gravity_compensation_node': Requirements(needs=('masses', 'limits'), reads_joint_states=True),
    'torque_controller': Requirements(reads_joint_states=True),
}


def requirements_of(node: str) -> Requirements:
    """Return the requirements of a node by its name."""
    return OF_NODE.get(node, Requirements())
