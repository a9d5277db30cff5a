"""Random messages and requests for all nodes: valid, with unusual values, or with unusual bytes."""

from random import Random

from support.nodes import graph

import numpy as np
from load import SECOND
from messages import Messages
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from torque_watch import State
from trajectory_msgs.msg import JointTrajectoryPoint

from broken_messages.spoil import broken, serialized, spoil, understood
from robot_dynamics_interfaces.msg import GravityState, Payload, PayloadState
from robot_dynamics_interfaces.srv import (
    CheckTrajectory,
    GetForwardDynamics,
    GetInverseDynamics,
    GetJacobian,
    GetMassMatrix,
    SetGravity,
    SetPayload,
)
from robot_dynamics_ros.messages.cdr import LITTLE_ENDIAN
from robot_dynamics_ros.messages.stamps import set_nanoseconds

QUERIES = {
    'get_mass_matrix': GetMassMatrix,
    'get_forward_dynamics': GetForwardDynamics,
    'get_inverse_dynamics': GetInverseDynamics,
    'get_jacobian': GetJacobian,
}
SERVICES = {**QUERIES, 'check_trajectory': CheckTrajectory, 'set_gravity': SetGravity, 'set_payload': SetPayload}
LARGEST_POSITION = 2.0**40
"""Positions from here on (rad) are rejected by every node."""
MODERATE = 2.0
"""Positions (rad) and other numbers up to this one are valid for every node."""


class RandomMessages(Messages):
    """Draws messages for ``nodes``; ``reference_kind`` is the type of a controller's state."""

    def __init__(self, random: Random, nodes, reference_kind):
        super().__init__(random, nodes)
        self._reference_kind, self._walk = reference_kind, np.zeros(self.arm.n)
        self._others = [serialized(self.any_state())]

    def draw(self, topic: str):
        """Return a valid message for a topic, or request for a service."""
        draws = {
            'joint_states': self.any_state,
            'feedforward_torque': self.any_state,
            'joint_trajectory': lambda: self.trajectory(self.vector(0.5), 0.5),
            'controller_state': self._reference,
            'payload_state': self._payload_state,
            'gravity_state': self._gravity_state,
            'check_trajectory': self._check,
            'set_payload': lambda: self.payload()[0],
            'set_gravity': lambda: self.gravity()[0],
        }
        if topic in QUERIES:
            return self._query(QUERIES[topic])
        return draws.get(topic, Trigger.Request)()

    def perhaps_wrong(self, message, often: float = 0.5) -> tuple[bytes, bool]:
        """Return a message as bytes, and whether it has nothing unusual.

        It has unusual fields as ``often`` as stated, and unusual bytes in a third of cases.
        """
        spoiled = self.random.random() < often
        for _ in range(self.random.randint(1, 3) if spoiled else 0):
            spoil(self.random, message)
        data = serialized(message)
        if self.random.random() > 0.33:
            return data, not spoiled
        self._others = [*self._others[-20:], data]
        return broken(self.random, data, self.random.choice(self._others)), False

    def any_state(self) -> JointState:
        """Return a state of now, anywhere."""
        stamp = self._nodes.now - self.random.randrange(SECOND // 1000)
        return deserialize_message(self.state(stamp, self.vector(2.0), self.vector(1.0))[1], JointState)

    def _numbers(self, count: int, largest: float) -> list[float]:
        return [self.random.uniform(-largest, largest) for _ in range(count)]

    def _reference(self):
        """Return a controller_state whose reference lies near the one before."""
        self._walk += self.vector(0.001)
        rows = self._walk, self.vector(0.05), self.vector(0.5)
        fields = zip(('positions', 'velocities', 'accelerations'), rows[: self.random.randint(2, 3)], strict=False)
        point = JointTrajectoryPoint(**{field: row.tolist() for field, row in fields})
        message = self._reference_kind(joint_names=self.arm.names, reference=point)
        if hasattr(message, 'speed_scaling_factor'):  # releases before had none
            message.speed_scaling_factor = self.random.choice((1.0, 1.0, 1.0, self.random.random()))
        return graph.stamped(message, self._nodes.now)

    def _payload_state(self) -> PayloadState:
        """Return a payload that was set about now."""
        message = self._body(PayloadState())
        message.before = [self._body(Payload())] if self.random.random() < 0.3 else []
        set_nanoseconds(message.stamp, self._about_now())
        return message

    def _body(self, message):
        """Give a message a valid payload, and a ramp where it has one."""
        request, valid = self.payload()
        while not valid:
            request, valid = self.payload()
        for field in set(message.get_fields_and_field_types()) & set(request.get_fields_and_field_types()):
            setattr(message, field, getattr(request, field))
        message.frame = request.frame or self.arm.tip
        return message

    def _gravity_state(self) -> GravityState:
        """Return gravity that was set about now, in any direction."""
        ramp_time = self.random.choice((0.0, self.random.uniform(0.0, 2.0)))
        message = graph.stamped(GravityState(ramp_time=ramp_time), self._about_now())
        for vector in (message.gravity, message.before):
            vector.x, vector.y, vector.z = self._numbers(3, 10.0)
        return message

    def _about_now(self) -> int:
        return self._nodes.now + self.random.randint(-SECOND, SECOND // 10)

    def _query(self, kind):
        """Return a request about many states."""
        choice, n = self.random.choice, self.arm.n
        request, count = kind.Request(), 1 if kind is GetJacobian else choice((1, 1, 2, 7, 64))
        request.joint_names = choice(([], list(self.arm.names), self.random.sample(self.arm.names, n)))
        for name, field in request.get_fields_and_field_types().items():
            if field == 'sequence<double>':
                setattr(request, name, self._numbers(count * n, 2.0))
        if kind is GetJacobian:
            request.link = choice(list(self.arm.robot.frame_names))
            request.reference_frame = choice(('world', 'local_world_aligned', 'local'))
        return request

    def _check(self) -> CheckTrajectory.Request:
        """Return a request about a short trajectory."""
        trajectory, period = self.draw('joint_trajectory'), self.random.choice((0.0, 0.1, 0.5))
        trajectory.points = trajectory.points[:4]
        return CheckTrajectory.Request(trajectory=trajectory, sample_period=period, resample=self.random.random() < 0.7)


def read_state(data: bytes, names: list[str]) -> State:
    """Return a state of the joints ``names`` as rclpy reads it; its stamp is 0 where rclpy refuses it."""
    message = understood(data, JointState) if data[:2] == LITTLE_ENDIAN else None
    if message is None:
        return State(0, None, None, False)
    given, n = list(message.name), len(message.name)
    complete = set(names) <= set(given) and len(set(given)) == n == len(message.position)
    order = [given.index(name) for name in names] if complete else []
    q, stamp = np.array(message.position)[order] if complete else None, graph.nanoseconds(message.header.stamp)
    if q is None or not (np.abs(q) < LARGEST_POSITION).all():
        return State(stamp, None, None, False)
    lists = message.velocity, message.effort
    good = all(len(values) in (0, n) and np.isfinite(values).all() for values in lists)
    good = good and message.header.stamp.nanosec < SECOND and bool((np.abs(q) <= MODERATE).all())
    rates = [np.array(values)[order] if len(values) == n else np.array([np.nan]) for values in lists]
    qd, effort = (values if np.isfinite(values).all() else None for values in rates)
    return State(stamp, q, qd, good and serialized(message) == data, effort is not None)
