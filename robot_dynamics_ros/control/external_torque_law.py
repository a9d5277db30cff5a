"""External torque law: the residual of a momentum observer for each joint state, contact, and learnt thresholds.

It has the form of a control law, so that the pipeline of the torque nodes checks its input and its result. Its torque
is that of the environment on the arm, and commands nothing.
"""

import numpy as np

from robot_dynamics_ros.control.contact_detection import ContactDetector
from robot_dynamics_ros.control.law import NO_VELOCITIES, TORQUE, MeasuredState, Outcome, Result
from robot_dynamics_ros.control.measured_effort import MeasuredEffort
from robot_dynamics_ros.control.momentum_observer import MomentumObserver
from robot_dynamics_ros.control.payload_blending import PayloadBlender
from robot_dynamics_ros.control.threshold_learning import ThresholdLearning

NO_EFFORTS = Result(Outcome.INCOMPLETE, 'the joint state has no finite efforts')
SETTLES = Result(Outcome.IDLE, 'the observer settles, after its start, a pause or a number that was too large')
REPEATED = Result(Outcome.IDLE, 'the joint state has the stamp of the last one')


class ExternalTorqueLaw:
    """tau_ext of each joint state by ``observer``; ``detector`` and ``learning`` are updated with it."""

    def __init__(
        self,
        observer: MomentumObserver,
        detector: ContactDetector,
        learning: ThresholdLearning,
        effort: MeasuredEffort,
        gravity: PayloadBlender,
    ):
        """Read efforts as ``effort`` says; ``gravity`` is the blended gravity torque, which some of them lack."""
        self.observer, self.detector, self.learning = observer, detector, learning
        self._effort, self._gravity_torque = effort, gravity
        self._torque, self._gravity = np.zeros((2, len(detector.threshold)))
        self._stamp = 0
        self.contacts = 0

    def warm_up(self) -> None:
        """Compute what ``torque`` computes."""
        self.observer.warm_up()
        self._gravity_torque.warm_up(1)

    def stop_following(self) -> None:
        """Start anew, as at activation; thresholds and friction stay."""
        self._stamp = 0
        self.observer.reset()
        self._interrupt()

    def set_back(self, now: int) -> None:
        """Start anew where the clock was set back to ``now`` (ns)."""
        self.stop_following()

    def torque(self, state: MeasuredState, out: np.ndarray) -> Result:
        """Write the external joint torques (n, N m or N) for ``state`` into ``out``."""
        if not state.has_velocity:
            return NO_VELOCITIES
        if not state.has_effort:
            return NO_EFFORTS
        if state.stamp == self._stamp:
            return REPEATED
        self._stamp = state.stamp
        if self._effort.lacks_gravity:
            self._gravity_torque.torque(state.stamp, state.q, out=self._gravity)
        observer, detector = self.observer, self.detector
        self._effort.torque(state.effort, self._gravity, out=self._torque)
        if not observer.update(state.stamp, state.q, state.qd, self._torque):
            self._interrupt()
            return SETTLES
        sample = observer.residual, observer.friction, state.qd, observer.elapsed
        was_in_contact = detector.contact
        self.contacts += detector.update(*sample) and not was_in_contact
        observer.learn(detector.trust)
        self.learning.add(*sample)
        out[:] = observer.residual
        return TORQUE

    def _interrupt(self) -> None:
        self.detector.reset()
        self.learning.interrupt(SETTLES.reason)
