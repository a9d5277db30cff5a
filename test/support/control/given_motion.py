"""A stand-in for what a control law follows: a desired motion that the test gives, or a reason for none."""

from robot_dynamics_ros.control.law import TORQUE, Outcome, Result
from robot_dynamics_ros.control.trajectories.trajectory_follower import NOT_BEGUN


class Begun:
    """A motion that became due at a stamp; 0: it did not."""

    due_since = 0


class GivenMotion:
    """Writes ``motion`` (3, n) into ``desired`` where ``result`` is TORQUE; records what it is asked for.

    A motion begins, after another result, as soon as it ``may_begin``.
    """

    def __init__(self, desired, motion):
        self.desired, self.motion, self.result = desired, motion, TORQUE
        self.stamps, self.calls = [], []
        self.plan, self.rests, self.may_begin = Begun(), False, lambda plan, stamp, newer_waits: True
        self.begun = self.waits = False

    def follow(self, state):
        self.stamps.append(state.stamp)
        self.waits = False
        if self.result is not TORQUE:
            self.begun, self.plan.due_since = False, 0
            return self.result
        if not self.begun:
            self.plan.due_since = self.plan.due_since or state.stamp
            self.begun = self.may_begin(self.plan, state.stamp, False)
        if self.begun:
            self.desired[:] = self.motion
        self.waits = not self.begun
        return TORQUE if self.begun else NOT_BEGUN

    def is_interrupted(self, state):
        return state.pause > 1.0

    def end(self, reason):
        self.calls.append(('end', reason))
        self.result = Result(Outcome.IDLE, reason)

    def stop(self):
        self.calls.append('stop')
        self.begun, self.plan.due_since = False, 0

    def set_back(self, now):
        self.calls.append(('set_back', now))
        self.begun, self.plan.due_since = False, 0
