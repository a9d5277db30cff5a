"""A client and its node: the robot, its states, and what has to be so before a message is sent."""

import time
import warnings
from collections.abc import Mapping, Sequence

import numpy as np
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros import validation
from robot_dynamics_ros.client.described_node import DescribedNode
from robot_dynamics_ros.client.errors import UnavailableError
from robot_dynamics_ros.client.link import Link
from robot_dynamics_ros.client.measured_states import MeasuredStates
from robot_dynamics_ros.client.node_status import Kind, NodeStatus
from robot_dynamics_ros.client.values import ArmState
from robot_dynamics_ros.client.verdict import Verdict, newest_status, status_before
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.law import INTERRUPTION
from robot_dynamics_ros.errors import UnknownNameError, alternatives
from robot_dynamics_ros.nodes.inputs import stiffness_input, target_poses, trajectory_input, wrench_input
from robot_dynamics_ros.robot import Robot

PAUSE = 0.3
"""Time without poses, velocities and stops after which the node follows a pose far away, or a wrench, s."""
TOPICS = trajectory_input.TOPIC, *target_poses.TOPICS, stiffness_input.TOPIC, wrench_input.TOPIC


class Session:
    """``link`` to the node, the ``node`` with its parameters, and the newest joint ``states``."""

    def __init__(self, name: str, namespace: str, arguments: Sequence[str]):
        """Join the graph and load the robot of the node; UnavailableError names what is missing."""
        self.link = Link(name, namespace, arguments)
        self._has_warned = False
        try:
            newest_status(self.link)
            self.node = DescribedNode(self.link)
            self._load()
            self.link.await_subscription(trajectory_input.TOPIC, JointTrajectory)
        except BaseException:
            self.link.close()
            raise

    @property
    def robot(self) -> Robot | DrivenRobot:
        """The robot of the node, as it is described now."""
        if self.link.status.digest != self._robot.digest:
            self._load()
        return self._robot

    @property
    def frame(self) -> str:
        """The link that the node leads, as its parameters are now."""
        self._frame = self.node.parameter('impedance_frame') or self.robot.end_link
        return self._frame

    def state(self) -> ArmState:
        """Return the newest state; UnavailableError where none comes."""
        self._await_state()
        return self.states.state(self._frame)

    def ready(self, kind: Kind, topic: str, message_type) -> NodeStatus:
        """Return a status from before a message of a ``kind``, which may be sent on ``topic`` now.

        UnavailableError where the node publishes no torques.
        """
        self.link.wait(lambda: False, 0.0)  # ClientError where it was closed
        status = status_before(self.link, kind)
        self._warn(status)
        self.link.await_subscription(topic, message_type)
        last = max(self.link.sent.get(Kind.MOTION, 0.0), self.link.stops.last)
        self.link.wait(lambda: False, max(0.0, last + PAUSE - time.monotonic()))
        self._frame = self.frame
        self._await_state()
        return status

    def said(self, verdict: Verdict, after: float = 0.0) -> NodeStatus:
        """Return the status with a verdict, as ``Verdict.wait`` does."""
        status = verdict.wait(after)
        self._warn(status)
        return status

    def axes(self, frame: str) -> str:
        """Return ``frame``, in whose axes a vector is; ArgumentError for another one than the node knows."""
        return validation.choice('frame', frame, ('', self.robot.link_names[0], self.frame))

    def goal(self, positions) -> np.ndarray:
        """Return where all joints are to go, (n,); DynamicsError names the joint or the argument."""
        names = self.robot.joint_names
        if not isinstance(positions, Mapping):
            return validation.finite('positions', positions, (len(names),))
        for name in positions:
            if name not in names:
                raise UnknownNameError(f'positions: unknown joint {name!r}; {alternatives(name, names)}')
        goal = dict(zip(names, self.state().positions.tolist(), strict=True))
        goal |= {name: float(validation.finite(f'positions[{name!r}]', it, ())) for name, it in positions.items()}
        return np.array([*goal.values()])

    def _load(self) -> None:
        """Load the robot of the node, and receive its states from now on."""
        self._robot = self.node.load()
        self.states = MeasuredStates(self._robot)
        self.link.listen(self.states.TOPIC, self.states.KIND, self.states.on_state)
        self._frame = self.node.parameter('impedance_frame') or self._robot.end_link

    def _await_state(self) -> None:
        if not self.link.wait(lambda: self.states.arrived > time.monotonic() - INTERRUPTION, INTERRUPTION):
            raise UnavailableError(f'no joint state with the joints of {self._robot.name} for {INTERRUPTION:g} s')

    def _warn(self, status: NodeStatus) -> None:
        """Pass the node's warning of two publishers on, once."""
        text = status.publishers(TOPICS)
        if text and not self._has_warned:
            self._has_warned = True
            warnings.warn(f'{self.link.target} says: {text}', stacklevel=4)
