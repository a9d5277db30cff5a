"""Momentum observer: external torques behind a low-pass filter, for any motion, steps, payload and friction."""

import math
import sys

from support.code.look_ups import recorded
from support.control.allocations import most_allocated
from support.robots.small_robots import mixed

import numpy as np
import pytest

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.control.observers.friction_tracker import FrictionTracker
from robot_dynamics_ros.control.observers.momentum_observer import (
    LONGEST_STEP,
    SETTLING,
    MomentumObserver,
    MomentumRate,
    momentum,
)
from robot_dynamics_ros.control.payload.payload_blending import PayloadBlender
from robot_dynamics_ros.control.payload.payload_gravity import GravityRamp, PayloadGravity, PayloadRamp
from robot_dynamics_ros.errors import ArgumentError

ROBOT = Robot.named('aubo_i5')
LOADED = mixed().with_friction(viscous=0.5, coulomb=0.3, load=0.1)
PERIOD, GAIN = 0.002, 25.0
START = 1_000_000_000


def motion(n, t):
    """Positions, velocities and accelerations (m, n) of joints that swing."""
    w, a = 1.0 + 0.4 * np.arange(n), 0.6 - 0.05 * np.arange(n)
    angle = w * t[:, None] + np.arange(n)
    return a * np.sin(angle), a * w * np.cos(angle), -a * w * w * np.sin(angle)


def torques(robot, q, qd, qdd, external, friction=1.0):
    """Joint torques of a motion under external ones: what the motors give, gravity and friction included."""
    transmitted = robot.inverse_dynamics(q, qd, qdd) - external
    return transmitted + friction * robot.friction_torque(qd, transmitted)


def observed(observer, t, q, qd, tau):
    """Residuals (m, n), NaN where they are not valid."""
    found = np.full(q.shape, np.nan)
    for k, time in enumerate(t):
        if observer.update(START + round(time * 1e9), q[k], qd[k], tau[k]):
            found[k] = observer.residual
    return found


def filtered(t, external, gain=GAIN):
    """The first-order low-pass of external torques (m, n) that are constant between samples."""
    found = np.zeros_like(external)
    for k in range(1, len(t)):
        decay = math.exp(-gain * (t[k] - t[k - 1]))
        found[k] = decay * found[k - 1] + (1.0 - decay) * 0.5 * (external[k] + external[k - 1])
    return found


def pushed(n, t):
    """External torques (m, n): none, then a different one on each joint."""
    return np.where(t[:, None] > 0.8, 5.0 - 2.0 * np.arange(n), 0.0)


@pytest.mark.compiled
@pytest.mark.parametrize(
    'robot',
    [ROBOT, LOADED],
    ids=['aubo_i5', 'load-dependent friction and a sliding joint'],
)
@pytest.mark.parametrize('varies', [False, True], ids=['equal steps', 'unequal steps'])
def test_the_residual_is_the_filtered_external_torque(robot, varies):
    """The error is that of the steps: a quarter with half of them."""
    errors = []
    for period in (PERIOD, 0.5 * PERIOD):
        steps = np.full(round(1.6 / period), period)
        if varies:
            steps *= np.random.default_rng(1).uniform(0.2, 1.8, len(steps))
        t = np.cumsum(steps)
        t = np.round(t, 9)  # stamps
        q, qd, qdd = motion(robot.nv, t)
        external = pushed(robot.nv, t)
        found = observed(MomentumObserver(robot, GAIN), t, q, qd, torques(robot, q, qd, qdd, external))
        errors.append(np.nanmax(np.abs(found - filtered(t, external))))
    assert errors[0] < 0.06 and errors[1] < 0.7 * errors[0], errors


@pytest.mark.compiled
def test_the_residual_is_that_of_the_textbook():
    """r = K (p - integral of (tau - tau_f + C' qd - g + r) dt - p(0)), by Euler steps of 20 us."""
    t = 2e-5 * np.arange(30_000)
    q, qd, qdd = motion(LOADED.nv, t)
    tau = torques(LOADED, q, qd, qdd, pushed(LOADED.nv, t + 0.5))
    p = np.einsum('kij,kj->ki', LOADED.mass_matrix(q), qd)
    rate = np.einsum('kji,kj->ki', LOADED.coriolis_matrix(q, qd), qd) - LOADED.gravity_torque(q)
    integral, r = p[0].copy(), np.zeros(LOADED.nv)
    transmitted = LOADED.inverse_dynamics(q, qd, qdd) - pushed(LOADED.nv, t + 0.5)
    loss = LOADED.friction_torque(qd, transmitted)
    for k in range(1, len(t)):
        integral += (tau[k] - loss[k] + rate[k] + r) * 2e-5
        r = GAIN * (p[k] - integral)
    every = slice(None, None, 50)
    found = observed(MomentumObserver(LOADED, GAIN), t[every], q[every], qd[every], tau[every])
    # of the last sample that both have
    last = len(t) - 1 - (len(t) - 1) % 50
    assert (len(t) - 1) - last < 50
    np.testing.assert_allclose(found[-1], r, atol=0.03)


def test_momentum_and_its_rate_are_those_of_pinocchio():
    pin = pytest.importorskip('pinocchio', reason='the outside source, Pinocchio (package pin), is not installed')
    robot = Robot.from_urdf(ROBOT.to_urdf())
    model = pin.buildModelFromXML(ROBOT.to_urdf())
    data = model.createData()
    assert list(model.names)[1:] == list(robot.joint_names)
    rng, out = np.random.default_rng(2), np.zeros(robot.nv)
    for q, qd in rng.uniform(-2.0, 2.0, (10, 2, robot.nv)):
        upper = np.triu(pin.crba(model, data, q))
        momentum(robot).torque(q, qd, out=out)
        np.testing.assert_allclose(out, (upper + np.triu(upper, 1).T) @ qd, rtol=1e-9, atol=1e-9)
        rate = pin.computeCoriolisMatrix(model, data, q, qd).T @ qd - pin.computeGeneralizedGravity(model, data, q)
        MomentumRate(robot).torque(q, qd, out=out)
        np.testing.assert_allclose(out, rate, rtol=1e-9, atol=1e-8)


@pytest.mark.compiled
def test_friction_of_the_day_is_tracked():
    t = PERIOD * np.arange(2500)
    q, qd, qdd = motion(ROBOT.nv, t)
    tau = torques(ROBOT, q, qd, qdd, np.zeros_like(q), friction=1.25)
    tracker, found = FrictionTracker(ROBOT, 0.7), {}
    for name, observer in (('none', MomentumObserver(ROBOT)), ('tracker', MomentumObserver(ROBOT, tracker=tracker))):
        rows = []
        for k, time in enumerate(t):
            if observer.update(START + round(time * 1e9), q[k], qd[k], tau[k]):
                observer.learn()
                rows.append(observer.residual.copy())
        found[name] = np.abs(rows[len(rows) // 2 :]).mean(axis=0)
    assert (found['tracker'] < 0.2 * found['none']).all(), found
    np.testing.assert_allclose(tracker.scale, 1.25, atol=0.05)
    before = tracker.scale.copy()
    observer.learn(0.0)
    assert tracker.scale.tolist() == before.tolist()


@pytest.mark.compiled
def test_it_settles_after_the_start_a_gap_a_stamp_that_goes_back_and_a_number_that_is_not_finite():
    q, qd = np.full(ROBOT.nv, 0.3), np.zeros(ROBOT.nv)
    tau = ROBOT.gravity_torque(q) + ROBOT.friction.offset
    observer, stamp = MomentumObserver(ROBOT, GAIN), START
    settles = math.ceil(SETTLING / GAIN / PERIOD)

    def samples(count, first=PERIOD, torque=tau):
        nonlocal stamp
        valid = []
        for k in range(count):
            stamp += round((first if k == 0 else PERIOD) * 1e9)
            valid.append(observer.update(stamp, q, qd, torque))
        return valid

    expected = [False] * settles + [True] * 20
    assert samples(settles + 20) == expected
    np.testing.assert_allclose(observer.residual, 0.0, atol=1e-9)
    assert all(samples(20, first=LONGEST_STEP))  # a short pause is a longer step
    for first in (LONGEST_STEP + 2e-9, -0.5, 0.0):
        assert samples(settles + 20, first) == expected, first
    with np.errstate(all='ignore'):
        assert not any(samples(3, torque=np.full(ROBOT.nv, np.inf)))
    assert any(samples(settles + 5))
    np.testing.assert_allclose(observer.residual, 0.0, atol=1e-9)


@pytest.mark.compiled
def test_a_ramp_of_the_payload_is_no_external_torque():
    """The torques are those of the payload in force at each time, in fast motion."""
    t = PERIOD * np.arange(800)
    q, qd, qdd = motion(ROBOT.nv, t)
    down = tuple(ROBOT.gravity)
    carried = {ROBOT.link_names[-1]: Payload(3.0, (0.0, 0.1, 0.1))}
    ramp = PayloadRamp(carried, {}, START + 500_000_000, 500_000_000)
    payload_gravity = PayloadGravity(ramp, GravityRamp(down, down))
    observer = MomentumObserver(ROBOT, GAIN)
    observer.take(payload_gravity)
    rigid = PayloadBlender(_InverseDynamics, ROBOT, payload_gravity)
    tau = np.zeros_like(q)
    for k, time in enumerate(t):
        rigid.torque(START + round(time * 1e9), q[k], qd[k], qdd[k], out=tau[k])
    found = observed(observer, t, q, qd, tau + ROBOT.friction_torque(qd))
    assert np.nanmax(np.abs(found)) < 0.05
    # the payload changes the torques by more than that
    assert np.abs(tau[-1] - ROBOT.inverse_dynamics(q[-1], qd[-1], qdd[-1])).max() > 5.0


class _InverseDynamics:
    def __init__(self, robot):
        self._robot = robot

    def torque(self, q, qd, qdd, out):
        self._robot.inverse_dynamics(q, qd, qdd, out=out)


@pytest.mark.compiled
@pytest.mark.skipif(sys.version_info < (3, 11), reason='frames of Python 3.10 are objects, which count as allocated')
def test_a_sample_allocates_nothing_that_stays():
    t = PERIOD * np.arange(400)
    q, qd, qdd = motion(ROBOT.nv, t)
    tau = torques(ROBOT, q, qd, qdd, np.zeros_like(q))
    stamps = [START + round(time * 1e9) for time in t]
    observer = MomentumObserver(ROBOT, tracker=FrictionTracker(ROBOT))
    rows = list(zip(stamps, q, qd, tau, strict=True))
    first, rest = rows[:200], rows[200:]
    for row in first:
        observer.update(*row)
        observer.learn()

    def samples():
        for row in rest:
            observer.update(*row)
            observer.learn()

    # a matrix of six times six numbers takes 400 bytes; floats, ints and views while a call lasts are less
    assert most_allocated(samples) < 400


@pytest.mark.parametrize('gain', [0.0, -1.0, np.nan])
def test_a_gain_that_is_not_above_zero_is_refused(gain):
    with pytest.raises(ArgumentError, match=r'^gain: '):
        MomentumObserver(ROBOT, gain)


def test_calls_are_prepared_with_the_observer(monkeypatch):
    """The first sample, and the first one with another payload, take no longer than others."""
    observer, (q, qd, torque) = MomentumObserver(ROBOT), np.full((3, 6), 0.1)
    observer.take(
        PayloadGravity(
            PayloadRamp({'ee_link': Payload(2.0, (0.0, 0.0, 0.1))}), GravityRamp((0.0, 0.0, -9.0), (0.0, 0.0, -9.0))
        )
    )
    looked_up = recorded(monkeypatch)
    observer.update(10, q, qd, torque)
    assert looked_up == []
