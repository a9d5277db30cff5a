"""The adaptive law as torque_controller has it, on a simulated arm with an unknown payload, friction and noise.

The loop is that of the nodes without messages: a state each period, the law, the torque limiter, and the torque held
until the next state. ``benchmark/accuracy/adaptive_control.py`` runs it for longer.
"""

import csv
from pathlib import Path

from support.control.given_motion import GivenMotion

import numpy as np

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.control.guards.torque_limiter import TorqueLimiter
from robot_dynamics_ros.control.law import TORQUE, MeasuredState
from robot_dynamics_ros.control.laws.adaptation import Adaptation, AdaptiveSettings
from robot_dynamics_ros.control.laws.adaptive import AdaptiveControl, AdaptiveHold, AdaptiveLaw
from robot_dynamics_ros.control.laws.gain_limits import propose_gains
from robot_dynamics_ros.control.laws.hold_position import HoldPosition
from robot_dynamics_ros.control.laws.joint_space_law import JointSpaceLaw
from robot_dynamics_ros.control.payload.payload_blending import PayloadBlender
from robot_dynamics_ros.control.payload.payload_gravity import PayloadGravity

ROBOT = Robot.named('aubo_i5')
RATE = 500.0
GAINS = propose_gains(ROBOT, RATE, 20.0)
SETTINGS = AdaptiveSettings(5.0, 60.0, 10.0, 0.002)
PAYLOAD = Payload(3.0, (0.02, 0.02, 0.05), np.diag([0.01, 0.012, 0.008]))
FRICTION = 0.8
"""Of the arm, of that of the model."""
NOISE = 2e-5, 2e-3
"""Standard deviations of the measured positions (rad) and velocities (rad/s)."""
LOG = Path(__file__).resolve().parents[4] / 'shared' / 'data' / 'aubo_i5_measured_traj1.csv'
PERIOD, HARMONICS = 10.0, 10
"""s, and number of the harmonics of the log's motion: they leave 1 microradian of it."""


def fourier(coefficients):
    """Return the motion q, qd, qdd (n each) at a time for coefficients (1 + 2 harmonics, n) of 1, cos, sin, ..."""
    w = 2.0 * np.pi / PERIOD * np.arange(1, 1 + len(coefficients) // 2)

    def at(t):
        c, s = np.cos(w * t), np.sin(w * t)
        rows = [(c, s), (-w * s, w * c), (-w * w * c, -w * w * s)]
        return [np.concatenate([[k == 0], np.ravel(pair, 'F')]) @ coefficients for k, pair in enumerate(rows)]

    return at


def drawn_motion():
    """Return a Fourier motion of the stretched arm that moves each joint by some 0.5 rad."""
    coefficients = np.random.default_rng(1).uniform(-0.15, 0.15, (13, 6))
    coefficients[0] = [0.0, 0.9, 0.5, 0.3, 0.6, 0.0]
    return fourier(coefficients)


def logged_motion():
    """Return the motion of the measured log, one period of 10 s, as a Fourier series."""
    with LOG.open(encoding='utf-8') as file:
        rows = list(csv.DictReader(file))
    t = np.array([float(row['t_s']) for row in rows])
    q = np.array([[float(row[f'q{k}_rad']) for k in range(1, 7)] for row in rows])
    waves = 2.0 * np.pi / PERIOD * np.outer(t, np.arange(1, 1 + HARMONICS))
    series = np.column_stack([np.ones_like(t), np.stack([np.cos(waves), np.sin(waves)], axis=2).reshape(len(t), -1)])
    return fourier(np.linalg.lstsq(series, q, rcond=None)[0])


class Plant:
    """An arm by this package's forward dynamics with its friction, semi-implicit steps of 0.25 ms."""

    STEP = 2.5e-4

    def __init__(self, robot, start, friction=FRICTION):
        given = robot.friction
        self.robot = robot.with_friction(
            viscous=friction * given.viscous, coulomb=friction * given.coulomb, offset=friction * given.offset
        )
        self.position, self.velocity, self.torque = start.copy(), np.zeros(robot.nv), np.zeros(robot.nv)

    def step(self, duration):
        robot, q, qd = self.robot, self.position, self.velocity
        for _ in range(round(duration / self.STEP)):
            qd += self.STEP * robot.forward_dynamics(q, qd, self.torque - robot.friction_torque(qd))
            q += self.STEP * qd


class AdaptiveArm:
    """The law on a plant, whose motion begins at the arm."""

    def __init__(self, motion, plant=None, settings=SETTINGS, load=None, rate_limit=0.0, effort=None, noise=NOISE):
        n = ROBOT.nv
        self.motion, self.time, self.noise, self.random = motion, 0.0, noise, np.random.default_rng(0)
        self.plant = plant or Plant(ROBOT.with_payload(PAYLOAD), motion(0.0)[0])
        self.desired = np.zeros((3, n))
        self.source = GivenMotion(self.desired, np.array(motion(0.0)))
        effort = ROBOT.limits.effort if effort is None else np.full(n, effort)
        self.adaptation = Adaptation(ROBOT, GAINS.stiffness, GAINS.damping, settings, effort)
        self.plant.velocity[:] = motion(0.0)[1]
        self.load = load or PayloadGravity.of(ROBOT)
        control, hold = (PayloadBlender(make, ROBOT, self.load) for make in (self.control, self.hold))
        self.blenders = control, hold
        self.adaptation.take(self.load)
        position = HoldPosition(ROBOT, 0.5, print)
        self.law = AdaptiveLaw(JointSpaceLaw(self.source, self.desired, control, hold, None, position), self.adaptation)
        self.limiter = TorqueLimiter(effort, np.full(n, rate_limit))
        self.state, self.out = MeasuredState(np.zeros(n), np.zeros(n)), np.zeros(n)
        self.state.has_velocity, self.state.sent = True, self.limiter.last
        self.last = None  # time of the last state, s

    def control(self, robot):
        return AdaptiveControl(robot, GAINS.damping, self.adaptation)

    def hold(self, robot):
        return AdaptiveHold(robot, GAINS.damping, self.adaptation)

    def take(self, load):
        """Let payload and gravity change, as a message does."""
        for blender in self.blenders:
            blender.take(load)
        self.adaptation.take(load)

    def give(self):
        """Give the law a state; return what becomes of it."""
        state, plant, (sigma_q, sigma_qd) = self.state, self.plant, self.noise
        state.pause = np.inf if self.last is None else self.time - self.last
        state.resumed = state.pause > 3.0 / RATE
        state.elapsed = 0.0 if self.last is None else min(state.pause, 3.0 / RATE)
        self.last, state.stamp = self.time, round(1e9 * self.time)
        state.time = state.stamp
        self.source.motion[:] = self.motion(self.time)
        state.q[:] = plant.position + sigma_q * self.random.standard_normal(len(state.q))
        state.qd[:] = plant.velocity + sigma_qd * self.random.standard_normal(len(state.q))
        result = self.law.torque(state, self.out)
        if result is TORQUE:
            self.computed = self.out.copy()
            assert self.limiter.apply(self.out, 1.0 / RATE)
            plant.torque[:] = self.out
        return result

    def run(self, duration, each=None):
        """Simulate; return the position errors (m, n) before each period. ``each`` is called after each state."""
        error = np.empty((round(duration * RATE), ROBOT.nv))
        for k in range(len(error)):
            assert self.give() is TORQUE
            error[k] = self.source.motion[0] - self.plant.position
            if each:
                each()
            self.plant.step(1.0 / RATE)
            self.time += 1.0 / RATE
        return error

    @property
    def payload(self):
        """Ten parameters of the estimated payload (10,)."""
        return self.adaptation.estimate.parameters - self.adaptation._bare


def rms(error):
    """Return the RMS of errors (m, n) over all joints."""
    return float(np.sqrt(np.mean(error**2)))
