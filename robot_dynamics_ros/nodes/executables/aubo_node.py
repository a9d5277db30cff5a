"""Publishes the state of an AUBO arm and compares its controller with the model; it never commands the arm."""

from robot_dynamics_ros.nodes.inputs.payload_gravity_topics import PayloadGravityTopics
from robot_dynamics_ros.nodes.lifecycle.base_node import BaseNode
from robot_dynamics_ros.nodes.process.node_process import run
from robot_dynamics_ros.nodes.tasks.aubo_states import AuboStates


class AuboNode(BaseNode):
    """A controller's stream in, ``joint_states``, ``joint_temperatures`` and ``~/info`` out."""

    def __init__(self, **options):
        """Declare the parameters and subscribe to payload and gravity."""
        super().__init__('aubo_node', **options)
        self.payload_gravity_topics = PayloadGravityTopics(self)

    def make_task(self) -> AuboStates:
        """Return the listener; DynamicsError names the parameter that is wrong."""
        return AuboStates(self)


def main():
    """Run the node."""
    run(AuboNode)


if __name__ == '__main__':
    main()
