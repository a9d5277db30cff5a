"""An arm with torque_controller's law and that of feedforward_node, without processes.

Unless told otherwise it is 10 % heavier than its model. States and commands take their time, and so do trajectories;
the clock is that of the arm.
"""

from typing import NamedTuple

import numpy as np

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.law import TORQUE, MeasuredState
from robot_dynamics_ros.control.laws.acceleration_limits import acceleration_limits
from robot_dynamics_ros.control.laws.feedforward_law import FeedforwardLaw
from robot_dynamics_ros.control.laws.hold_position import HoldPosition
from robot_dynamics_ros.control.laws.joint_space_control import Hold, JointSpaceControl
from robot_dynamics_ros.control.laws.joint_space_law import NO_FEEDFORWARD, JointSpaceLaw
from robot_dynamics_ros.control.payload.payload_blending import PayloadBlender
from robot_dynamics_ros.control.payload.payload_gravity import PayloadGravity
from robot_dynamics_ros.control.terms.compensation import TERMS, Compensation
from robot_dynamics_ros.control.trajectories.motion_agreement import MotionAgreement
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.control.trajectories.trajectory_follower import TrajectoryFollower

ROBOT = Robot.named('aubo_i5')
STIFFNESS, DAMPING = np.array([622, 470, 169, 6.63, 8.64, 9.22]), np.array([124, 93.9, 33.8, 1.33, 1.73, 1.84])
BANDWIDTH, TOLERANCE = 10.0, 0.1
LIMITS = ROBOT.limits.effort, acceleration_limits([0.0], ROBOT, ROBOT.limits.effort)
HEAVIER = 1.1
MS, SECOND = 1_000_000, 1_000_000_000
TICK, STEPS = 4 * MS, 2
"""Time between two states, and of steps of the plant between them."""
AGE_LIMIT = 50 * MS
AT = np.array([0.1, -0.7, 0.9, -0.1, 0.3, 0.0])


class Record(NamedTuple):
    """What the arm did: times (m), s, torques, velocities and the desired motion (m, n each; m, 3, n)."""

    time: np.ndarray
    torque: np.ndarray
    qd: np.ndarray
    desired: np.ndarray


class FollowedArm:
    """The arm and its nodes; it has been held at ``AT`` by ``law`` for a while, so that it has sunk a little.

    States come ``state_delay`` and commands ``command_delay`` ms late. ``gains`` are a share of the documented ones,
    and the arm is ``heavier`` by this factor. While ``hears`` is false, feedforward_node does not hear that it is held.
    """

    age_limit = AGE_LIMIT

    def __init__(
        self,
        law: str,
        state_delay: int = 0,
        command_delay: int = 0,
        tolerance: float = TOLERANCE,
        gains: float = 1.0,
        heavier: float = HEAVIER,
    ):
        self.told: list[str] = []
        self._with_feedforward, self._late = (
            law == 'pd_feedforward',
            (state_delay * MS // TICK, command_delay * MS // TICK),
        )
        self.effort, self._answered, self._plan = np.zeros(6), -np.inf, None
        stiffness, damping = gains * STIFFNESS, gains * DAMPING
        self._heavier = heavier
        held = self._blended(lambda robot: Hold(robot, stiffness, damping))
        control = self._blended(lambda robot: JointSpaceControl(robot, law, stiffness, damping, BANDWIDTH))
        position = HoldPosition(ROBOT, tolerance, self.told.append, self._tell)
        self.desired, self.feedforward_motion = np.zeros((2, 3, 6))
        self.desired[0] = AT
        self.follower, self.feedforward = (
            TrajectoryFollower(ROBOT, motion, tolerance, self.told.append, LIMITS[1])
            for motion in (self.desired, self.feedforward_motion)
        )
        self._agreement = MotionAgreement(ROBOT, self.desired, self.follower.start.limits)
        self.apart, self._motion = None, np.zeros((2, 6))
        source = self if self._with_feedforward else None
        self._law = JointSpaceLaw(self.follower, self.desired, control, held, source, position, self._tell)
        self.follower.may_begin, self.follower.start.held = self._law.may_begin, position.at
        terms = self._blended(lambda robot: Compensation(robot, TERMS))
        self._feedforward_law = FeedforwardLaw(self.feedforward, self.feedforward_motion, terms, False)
        self._states, self._used = (MeasuredState(*np.zeros((2, 6))), MeasuredState(*np.zeros((2, 6)))), None
        self.now, self.q, self.qd, self._torque = 1000 * SECOND, AT.copy(), np.zeros(6), np.zeros(6)
        self._measured, self._commands, self._messages, self._record = [], [], [], []
        self.silent, self.hold_still, self._activated = 0, False, [False, False]
        self.feedforward_is_active = self.hears = True
        self.run(2 * TICK)
        for _ in range(20):
            self.q = AT + (1.0 - heavier) * ROBOT.gravity_torque(self.q) / stiffness
        self.run(25 * TICK)

    def send(self, *points, at: int | None = None, delay: float = 0.0, stamp: int = 0, keeps_speed=False) -> None:
        """Send a trajectory ``at`` a time (ns, else now) that takes ``delay`` ms; its arguments are ``points``."""
        sent = self.now if at is None else at
        self._messages.append((sent + round(delay * MS), sent, stamp, keeps_speed, Trajectory(*points)))

    def run(self, duration: int) -> Record:
        """Let so many ns pass; return what the arm did meanwhile."""
        begun = len(self._record)
        for _ in range(duration // TICK):
            self._step()
        rows = zip(*self._record[begun:], strict=True)
        return Record(*map(np.array, rows))

    def reactivate(self) -> None:
        """Activate torque_controller again."""
        self._law.stop_following()
        self._activated[1] = True

    def pause_feedforward(self, duration: int) -> None:
        """Activate feedforward_node again after so many ns."""
        self._feedforward_law.stop_following()
        self.feedforward_is_active = False
        self.run(duration)
        self.feedforward_is_active, self._activated[0] = True, True

    def moves(self, stamp):
        """Return whether the feedforward torque is that of a motion."""
        return abs(stamp - self._answered) <= AGE_LIMIT and bool(self._motion[1].any())

    def fault(self, stamp, plan):
        """Return why there is no feedforward torque along a trajectory."""
        fits = self._plan is not None and plan.agrees(self._plan.identity, self._plan.start)
        if not fits or abs(stamp - self._answered) > AGE_LIMIT:
            return NO_FEEDFORWARD
        self.apart = self._agreement.fault(plan, stamp, self._motion, self._answered)
        return self.apart

    def _step(self) -> None:
        self._receive()
        self._measured.append((self.now, self.q, self.qd))
        stamp, q, qd = self._measured[max(0, len(self._measured) - 1 - self._late[0])]
        if self._used is None or stamp > self._used:
            self._answer(stamp, q, qd)
        self._commands.append(self._torque)
        acting = self._commands[max(0, len(self._commands) - 1 - self._late[1])]
        torque = np.clip(acting, -LIMITS[0], LIMITS[0])
        self._record.append((self.now * 1e-9, acting, self.qd, self.desired.copy()))
        h = TICK * 1e-9 / STEPS
        for _ in range(0 if self.hold_still else STEPS):
            self.qd = self.qd + h * ROBOT.forward_dynamics(self.q, self.qd, (torque - 2.0 * self.qd) / self._heavier)
            self.q = self.q + h * self.qd
        self.now += TICK

    def _tell(self, stamp: int) -> None:
        """Say that the arm is held since a state; the other node hears it before its next one, if it does."""
        if self.hears:
            self.feedforward.held_since(stamp)

    def _receive(self) -> None:
        """Give the trajectories that have come to the nodes, as nodes.inputs.trajectory_input does."""
        for message in sorted(each for each in self._messages if each[0] <= self.now):
            self._messages.remove(message)
            _, sent, stamp, keeps_speed, trajectory = message
            given = self.now if stamp or trajectory.duration else sent
            for follower in (self.feedforward, self.follower)[not self.feedforward_is_active :]:
                follower.receive(trajectory, stamp or sent, given, True, sent, not stamp, keeps_speed)

    def _answer(self, stamp: int, q, qd) -> None:
        for state in self._states:
            state.stamp, state.time, state.has_velocity, state.period = stamp, self.now, True, TICK * 1e-9
            state.q[:], state.qd[:] = q, qd
            state.pause = np.inf if self._used is None else (stamp - self._used) * 1e-9
            state.resumed = state.pause > 0.02
        for k, state in enumerate(self._states):
            if self._activated[k]:
                self._activated[k], state.pause, state.resumed = False, np.inf, True
        if self._with_feedforward and self.feedforward_is_active:
            torque = np.zeros(6)
            if self._feedforward_law.torque(self._states[0], torque) is TORQUE:
                self.effort, self._answered, self._plan = torque, stamp, self.feedforward.plan
                self._motion[:] = self.feedforward_motion[:2]
        torque = np.zeros(6)
        if self._law.torque(self._states[1], torque) is TORQUE:
            self._torque, self._used = torque, stamp
        else:
            self.silent += 1

    def _blended(self, make) -> PayloadBlender:
        return PayloadBlender(make, ROBOT, PayloadGravity.of(ROBOT))
