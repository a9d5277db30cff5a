"""Publishes the torques that compensate gravity at the measured positions."""

from robot_dynamics_ros import validation
from robot_dynamics_ros.control.laws.gravity_law import GravityLaw
from robot_dynamics_ros.control.laws.hand_guiding import HandGuidingLaw
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.nodes.inputs.payload_gravity_topics import PayloadGravityTopics
from robot_dynamics_ros.nodes.lifecycle.base_node import BaseNode
from robot_dynamics_ros.nodes.outputs.torque_info import TorqueInfoPublisher
from robot_dynamics_ros.nodes.outputs.torque_publishers import HandGuidingTopics, TorqueTopics
from robot_dynamics_ros.nodes.process.node_process import run
from robot_dynamics_ros.nodes.tasks.control_loop import ControlLoop
from robot_dynamics_ros.nodes.tasks.controlled_arm import ControlledArm, check_fade_in_time, torque_checks


class GravityCompensationNode(BaseNode):
    """``joint_states`` in, ``gravity_torque``, ``gravity_torque/info`` and ``gravity_torque/commands`` out.

    With ``hand_guiding`` also ``position_commands``, which follow the arm.
    """

    def __init__(self, **options):
        """Declare the parameters and subscribe to payload and gravity."""
        guiding = {'guiding_dead_band': self._dead_band, 'guiding_speed': self._speed}
        checks = {**torque_checks(self), 'fade_in_time': check_fade_in_time, **guiding}
        super().__init__('gravity_compensation_node', checks, **options)
        self.payload_gravity_topics = PayloadGravityTopics(self)

    def make_task(self) -> ControlLoop:
        """Return the control loop; ArgumentError where gravity is not this node's to compensate."""
        arm = ControlledArm(self)
        if 'gravity' not in arm.policy.terms:
            raise ArgumentError('gravity_owner robot: gravity would be compensated twice')
        info = TorqueInfoPublisher(self, arm, 'gravity_torque', ('gravity',))
        if not self.value('hand_guiding'):
            output = TorqueTopics(self, arm, 'gravity_torque', info)
            return ControlLoop(self, arm, self.make_law(arm), output, fields={'position command': 'none'})
        if not arm.policy.motor_pd:
            raise ArgumentError(
                'hand_guiding: only motors with a PD of their own follow a position command beside a torque; '
                'state preset motor_pd, or leave hand_guiding false'
            )
        dead_band, speed = self._dead_band(self.value('guiding_dead_band')), self._speed(self.value('guiding_speed'))
        law = HandGuidingLaw(arm.gravity, arm.robot, dead_band, speed)
        guiding = HandGuidingTopics(self, arm, 'gravity_torque', info, law)
        return ControlLoop(self, arm, law, guiding, reports=(guiding.report,), warns=guiding.warnings, hold=law)

    def make_law(self, arm: ControlledArm) -> GravityLaw:
        """Return the control law without hand guiding."""
        return GravityLaw(arm.gravity)

    def _dead_band(self, stated):
        """Return the dead band of each joint (n, rad or m) from the parameter; ArgumentError where it is wrong."""
        return validation.of_each_joint('guiding_dead_band', stated, self.robot.nv, zero=True)

    def _speed(self, stated):
        """Return the guiding speed of each joint (n, rad/s or m/s) likewise."""
        return validation.of_each_joint('guiding_speed', stated, self.robot.nv, zero=False)


def main():
    """Run the node."""
    run(GravityCompensationNode)


if __name__ == '__main__':
    main()
