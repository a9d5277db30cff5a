"""Publishes the torques and the wrench of the environment on an arm, and contact; it commands nothing."""

from robot_dynamics_ros import validation
from robot_dynamics_ros.control.observers.external_wrench import ExternalWrench
from robot_dynamics_ros.nodes.inputs.payload_gravity_topics import PayloadGravityTopics
from robot_dynamics_ros.nodes.lifecycle.base_node import BaseNode
from robot_dynamics_ros.nodes.process.node_process import run
from robot_dynamics_ros.nodes.process.realtime import cores_of
from robot_dynamics_ros.nodes.tasks.external_torque_loop import ExternalTorqueLoop


class ExternalTorqueNode(BaseNode):
    """``joint_states`` with efforts in, ``external_torque``, ``external_wrench`` and ``~/contact`` out."""

    def __init__(self, **options):
        """Declare the parameters and subscribe to payload and gravity."""
        checks = {
            'cores': cores_of,
            'wrench_frame': lambda frame: ExternalWrench(self.robot, frame),
            **{
                name: self._check(name)
                for name in ('contact_threshold', 'reversal_threshold', 'speed_threshold', 'inertia_threshold')
            },
        }
        super().__init__('external_torque_node', checks, **options)
        self.payload_gravity_topics = PayloadGravityTopics(self)

    def make_task(self) -> ExternalTorqueLoop:
        """Return the observer's loop; DynamicsError names the parameter that is wrong."""
        return ExternalTorqueLoop(self)

    def _check(self, name: str):
        """Return the check of a parameter with thresholds."""
        return lambda stated: validation.of_each_joint(name, stated, self.robot.nv, zero=True)


def main():
    """Run the node."""
    run(ExternalTorqueNode)


if __name__ == '__main__':
    main()
