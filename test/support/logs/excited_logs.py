"""Logs of simulated arms that move along Fourier series, with noise and whatever else makes a log difficult."""

import numpy as np

from robot_dynamics_ros import Robot
from robot_dynamics_ros.identification import Log

PERIOD = 10.0
NOISE = np.array([1.0, 1.0, 0.7, 0.2, 0.15, 0.15])
FRICTION = {
    'viscous': [20.0, 8.0, 8.0, 2.0, 2.0, 2.0],
    'coulomb': [15.0, 6.0, 10.0, 2.0, 2.0, 2.0],
    'offset': [1.0, -1.0, 0.5, 0.1, 0.1, 0.0],
    'load': [0.0, 0.1, 0.05, 0.05, 0.05, 0.0],
    'transition': 0.05,
}
ROTORS = [1.4, 1.2, 0.8, 0.05, 0.08, 0.09]


def arm() -> Robot:
    """Return an AUBO-i5 with known rotors and friction."""
    return Robot.named('aubo_i5').with_friction(**FRICTION).with_rotor_inertia(ROTORS)


def wrong_masses() -> Robot:
    """Return the arm with the lecture's masses, less than half, without friction and rotors."""
    return Robot.named('aubo_i5_lecture').with_friction(viscous=0.0, coulomb=0.0)


def fourier(seed, duration=20.0, rate=100.0, joints=6, harmonics=5, later=0.0):
    """Return times (m,), positions, velocities and accelerations (m, joints) of random Fourier series.

    The motion is that of the time ``later`` (s) than the times say.
    """
    random = np.random.default_rng(seed)
    times = np.arange(0.0, duration, 1.0 / rate)
    t = times + later
    q, qd, qdd = (np.zeros((len(t), joints)) for _ in range(3))
    for k in range(1, harmonics + 1):
        w = 2.0 * np.pi * k / PERIOD
        sine, cosine = np.sin(w * t)[:, None], np.cos(w * t)[:, None]
        a, b = random.normal(size=(2, joints)) / k
        q += a * sine + b * cosine
        qd += w * (a * cosine - b * sine)
        qdd -= w * w * (a * sine + b * cosine)
    return times, q, qd, qdd


def torque(robot, q, qd, qdd):
    """Return the torques of a motion, friction included."""
    transmitted = robot.inverse_dynamics(q, qd, qdd)
    return transmitted + robot.friction_torque(qd, transmitted)


def log(robot, seed, noise=1.0, delay=0.0, **motion) -> Log:
    """Return a log of a robot with white noise, with torques that are late by ``delay`` (s)."""
    t, q, qd, qdd = fourier(seed, **motion)
    tau = torque(robot, *fourier(seed, later=-delay, **motion)[1:])
    random = np.random.default_rng(1000 + seed)
    return Log(t, q, qd, qdd, tau + noise * NOISE * random.normal(size=q.shape))
