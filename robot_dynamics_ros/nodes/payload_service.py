"""``~/set_payload``: what the arm carries, told on ``payload_state`` and, if asked, kept over a restart."""

from robot_dynamics_interfaces.msg import PayloadState
from robot_dynamics_ros.control.payload_ramp import PayloadRamp, carrier, carrying
from robot_dynamics_ros.dynamics.errors import DynamicsError, ModelError
from robot_dynamics_ros.importers.payload_yaml import read_payload, write_payload
from robot_dynamics_ros.nodes.dynamics_node import LATCHED, DynamicsNode
from robot_dynamics_ros.nodes.load_messages import payload_of
from robot_dynamics_ros.nodes.state_input import set_nanoseconds
from robot_dynamics_ros.payload import Payload
from robot_dynamics_ros.robot import Robot


class PayloadService:
    """The payload of one node's robot. Until one is known nothing is published."""

    def __init__(self, node: DynamicsNode, path: str):
        """Take the payload that ``path`` holds ('' : nothing is kept); ModelError naming the file if it is broken."""
        self._node, self._path = node, path
        self._ramp = PayloadRamp()
        self._state: PayloadState | None = None
        self._made: tuple | None = None
        if path:
            try:
                kept = read_payload(path)
                if kept is not None:
                    frame, *body = kept
                    payload = Payload(*body)
                    self._take(carrier(node.robot, payload, frame), payload, 0.0)
            except DynamicsError as error:
                raise ModelError(f'payload_file {path}: {error}') from error
        self._publisher = node.create_lifecycle_publisher(PayloadState, 'payload_state', LATCHED)

    def destroy(self) -> None:
        """Destroy the publisher."""
        self._node.destroy_lifecycle_publisher(self._publisher)

    def publish(self) -> None:
        """Tell the payload, where one is known."""
        if self._state is not None:
            self._publisher.publish(self._state)

    @property
    def robot(self) -> Robot:
        """The node's robot with what it carries now; the same object as long as nothing changes."""
        payloads = self._ramp.at(self._now())
        if payloads is self._ramp.after:
            self._ramp = PayloadRamp(payloads)  # a clock that jumps back brings no payload back
        bare = self._node.robot
        if self._made is None or self._made[0] is not bare or self._made[1] is not payloads:
            self._made = bare, payloads, carrying(bare, payloads)
        return self._made[2]

    @property
    def mass(self) -> float:
        """What was last set, kg."""
        return self._ramp.mass

    def set(self, request, response) -> None:
        """Take the payload of a ``SetPayload`` request; DynamicsError names what is wrong with it."""
        payload, frame, ramp_time = payload_of(self._node.robot, request)
        # whatever can be refused has been when the file is written
        if self._path:
            try:
                write_payload(self._path, frame, payload.mass, payload.com, payload.inertia)
            except ModelError as error:
                raise ModelError(f'payload_file {self._path}: {error}') from error
        self._take(frame, payload, ramp_time)
        self.publish()
        self._node.get_logger().info(f'payload: {payload.mass:g} kg on {frame}, over {ramp_time:g} s')

    def _take(self, frame: str, payload: Payload, ramp_time: float) -> None:
        """Carry ``payload`` on ``frame`` instead of what was carried, over ``ramp_time`` s from now on."""
        now = self._now()
        self._ramp = self._ramp.to(frame, payload, now, ramp_time)
        J = payload.inertia
        self._state = PayloadState(
            mass=payload.mass,
            com=payload.com,
            inertia=[J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]],
            frame=frame,
            ramp_time=ramp_time,
        )
        set_nanoseconds(self._state.stamp, now)

    def _now(self) -> int:
        """Return the ROS time, ns."""
        return self._node.get_clock().now().nanoseconds
