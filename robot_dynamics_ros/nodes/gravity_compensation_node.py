"""Publishes the torques that hold the arm where it is against gravity."""

from robot_dynamics_ros.control.gravity_law import GravityLaw
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.nodes.process import run
from robot_dynamics_ros.nodes.torque_node import TorqueNode
from robot_dynamics_ros.nodes.torque_publishers import TorqueTopics


class GravityCompensationNode(TorqueNode):
    """``joint_states`` in, ``gravity_torque``, ``gravity_torque/info`` and ``gravity_torque/commands`` out."""

    def __init__(self, **options):
        """Declare the parameters."""
        super().__init__('gravity_compensation_node', **options)

    def make_law(self) -> GravityLaw:
        """Return the law; ArgumentError where gravity is not this node's to compensate."""
        if 'gravity' not in self.ownership.terms:
            raise ArgumentError('gravity_owner robot: gravity would be compensated twice')
        return GravityLaw(self.gravity)

    def make_output(self) -> TorqueTopics:
        """Return the publishers."""
        return TorqueTopics(self, 'gravity_torque', ('gravity',))


def main():
    """Run the node."""
    run(GravityCompensationNode)


if __name__ == '__main__':
    main()
