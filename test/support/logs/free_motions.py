"""Free motions of an arm that its model knows badly, as logs of 125 Hz.

Inertias are wrong by up to a tenth; friction grows with the load, and changes as the joints warm up and from day to
day; motors have cogging torques; velocities and torques are noisy, and now and then one sample of a torque is stale.
"""

import numpy as np

from robot_dynamics_ros import Robot
from robot_dynamics_ros.identification import Log

RATE = 125.0
INERTIA_ERROR, LOAD_SHARE, COGGING = 0.1, 0.02, 0.005
"""Largest relative error of the inertias; friction of the load, of the torque; cogging torque, of the effort limit."""
POLES = 50.0
"""Cogging periods in a radian of a joint."""
VELOCITY_NOISE, TORQUE_NOISE = 2e-3, 0.005
"""Deviations: rad/s; of the effort limit."""
STALE = 1e-3
"""Share of samples whose torque is an old one."""


class BadlyKnownArm:
    """An arm whose ``model`` a monitor has."""

    def __init__(self, model: Robot, rng: np.random.Generator):
        parameters = model.inertial_parameters.reshape(-1, 10)
        wrong = 1.0 + rng.uniform(-INERTIA_ERROR, INERTIA_ERROR, (len(parameters), 1))
        self._arm, self._model, self._rng = model.with_inertial_parameters(parameters * wrong), model, rng

    def sway(self, duration: float, speed: float) -> Log:
        """Return a motion of sums of sines, all joints at once, up to about ``speed`` rad/s."""
        n, rng = self._model.nv, self._rng
        t = np.arange(0.0, duration, 1.0 / RATE)[:, None]
        q, qd, qdd = np.tile(rng.uniform(-0.5, 0.5, n), (len(t), 1)), 0.0, 0.0
        for _ in range(4):
            rate, phase = rng.uniform(0.3, 3.0, n), rng.uniform(0.0, 2.0 * np.pi, n)
            size = 0.4 * speed * rng.uniform(0.5, 1.0, n)
            q = q + size / rate * np.sin(rate * t + phase)
            qd = qd + size * np.cos(rate * t + phase)
            qdd = qdd - size * rate * np.sin(rate * t + phase)
        return self._log(t[:, 0], q, qd, qdd)

    def visits(self, duration: float, speed: float) -> Log:
        """Return a motion from place to place, with quintics of up to ``speed`` rad/s and half a second of rest."""
        n, rng = self._model.nv, self._rng
        at, rows = rng.uniform(-1.0, 1.0, n), []
        while sum(map(len, rows)) < duration * RATE:
            step = rng.uniform(-1.2, 1.2, n) - at
            time = 1.875 * np.abs(step).max() / speed
            s = np.append(np.arange(0.0, time, 1.0 / RATE) / time, np.ones(int(0.5 * RATE)))[:, None]
            rows.append(
                np.stack(
                    [
                        at + step * (10.0 * s**3 - 15.0 * s**4 + 6.0 * s**5),
                        step * (30.0 * s**2 - 60.0 * s**3 + 30.0 * s**4) / time,
                        step * (60.0 * s - 180.0 * s**2 + 120.0 * s**3) / time**2,
                    ],
                    axis=1,
                )
            )
            at = at + step
        q, qd, qdd = np.concatenate(rows).transpose(1, 0, 2)
        return self._log(np.arange(len(q)) / RATE, q, qd, qdd)

    def _log(self, t, q, qd, qdd) -> Log:
        rng, limit = self._rng, self._model.limits.effort
        n = len(limit)
        rigid = self._arm.inverse_dynamics(q, qd, qdd)
        warm = rng.uniform(0.9, 1.1, n) + rng.uniform(0.0, 0.2, n) * np.exp(-t / 60.0)[:, None]
        friction = warm * self._model.friction_torque(qd) + LOAD_SHARE * np.abs(rigid) * np.tanh(qd / 0.01)
        # joints at rest stick, anywhere within their friction
        friction += np.where(np.abs(qd) < 1e-9, rng.uniform(-0.5, 0.5, n) * self._model.friction.coulomb, 0.0)
        torque = rigid + friction + COGGING * limit * np.sin(POLES * q + rng.uniform(0.0, 6.0, n))
        torque += TORQUE_NOISE * limit * rng.normal(size=torque.shape)
        stale = np.flatnonzero(rng.random(len(t)) < STALE)
        stale = stale[stale > 20]
        torque[stale] = torque[stale - 20]
        return Log(t, q, qd + VELOCITY_NOISE * rng.normal(size=qd.shape), qdd, torque)
