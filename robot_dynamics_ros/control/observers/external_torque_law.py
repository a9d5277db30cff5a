"""External torque law: the residual of a momentum observer for each joint state, contact, and learnt thresholds.

It has the form of a control law, so that the pipeline of the torque nodes checks its input and its result. Its torque
is that of the environment on the arm, and commands nothing.
"""

import numpy as np

from robot_dynamics_ros.control.guards.measured_effort import MeasuredEffort
from robot_dynamics_ros.control.law import TORQUE, MeasuredState, Outcome, Result
from robot_dynamics_ros.control.observers.contact_detection import ContactDetector
from robot_dynamics_ros.control.observers.momentum_observer import LONGEST_STEP, MomentumObserver
from robot_dynamics_ros.control.observers.threshold_learning import ThresholdLearning
from robot_dynamics_ros.control.payload.payload_blending import PayloadBlender
from robot_dynamics_ros.control.payload.payload_gravity import PayloadGravity
from robot_dynamics_ros.robot import Robot

NO_EFFORTS = Result(Outcome.INCOMPLETE, 'the joint state has no finite efforts')
SETTLES = Result(Outcome.IDLE, 'the observer settles, after its start, a pause or a number that was too large')
REPEATED = Result(Outcome.IDLE, 'the joint state has the stamp of the last one')
SLOW = Result(
    Outcome.IDLE,
    f'the last joint state is more than {LONGEST_STEP:g} s older, and the observer starts anew: states have to come at '
    f'more than {1.0 / LONGEST_STEP:g} Hz',
)
EFFORTS = 10.0
"""Efforts above this number of limits are no measurement."""


class ExternalTorqueLaw:
    """tau_ext of each joint state by ``observer``; ``detector`` and ``learning`` are updated with it."""

    reference = None

    def __init__(
        self,
        robot: Robot,
        observer: MomentumObserver,
        detector: ContactDetector,
        learning: ThresholdLearning,
        effort: MeasuredEffort,
        gravity: PayloadBlender,
    ):
        """Read efforts as ``effort`` says; ``gravity`` is the blended gravity torque, which some of them lack.

        The limits are those of ``robot``, which has no payload.
        """
        self.observer, self.detector, self.learning = observer, detector, learning
        self._effort, self._gravity_torque = effort, gravity
        self._torque, self._gravity = np.zeros((2, len(detector.threshold)))
        self._efforts = _EffortLimit(robot)
        self._payload_gravity, self._forgets = PayloadGravity.of(robot), False
        self.stamp = 0
        self.contacts = 0

    def stop_following(self) -> None:
        """Start anew with the friction of the model, as at activation; the thresholds stay."""
        self.stamp = 0
        self.observer.forget_friction()
        self._restart(SETTLES)

    def take(self, payload_gravity: PayloadGravity) -> None:
        """Forget the tracked friction where payload or gravity change to other ones. Any thread.

        What was tracked before may be a part of the payload.
        """
        if not payload_gravity.ends_like(self._payload_gravity):
            self._forgets = True  # by the thread that learns
        self._payload_gravity = payload_gravity

    def set_back(self, now: int) -> None:
        """Start anew where the clock was set back to ``now`` (ns)."""
        self.stop_following()

    def torque(self, state: MeasuredState, out: np.ndarray) -> Result:
        """Write the external joint torques (n, N m or N) for ``state`` into ``out``."""
        if not state.has_velocity:
            return state.no_velocity
        if not state.has_effort:
            return NO_EFFORTS
        if state.stamp == self.stamp:
            return REPEATED
        is_slow = self.stamp != 0 and (state.stamp - self.stamp) * 1e-9 > LONGEST_STEP
        self.stamp = state.stamp
        if self._forgets:
            self._forgets = False
            self.observer.forget_friction()
        if self._effort.lacks_gravity:
            self._gravity_torque.torque(state.time, state.q, out=self._gravity)
        observer, detector = self.observer, self.detector
        self._effort.torque(state.effort, self._gravity, out=self._torque)
        beyond = self._efforts.exceeded(self._torque)
        if beyond:
            return self._restart(beyond)
        if not observer.update(state.stamp, state.q, state.qd, self._torque, state.time):
            why = SLOW if is_slow else SETTLES
            self._interrupt(why)
            return why
        sample = observer.inertial, state.qd, observer.elapsed
        was_in_contact = detector.contact
        self.contacts += detector.update(observer.residual, observer.friction, *sample) and not was_in_contact
        observer.learn(detector.trust)
        self.learning.add(*sample)
        out[:] = observer.residual
        return TORQUE

    def _restart(self, why: Result) -> Result:
        """Start the observer anew; return why."""
        self.observer.reset()
        self._interrupt(why)
        return why

    def _interrupt(self, why: Result) -> None:
        self.detector.reset()
        self.learning.interrupt(why.reason)


class _EffortLimit:
    """A multiple of the effort limits of all joints; a limit that is not above 0 is not known."""

    def __init__(self, robot: Robot):
        limits = robot.limits.effort
        self._largest = np.where(limits > 0.0, EFFORTS * limits, np.inf)
        self._size, self._exceeds = np.zeros(len(limits)), np.zeros(len(limits), bool)
        self._results = [
            Result(Outcome.INCOMPLETE, f'effort of joint {name!r} above {EFFORTS:g} times its limit {limit:g}')
            for name, limit in zip(robot.joint_names, limits, strict=True)
        ]

    def exceeded(self, efforts: np.ndarray) -> Result | None:
        """Return the reason where one of the efforts (n, N m) exceeds its limit, None where none does."""
        np.abs(efforts, out=self._size)
        np.greater(self._size, self._largest, out=self._exceeds)
        return self._results[int(self._exceeds.argmax())] if self._exceeds.any() else None
