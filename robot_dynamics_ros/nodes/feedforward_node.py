"""Publishes the torques that a desired trajectory takes, one for each joint state."""

from robot_dynamics_ros.control.compensation import TERMS, Compensation
from robot_dynamics_ros.control.trajectory import Trajectory
from robot_dynamics_ros.dynamics.errors import ArgumentError
from robot_dynamics_ros.nodes.process import run
from robot_dynamics_ros.nodes.torque_node import CommandArray, NamedTorque
from robot_dynamics_ros.nodes.trajectory_input import Step
from robot_dynamics_ros.nodes.trajectory_node import TrajectoryNode

EVALUATE_AT = ('desired', 'measured')


class FeedforwardNode(TrajectoryNode):
    """``joint_states`` and ``joint_trajectory`` in, ``feedforward_torque`` and ``feedforward_torque/commands`` out."""

    def __init__(self, **options):
        """Declare the parameters."""
        super().__init__('feedforward_node', **options)
        self.declare(
            'compensation',
            [''],
            f"terms of the torque, among {', '.join(TERMS)}; '': all that the robot does not add",
            check=lambda robot, terms: Compensation(robot, [term for term in terms if term] or TERMS),
        )
        self.declare(
            'evaluate_at',
            'desired',
            f'whose positions and velocities count: {" or ".join(EVALUATE_AT)}',
            check=lambda robot, choice: is_measured(choice),
        )

    def setup(self) -> None:
        """Create the composition, the inputs and the outputs."""
        self._measured = is_measured(self.value('evaluate_at'))
        super().setup()

    def create_outputs(self) -> None:
        """Create the publishers."""
        self._compensation = Compensation(self.robot, self.ownership.terms)
        self._named = NamedTorque(self, 'feedforward_torque', self._compensation.label)
        self._commands = self.ownership.takes_commands and CommandArray(self, 'feedforward_torque/commands')

    def wanted(self) -> list[str]:
        """Return what ``compensation`` says."""
        return list(self.value('compensation'))

    def report(self) -> dict[str, str]:
        """Add the terms of the torque."""
        return {**super().report(), 'compensation': self._compensation.label}

    def along(self, trajectory: Trajectory) -> Step:
        """Return what is done for each time of a trajectory: its torque is written."""
        measured = (self.state.q, self.state.qd) if self._measured else None
        return self._compensation.along(trajectory, self.desired, self.torque, measured)

    def compute(self, stamp: int) -> str:
        """Write the torque of the desired motion at the state's stamp."""
        if self._measured and not self.state.has_velocity:
            return 'the joint state has no velocities'
        return self.trajectory.follow(stamp, self.state.q, self.state.qd)

    def publish(self, stamp) -> None:
        """Publish named and, where the robot takes them, as commands."""
        self._named.publish(stamp)
        if self._commands:
            self._commands.publish()


def is_measured(evaluate_at: str) -> bool:
    """Return whether ``evaluate_at`` says measured; ArgumentError where it says neither."""
    if evaluate_at not in EVALUATE_AT:
        raise ArgumentError(f'evaluate_at: expected one of {", ".join(EVALUATE_AT)}, got {evaluate_at!r}')
    return evaluate_at == 'measured'


def main():
    """Run the node."""
    run(FeedforwardNode)


if __name__ == '__main__':
    main()
