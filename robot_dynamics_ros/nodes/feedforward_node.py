"""Publishes the torques that a desired motion takes, one for each joint state."""

from functools import partial

from robot_dynamics_ros import arguments
from robot_dynamics_ros.control.compensation import TERMS, Compensation
from robot_dynamics_ros.control.handover import Handover
from robot_dynamics_ros.control.trajectory import Trajectory
from robot_dynamics_ros.nodes.controller_state_input import ControllerStateInput
from robot_dynamics_ros.nodes.process import run
from robot_dynamics_ros.nodes.torque_node import TorqueTopics
from robot_dynamics_ros.nodes.trajectory_input import Step
from robot_dynamics_ros.nodes.trajectory_node import TrajectoryNode

EVALUATE_AT = ('desired', 'measured')
SOURCES = ('joint_trajectory', 'controller_state')


class FeedforwardNode(TrajectoryNode):
    """``joint_states`` and ``joint_trajectory`` in, ``feedforward_torque`` and ``feedforward_torque/commands`` out.

    With source ``controller_state`` that topic, of a joint_trajectory_controller, takes the place of
    ``joint_trajectory``, which is not subscribed to then.
    """

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
            check=lambda robot, value: arguments.choice('evaluate_at', value, EVALUATE_AT),
        )
        self.declare(
            'source',
            'joint_trajectory',
            f'topic of the desired motion: {" or ".join(SOURCES)}',
            check=lambda robot, value: arguments.choice('source', value, SOURCES),
        )
        self.declare(
            'reference_age_limit', 0.1, 'how far a joint state may lie from controller_state, s', low=0.001, high=10.0
        )
        self.declare(
            'reference_cutoff', 20.0, 'of the low-pass on rates that controller_state lacks, Hz', low=0.1, high=1000.0
        )

    def setup(self) -> None:
        """Create the composition, the inputs and the outputs."""
        self._measured = arguments.choice('evaluate_at', self.value('evaluate_at'), EVALUATE_AT) == 'measured'
        self._source = arguments.choice('source', self.value('source'), SOURCES)
        super().setup()

    def subscribe(self):
        """Create ``trajectory`` for the source of the desired motion, and return the subscription that feeds it."""
        if self._source == 'joint_trajectory':
            return super().subscribe()
        self.trajectory = ControllerStateInput(
            self.robot.joint_names,
            self.value('reference_age_limit'),
            self.value('reference_cutoff'),
            self.desired,
            self._write,
        )
        return self.trajectory.subscribe(self)

    def warm_ups(self) -> dict:
        """Add the torque of a motion that comes from no trajectory."""
        if self._source == 'joint_trajectory':
            return super().warm_ups()
        call = partial(self._law.after.torque, *self.desired, out=self.torque)
        return {**super().warm_ups(), 'torque': call}

    def create_outputs(self) -> None:
        """Create the publishers."""
        terms = self.ownership.terms
        self._law = Handover(lambda robot: Compensation(robot, terms), self.load.robot, self.load.ramp)
        self._topics = TorqueTopics(self, 'feedforward_torque', self._law.after.label)
        q, qd, qdd = self.desired
        self._motion = (self.state.q, self.state.qd, qdd) if self._measured else (q, qd, qdd)

    def wanted(self) -> list[str]:
        """Return what ``compensation`` says."""
        return list(self.value('compensation'))

    def report(self) -> dict[str, str]:
        """Add the terms of the torque."""
        return {**super().report(), 'compensation': self._law.after.label}

    def along(self, trajectory: Trajectory) -> Step:
        """Return what is done for each time of a trajectory: its torque is written."""
        measured = (self.state.q, self.state.qd) if self._measured else None
        return self._law.after.along(trajectory, self.desired, self.torque, measured)

    def handovers(self) -> list[Handover]:
        """Add the composition."""
        return [*super().handovers(), self._law]

    def hand_over(self) -> None:
        """Have a trajectory's torque made anew, too."""
        super().hand_over()
        if self._source == 'joint_trajectory':
            self.trajectory.renew()

    def compute(self, stamp: int) -> str:
        """Write the torque of the desired motion at the state's stamp."""
        if self._measured and not self.state.has_velocity:
            return 'the joint state has no velocities'
        reason = self.trajectory.follow(stamp, self.state.q, self.state.qd)
        if not reason:
            self._law.mix(stamp, *self._motion, out=self.torque)
        return reason

    def _write(self) -> None:
        """Write the torque of the motion as it is, with what is carried when a ramp is over."""
        self._law.after.torque(*self._motion, out=self.torque)

    def publish(self, stamp) -> None:
        """Publish named and, where the robot takes them, as commands."""
        self._topics.publish(stamp)


def main():
    """Run the node."""
    run(FeedforwardNode)


if __name__ == '__main__':
    main()
