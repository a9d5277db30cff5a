"""Input of the desired motion from the state messages of a joint_trajectory_controller."""

import numpy as np
from rclpy.qos import qos_profile_sensor_data
from rclpy.qos_overriding_options import QoSOverridingOptions

from robot_dynamics_ros.control.joint_order import places_of
from robot_dynamics_ros.control.law import TORQUE, MeasuredState, Outcome, Result
from robot_dynamics_ros.control.reference import Reference
from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.messages.stamps import nanoseconds

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
    """The reference in the newest ``controller_state``, extrapolated to the stamp of each joint state."""

    def __init__(self, joint_names, age_limit: float, cutoff: float, desired: np.ndarray):
        """Write the motion of the joints ``joint_names`` into ``desired`` (3, n).

        ``age_limit`` (s) and ``cutoff`` (Hz) are those of ``Reference``.
        """
        self._joint_names = joint_names
        self._reference = Reference(joint_names, age_limit, cutoff, desired)
        self._given: list[str] | None = None
        self._places = np.zeros(0, np.intp)

    def subscribe(self, node) -> None:
        """Subscribe for ``node``; a wrong message is refused by name, the last right one is used further.

        Raises ArgumentError where there is no such message type.
        """

        def on_controller_state(message) -> None:
            try:
                lacking = self.receive(message)
            except DynamicsError as error:
                node.refuse(f'controller state refused: {error}')
                return
            if lacking:
                node.get_logger().info(
                    f'controller state without {" and ".join(lacking)}: differentiated and filtered (said once)',
                    once=True,
                )

        subscription = node.create_subscription(
            controller_state_type(),
            'controller_state',
            on_controller_state,
            qos_profile_sensor_data,
            qos_overriding_options=QoSOverridingOptions.with_default_policies(),
        )
        node.resources.callback(node.destroy_subscription, subscription)

    def receive(self, message) -> list[str]:
        """Record a message; return which rates it lacks. Raises DynamicsError naming the joint or field that is wrong.

        Joints are matched by name and extra ones are ignored. Where a release has no speed scaling factor, it is 1.
        """
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
        factor = getattr(message, 'speed_scaling_factor', 1.0)
        self._reference.add(nanoseconds(message.header.stamp), *rows, factor)
        return [field for field, row in zip(RATES, rows[1:], strict=True) if row is None]

    def follow(self, state: MeasuredState) -> Result:
        """Write the motion for ``state``, wherever the arm is, or return why there is none."""
        reason = self._reference.follow(state.stamp)
        return Result(Outcome.INCOMPLETE, reason) if reason else TORQUE

    def warm_up(self) -> None:
        """Do nothing: the constructor compiles."""

    def stop(self) -> None:
        """Keep the reference: the controller publishes it also after an activation."""

    def set_back(self, now: int) -> None:
        """Keep the reference: a sample of an earlier time begins a new sequence."""


def _reference_of(message):
    """Return the controller's reference; older releases fill ``desired`` alone."""
    point = getattr(message, 'reference', None)
    return point if point is not None and len(point.positions) else getattr(message, 'desired', point)
