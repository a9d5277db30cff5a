"""A stand-in for what a control law follows: a desired motion that the test gives, or a reason for none."""

from robot_dynamics_ros.control.law import TORQUE, Outcome, Result


class GivenMotion:
    """Writes ``motion`` (3, n) into ``desired`` where ``result`` is TORQUE; records what it is asked for."""

    def __init__(self, desired, motion):
        self.desired, self.motion, self.result = desired, motion, TORQUE
        self.stamps, self.calls = [], []
        self.plan, self.rests = object(), False

    def follow(self, state):
        self.stamps.append(state.stamp)
        if self.result is TORQUE:
            self.desired[:] = self.motion
        return self.result

    def is_interrupted(self, state):
        return state.pause > 1.0

    def end(self, reason):
        self.calls.append(('end', reason))
        self.result = Result(Outcome.IDLE, reason)

    def warm_up(self):
        self.calls.append('warm_up')

    def stop(self):
        self.calls.append('stop')

    def set_back(self, now):
        self.calls.append(('set_back', now))
