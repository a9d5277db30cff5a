"""Messages to a graph: states, trajectories and requests, valid and invalid. Times are ns."""

from random import Random

from support.nodes import graph

import numpy as np
from geometry_msgs.msg import Vector3
from load import SECOND
from rclpy.serialization import serialize_message
from robots import TURN
from torque_watch import State
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_interfaces.srv import SetGravity, SetPayload

LONG = 20_000
"""Number of points of a long trajectory."""
LARGEST_GRAVITY = 12.0
"""m/s^2, default of the parameter gravity_limit."""
LIGHT, HEAVY = 1.5, 100.0
"""kg: the arm can hold a payload up to LIGHT in every position, and none above HEAVY."""


class Messages:
    """Draws messages for the arm of ``nodes``."""

    def __init__(self, random: Random, nodes):
        self.random, self._nodes, self.arm = random, nodes, nodes.settings.arm
        arm = self.arm
        self._layouts = []  # names, further ones among them, and the index of each joint of the arm
        for _ in range(4):
            order = random.sample(range(arm.n), arm.n)
            extra = [f'finger_{k}' for k in range(random.choice((0, 0, 1, 2)))]
            self._layouts.append(([*(arm.names[k] for k in order), *extra], order))

    def vector(self, size: float) -> np.ndarray:
        """Return numbers of the arm's joints, up to a size."""
        return np.array([self.random.uniform(-size, size) for _ in self.arm.names])

    def state(self, stamp: int, q, qd) -> tuple[State, bytes]:
        """Return a valid state, sometimes without velocities, in some layout."""
        names, order = self.random.choice(self._layouts)
        position, velocity = ([*np.asarray(values)[order], *[0.25] * (len(names) - len(order))] for values in (q, qd))
        bare = self.random.random() < 0.01
        if bare:
            velocity = self.random.choice(([], [np.nan] * len(names)))
        effort = [self.random.uniform(-1.0, 1.0) for _ in names]
        message = graph.joint_state(names, stamp, position, velocity, effort)
        return State(stamp, np.array(q, float), None if bare else np.array(qd, float)), serialize_message(message)

    def wrong_state(self, stamp: int, q, qd) -> tuple[State, bytes]:
        """Return a state that lacks a joint, has one twice, or is not finite, or bytes that are none."""
        rows, k = [list(self.arm.names), list(q), list(qd)], self.random.randrange(self.arm.n)
        kind = self.random.choice(('a joint is missing', 'a joint is doubled', 'NaN', 'inf', 'no JointState'))
        for values in rows if 'joint is' in kind else ():
            values[k : k + 1] = values[k : k + 1] * (2 if 'doubled' in kind else 0)
        if kind in ('NaN', 'inf'):
            rows[1][k] = float(kind)
        data = serialize_message(graph.joint_state(rows[0], stamp, *rows[1:]))
        return State(stamp, None, None), b'\0\1\0\0' + self.random.randbytes(8) if kind == 'no JointState' else data

    def trajectory(self, q, tolerance: float) -> JointTrajectory:
        """Return a trajectory with valid points; the arm is at q."""
        draw, choice, tolerance, now = self.random.random, self.random.choice, tolerance or 1.0, self._nodes.now
        if draw() < 0.07:
            return JointTrajectory(joint_names=list(self.arm.names))
        offset = choice((None, None, None, 0.0, 0.0, -0.1, 0.1, 0.6, -30.0))
        start = 0 if offset is None else max(1, now + round(offset * SECOND))
        if draw() < 0.004:
            times = np.linspace(0.0, 5.0, LONG).tolist()
            return graph.trajectory(self.arm.names, start, *((t, np.asarray(q) + 0.2 * np.sin(t)) for t in times))
        begin = choice((0.0, 0.01, 0.5 * tolerance, 0.9 * tolerance, 1.1 * tolerance, 2.0))
        position = np.array(q, float)
        position[self.random.randrange(self.arm.n)] += choice((-begin, begin))
        position = self.arm.within(position)
        if draw() < 0.3:
            position = position + TURN * np.round(self.vector(1.4)) * self.arm.continuous
        first, rates = choice((0.0, 0.0, 0.0, 0.01, 0.1, 0.5)), choice((0, 1, 2, 2))
        times = np.cumsum([first, *(self.random.uniform(0.05, 0.8) for _ in range(self.random.randint(0, 4)))])
        points = []
        for time in times:
            moving = [np.zeros(self.arm.n) if time == times[-1] else self.vector(size) for size in (0.5, 1.0)]
            points.append((time, position, *moving[: rates if draw() < 0.95 else 0]))
            position = self.arm.within(position + self.vector(0.3))
        order = self.random.sample(range(self.arm.n), self.arm.n) if draw() < 0.3 else range(self.arm.n)
        shuffled = [(time, *(np.asarray(row)[order] for row in rows)) for time, *rows in points]
        return graph.trajectory([self.arm.names[k] for k in order], start, *shuffled)

    def motion(self, q, ahead: int = 0) -> JointTrajectory:
        """Return a valid trajectory of some seconds that starts ``ahead`` ns from now where the arm is, q."""
        points = (0.0, q), (1.0, self.arm.within(q + self.vector(0.3))), (4.0, self.arm.within(q + self.vector(0.3)))
        return graph.trajectory(self.arm.names, self._nodes.now + ahead, *points)

    def wrong_trajectory(self, q, tolerance: float) -> JointTrajectory:
        """Return a trajectory that must be rejected."""
        kind, n = self.random.randrange(5), self.arm.n
        names, end = list(self.arm.names), np.array(q) + 0.1
        if kind == 0:
            names[2] = 'nobody'
        elif kind == 1:
            end[3] = np.nan
        message = graph.trajectory(names, self._nodes.now, (0.0, q), (0.0 if kind == 2 else 0.5, end))
        if kind == 3:
            message.points[1].positions = message.points[1].positions[:-1]
        elif kind == 4:
            message.points[1].accelerations = [0.0] * n  # without velocities
        return message

    def payload(self) -> tuple[SetPayload.Request, bool | None]:
        """Return a payload, and whether it must be accepted; None where it may be either."""
        choice, uniform = self.random.choice, self.random.uniform
        mass = choice((0.0, *(uniform(0.1, LIGHT) for _ in range(3)), 3.0, 200.0, -1.0, np.nan))
        request = SetPayload.Request(mass=mass, frame=choice(('', '', self.arm.tip, self.arm.tip, 'nobody')))
        if mass:
            request.com = [uniform(-0.05, 0.05) for _ in range(3)]
            request.inertia = [choice((0.0, 0.002))] * 3 + [0.0] * 3
        request.ramp_time = choice((0.0, 0.0, 0.2, 1.0))
        possible = 0.0 <= mass <= HEAVY and request.frame != 'nobody'
        return request, possible and (mass <= LIGHT or None)

    def gravity(self) -> tuple[SetGravity.Request, bool]:
        """Return a gravity, and whether it must be accepted."""
        size, direction = self.random.choice((9.81, 9.81, 9.81, 1.62, 0.0, 98.1, np.nan)), self.vector(1.0)[:3]
        x, y, z = (size * direction / np.linalg.norm(direction)).tolist()
        request = SetGravity.Request(ramp_time=self.random.choice((0.0, 0.0, 0.3, 1.0)))
        request.gravity.vector = Vector3(x=x, y=y, z=z)
        return request, size <= LARGEST_GRAVITY
