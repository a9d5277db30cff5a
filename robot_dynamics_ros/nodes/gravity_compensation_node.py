"""Publishes the torques that hold the arm where it is against gravity."""

from robot_dynamics_ros.dynamics.errors import ArgumentError
from robot_dynamics_ros.nodes.process import run
from robot_dynamics_ros.nodes.torque_node import TorqueNode, TorqueTopics


class GravityCompensationNode(TorqueNode):
    """``joint_states`` in, ``gravity_torque`` and ``gravity_torque/commands`` out."""

    def __init__(self, **options):
        """Declare the parameters."""
        super().__init__('gravity_compensation_node', **options)

    def create_outputs(self) -> None:
        """Create the publishers; ArgumentError where gravity is not this node's to compensate."""
        if 'gravity' not in self.ownership.terms:
            raise ArgumentError('gravity_owner robot: gravity would be compensated twice')
        self._topics = TorqueTopics(self, 'gravity_torque', 'gravity')

    def warm_ups(self) -> dict:
        """Add the gravity torque."""
        return {**super().warm_ups(), 'gravity torque': lambda: self.compute(0)}

    def compute(self, stamp: int) -> str:
        """Write the gravity torque at the measured positions."""
        self.holding.torque(stamp, self.state.q, out=self.torque)
        return ''

    def publish(self, stamp) -> None:
        """Publish named and, where the robot takes them, as commands."""
        self._topics.publish(stamp)


def main():
    """Run the node."""
    run(GravityCompensationNode)


if __name__ == '__main__':
    main()
