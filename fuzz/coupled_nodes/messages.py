"""Messages to a graph: states, trajectories and requests, valid and invalid. Times are ns."""

from random import Random

from support import graph

import numpy as np
from geometry_msgs.msg import Vector3
from rclpy.serialization import serialize_message
from trajectory_msgs.msg import JointTrajectory

from coupled_nodes.model import State
from coupled_nodes.robots import TURN, Arm
from robot_dynamics_interfaces.srv import SetGravity, SetPayload

SECOND = graph.SECOND
LONG = 20_000
"""Number of points of a long trajectory."""
WRONG_STATES = 'a joint is missing', 'a joint is doubled', 'NaN', 'inf', 'no JointState'
WRONG_TRAJECTORIES = 'unknown joint', 'times that do not rise', 'NaN', 'a point too short', 'accelerations alone'


class Messages:
    """Draws messages for one arm."""

    def __init__(self, random: Random, arm: Arm, real_time: bool = False):
        """Draw from ``random``; in ``real_time`` draw nothing whose effect depends on the time of reception."""
        self.random, self.arm, self._real_time = random, arm, real_time
        self._layouts = [self._layout() for _ in range(4)]

    def vector(self, size: float) -> np.ndarray:
        """Return numbers of the arm's joints, up to a size."""
        return np.array([self.random.uniform(-size, size) for _ in self.arm.names])

    def state(self, stamp: int, q, qd) -> tuple[State, bytes]:
        """Return a valid state, sometimes without velocities, in some layout."""
        names, order = self.random.choice(self._layouts)
        extra = len(names) - len(order)
        bare = self.random.random() < 0.01
        position, velocity = ([*np.asarray(values)[order], *[0.25] * extra] for values in (q, qd))
        if bare and self.random.random() < 0.5:
            velocity = [np.nan] * len(names)
        elif bare:
            velocity = []
        message = graph.joint_state(names, stamp, position, velocity)
        return State(stamp, np.array(q, float), None if bare else np.array(qd, float)), serialize_message(message)

    def wrong_state(self, stamp: int, q, qd) -> tuple[State, bytes]:
        """Return an invalid state."""
        names, q, qd = list(self.arm.names), list(q), list(qd)
        kind = self.random.choice(WRONG_STATES)
        k = self.random.randrange(len(names))
        if kind == 'no JointState':
            return State(stamp, None, None), b'\0\1\0\0' + self.random.randbytes(8)
        if kind == 'a joint is missing':
            for values in (names, q, qd):
                del values[k]
        elif kind == 'a joint is doubled':
            for values in (names, q, qd):
                values.append(values[k])
        else:
            q[k] = float(kind)
        return State(stamp, None, None), serialize_message(graph.joint_state(names, stamp, q, qd))

    def trajectory(self, now: int, q, tolerance: float) -> tuple[str, JointTrajectory]:
        """Return a trajectory with valid points and a description of it; the arm is at q."""
        draw = self.random.random
        if draw() < 0.07:
            return 'empty', JointTrajectory(joint_names=list(self.arm.names))
        start = self._start(now)
        begin = self._begin(tolerance)
        first = np.asarray(q) + begin * np.sign(self.vector(1.0)) * (np.arange(self.arm.n) == self._joint())
        if draw() < 0.3:
            first = first + TURN * np.round(self.vector(1.4)) * self.arm.continuous
        late = self.random.choice((0.0, 0.0, 0.0, 0.01, 0.1, 0.5))
        if draw() < 0.004:
            return f'of {LONG} points', self._long(start, q)
        times = np.cumsum([late, *[self.random.uniform(0.05, 0.8) for _ in range(self.random.randint(0, 4))]])
        rates = self.random.choice((0, 1, 2, 2))
        points = []
        for k, time in enumerate(times):
            position = first if k == 0 else points[-1][1] + self.vector(0.3)
            end = k == len(times) - 1
            moving = [np.zeros(self.arm.n) if end else self.vector(size) for size in (0.5, 1.0)]
            points.append((time, position, *moving[: rates if draw() < 0.95 else 0]))
        message = graph.trajectory(self.arm.names, start, *points)
        if draw() < 0.3:
            self._shuffle(message)
        return f'begins {begin:.2f} away, first point at {late} s, {rates} rates', message

    def motion(self, now: int, q) -> JointTrajectory:
        """Return a valid trajectory of some seconds that starts now where the arm is, q."""
        middle, end = q + self.vector(0.3), q + self.vector(0.3)
        return graph.trajectory(self.arm.names, now, (0.0, q), (1.0, middle), (4.0, end))

    def wrong_trajectory(self, now: int, q) -> tuple[str, JointTrajectory]:
        """Return a trajectory that must be rejected."""
        kind = self.random.choice(WRONG_TRAJECTORIES)
        names, points = list(self.arm.names), [(0.0, np.array(q)), (0.5, np.array(q) + 0.1)]
        if kind == 'unknown joint':
            names[2] = 'nobody'
        elif kind == 'times that do not rise':
            points[1] = (0.0, points[1][1])
        elif kind == 'NaN':
            points[1][1][3] = np.nan
        message = graph.trajectory(names, now, *points)
        if kind == 'a point too short':
            message.points[1].positions = message.points[1].positions[:-1]
        elif kind == 'accelerations alone':
            message.points[1].accelerations = [0.0] * self.arm.n
        return kind, message

    def payload(self) -> SetPayload.Request:
        """Return a valid or invalid payload."""
        choice, uniform = self.random.choice, self.random.uniform
        mass = choice((0.0, uniform(0.1, 1.5), uniform(0.1, 1.5), uniform(0.1, 1.5), 3.0, 200.0, -1.0, np.nan))
        request = SetPayload.Request(mass=mass, frame=choice(('', '', self.arm.tip, self.arm.tip, 'nobody')))
        if mass:
            request.com = [uniform(-0.05, 0.05) for _ in range(3)]
            moment = choice((0.0, 0.002))
            request.inertia = [moment, moment, moment, 0.0, 0.0, 0.0]
        request.ramp_time = choice((0.0, 0.0, 0.2, 1.0))
        return request

    def gravity(self) -> SetGravity.Request:
        """Return a valid or invalid gravity."""
        uniform = self.random.uniform
        size = self.random.choice((9.81, 9.81, 9.81, 1.62, 0.0, 98.1, np.nan))
        direction = np.array([uniform(-1.0, 1.0) for _ in range(3)])
        x, y, z = (size * direction / np.linalg.norm(direction)).tolist()
        request = SetGravity.Request(ramp_time=self.random.choice((0.0, 0.0, 0.3, 1.0)))
        request.gravity.vector = Vector3(x=x, y=y, z=z)
        return request

    def _start(self, now: int) -> int:
        """Return the header's stamp."""
        offset = self.random.choice((None, None, None, 0.0, 0.0, -0.1, 0.1, 0.6, -30.0))
        if offset is None and self._real_time:
            offset = 0.0
        return 0 if offset is None else max(1, now + round(offset * SECOND))

    def _begin(self, tolerance: float) -> float:
        """Return the distance between the arm and the start of a trajectory, rad."""
        near = (0.0, 0.01, 0.5 * (tolerance or 1.0), 0.9 * (tolerance or 1.0))
        return self.random.choice((*near, 1.1 * (tolerance or 1.0), 2.0))

    def _joint(self) -> int:
        return self.random.randrange(self.arm.n)

    def _long(self, start: int, q) -> JointTrajectory:
        """Return a trajectory of many points."""
        times = np.linspace(0.0, 5.0, LONG)
        points = [(t, np.asarray(q) + 0.2 * np.sin(t)) for t in times.tolist()]
        return graph.trajectory(self.arm.names, start, *points)

    def _shuffle(self, message: JointTrajectory) -> None:
        """Write the joints in another order."""
        order = self.random.sample(range(self.arm.n), self.arm.n)
        message.joint_names = [message.joint_names[k] for k in order]
        for point in message.points:
            for field in ('positions', 'velocities', 'accelerations'):
                values = getattr(point, field)
                setattr(point, field, [values[k] for k in order if len(values)])

    def _layout(self):
        """Return names, including extra ones, and the index of each joint of the arm."""
        order = self.random.sample(range(self.arm.n), self.arm.n)
        extra = [f'finger_{k}' for k in range(self.random.choice((0, 0, 1, 2)))]
        return [*(self.arm.names[k] for k in order), *extra], order
