"""A torque pipeline whose parts write down what they are asked."""

from support.nodes import graph

import numpy as np
import pytest
from rclpy.serialization import serialize_message

from robot_dynamics_ros.control.guards.fade_in import FadeIn
from robot_dynamics_ros.control.guards.position_error import PositionError
from robot_dynamics_ros.control.guards.state_gate import StateGate
from robot_dynamics_ros.control.guards.timeout_fallback import RampToZero
from robot_dynamics_ros.control.guards.torque_limiter import TorqueLimiter
from robot_dynamics_ros.control.law import TORQUE
from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.messages.joint_state import StateInput
from robot_dynamics_ros.nodes.tasks.torque_pipeline import TorquePipeline

SECOND = graph.SECOND
NAMES = ('shoulder', 'elbow')


class Ramp(RampToZero):
    """The fallback, which writes down when it is asked."""

    fault = ''

    def __init__(self, calls):
        super().__init__(2, 1.0)
        self.calls = calls

    def torque(self, now, missing, out):
        if self.fault:
            raise ModelError(self.fault)
        self.calls.append(('fallback', now))
        return super().torque(now, missing, out)


class Parts:
    """A pipeline whose law, clock and publisher write down what they are asked."""

    missing, reference = '', None

    def __init__(self, fade_in_time=0.0, state=None):
        self.calls, self.time = [], 500 * SECOND
        self.sent = 0.0  # of the first joint, N m
        limiter = TorqueLimiter(np.full(2, 100.0), np.zeros(2), enforced=True)
        self.pipeline = TorquePipeline(
            clock=self,
            state=state or StateInput(NAMES),
            gate=StateGate(0.01),
            law=self,
            fade_in=FadeIn(2, fade_in_time),
            limiter=limiter,
            fallback=Ramp(self.calls),
            output=self,
            awaited=self,
            error=PositionError(np.zeros(2)),
            look_at_clock=lambda: self.calls.append('look at the clock'),
            crashed=pytest.fail,
            refuse=pytest.fail,
        )
        self.pipeline.begin()

    def look(self):
        """Be looked at, as a clock is at an activation."""

    def arrival(self, steady):
        return steady

    def now(self):
        return self.time

    def passing(self, steady, now):
        return now * 1e-9

    def stop_following(self):
        """Follow nothing, as ever."""

    def set_back(self, now):
        self.calls.append(('law set back', now))

    def torque(self, state, out):
        self.calls.append(('law', state.stamp))
        self.measured = state
        out[:] = 1.0
        return TORQUE

    def publish(self, stamp, torque, answered):
        self.calls.append(('publish', stamp))
        self.answered = answered
        self.sent = float(torque[0])

    def publish_command(self, stamp, torque, answered):
        self.calls.append(('command', torque.tolist()))
        self.answered = answered

    def state(self, time, names=NAMES):
        """Give the pipeline a state at a time (s), and return the calls that it makes."""
        self.calls.clear()
        self.time = round(time * SECOND)
        zeros = [0.0] * len(names)
        self.pipeline.on_state(serialize_message(graph.joint_state(names, self.time, zeros, zeros)))
        return self.calls

    def pause(self, time):
        """Have the pipeline check its timeout at a time (s), and return the calls that it makes."""
        self.calls.clear()
        self.time = round(time * SECOND)
        self.pipeline.on_pause()
        return self.calls


def faded(parts, *stamps):
    """Return the torques of states at ``stamps``, s; that of the law is 1."""
    found = []
    for stamp in stamps:
        parts.state(stamp)
        found.append(parts.sent)
    return found


def full(parts, start):
    """Bring the fade-in of 40 ms to its end by states from ``start`` (s) on; return the time of the last one."""
    times = [start + 0.01 * k for k in range(6)]
    assert faded(parts, *times)[-1] == 1.0
    return times[-1]


def not_finite(state, out):
    """Write a torque that cannot be sent."""
    out[:] = np.nan
    return TORQUE
