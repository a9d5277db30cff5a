"""Publishes the torques that compensate gravity at the measured positions."""

from robot_dynamics_ros.control.gravity_law import GravityLaw
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.nodes.base_node import BaseNode
from robot_dynamics_ros.nodes.control_loop import ControlLoop
from robot_dynamics_ros.nodes.controlled_arm import ControlledArm, torque_checks
from robot_dynamics_ros.nodes.payload_gravity_topics import PayloadGravityTopics
from robot_dynamics_ros.nodes.process import run
from robot_dynamics_ros.nodes.torque_info import TorqueInfoPublisher
from robot_dynamics_ros.nodes.torque_publishers import TorqueTopics


class GravityCompensationNode(BaseNode):
    """``joint_states`` in, ``gravity_torque``, ``gravity_torque/info`` and ``gravity_torque/commands`` out."""

    needs = ('masses', 'limits')

    def __init__(self, **options):
        """Declare the parameters and subscribe to payload and gravity."""
        super().__init__('gravity_compensation_node', torque_checks(self), **options)
        self.payload_gravity_topics = PayloadGravityTopics(self)

    def make_task(self) -> ControlLoop:
        """Return the control loop; ArgumentError where gravity is not this node's to compensate."""
        arm = ControlledArm(self)
        if 'gravity' not in arm.policy.terms:
            raise ArgumentError('gravity_owner robot: gravity would be compensated twice')
        info = TorqueInfoPublisher(self, arm, 'gravity_torque', ('gravity',))
        return ControlLoop(self, arm, self.make_law(arm), TorqueTopics(self, arm, 'gravity_torque', info))

    def make_law(self, arm: ControlledArm) -> GravityLaw:
        """Return the control law."""
        return GravityLaw(arm.gravity)


def main():
    """Run the node."""
    run(GravityCompensationNode)


if __name__ == '__main__':
    main()
