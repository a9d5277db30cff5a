"""Random valid messages and requests for all nodes, drawn from one ``random.Random``."""

from random import Random

from support import graph

import numpy as np
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from broken_messages.spoil import broken, serialized, spoil
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
from robot_dynamics_ros.messages.stamps import set_nanoseconds

SECOND = graph.SECOND
RATES = ('positions', 'velocities', 'accelerations')
SERVICES = {
    '~/get_mass_matrix': GetMassMatrix,
    '~/get_forward_dynamics': GetForwardDynamics,
    '~/get_inverse_dynamics': GetInverseDynamics,
    '~/get_jacobian': GetJacobian,
    '~/check_trajectory': CheckTrajectory,
    '~/set_gravity': SetGravity,
    '~/set_payload': SetPayload,
}
RESET = '~/reset'
LISTS = 'sequence<double>'


class Messages:
    """Draws messages for a robot; ``now`` (ns) is the time they are sent at."""

    def __init__(self, random: Random, robot, reference_kind):
        self.random, self.names, self._robot, self._reference_kind = (
            random,
            list(robot.joint_names),
            robot,
            reference_kind,
        )
        self.now, self._walk = 0, dict.fromkeys(self.names, 0.0)
        self._rates, self._order, self._factor = 3, self.names, 1.0  # of a controller's states
        self._others = [serialized(self._state())]

    def draw(self, topic: str):
        """Return a valid message for a topic, or request for a service."""
        draws = {
            'joint_states': self._state,
            'joint_trajectory': self._trajectory,
            'controller_state': self._reference,
            'payload_state': self._payload,
            'gravity_state': self._gravity,
            RESET: Trigger.Request,
            '~/check_trajectory': self._check,
            '~/set_payload': lambda: self._body(SetPayload.Request()),
            '~/set_gravity': self._gravity_request,
        }
        return draws[topic]() if topic in draws else self._request(SERVICES[topic])

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

    def numbers(self, count: int, largest: float) -> list[float]:
        return [self.random.uniform(-largest, largest) for _ in range(count)]

    def reference_of(self, names, rows, factor: float):
        """Return a controller's state of now; ``rows``: positions, velocities and accelerations, as far as stated."""
        point = JointTrajectoryPoint(**dict(zip(RATES, rows, strict=False)))
        message = self._reference_kind(joint_names=names, reference=point)
        if hasattr(message, 'speed_scaling_factor'):  # releases before had none
            message.speed_scaling_factor = factor
        return graph.stamped(message, self.now)

    def good_load(self, topic: str):
        """Return a payload or gravity that a node has to apply immediately."""
        if topic == 'gravity_state':
            down = graph.stamped(GravityState(), self.now)
            down.gravity.x, down.gravity.z = self.random.uniform(-1.0, 1.0), self.random.uniform(-10.0, -9.0)
            return down
        message = PayloadState(mass=self.random.uniform(0.1, 3.0), com=self.numbers(3, 0.1), frame='ee_link')
        set_nanoseconds(message.stamp, self.now)
        return message

    def _state(self) -> JointState:
        """Return a state of now: joints in any order, others between them, velocities and efforts or none."""
        names = list(self.names)
        if self.random.random() < 0.2:
            names += self.random.sample(['gripper', 'rail', 'élan'], self.random.randrange(3))
            self.random.shuffle(names)
        message = JointState(name=names, position=self.numbers(len(names), 2.0))
        for field in ('velocity', 'effort'):
            if self.random.random() < 0.8:
                setattr(message, field, self.numbers(len(names), 1.0))
        return graph.stamped(message, self.now - self.random.randrange(SECOND // 1000))

    def _trajectory(self) -> JointTrajectory:
        """Return a trajectory of none to 50 points, from around now on."""
        choice, uniform, rates = self.random.choice, self.random.uniform, self.random.randint(1, 3)
        points, time = [], choice((0.0, 0.0, uniform(0.0, 2.0)))
        for _ in range(choice((0, 1, 2, 2, 3, 5, self.random.randint(0, 50)))):
            points.append((time, *(self.numbers(len(self.names), 0.5) for _ in range(rates))))
            time += uniform(0.01, 1.0)
        start = 0 if self.random.random() < 0.3 else self.now + self.random.randint(-SECOND, SECOND // 10)
        return graph.trajectory(self.random.sample(self.names, len(self.names)), start, *points)

    def _reference(self):
        """Return a controller's state that goes on from the last one for a while."""
        if self.random.random() < 0.05:
            self._rates, self._order = self.random.randint(1, 3), self.random.sample(self.names, len(self.names))
            self._factor = self.random.choice((1.0, 1.0, 0.0, self.random.random()))
        for name in self._order:
            self._walk[name] += self.random.uniform(-0.001, 0.001)
        n = len(self._order)
        rows = [[self._walk[name] for name in self._order], self.numbers(n, 0.05), self.numbers(n, 0.5)]
        return self.reference_of(self._order, rows[: self._rates], self._factor)

    def _payload(self) -> PayloadState:
        """Return a payload that was set about now."""
        message = self._body(PayloadState())
        if self.random.random() < 0.3:
            message.before = [self._body(Payload())]
        set_nanoseconds(message.stamp, self.now + self.random.randint(-SECOND, SECOND // 10))
        return message

    def _gravity(self) -> GravityState:
        """Return gravity that was set about now, in any direction."""
        message = graph.stamped(GravityState(), self.now + self.random.randint(-SECOND, SECOND // 10))
        for vector in (message.gravity, message.before):
            vector.x, vector.y, vector.z = self.numbers(3, 10.0)
        message.ramp_time = self._ramp_time()
        return message

    def _request(self, kind):
        """Return a request about many states."""
        choice, n = self.random.choice, len(self.names)
        request, count = kind.Request(), 1 if kind is GetJacobian else choice((1, 1, 2, 7, 64))
        request.joint_names = choice(([], list(self.names), self.random.sample(self.names, n)))
        for name, field in request.get_fields_and_field_types().items():
            if field == LISTS:
                setattr(request, name, self.numbers(count * n, 2.0))
        if kind is GetJacobian:
            request.link = choice(list(self._robot.frame_names))
            request.reference_frame = choice(('world', 'local_world_aligned', 'local'))
        return request

    def _check(self):
        """Return a request about a short trajectory."""
        trajectory, period = self._trajectory(), self.random.choice((0.0, 0.1, self.random.uniform(0.02, 1.0)))
        trajectory.points = trajectory.points[:4]
        return CheckTrajectory.Request(trajectory=trajectory, sample_period=period, resample=self.random.random() < 0.7)

    def _gravity_request(self):
        """Return a request for gravity in any direction."""
        request = SetGravity.Request(ramp_time=self._ramp_time())
        request.gravity.header.frame_id = self.random.choice(('', self._robot.link_names[0]))
        request.gravity.vector.x, request.gravity.vector.y, request.gravity.vector.z = self.numbers(3, 10.0)
        return request

    def _body(self, message):
        """Return a payload, or a request for one, with a box, a point mass or nothing, immediately or with a ramp."""
        random, size = self.random, np.array(self.numbers(3, 0.3))
        message.mass = random.choice((0.0, random.uniform(0.01, 5.0), random.uniform(0.01, 5.0)))
        moments = random.choice((0.0, message.mass / 12.0)) * (size @ size - size**2)
        message.com, message.inertia = self.numbers(3, 0.2), [*moments.tolist(), 0.0, 0.0, 0.0]
        message.frame = random.choice((self._robot.link_names[-1], 'ee_link'))
        if hasattr(message, 'ramp_time'):
            message.ramp_time = self._ramp_time()
        return message

    def _ramp_time(self) -> float:
        return self.random.choice((0.0, self.random.uniform(0.0, 0.2), self.random.uniform(0.0, 2.0)))
