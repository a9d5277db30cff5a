"""Publishers of external_torque_node: external torque, external wrench and contact, of each joint state."""

import numpy as np
from geometry_msgs.msg import WrenchStamped

from robot_dynamics_interfaces.msg import Contact
from robot_dynamics_ros.control.law import MeasuredState
from robot_dynamics_ros.control.observers.contact_detection import ContactDetector
from robot_dynamics_ros.control.observers.external_wrench import ExternalWrench
from robot_dynamics_ros.messages.fixed_layout import FixedLayout
from robot_dynamics_ros.nodes.outputs.torque_publishers import NamedTorque, RawPublisher


class ExternalTorqueTopics:
    """``external_torque``, ``external_wrench`` and ``~/contact``, all with the stamp of the joint state."""

    def __init__(self, node, state: MeasuredState, wrench: ExternalWrench, detector: ContactDetector):
        """Publish for ``node``, a BaseNode: ``wrench`` of each torque at ``state``, and the contact of ``detector``."""
        self._state, self._wrench, self._detector = state, wrench, detector
        self._torque = NamedTorque(node, 'external_torque')
        self._wrench_message = _WrenchMessage(wrench.frame)
        self._send_wrench = RawPublisher(node, WrenchStamped, 'external_wrench').send
        self._contact_message = _ContactMessage(node.robot)
        self._send_contact = RawPublisher(node, Contact, '~/contact').send

    def publish(self, stamp: int, torque: np.ndarray, answered: int) -> None:
        """Publish the external ``torque`` (n, N m) of the state of ``stamp`` (ns), its wrench and contact."""
        self._torque.publish(stamp, torque)
        self._send_wrench(self._wrench_message.bytes(stamp, self._wrench.update(self._state.q, torque)))
        self._send_contact(self._contact_message.bytes(stamp, torque, self._detector))

    def publish_command(self, stamp: int, torque: np.ndarray, answered: int) -> None:
        """Publish nothing: no actuator gets this torque."""


class _WrenchMessage:
    """A WrenchStamped, serialised."""

    def __init__(self, frame: str):
        message = WrenchStamped()
        message.header.frame_id = frame
        self._layout = FixedLayout(message)
        parts = message.wrench.torque, message.wrench.force
        self._numbers = [self._layout.view(part, axis, np.float64) for part in parts for axis in 'xyz']

    def bytes(self, stamp: int, wrench: np.ndarray) -> bytes:
        """Return the message of a wrench (6; N m, N, moment first)."""
        self._layout.set_stamp(stamp)
        for number, part in zip(self._numbers, wrench, strict=True):
            number[0] = part
        return bytes(self._layout)


class _ContactMessage:
    """A Contact, serialised."""

    def __init__(self, robot):
        rest = [0.0] * robot.nv
        message = Contact(joint_names=list(robot.joint_names), external_torque=rest, threshold=rest)
        message.header.frame_id = robot.link_names[0]
        layout = self._layout = FixedLayout(message)
        self._contact, self._calibrated = (layout.view(message, name, np.bool_) for name in ('contact', 'calibrated'))
        self._joint, self._ratio = layout.view(message, 'joint', np.uint32), layout.view(message, 'ratio', np.float64)
        self._torque, self._threshold = (
            layout.view(message, name, np.float64) for name in ('external_torque', 'threshold')
        )

    def bytes(self, stamp: int, torque: np.ndarray, found: ContactDetector) -> bytes:
        """Return the message of an external torque (n, N m or N) and the contact that ``found`` detects."""
        self._layout.set_stamp(stamp)
        self._contact[0], self._calibrated[0] = found.contact, found.is_calibrated
        self._joint[0], self._ratio[0] = found.joint, found.ratio
        self._torque[:], self._threshold[:] = torque, found.threshold
        return bytes(self._layout)
