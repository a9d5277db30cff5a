"""Whether the motion of a feedforward torque is that of this node: both lead to a trajectory, each from its reference.

The references of two nodes that follow nothing differ by the position error of the arm, and streams reach a point with
another lag. A torque is that of the motion q', qd' of its node, which for each joint has to be

    |q' - q| <= c POSITION + L max(|qd|, |qd'|)
    min(qd, qd_t) - r <= qd' <= max(qd, qd_t) + r,    r = c VELOCITY + L acceleration limit

q and qd are the motion of this node, or the reference in force as long as the trajectory has not begun; qd_t is the
velocity of the trajectory without a lead. L is the largest difference of two lags, 0 for a trajectory of several
points. c is 1 before the motion begins and 2 afterwards: of two leads one may last longer. On the way to a lone point,
whatever the velocity of the other node, q' is no further beside the way from q to the point q_t than

    d = c POSITION + L max(|qd|, |qd_t|)

Once this does not hold, q' and qd' have to be those of the trajectory itself as well, or of the lone point at rest: the
other node's lead is over, and its acceleration in no torque. In a stream no lead is over before the next one begins,
and each point is judged anew.
"""

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.control.joints.continuous_joints import nearest, turns
from robot_dynamics_ros.control.law import Outcome, Result
from robot_dynamics_ros.control.trajectories.followed import Followed
from robot_dynamics_ros.control.trajectories.lead import ALREADY_THERE, Limits
from robot_dynamics_ros.control.trajectories.point_stream import LONGEST_GAP_NS
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.kinds import Matrix, Vector
from robot_dynamics_ros.robot import Robot

POSITION = 0.1
"""rad or m: position errors of a held arm are smaller; the gravity torque of a motion so far away moves it likewise."""
VELOCITY = 0.6
"""rad/s or m/s, of a lead of 0.3 s from ``POSITION`` away: shorter ones begin on the trajectory."""
AGREES = -1
"""Result of ``_apart``: no joint is."""


@compiled(given='trajectory other share lag lone')
def _apart(
    turn: Vector,
    acceleration_limit: Vector,
    own: Matrix,
    trajectory: Matrix,
    other: Matrix,
    share: float,
    lag: float,
    lone: bool,
) -> int:
    """Return a joint whose motion ``other`` (2, n) is not ``own`` (3, n) on its way to ``trajectory``, or AGREES.

    ``turn`` and ``acceleration_limit`` are (n); ``share`` is c, and ``lag`` L in s. ``lone``: the way is that to a
    lone point.
    """
    for j in range(turn.shape[0]):
        distance, way = other[0, j] - own[0, j], trajectory[0, j] - own[0, j]
        if turn[j] > 0.0:
            distance -= turn[j] * np.floor(distance / turn[j] + 0.5)
            way -= turn[j] * np.floor(way / turn[j] + 0.5)
        near = abs(distance) <= share * POSITION + lag * max(abs(own[1, j]), abs(other[1, j]))
        if lone:
            beside = share * POSITION + lag * max(abs(own[1, j]), abs(trajectory[1, j]))
            near = near and min(way, 0.0) - beside <= distance <= max(way, 0.0) + beside
        room = share * VELOCITY + (lag * acceleration_limit[j] if lag > 0.0 else 0.0)
        slowest, quickest = min(own[1, j], trajectory[1, j]) - room, max(own[1, j], trajectory[1, j]) + room
        if not (near and slowest <= other[1, j] <= quickest):
            return j
    return AGREES


@compiled(given='motion')
def _moves(motion: Matrix) -> bool:
    """Return whether a joint of ``motion`` (2, n), q and qd, has a velocity."""
    fastest = 0.0
    for j in range(motion.shape[1]):
        fastest = max(fastest, abs(motion[1, j]))
    return fastest > 0.0


class MotionAgreement:
    """Compares the motion of feedforward torques with that of this node."""

    def __init__(self, robot: Robot, desired: np.ndarray, limits: Limits):
        """Compare with ``desired`` (3, n), into which this node writes its motion within the ``limits`` of leads."""
        n = robot.nv
        self._names, self._turn, self._desired = robot.joint_names, turns(robot), desired
        then = np.zeros((3, n)), np.zeros((2, n)), 0.0, 0.0, False
        self._apart = bound(_apart, self._turn, limits[1], desired, then=then)
        self._lag = LONGEST_GAP_NS * 1e-9
        self._moves = bound(_moves, then=(np.zeros((2, n)),))

    def moves(self, motion: np.ndarray) -> bool:
        """Return whether ``motion`` (2, n), q and qd, is none at rest."""
        return self._moves(motion)

    def fault(self, plan: Followed, stamp: int, motion: np.ndarray, of: int) -> Result | None:
        """Return why a torque along ``motion`` (2, n), q and qd at ``of`` (ns), is not one along ``plan``; None: it is.

        ``desired`` is the motion at the state of ``stamp`` (ns), or the reference in force there.
        """
        if plan.begun and of != stamp:
            plan.sample_at(of)
        expected, point = plan.expect(plan.time(of)), plan.point
        lone = point is not None and not point.period
        joint = self._apart(expected, motion, 2.0 if plan.begun else 1.0, self._lag if point else 0.0, lone)
        if joint == AGREES and plan.apart is not None and (point is None or lone):
            joint = self._leads(expected[:2] if point is None else point.end, motion)
        if joint != AGREES and plan.apart is None:
            plan.apart = self._other_lead(joint, motion)
        if plan.begun and of != stamp:
            plan.sample_at(stamp)
        return None if joint == AGREES else plan.apart

    def _other_lead(self, joint: int, motion: np.ndarray) -> Result:
        """Return that a torque along ``motion`` (2, n) is not added, because of a joint's distance from ``desired``."""
        away = nearest(motion[0] - self._desired[0], self._turn)[joint]
        return Result(
            Outcome.INCOMPLETE,
            f'feedforward torque not added: it leads to the trajectory from elsewhere, joint {self._names[joint]!r} '
            f'{abs(away):.3f} rad or m from the motion of this node; send an empty trajectory, then one that begins '
            'where the arm is',
        )

    def _leads(self, trajectory: np.ndarray, motion: np.ndarray) -> int:
        """Return a joint whose ``motion`` (2, n) is not that of the ``trajectory`` (2, n) itself, or AGREES."""
        away = np.array([nearest(motion[0] - trajectory[0], self._turn), motion[1] - trajectory[1]])
        leads = (np.abs(away) > ALREADY_THERE).any(axis=0)
        return int(np.argmax(leads)) if leads.any() else AGREES
