"""Input of the desired motion from the state topic of a joint_trajectory_controller."""

import time
from collections.abc import Callable
from functools import partial

import numpy as np
from rclpy.qos import qos_profile_sensor_data
from rclpy.qos_overriding_options import QoSOverridingOptions

from robot_dynamics_ros.control.joints.continuous_joints import turns
from robot_dynamics_ros.control.joints.joint_order import places_of
from robot_dynamics_ros.control.joints.position_limits import PositionLimits
from robot_dynamics_ros.control.law import TORQUE, MeasuredState, Outcome, Result
from robot_dynamics_ros.control.trajectories.reference import Reference
from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.messages.stamps import nanoseconds
from robot_dynamics_ros.nodes.process.publishers import publishers_of, several
from robot_dynamics_ros.robot import Robot

TOPIC = 'controller_state'
RATES = ('velocities', 'accelerations')


def controller_state_type():
    """Return control_msgs/msg/JointTrajectoryControllerState; ArgumentError where its package is not installed."""
    try:
        from control_msgs.msg import JointTrajectoryControllerState  # noqa: PLC0415
    except ImportError as error:
        raise ArgumentError(
            "source: 'controller_state' needs the package control_msgs, which is not installed "
            f'(for instance: apt install ros-$ROS_DISTRO-control-msgs): {error}'
        ) from None
    return JointTrajectoryControllerState


class ControllerStateInput:
    """The reference in the newest ``controller_state``, extrapolated to the stamp of each joint state.

    One publisher is followed: while its reference is not older than the age limit, messages of others are refused.
    """

    def __init__(self, robot: Robot, age_limit: float, cutoff: float, desired: np.ndarray, limits: PositionLimits):
        """Write the motion of ``robot`` into ``desired`` (3, n).

        ``age_limit`` (s) and ``cutoff`` (Hz) are those of ``Reference``; references beyond ``limits`` are refused.
        """
        self._limits = limits
        self._joint_names, self._age_limit = robot.joint_names, age_limit
        self._reference = Reference(self._joint_names, age_limit, cutoff, desired, robot.limits.velocity, turns(robot))
        self._publisher: bytes | None = None
        self._received = 0.0  # its last message, s of the steady clock
        self._publishers: Callable[[], list[tuple[bytes, str]]] = list
        self._given: list[str] | None = None
        self._places = np.zeros(0, np.intp)

    def subscribe(self, node) -> None:
        """Subscribe for ``node``; a wrong message is refused with the reason, and the last right one stays in use.

        Raises ArgumentError where there is no such message type.
        """

        def on_controller_state(message, info) -> None:
            try:
                lacking, jumped = self.receive(message, _publisher_of(info))
            except DynamicsError as error:
                node.refuse(f'controller state refused: {error}')
                return
            if jumped:
                node.refuse(
                    f'the reference of joint {jumped!r} jumped: further than its velocity limit allows in one step; '
                    'rates are not computed across it'
                )
            if lacking:
                node.get_logger().info(
                    f'controller state without {" and ".join(lacking)}: differentiated and filtered (said once)',
                    once=True,
                )

        subscription = node.create_subscription(
            controller_state_type(),
            TOPIC,
            on_controller_state,
            qos_profile_sensor_data,
            qos_overriding_options=QoSOverridingOptions.with_default_policies(),
        )
        node.resources.callback(node.destroy_subscription, subscription)
        self._publishers = partial(publishers_of, node, TOPIC)

    def warnings(self) -> list[str]:
        """Return that there are several publishers, and which."""
        nodes = self._publishers()
        if len(nodes) <= 1:
            return []
        return [f'{several(nodes, TOPIC)}: only the first is followed; end the others, or remap the topic']

    def receive(self, message, publisher: bytes | None = None) -> tuple[list[str], str]:
        """Record a message of ``publisher``; return which rates it lacks, and which joint jumped, '' for none.

        Raises DynamicsError naming the joint or field that is wrong, or that there is another publisher. Joints are
        matched by name and extra ones are ignored. Where a release has no speed scaling factor, it is 1.
        """
        now = time.monotonic()
        if publisher != self._publisher and now - self._received <= self._age_limit and self._publisher is not None:
            raise ArgumentError(f'{TOPIC} has a second publisher, and the first one is followed')
        if message.joint_names != self._given:
            self._places = places_of(self._joint_names, message.joint_names)
            self._given = list(message.joint_names)
        point = _reference_of(message)
        rows = []
        for field in ('positions', *RATES):
            values = getattr(point, field)
            stated = len(values) > 0 or field == 'positions'
            if stated and len(values) != len(self._given):
                raise ArgumentError(f'reference: {len(self._given)} joints have {len(values)} {field}')
            rows.append(np.asarray(values)[self._places] if stated else None)
        self._limits.check('reference', rows[0][None])
        factor = getattr(message, 'speed_scaling_factor', 1.0)
        jumped = self._reference.add(nanoseconds(message.header.stamp), *rows, factor)
        self._publisher, self._received = publisher, now
        return [field for field, row in zip(RATES, rows[1:], strict=True) if row is None], jumped

    def follow(self, state: MeasuredState) -> Result:
        """Write the motion for ``state``, wherever the arm is, or return why there is none."""
        reason = self._reference.follow(state.stamp)
        return Result(Outcome.INCOMPLETE, reason) if reason else TORQUE

    def stop(self) -> None:
        """Keep the reference: the controller publishes it also after an activation."""

    def set_back(self, now: int) -> None:
        """Keep the reference: a sample of an earlier time begins a new sequence."""


def _publisher_of(info) -> bytes | None:
    """Return the identity of a message's publisher, None where the release of rclpy does not tell it."""
    identity = info.get('publisher_gid')
    return None if identity is None else bytes(identity['data'])


def _reference_of(message):
    """Return the controller's reference; older releases fill ``desired`` alone."""
    point = getattr(message, 'reference', None)
    return point if point is not None and len(point.positions) else getattr(message, 'desired', point)
