"""Info message of a torque topic: terms, limits and payload of the torque, and the trajectory that it follows."""

import threading
from collections.abc import Sequence

import numpy as np
from rclpy.serialization import serialize_message

from robot_dynamics_interfaces.msg import TorqueInfo
from robot_dynamics_ros.control.trajectories.followed import Followed
from robot_dynamics_ros.control.trajectories.trajectory_follower import TrajectoryFollower
from robot_dynamics_ros.messages.payload_gravity import payload_messages
from robot_dynamics_ros.messages.stamps import set_nanoseconds
from robot_dynamics_ros.nodes.process.qos import TRANSIENT_LOCAL


class TorqueInfoPublisher:
    """Publishes a TorqueInfo at activation, with each change of payload or gravity, and before each trajectory.

    The hot path announces a trajectory itself, directly before its first torque: a subscriber that handles messages in
    the order in which they arrive knows which trajectory a torque belongs to. The message is serialized before.
    """

    def __init__(self, node, arm, topic: str, terms: Sequence[str], source: str = ''):
        """Publish on ``topic``/info of a BaseNode.

        ``arm`` is the node's ControlledArm, ``terms`` make up the torque, ``source`` is where its motion comes from.
        """
        self._node, self._arm, self._terms, self._source = node, arm, list(terms), source
        self._follower: TrajectoryFollower | None = None
        self._announced: Followed | None = None
        self._prepared: Followed | None = None
        self._publishing = threading.Lock()  # the hot path only tries to acquire it
        self._publisher = node.create_lifecycle_publisher(TorqueInfo, f'{topic}/info', TRANSIENT_LOCAL)
        node.resources.callback(node.destroy_lifecycle_publisher, self._publisher)
        self._send = self._publisher.handle.publish_raw

    def name(self, follower: TrajectoryFollower) -> None:
        """Name the trajectories of ``follower``."""
        self._follower = follower
        follower.prepare, follower.announce = self.prepare, self.announce

    def publish(self) -> None:
        """Publish what the torque contains, payload and gravity as they are after their ramps."""
        with self._publishing:
            follower, announced = self._follower, self._announced
            self._announced = announced if follower is not None and follower.follows(announced) else None
            if self._prepared is not None:
                self._prepared.announcement = self._serialized(self._prepared)
            self._send(self._serialized(self._announced))

    def prepare(self, plan: Followed) -> None:
        """Serialize the message that announces ``plan``."""
        with self._publishing:
            plan.announcement = self._serialized(plan)
            self._prepared = plan

    def announce(self, plan: Followed) -> bool:
        """Publish that the torques from now on follow ``plan``; return False where it must be tried again.

        The hot path calls it and does not wait for another thread.
        """
        if not self._publishing.acquire(blocking=False):
            return False
        try:
            self._announced = plan
            self._send(plan.announcement)
        finally:
            self._publishing.release()
        return True

    def _serialized(self, plan: Followed | None) -> bytes:
        """Return the serialized message for torques that follow ``plan``; None: no trajectory."""
        arm, now = self._arm, self._arm.payload_gravity.current
        info = TorqueInfo(
            joint_names=list(arm.robot.joint_names),
            terms=self._terms,
            gravity_owner=arm.policy.gravity_owner,
            effort_limits=np.where(np.isfinite(arm.effort_limit), arm.effort_limit, 0.0).tolist(),
            torque_scale=arm.torque_scale.tolist(),
            model_digest=arm.digest,
            payloads=payload_messages(now.payload.after),
            source=self._source,
        )
        info.header.stamp = self._node.get_clock().now().to_msg()
        info.header.frame_id = arm.robot.link_names[0]
        info.gravity.x, info.gravity.y, info.gravity.z = (float(part) for part in now.gravity.after)
        if plan is not None:
            info.trajectory = plan.identity
            set_nanoseconds(info.trajectory_start, plan.start)
        return serialize_message(info)
