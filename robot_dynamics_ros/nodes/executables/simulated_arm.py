"""A simulated arm with joint friction for machines without a robot."""

from functools import partial

from robot_dynamics_ros.nodes.lifecycle.base_node import BaseNode
from robot_dynamics_ros.nodes.process.node_process import run
from robot_dynamics_ros.nodes.tasks.plant_loop import (
    PlantLoop,
    contact_frame,
    elastic_joints,
    gain,
    start_position,
    surfaces,
)
from robot_dynamics_ros.validation import of_each_joint


class SimulatedArm(BaseNode):
    """``effort_commands`` in, ``joint_states`` out, ``~/reset`` to the start position.

    With ``actuation`` motor_pd ``position_commands`` come in, too. ``applied_wrench`` is that of a hand.
    """

    def __init__(self, **options):
        """Declare the parameters."""
        checks = {
            'start': lambda start: start_position(start, self.robot),
            **{name: partial(self._check_gain, name) for name in ('motor_stiffness', 'motor_damping')},
            'joint_stiffness': lambda stiffness: elastic_joints(self.robot, stiffness, [0.0]),
            'surfaces': lambda planes: surfaces(planes, ''),
            'contact_frame': lambda name: contact_frame(self.robot, name),
            'joint_damping': lambda values: of_each_joint('joint_damping', values, self.robot.nv, zero=True),
        }
        super().__init__('simulated_arm', checks, **options)

    def make_task(self) -> PlantLoop:
        """Return the simulation; DynamicsError says why it can't run."""
        return PlantLoop(self)

    def _check_gain(self, name: str, values) -> None:
        gain(name, values, self.robot.nv)


def main():
    """Run the node."""
    run(SimulatedArm)


if __name__ == '__main__':
    main()
