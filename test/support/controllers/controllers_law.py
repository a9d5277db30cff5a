"""An EffortLaw of the AUBO-i5, its input, and the steps of its efforts, for tests of what it does with faults."""

import functools

from support.controllers.controllers_core import MOTION, NONE, RATE, Law, body_numbers, exported

import numpy as np

from robot_dynamics_ros import Payload, Robot

Q = np.array([0.3, -0.7, 1.1, 0.4, -0.9, 0.2])
DESIRED = Q + 0.2
RAMP = 0.1
SECOND = 1_000_000_000
BODY = body_numbers(Payload(3.0, (0.1, 0.02, 0.05), 0.01 * np.eye(3)))
HELD = 3


@functools.cache
def aubo_i5() -> Robot:
    return Robot.named('aubo_i5').compiled()


@functools.cache
def library():
    return exported(aubo_i5(), 'arm')


def law(**more) -> Law:
    """Return an active law whose motion asks for another torque than gravity compensation at Q."""
    made = Law(library(), aubo_i5().joint_names, **{'ramp_time': RAMP, 'reference_timeout': 0.0505, **more})
    made.activate()
    return made


def at(q, count, qd=0.0) -> np.ndarray:
    """Return states (count, 2, 6) that stay at q."""
    return np.tile([q, np.full(6, qd)], (count, 1, 1))


def desired(count, effort=0.0) -> np.ndarray:
    """Return references (count, 4, 6)."""
    return np.tile([DESIRED, np.full(6, 0.1), np.full(6, 0.5), np.full(6, effort)], (count, 1, 1))


def gravity(q=Q, robot=None) -> np.ndarray:
    return (robot or aubo_i5()).gravity_torque(q)


def torque() -> np.ndarray:
    """Return the torque of ``desired``."""
    return one(law(), MOTION)


def one(which: Law, kind=NONE, q=Q) -> np.ndarray:
    return which.updates(at(q, 1), desired(1), kind)[0][-1]


def steps(before, efforts) -> np.ndarray:
    """Return the largest change of each joint between two updates."""
    return np.abs(np.diff(np.vstack([before, efforts]), axis=0)).max(axis=0)


def assert_no_step(before, efforts, change=None) -> None:
    """Changes are those of a ramp from ``before`` to the last of ``efforts``, or by ``change``, to rounding."""
    change = np.abs(efforts[-1] - before) if change is None else change
    assert np.isfinite(efforts).all()
    assert (steps(before, efforts) <= 1.01 * change / (RAMP * RATE) + 1e-9).all()


def runs(outcomes) -> list:
    """Return the outcomes without repetitions."""
    return [it for k, it in enumerate(outcomes) if k == 0 or it != outcomes[k - 1]]


def rates_around(period: float) -> tuple[float, float]:
    """Return two rates that differ in their last bits, whose periods are not below ``period``, and below it."""
    slow = 1.0 / period
    while 1.0 / slow < period:
        slow = np.nextafter(slow, 0.0)
    fast = slow
    while not 1.0 / fast < period:
        fast = np.nextafter(fast, np.inf)
    return slow, fast
