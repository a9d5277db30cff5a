"""``~/set_payload`` and ``~/set_gravity``: payload and gravity are published; a payload may be kept over a restart."""

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from robot_dynamics_ros.control.arm.described_arm import check_gravity
from robot_dynamics_ros.control.arm.static_torque import check_static_torque
from robot_dynamics_ros.control.payload.payload_gravity import (
    GravityRamp,
    PayloadGravity,
    PayloadRamp,
    RobotWithPayload,
    carried,
    together,
    vector_of,
)
from robot_dynamics_ros.control.payload.ramp import Ramp
from robot_dynamics_ros.errors import ArgumentError, DynamicsError, ModelError
from robot_dynamics_ros.formats.yaml_files.payload_yaml import Body, KeptPayload, read_payload, write_payload
from robot_dynamics_ros.jit.cache import remove_abandoned
from robot_dynamics_ros.messages.payload_gravity import body_of, gravity_of, ramp_time_of
from robot_dynamics_ros.model.closed_loops.loops import check_tree
from robot_dynamics_ros.nodes.inputs.payload_gravity_topics import (
    FIELD,
    KINDS,
    RAMP_OF,
    STATE_OF,
    UNFIT,
    PayloadGravityPublisher,
)
from robot_dynamics_ros.payload import Payload
from robot_dynamics_ros.robot import Robot


class _Unfit(NamedTuple):
    """A value that was set, and why it does not fit the robot."""

    why: str
    message: Any


class PayloadGravityService:
    """Payload and gravity of a configured server: services change ``current``, which is published on two topics.

    Until a value is set it is assumed: no payload, gravity of the parameters. A node that holds another one, which was
    set before this server started, tells it (``adopt``). The node's parameters payload_limit, gravity_limit and
    payload_gravity_ramp_time act at each request.
    """

    def __init__(
        self,
        node,
        publishers: dict[str, PayloadGravityPublisher],
        path: str,
        effort_limit: np.ndarray | None = None,
        before: 'PayloadGravityService | None' = None,
    ):
        """Begin with the payload in the file ``path`` ('': none is kept) and the gravity of the node's robot.

        ``effort_limit`` is that of ``check_static_torque`` for a payload; ``before``: that of another description of
        the robot, whose values stay where they were set. ModelError names the file if it is broken.
        """
        self._node, self._robot, self._publishers, self._path = node, node.robot, publishers, path
        self._effort_limit = effort_limit
        self._carrying = RobotWithPayload(node.robot)
        now = self._now()
        gravity = PayloadGravity.of(node.robot).gravity
        self.current = PayloadGravity(PayloadRamp(start=now), replace(gravity, start=now))
        self._assumed = set(KINDS)  # topics whose value nobody has set
        self.settled: set[str] = set()  # those for which no node holds another one
        self._adopted: set[str] = set()  # those whose value nodes have told
        self._unfit: dict[str, _Unfit] = {}  # values that were set and do not fit this robot, by topic
        self._is_from_file = self._other_clock_possible = False
        if before is not None:
            self._continue_from(before)
        elif path:
            self._read_file()

    def begin(self) -> None:
        """Publish payload and gravity, as at activation, and log where it is from."""
        mass, (x, y, z) = self.current.payload.mass, self.current.gravity.after
        source = f'from {self._path}' if self._is_from_file else 'set' if self.is_set('payload_state') else 'assumed'
        gravity_source = 'set' if self.is_set('gravity_state') else 'of the parameters'
        self._node.get_logger().info(
            f'publishing payload_state: {mass:g} kg ({source}), and gravity_state: {x:g}, {y:g}, {z:g} m/s^2 '
            f'({gravity_source})'
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
        """Publish payload and gravity, but none that does not fit the robot; the node is active."""
        for topic in KINDS:
            if topic not in self._unfit:
                self._publish(topic)

    def adopt(self, topic: str, message) -> None:
        """Continue with the value that a node holds, where this server was told none; it is on a topic of IN_FORCE."""
        try:
            ramp, now = RAMP_OF[topic](self._robot, message), self._now()
            if ramp.ends_like(getattr(self.current, FIELD[topic])):
                return
            if ramp.start > now:  # of another clock
                ramp = replace(ramp, start=now, duration=0)
            self._check(ramp)
            self._store(topic, ramp)
        except DynamicsError as error:
            self._node.get_logger().warning(f'{topic}: the value that a node holds is refused: {error}')
            return
        self._adopted.add(topic)
        self._node.get_logger().warning(f'{topic}: continued as nodes hold it, set it again where that is wrong')
        self._publish(topic)

    def warnings(self) -> list[str]:
        """Return which values do not fit the robot, and which ones are those of nodes."""
        return [
            *(unfit.why for unfit in self._unfit.values()),
            *(
                f'{topic}: nothing was set since the start, and the value is that which nodes hold; set it again'
                for topic in sorted(self._adopted)
            ),
        ]

    @property
    def robot(self) -> Robot:
        """The node's robot under payload and gravity of now; the same object while nothing changes.

        ArgumentError where one of them does not fit the robot.
        """
        for unfit in self._unfit.values():
            raise ArgumentError(unfit.why)
        now = self._now()
        if self.current.finished(now) and (self.current.payload.duration or self.current.gravity.duration):
            self.current = self.current.clock_set_back(now, now)  # finished for good, whatever the clock does
        return self._carrying.at(self.current, now)

    def clock_set_back(self, before: int, after: int) -> None:
        """Keep the progress of both ramps on a clock that went back from ``before`` to ``after`` (ns)."""
        self.current = self.current.clock_set_back(before, after)

    def set_payload(self, request, response) -> None:
        """Serve a ``SetPayload`` request; DynamicsError names what is wrong with it."""
        frame, payload = body_of(self._robot, request)
        ramp_time = self._ramp_time('payload_state', request)
        self._check_payload(frame, payload)
        ramp = self.current.payload.to(frame, payload, self._now(), ramp_time)
        self._set('payload_state', ramp)
        self._node.get_logger().info(f'payload: {payload.mass:g} kg on {frame}, over {ramp_time:g} s')

    def set_gravity(self, request, response) -> None:
        """Serve a ``SetGravity`` request; DynamicsError names what is wrong with it."""
        vector = gravity_of(self._robot, request.gravity)
        ramp_time = self._ramp_time('gravity_state', request)
        ramp: GravityRamp = self.current.gravity.to(vector, self._now(), ramp_time)
        self._check(ramp)
        self._set('gravity_state', ramp)
        x, y, z = vector
        self._node.get_logger().info(f'gravity: {x:g}, {y:g}, {z:g} m/s^2, over {ramp_time:g} s')

    def is_set(self, topic: str) -> bool:
        """Return whether the value of a topic is not an assumed one."""
        return topic not in self._assumed

    def _ramp_time(self, topic: str, request) -> float:
        """Return the ramp time of a request, s; 0 where the value that was set does not fit the robot."""
        asked = ramp_time_of(request) or self._node.value('payload_gravity_ramp_time')
        return 0.0 if topic in self._unfit else asked

    def _set(self, topic: str, ramp: Ramp) -> None:
        """Follow the ramp of a request, and publish it."""
        self._store(topic, ramp)
        self._adopted.discard(topic)
        self._publish(topic)

    def _store(self, topic: str, ramp: Ramp) -> None:
        """Follow a ramp; the file is written first: nothing is refused after it."""
        if self._path and isinstance(ramp, PayloadRamp):
            try:
                write_payload(self._path, _kept(ramp, self._robot.link_names[-1]))
            except ModelError as error:
                raise ModelError(f'payload_file {self._path}: {error}') from error
            self._is_from_file = True
        self.current = replace(self.current, **{FIELD[topic]: ramp})
        self._assumed.discard(topic)
        self._unfit.pop(topic, None)

    def _publish(self, topic: str) -> None:
        message = STATE_OF[topic](self._robot, getattr(self.current, FIELD[topic]))
        message.assumed = topic in self._assumed
        message.settled = topic in self.settled or not message.assumed
        self._publishers[topic].publish(message)

    def _continue_from(self, before: 'PayloadGravityService') -> None:
        """Keep what was set for another description of the robot, as far as it fits this one."""
        self._is_from_file = before._is_from_file
        self.settled |= before.settled
        for topic in KINDS:
            if topic in before._assumed:
                continue
            self._assumed.discard(topic)
            unfit = before._unfit.get(topic)
            message = unfit.message if unfit else STATE_OF[topic](before._robot, getattr(before.current, FIELD[topic]))
            try:
                ramp = RAMP_OF[topic](self._robot, message)
                self._check(ramp)
            except DynamicsError as error:
                self._unfit[topic] = _Unfit(f'{topic}: {UNFIT}: {error}', message)
                self._node.get_logger().warning(self._unfit[topic].why)
                continue
            self.current = replace(self.current, **{FIELD[topic]: ramp})
            self._adopted |= before._adopted & {topic}

    def _read_file(self) -> None:
        remove_abandoned(Path(self._path))
        try:
            kept = read_payload(self._path)
            if kept is not None:
                self.current = replace(self.current, payload=self._ramp_of(kept))
                self._is_from_file = self._other_clock_possible = True
                self._assumed.discard('payload_state')
        except DynamicsError as error:
            raise ModelError(f'payload_file {self._path}: {error}') from error

    def _check(self, ramp: Ramp) -> None:
        """Refuse a ramp to a payload or gravity that the joints cannot hold; DynamicsError says why."""
        if isinstance(ramp, PayloadRamp):
            for frame, payload in ramp.after.items():
                self._check_payload(frame, payload)
            return
        check_gravity(ramp.after, self._node.value('gravity_limit'))
        for frame, payload in self.current.payload.after.items():
            self._check_held(frame, payload, ramp.after)

    def _check_payload(self, frame: str, payload: Payload) -> None:
        """Refuse a payload that is heavier than payload_limit or, where that is 0, than the joints can hold."""
        limit = self._node.value('payload_limit')
        if limit and payload.mass > limit:
            raise ArgumentError(f'mass: {payload.mass:g} kg is above the parameter payload_limit, {limit:g} kg')
        # where gravity was set to 0 any mass could be held: also check the parameter's gravity
        for gravity in {self.current.gravity.after, vector_of(self._robot.gravity)}:
            self._check_held(frame, payload, gravity)

    def _check_held(self, frame: str, payload: Payload, gravity) -> None:
        """Refuse a payload that the effort limits cannot hold under ``gravity``, unless payload_limit is stated.

        What an arm with closed loops can hold is not computed: it needs that parameter.
        """
        if payload.mass and not self._node.value('payload_limit'):
            check_tree(self._robot.model, 'payload without the parameter payload_limit')
            bare = self._robot.with_gravity(gravity)
            what = f'mass: {payload.mass:g} kg on {frame!r}'
            check_static_torque(bare, bare.with_payload(payload, frame), what, self._effort_limit)

    def _ramp_of(self, kept: KeptPayload) -> PayloadRamp:
        """Return the ramp that a file holds; DynamicsError names what is wrong for the node's robot."""

        def of(body: Body) -> dict[str, Payload]:
            return carried(self._robot, Payload(body.mass, body.com, body.inertia), body.frame)

        duration = round(kept.ramp_time * 1e9)
        # the payloads before a ramp count until it ends; a ramp of another clock may seem to lie ahead
        is_over = kept.start + duration <= self._now()
        before = {} if is_over else together(pair for body in kept.before for pair in of(body).items())
        ramp = PayloadRamp(of(kept.body), before, kept.start, duration)
        self._check(ramp)
        return ramp

    def _now(self) -> int:
        """Return the ROS time, ns."""
        return self._node.get_clock().now().nanoseconds


def _kept(ramp: PayloadRamp, last_link: str) -> KeptPayload:
    """Return ``ramp`` as a file keeps it; no payload is on the last link."""
    bodies = {name: Body(name, it.mass, it.com, it.inertia) for name, it in ramp.after.items()}
    nothing = Body(last_link, 0.0, (0.0, 0.0, 0.0), np.zeros((3, 3)))
    before = tuple(Body(name, it.mass, it.com, it.inertia) for name, it in ramp.before.items())
    return KeptPayload(next(iter(bodies.values()), nothing), ramp.start, ramp.duration * 1e-9, before)
