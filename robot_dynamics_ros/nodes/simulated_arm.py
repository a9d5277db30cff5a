"""A simulated arm with joint friction for machines without a robot."""

from robot_dynamics_ros.nodes.base_node import BaseNode
from robot_dynamics_ros.nodes.plant_loop import PlantLoop, start_position
from robot_dynamics_ros.nodes.process import run


class SimulatedArm(BaseNode):
    """``effort_commands`` in, ``joint_states`` out, ``~/reset`` to the start position."""

    def __init__(self, **options):
        """Declare the parameters."""
        checks = {'start': lambda start: start_position(start, self.robot.nq)}
        super().__init__('simulated_arm', checks, **options)

    def make_task(self) -> PlantLoop:
        """Return the simulation; DynamicsError says why it can't run."""
        return PlantLoop(self)


def main():
    """Run the node."""
    run(SimulatedArm)


if __name__ == '__main__':
    main()
