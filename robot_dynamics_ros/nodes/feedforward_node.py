"""Publishes the torques that a desired motion takes, one for each joint state."""

import numpy as np

from robot_dynamics_ros.control.compensation import TERMS, Compensation
from robot_dynamics_ros.control.feedforward_law import FeedforwardLaw
from robot_dynamics_ros.control.trajectory_follower import TrajectoryFollower
from robot_dynamics_ros.nodes.controller_state_input import ControllerStateInput
from robot_dynamics_ros.nodes.process import run
from robot_dynamics_ros.nodes.torque_node import TorqueNode
from robot_dynamics_ros.nodes.torque_publishers import TorqueTopics
from robot_dynamics_ros.nodes.trajectory_input import TrajectoryInput


class FeedforwardNode(TorqueNode):
    """``joint_states`` and ``joint_trajectory`` in, ``feedforward_torque`` with its info and commands out.

    With source ``controller_state`` that topic, of a joint_trajectory_controller, takes the place of
    ``joint_trajectory``, which is not subscribed to then.
    """

    def __init__(self, **options):
        """Declare the parameters."""
        checks = {'compensation': lambda terms: Compensation(self.robot, [term for term in terms if term] or TERMS)}
        super().__init__('feedforward_node', checks, **options)

    def wanted(self) -> list[str]:
        """Return what ``compensation`` says."""
        return list(self.value('compensation'))

    def make_law(self) -> FeedforwardLaw:
        """Return the law, its motion written by the source that the parameters name."""
        desired = np.zeros((3, self.robot.nv))
        terms = self.blended(lambda robot: Compensation(robot, self.ownership.terms))
        measured = self.value('evaluate_at') == 'measured'
        return FeedforwardLaw(self._make_source(desired), desired, terms, measured)

    def make_output(self) -> TorqueTopics:
        """Return the publishers."""
        return TorqueTopics(self, 'feedforward_torque', self._terms())

    def report(self) -> dict[str, str]:
        """Add the terms of the torque."""
        return {**super().report(), 'compensation': '+'.join(self._terms())}

    def _terms(self) -> list[str]:
        """Return the terms of the torque in their usual order."""
        return [term for term in TERMS if term in self.ownership.terms]

    def _make_source(self, desired: np.ndarray) -> TrajectoryFollower | ControllerStateInput:
        """Return what writes the desired motion, fed by its topic."""
        if self.value('source') == 'joint_trajectory':
            follower = TrajectoryFollower(self.robot, desired, self.value('start_tolerance'), self.refuse)
            self.trajectory = self.add(TrajectoryInput(self, follower))
            return follower
        limits = self.value('reference_age_limit'), self.value('reference_cutoff')
        source = ControllerStateInput(self.robot.joint_names, *limits, desired)
        source.subscribe(self)
        return self.add(source)


def main():
    """Run the node."""
    run(FeedforwardNode)


if __name__ == '__main__':
    main()
