"""Topic on which the node that adds a feedforward torque says that it holds the arm, not led by its motion."""

import numpy as np
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import serialize_message
from std_msgs.msg import Header

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.control.trajectories.trajectory_follower import TrajectoryFollower
from robot_dynamics_ros.messages.cdr import FRAME, STAMP, stamp_of
from robot_dynamics_ros.messages.cdr_numbers import write_stamp
from robot_dynamics_ros.nodes.process.hot_path import Input
from robot_dynamics_ros.nodes.process.publishers import subscribers_of

TOPIC = 'feedforward_torque/held'
QOS = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""The last message also reaches a node that is activated later."""


class HeldPublisher:
    """Publishes at which state the arm is held, as the stamp of a Header with an empty frame_id."""

    def __init__(self, node):
        """Publish for a BaseNode, until it is cleaned up."""
        self._node = node
        self._publisher = node.create_lifecycle_publisher(Header, TOPIC, QOS)
        node.resources.callback(node.destroy_lifecycle_publisher, self._publisher)
        self._message = np.frombuffer(bytearray(serialize_message(Header())), np.uint8)
        self._write = bound(write_stamp, self._message[STAMP:FRAME].view(np.int32), then=(0,))
        self._deaf: set[tuple[bytes, str]] = set()  # at the last look

    def tell(self, stamp: int) -> None:
        """Say that the arm is held at the state of ``stamp`` (ns): motions from before lead it no more."""
        self._write(stamp)
        self._publisher.handle.publish_raw(self._message.tobytes())

    def warnings(self, producers: list[tuple[bytes, str]]) -> list[str]:
        """Return which ``producers`` of a torque do not listen; one that does not yet is given until the next look."""
        deaf = set(producers) - set(subscribers_of(self._node, TOPIC))
        names, self._deaf = sorted(name for _, name in deaf & self._deaf), deaf
        if not names:
            return []
        return [
            f'{TOPIC}: {", ".join(names)} does not listen, and may move the arm by a motion from before it was held; '
            f'remap {TOPIC} like feedforward_torque'
        ]


class HeldInput:
    """Passes each message to a follower, on the hot path's thread, as ``input`` says."""

    def __init__(self, node, follower: TrajectoryFollower):
        """Read the messages for a BaseNode."""
        self._node, self._follower = node, follower
        self.input = Input(TOPIC, Header, self._on_held, QOS)

    def _on_held(self, data: bytes, info: dict) -> None:
        try:
            self._follower.held_since(stamp_of(data))
        except Exception as error:  # no exception leaves a callback
            self._node.refuse(f'{TOPIC} refused: {error!r}')
