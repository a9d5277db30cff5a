"""``~/set_payload`` and ``~/set_gravity``: payload and gravity are published; a payload may be kept over a restart."""

from dataclasses import replace
from pathlib import Path

from robot_dynamics_ros.control.payload_gravity import (
    CarryingRobot,
    GravityRamp,
    PayloadGravity,
    PayloadRamp,
    carrier,
    vector_of,
)
from robot_dynamics_ros.control.static_torque import check_static_torque
from robot_dynamics_ros.errors import ArgumentError, DynamicsError, ModelError
from robot_dynamics_ros.formats.payload_yaml import Body, KeptPayload, read_payload, write_payload
from robot_dynamics_ros.jit.cache import remove_abandoned
from robot_dynamics_ros.messages.payload_gravity import (
    body_of,
    gravity_of,
    gravity_state,
    payload_state,
    ramp_time_of,
)
from robot_dynamics_ros.model.loops import check_tree
from robot_dynamics_ros.nodes.payload_gravity_topics import PayloadGravityPublisher
from robot_dynamics_ros.nodes.robot_loader import check_gravity
from robot_dynamics_ros.payload import Payload
from robot_dynamics_ros.robot import Robot


class PayloadGravityService:
    """Payload and gravity of a configured server: services change ``current``, which is published on two topics.

    The node's parameters payload_limit, gravity_limit and load_ramp_time act at each request.
    """

    def __init__(self, node, publishers: dict[str, PayloadGravityPublisher], path: str, effort_limit=None):
        """Begin with the payload in the file ``path`` ('': none is kept) and the gravity of the node's robot.

        ``effort_limit`` is that of ``check_static_torque`` for a payload. ModelError names the file if it is broken.
        """
        self._node, self._publishers, self._path = node, publishers, path
        self._effort_limit = effort_limit
        self._carrying = CarryingRobot(node.robot)
        now = self._now()
        gravity = PayloadGravity.of(node.robot).gravity
        self.current = PayloadGravity(PayloadRamp(start=now), replace(gravity, start=now))
        self._kept = self._other_clock_possible = False
        if path:
            remove_abandoned(Path(path))
            try:
                kept = read_payload(path)
                if kept is not None:
                    self.current = replace(self.current, payload=self._ramp_of(kept))
                    self._kept = self._other_clock_possible = True
            except DynamicsError as error:
                raise ModelError(f'payload_file {path}: {error}') from error

    def begin(self) -> None:
        """Publish payload and gravity, as at activation, and log where it is from."""
        mass, (x, y, z) = self.current.payload.mass, self.current.gravity.after
        source = f'from {self._path}' if self._kept else 'nothing is kept from an earlier start'
        self._node.get_logger().info(
            f'publishing payload_state: {mass:g} kg ({source}), and gravity_state: {x:g}, {y:g}, {z:g} m/s^2'
        )
        self.publish()
        self.compare_clocks()

    def compare_clocks(self) -> None:
        """Finish the ramp of a file that begins later than now: it was written on another clock.

        A simulated clock that does not run yet is not compared.
        """
        now = self._now()
        if not self._other_clock_possible or now == 0:
            return
        self._other_clock_possible = False
        if self.current.payload.duration and self.current.payload.start > now:
            self._node.get_logger().warning(
                f'payload_file {self._path}: its ramp begins later than now, so it is of another clock: finished'
            )
            self.current = replace(self.current, payload=replace(self.current.payload, start=now, duration=0))
            self.publish()

    def publish(self) -> None:
        """Publish payload and gravity; the node is active."""
        self._publishers['payload_state'].publish(payload_state(self._node.robot, self.current.payload))
        self._publishers['gravity_state'].publish(gravity_state(self._node.robot, self.current.gravity))

    @property
    def robot(self) -> Robot:
        """The node's robot under payload and gravity of now; the same object while nothing changes."""
        now = self._now()
        if self.current.finished(now) and (self.current.payload.duration or self.current.gravity.duration):
            self.current = self.current.clock_set_back(now, now)  # finished for good, whatever the clock does
        return self._carrying.at(self.current, now)

    def clock_set_back(self, before: int, after: int) -> None:
        """Keep the progress of both ramps on a clock that went back from ``before`` to ``after`` (ns)."""
        self.current = self.current.clock_set_back(before, after)

    def set_payload(self, request, response) -> None:
        """Serve a ``SetPayload`` request; DynamicsError names what is wrong with it."""
        frame, payload = body_of(self._node.robot, request)
        ramp_time = ramp_time_of(request) or self._node.value('load_ramp_time')
        self._check_payload(frame, payload)
        ramp = self.current.payload.to(frame, payload, self._now(), ramp_time)
        # the file is written last: nothing is refused after it
        if self._path:
            try:
                write_payload(self._path, _kept(frame, payload, ramp))
            except ModelError as error:
                raise ModelError(f'payload_file {self._path}: {error}') from error
            self._kept = True
        self.current = replace(self.current, payload=ramp)
        self._publishers['payload_state'].publish(payload_state(self._node.robot, ramp))
        self._node.get_logger().info(f'payload: {payload.mass:g} kg on {frame}, over {ramp_time:g} s')

    def set_gravity(self, request, response) -> None:
        """Serve a ``SetGravity`` request; DynamicsError names what is wrong with it."""
        vector = gravity_of(self._node.robot, request.gravity)
        check_gravity(vector, self._node.value('gravity_limit'))
        for frame, payload in self.current.payload.after.items():
            self._check_held(frame, payload, vector)
        ramp_time = ramp_time_of(request) or self._node.value('load_ramp_time')
        ramp: GravityRamp = self.current.gravity.to(vector, self._now(), ramp_time)
        self.current = replace(self.current, gravity=ramp)
        self._publishers['gravity_state'].publish(gravity_state(self._node.robot, ramp))
        x, y, z = vector
        self._node.get_logger().info(f'gravity: {x:g}, {y:g}, {z:g} m/s^2, over {ramp_time:g} s')

    def _check_payload(self, frame: str, payload: Payload) -> None:
        """Refuse a payload that is heavier than payload_limit or, where that is 0, than the joints can hold."""
        limit = self._node.value('payload_limit')
        if limit and payload.mass > limit:
            raise ArgumentError(f'mass: {payload.mass:g} kg is above the parameter payload_limit, {limit:g} kg')
        # where gravity was set to 0 any mass could be held: also check the parameter's gravity
        for gravity in {self.current.gravity.after, vector_of(self._node.robot.gravity)}:
            self._check_held(frame, payload, gravity)

    def _check_held(self, frame: str, payload: Payload, gravity) -> None:
        """Refuse a payload that the effort limits cannot hold under ``gravity``, unless payload_limit is stated.

        What an arm with closed loops can hold is not computed: it needs that parameter.
        """
        if payload.mass and not self._node.value('payload_limit'):
            check_tree(self._node.robot.model, 'payload without the parameter payload_limit')
            bare = self._node.robot.with_gravity(gravity)
            what = f'mass: {payload.mass:g} kg on {frame!r}'
            check_static_torque(bare, bare.with_payload(payload, frame), what, self._effort_limit)

    def _ramp_of(self, kept: KeptPayload) -> PayloadRamp:
        """Return the ramp that a file holds; DynamicsError names what is wrong for the node's robot."""

        def carried(body: Body) -> dict[str, Payload]:
            payload = Payload(body.mass, body.com, body.inertia)
            frame = carrier(self._node.robot, payload, body.frame)
            return {frame: payload} if payload.mass else {}

        before: dict[str, Payload] = {}
        for body in kept.before:
            for frame, payload in carried(body).items():
                before[frame] = before[frame] + payload if frame in before else payload
        after = carried(kept.body)
        for frame, payload in after.items():
            self._check_payload(frame, payload)
        return PayloadRamp(after, before, kept.start, round(kept.ramp_time * 1e9))

    def _now(self) -> int:
        """Return the ROS time, ns."""
        return self._node.get_clock().now().nanoseconds


def _kept(frame: str, payload: Payload, ramp: PayloadRamp) -> KeptPayload:
    """Return ``ramp``, at whose end ``payload`` is on ``frame``, as a file keeps it."""
    before = tuple(Body(name, body.mass, body.com, body.inertia) for name, body in ramp.before.items())
    return KeptPayload(
        Body(frame, payload.mass, payload.com, payload.inertia), ramp.start, ramp.duration * 1e-9, before
    )
