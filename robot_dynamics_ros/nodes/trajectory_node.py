"""A torque node that follows ``joint_trajectory``."""

import numpy as np
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.control.trajectory import Trajectory
from robot_dynamics_ros.dynamics.errors import DynamicsError
from robot_dynamics_ros.nodes.torque_node import TorqueNode
from robot_dynamics_ros.nodes.trajectory_input import Step, TrajectoryInput


class TrajectoryNode(TorqueNode):
    """Keeps ``trajectory`` on the newest message; a wrong one is refused by name and the old one goes on.

    ``desired`` (3, n) is where the motion q, qd, qdd of each message is written.
    """

    def __init__(self, name: str, **options):
        """Declare the parameters."""
        super().__init__(name, **options)
        self.declare(
            'start_tolerance',
            0.5,
            'how far from the arm a trajectory may begin, each joint, rad or m; 0: anywhere',
            low=0.0,
            high=1000.0,
        )
        self._trajectory_subscription = None
        self._refused = ''

    def setup(self) -> None:
        """Create the inputs and the outputs."""
        self.desired = np.zeros((3, self.robot.nv))
        super().setup()
        self._trajectory_subscription = self.subscribe()

    def report(self) -> dict[str, str]:
        """Add why a trajectory was refused last."""
        return {**super().report(), 'trajectory refused last': self._refused}

    def subscribe(self):
        """Create ``trajectory`` and return the subscription that feeds it."""
        self.trajectory = TrajectoryInput(
            self.robot.joint_names, self.along, self.desired[0], self.value('start_tolerance'), self.refuse
        )
        return self.create_subscription(JointTrajectory, 'joint_trajectory', self.guarded(self._on_trajectory), 10)

    def along(self, trajectory: Trajectory) -> Step:
        """Return what is done for each time of a trajectory, s from its start: its motion is written."""
        return trajectory.sampler(*self.desired)

    def teardown(self) -> None:
        """Destroy inputs and outputs."""
        super().teardown()
        if self._trajectory_subscription is not None:
            self.destroy_subscription(self._trajectory_subscription)
            self._trajectory_subscription = None

    def warm_ups(self) -> dict:
        """Add the interpolation."""
        trajectory = Trajectory([0.0, 1.0], np.zeros((2, self.robot.nv)))
        return {**super().warm_ups(), 'trajectory': lambda: self.along(trajectory)(0.5)}

    def _on_trajectory(self, message: JointTrajectory) -> None:
        """Follow a new trajectory."""
        try:
            kinds = self.trajectory.receive(message, self.get_clock().now().nanoseconds)
        except DynamicsError as error:
            self._refused = str(error)
            self.get_logger().warning(f'trajectory refused: {error}')
            return
        rough = [kind for kind in kinds if kind != 'quintic']
        if rough:
            self.get_logger().info(
                f'trajectory without all velocities and accelerations: {" and ".join(rough)} interpolation between its '
                'points, as joint_trajectory_controller does (said once)',
                once=True,
            )
