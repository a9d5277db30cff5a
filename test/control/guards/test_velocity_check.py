"""Velocities that cannot be right are rejected by name; what drivers, encoders and stamps do to right ones is not."""

from types import SimpleNamespace

from support.robots.small_robots import mixed

import numpy as np
import pytest

from robot_dynamics_ros.control.guards.velocity_check import FASTEST, VelocityCheck

ROBOT = mixed()  # a continuous joint with a velocity limit of 2, a limited one with 0.5, a slide with none
NAMES = ROBOT.joint_names
SECOND = 1_000_000_000
PERIOD = 0.005
PEAK = np.array([1.5, 0.4, 0.3])  # rad/s, m/s


class Arm:
    """Joints that swing, sampled at times (m,): q and qd (m, 3)."""

    def __init__(self, times=None, seconds=4.0):
        self.t = np.arange(0.0, seconds, PERIOD) if times is None else times
        rate = 2.0 * np.array([0.7, 0.9, 1.1])
        self.q, self.qd = np.array([self.motion(t, rate) for t in self.t]).swapaxes(0, 1)
        self.random = np.random.default_rng(0)

    def motion(self, t, rate):
        return PEAK / rate * np.sin(rate * t), PEAK * np.cos(rate * t)

    def noise(self, size):
        return size * self.random.normal(size=self.q.shape)


def faults(q, qd, t, period=PERIOD, check=None):
    """Return time and reason of each state whose velocities are rejected."""
    check, found = check or VelocityCheck(ROBOT), []
    for row, rate, time in zip(q, qd, t, strict=True):
        state = SimpleNamespace(q=row.copy(), qd=rate.copy(), stamp=round((1000.0 + time) * SECOND), period=period)
        fault = check.fault(state)
        found += [(time, fault.reason)] if fault else []
    return found


@pytest.mark.parametrize('joint', range(3))
@pytest.mark.parametrize('factor', [-1.0, 57.3, 9.55, 0.1])
def test_a_velocity_of_another_sign_or_unit_is_named(joint, factor):
    arm = Arm()
    arm.qd[:, joint] *= factor
    found = faults(arm.q, arm.qd, arm.t)
    assert len(found) > 0.6 * len(arm.t)
    assert {reason[: len(f"velocity of joint '{NAMES[joint]}' ")] for _, reason in found} == {
        f"velocity of joint '{NAMES[joint]}' "
    }
    if factor < 0.0:  # before the arm has moved far
        assert np.abs(arm.q[: round(found[0][0] / PERIOD), joint]).max() < 0.1


def test_a_velocity_far_above_its_limit_is_rejected_at_once_and_alone():
    arm = Arm()
    arm.qd[300, 0] = 15.0 * 2.0
    ((time, reason),) = faults(arm.q, arm.qd, arm.t)
    assert time == arm.t[300]
    assert reason.startswith("velocity of joint 'turn' is 30 rad/s or m/s, above 3 times its limit 2: see its unit")
    arm.qd[300] = FASTEST * np.array([2.0, 0.5, 100.0])
    assert not faults(arm.q, arm.qd, arm.t)  # and a joint without a limit has none


RIGHT = {
    'as they are': lambda arm: (arm.q, arm.qd, arm.t),
    'noise': lambda arm: (arm.q + arm.noise(1e-3), arm.qd + arm.noise(0.1), arm.t),
    'quantised': lambda arm: (np.round(arm.q / 1e-3) * 1e-3, np.round(arm.qd / 0.1) * 0.1, arm.t),
    'truncated': lambda arm: (arm.q, np.trunc(arm.qd / 0.05) * 0.05, arm.t),
    'differences of a coarse encoder': lambda arm: differences(np.round(arm.q / 1e-3) * 1e-3, arm.t),
    'a filter of 20 ms': lambda arm: (arm.q[4:], arm.qd[:-4], arm.t[4:]),
    'jitter of the stamps': lambda arm: (
        arm.q,
        arm.qd,
        np.maximum.accumulate(arm.t + arm.random.uniform(0.0, 0.02, len(arm.t))),
    ),
    'stamps of reception, in bursts': lambda arm: (arm.q, arm.qd, np.ceil(arm.t / 0.05) * 0.05 + 1e-3 * arm.t),
    'lost states': lambda arm: lost(arm.random.uniform(size=len(arm.t)) < 0.3, arm),
    'a pause in which the arm was moved': lambda arm: (
        arm.q + np.where(arm.t > 2.0, 1.0, 0.0)[:, None],
        arm.qd,
        arm.t + np.where(arm.t > 2.0, 0.7, 0.0),
    ),
    'a reset of a simulation': lambda arm: (arm.q + np.where(arm.t > 2.0, 1.0, 0.0)[:, None], arm.qd, arm.t),
    'small jumps of a simulation at 50 Hz': lambda arm: (
        (arm.q + 0.07 * np.sign(np.sin(9.0 * arm.t))[:, None])[::4],
        arm.qd[::4],
        arm.t[::4],
    ),
    'turns of a continuous joint': lambda arm: (
        arm.q - 2.0 * np.pi * np.outer(np.round(5.0 * np.sin(arm.t)), [1, 0, 0]),
        arm.qd,
        arm.t,
    ),
}


def lost(kept, arm):
    return arm.q[kept], arm.qd[kept], arm.t[kept]


def differences(q, t):
    return q[1:], np.diff(q, axis=0) / PERIOD, t[1:]


@pytest.mark.parametrize('what', RIGHT)
def test_what_may_happen_to_right_velocities_is_no_fault(what):
    assert not faults(*RIGHT[what](Arm()))


def test_states_at_a_low_rate_are_compared_too():
    arm = Arm(np.arange(0.0, 10.0, 0.15))
    assert not faults(arm.q, arm.qd, arm.t, period=0.15)
    assert faults(arm.q, -arm.qd, arm.t, period=0.15)


def test_a_driver_that_reports_zeros_reports_none():
    arm, check = Arm(), VelocityCheck(ROBOT)
    arm.qd[:, 1] = 0.0
    assert not faults(arm.q, arm.qd, arm.t, check=check)
    assert check.unreported == ['swing']
    check.reset()
    assert not faults(arm.q[:1], arm.qd[:1], arm.t[:1], check=check) and check.unreported == []


def test_velocities_that_freeze_at_zero_are_no_driver_without_velocities():
    arm, check = Arm(), VelocityCheck(ROBOT)
    arm.qd[200:, 0] = 0.0
    found = faults(arm.q, arm.qd, arm.t, check=check)
    assert found and arm.t[200] < found[0][0] < arm.t[200] + 1.0
    assert check.unreported == []


def test_a_rejection_lasts_until_both_agree_in_a_motion():
    arm, check = Arm(), VelocityCheck(ROBOT)
    assert faults(arm.q[:100], -arm.qd[:100], arm.t[:100], check=check)
    rests = np.repeat(arm.q[99:100], 400, axis=0), np.full((400, 3), 1e-6), arm.t[99] + PERIOD * np.arange(1, 401)
    assert len(faults(*rests, check=check)) == 400  # nobody knows
    after = arm.t[100:] + 400 * PERIOD
    times = [time for time, _ in faults(arm.q[100:], arm.qd[100:], after, check=check)]
    assert times and times[-1] < after[0] + 1.0  # s, until the slowest joint has moved
    check.reset()  # as at an activation
    assert not faults(*(it[:1] for it in rests), check=check)


def test_the_reason_is_that_of_the_beginning():
    """No text is made for each state."""
    arm = Arm()
    assert len({reason for _, reason in faults(arm.q, -arm.qd, arm.t)}) <= 3
