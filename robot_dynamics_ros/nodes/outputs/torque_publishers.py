"""Publishers of a torque node: the named torque, the command array and the info message."""

import time

import numpy as np
from rclpy.duration import Duration
from rclpy.qos_overriding_options import QoSOverridingOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_dynamics_ros.control.joints.joint_order import bound_gather, permutation
from robot_dynamics_ros.control.laws.hand_guiding import HandGuidingLaw
from robot_dynamics_ros.control.terms.torque_scale import bound_command
from robot_dynamics_ros.messages.cdr import ArrayBuffer, JointStateBuffer
from robot_dynamics_ros.nodes.outputs.torque_info import TorqueInfoPublisher
from robot_dynamics_ros.nodes.process.publishers import nodes_that_publish, several

POSITION_COMMANDS = 'position_commands'
ACKNOWLEDGED = Duration(nanoseconds=200_000_000)
"""In which a reliable subscriber confirms the last torque."""
JUMP_WARNED = 10.0
"""Time for which a joint state that jumped is a warning, s."""


class RawPublisher:
    """Publishes serialized messages by ``send``; only the hot path calls it, and only while the node is active.

    It bypasses rclpy's checks of the message's type and of the node's state: 10 us after a pause of 2 ms.
    """

    def __init__(self, node, message_type, topic: str):
        """Publish on ``topic`` of a BaseNode, until it is cleaned up."""
        self._publisher = node.create_lifecycle_publisher(
            message_type, topic, 1, qos_overriding_options=QoSOverridingOptions.with_default_policies()
        )
        node.resources.callback(node.destroy_lifecycle_publisher, self._publisher)
        self.send = self._publisher.handle.publish_raw

    def wait(self) -> None:
        """Wait until reliable subscribers have confirmed the last message, ``ACKNOWLEDGED`` at most."""
        self._publisher.wait_for_all_acked(ACKNOWLEDGED)


class CommandArray:
    """Publishes the torque as Float64MultiArray on ``command_topic``, in the joint order of the receiving controller.

    It is divided by the torque scale of each motor, so that the motors execute the torque.
    """

    def __init__(self, node, arm, topic: str):
        """Publish on ``topic`` of a BaseNode, whose ControlledArm is ``arm``, in the order of ``command_joints``."""
        self._order = command_order(node.robot, node.value('command_joints'))
        self._scale = arm.torque_scale[self._order]
        self._buffer = ArrayBuffer(node.robot.nv)
        self._command = bound_command(self._order, self._scale)
        publisher = RawPublisher(node, Float64MultiArray, topic)
        self._send, self.wait = publisher.send, publisher.wait
        self.command_topic = topic

    def publish(self, stamp: int, torque: np.ndarray, answered: int) -> None:
        """Publish ``torque`` (n, N m), which answers the state of ``answered`` (ns; 0: none); ``stamp`` is not sent."""
        self._command(torque, self._order, self._scale, self._buffer.data)
        self._buffer.answer(answered)
        self._send(bytes(self._buffer))

    publish_command = publish

    def publish_info(self) -> None:
        """Publish nothing: a command is not added to another torque."""


class NamedTorque:
    """The torque as JointState: names and efforts, the state's stamp, the base link as frame_id.

    That of a motion has its positions and velocities, too.
    """

    def __init__(self, node, topic: str, desired: np.ndarray | None = None):
        """Publish on ``topic`` of a BaseNode, with what ``desired`` (3, n) holds then; None: with efforts alone."""
        zeros = [0.0] * node.robot.nv
        message = JointState(name=list(node.robot.joint_names), effort=zeros)
        if desired is not None:
            message.position = message.velocity = zeros
        message.header.frame_id = node.robot.link_names[0]
        self._buffer, self._motion = JointStateBuffer.of(message), None if desired is None else tuple(desired[:2])
        self._write = self._buffer.writer()
        self._send = RawPublisher(node, JointState, topic).send

    def publish(self, stamp: int, torque: np.ndarray) -> None:
        """Publish ``torque`` (n, N m) with ``stamp`` (ns)."""
        if self._motion is not None:
            self._buffer.position[:], self._buffer.velocity[:] = self._motion
        self._write(torque, stamp)
        self._send(bytes(self._buffer))


class TorqueTopics:
    """``NamedTorque``, its info topic and, where the robot takes torques, a ``CommandArray`` below it.

    ``command_topic`` is that of the latter, '' without one.
    """

    def __init__(self, node, arm, topic: str, info: TorqueInfoPublisher, desired: np.ndarray | None = None):
        """Publish on ``topic`` and ``topic``/commands of a BaseNode, and by ``info``; ``arm`` is its ControlledArm.

        ``desired`` (3, n) is the motion that the torques follow; None: they follow none.
        """
        self.info = info
        self._named = NamedTorque(node, topic, desired)
        self._commands = CommandArray(node, arm, f'{topic}/commands') if arm.policy.takes_commands else None
        self.command_topic = self._commands.command_topic if self._commands else ''

    def publish(self, stamp: int, torque: np.ndarray, answered: int) -> None:
        """Publish ``torque`` (n, N m) with ``stamp`` (ns); as a command it answers the state of ``answered``."""
        self._named.publish(stamp, torque)
        if self._commands:
            self._commands.publish(stamp, torque, answered)

    def publish_command(self, stamp: int, torque: np.ndarray, answered: int) -> None:
        """Publish ``torque`` (n, N m) for an actuator alone: it is not that of a state."""
        if self._commands:
            self._commands.publish(stamp, torque, answered)

    def publish_info(self) -> None:
        """Publish what the torque contains."""
        self.info.publish()

    def wait(self) -> None:
        """Wait until reliable subscribers have confirmed the last command."""
        if self._commands:
            self._commands.wait()


class HandGuidingTopics(TorqueTopics):
    """``TorqueTopics`` of gravity torques and, directly after a torque, the position command that belongs to it."""

    def __init__(self, node, arm, topic: str, info: TorqueInfoPublisher, law: HandGuidingLaw):
        """Publish the position command of ``law`` on position_commands, in the order of ``command_joints``."""
        super().__init__(node, arm, topic, info)
        self._node, self._law = node, law
        self._order = command_order(node.robot, node.value('command_joints'))
        self._buffer = ArrayBuffer(node.robot.nv)
        self._gather = bound_gather(self._order)
        self._send = RawPublisher(node, Float64MultiArray, POSITION_COMMANDS).send
        self._jumps, self._jumped = 0, -JUMP_WARNED  # of the law as seen last, and when they were others, steady, s
        self._inputs = arm.payload_gravity
        self._load = self._inputs.current
        self._inputs.followers.append(self._on_change)

    def report(self) -> dict[str, str]:
        """Return whether the position command follows the arm."""
        return {'position command': 'follows' if self._law.follows else 'held'}

    def warnings(self) -> list[str]:
        """Return why the position command does not follow, and that others publish position commands, too."""
        found = self._faults() if self._node.active else []
        nodes, topic = (
            nodes_that_publish(self._node, POSITION_COMMANDS),
            self._node.resolve_topic_name(POSITION_COMMANDS),
        )
        if len(nodes) > 1:
            found.append(f'{several(nodes, topic)}: the arm gets the position commands of all in turn; stop the others')
        return found

    def _faults(self) -> list[str]:
        """Return that payload or gravity have changed, and which joint has jumped within ``JUMP_WARNED``."""
        law, now, found = self._law, time.monotonic(), []
        if law.held:
            found.append(
                'payload or gravity changed while the arm was guided: the position command is held; check the payload, '
                'then deactivate and activate'
            )
        if law.jumps != self._jumps:
            self._jumps, self._jumped = law.jumps, now
        if law.jumps and now - self._jumped < JUMP_WARNED:
            found.append(
                f'joint {law.jumped!r} moved further between two states than it can: the position command did not '
                f'follow ({law.jumps} times)'
            )
        return found

    def _on_change(self) -> None:
        """Hold the position command where payload or gravity become others."""
        before, self._load = self._load, self._inputs.current
        if not before.ends_like(self._load):
            self._law.load_changed()

    def publish(self, stamp: int, torque: np.ndarray, answered: int) -> None:
        """Publish ``torque`` (n, N m) with ``stamp`` (ns), and the position command where it is whole."""
        super().publish(stamp, torque, answered)
        if self._law.follow(torque):
            self._gather(self._law.position_command, self._order, self._buffer.data)
            self._buffer.answer(answered)
            self._send(bytes(self._buffer))


def command_order(robot, names) -> np.ndarray:
    """Return where each of ``names`` ([''] for the robot's order) is in the robot's torque, (n,)."""
    return np.argsort(permutation(robot.joint_names, [name for name in names if name] or list(robot.joint_names)))
