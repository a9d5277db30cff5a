"""Generalised momentum observer: external joint torques from positions, velocities and joint torques.

The generalised momentum is p = M(q) qd, and with external joint torques tau_ext::

    dp/dt = tau - tau_f + C(q, qd)' qd - g(q) + tau_ext
    r     = K (p - integral (tau - tau_f + C' qd - g + r) dt - p(0)),    dr/dt = K (tau_ext - r)

So the residual r is tau_ext behind a first-order low-pass filter, without accelerations and without the inverse of the
mass matrix (De Luca, Albu-Schaeffer, Haddadin & Hirzinger 2006; Haddadin, De Luca & Albu-Schaeffer 2017, section V-C).
"""

import math
from types import SimpleNamespace

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.algorithms.torque_presets import TERMS
from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.control.joints.joint_friction import friction_adder
from robot_dynamics_ros.control.observers.friction_tracker import FrictionTracker
from robot_dynamics_ros.control.payload.payload_blending import PayloadBlender, RobotLaw
from robot_dynamics_ros.control.payload.payload_gravity import PayloadGravity
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.kinds import Matrix, Vector
from robot_dynamics_ros.robot import Robot

GAIN = 25.0
"""Default gain, 1/s: the residual follows an external torque with a time constant of 40 ms."""
FRICTION_TIME_CONSTANT = 0.7
"""Default time constant of the friction tracker, s: a longer one leaves larger residuals, a shorter one learns pushes
that are too small to be found."""
LONGEST_STEP = 0.1
"""Longest time between two samples, s; after a longer one the observer starts anew."""
SETTLING = 5.0
"""Time constants after which a residual that started at zero is known to 1 %."""


def momentum(robot: Robot) -> RobotLaw:
    """Return the law p = M(q) qd, N m s (N s), at q and qd."""
    robot.prepare('inverse_dynamics')
    return SimpleNamespace(torque=robot.inertia_torque)


class MomentumRate:
    """Law C(q, qd)' qd - g(q), N m (N): the rate of the momentum without joint torques."""

    def __init__(self, robot: Robot):
        robot.prepare('coriolis_matrix', 'gravity_torque')
        self._robot, self._gravity = robot, np.zeros(robot.nv)
        self._coriolis = np.zeros((robot.nv, robot.nv))

    def torque(self, *state, out: np.ndarray) -> None:
        """Write the rate (n) at the ``state`` q, qd into ``out``."""
        q, qd = state
        np.dot(qd, self._robot.coriolis_matrix(q, qd, out=self._coriolis), out=out)
        out -= self._robot.gravity_torque(q, out=self._gravity)


@compiled(given='friction torque decay elapsed')
def _step(
    inputs: Matrix,
    filtered: Matrix,
    momentum: Matrix,
    rate: Vector,
    friction: Vector,
    torque: Vector,
    decay: float,
    elapsed: float,
) -> bool:
    """Filter one sample; return whether all numbers are finite.

    inputs (2, n) are those of the last sample, tau + C' qd - g and the ``friction`` (n) of the model. filtered
    (3, n): the measured friction tau + C' qd - g - dp/dt, that of the model, and |dp/dt|. momentum (2, n): p at the
    last sample and now. decay = exp(-K elapsed); the inputs are linear between samples, dp/dt is constant.
    """
    total = 0.0
    for k in range(torque.shape[0]):
        u, f = torque[k] + rate[k], friction[k]
        if elapsed > 0.0:
            change = (momentum[1, k] - momentum[0, k]) / elapsed
            measured = 0.5 * (u + inputs[0, k]) - change
            filtered[0, k] = decay * filtered[0, k] + (1.0 - decay) * measured
            filtered[1, k] = decay * filtered[1, k] + (1.0 - decay) * 0.5 * (f + inputs[1, k])
            filtered[2, k] = decay * filtered[2, k] + (1.0 - decay) * abs(change)
        inputs[0, k], inputs[1, k] = u, f
        # 0, or NaN
        total += (u + f + filtered[0, k] + filtered[1, k]) * 0.0
    return total == 0.0


class MomentumObserver:
    """External joint torques of one robot, updated with each sample, without allocation.

    Parameters
    ----------
    robot : Robot
        Its inertias, gravity, rotors and friction.
    gain : float
        K, 1/s.
    tracker : FrictionTracker, optional
        Scale and offset of the friction, learnt by ``learn``. Default: the friction of the model.

    Attributes
    ----------
    residual : ndarray, (n,)
        External joint torques r, N m (prismatic: N): J' F of a wrench F that acts on the robot. Valid where ``update``
        returned True.
    friction : ndarray, (n,)
        Friction of the model, filtered like the residual, N m (N).
    inertial : ndarray, (n,)
        Magnitude of dp/dt, filtered likewise, N m (N): the inertial torque.
    elapsed : float
        Time between the last two samples, s.

    Raises
    ------
    ArgumentError
        Unless the gain is finite and above 0.
    """

    def __init__(self, robot: Robot, gain: float = GAIN, tracker: FrictionTracker | None = None):
        self._gain, self._tracker, n = validation.positive('gain', gain), tracker, robot.nv
        self._momentum_of = PayloadBlender(momentum, robot, PayloadGravity.of(robot))
        self._rate_of = PayloadBlender(MomentumRate, robot, PayloadGravity.of(robot))
        momenta, self._inputs, self._filtered = np.zeros((2, n)), np.zeros((2, n)), np.zeros((3, n))
        self._before, self._now = momenta
        self._measured = self._filtered[0]
        self.friction: np.ndarray = self._filtered[1]
        self.inertial: np.ndarray = self._filtered[2]
        self._q, self._qd, self._rate = np.zeros((3, n))
        self.residual: np.ndarray = np.zeros(n)
        self._add_friction, self._transmitted, self._friction = friction_adder(robot, TERMS), *np.zeros((2, n))
        fixed = self._inputs, self._filtered, momenta, self._rate
        self._step = bound(_step, *fixed, then=(self._rate, self._rate, 0.0, 0.0))
        self.reset()

    def reset(self) -> None:
        """Restart with the next sample; scale and offset of the friction stay."""
        self._stamp, self._time = 0, -1.0
        self.elapsed: float = 0.0
        self._filtered[:] = self._inputs[:] = 0.0

    def forget_friction(self) -> None:
        """Return to the friction of the model."""
        if self._tracker is not None:
            self._tracker.reset()

    def take(self, payload_gravity: PayloadGravity) -> None:
        """Set payload and gravity, which may be ramps; for a robot that has no payload itself. Any thread."""
        self._momentum_of.take(payload_gravity)
        self._rate_of.take(payload_gravity)

    def update(self, stamp: int, q: np.ndarray, qd: np.ndarray, torque: np.ndarray, time: int | None = None) -> bool:
        """Update ``residual`` with a sample.

        Parameters
        ----------
        stamp : int
            Time of the sample, ns. After a gap of more than 0.1 s, or a stamp that does not increase, the observer
            starts anew.
        q, qd : ndarray, (n,)
            Positions (rad, m) and velocities (rad/s, m/s).
        torque : ndarray, (n,)
            Joint torque with gravity and friction, N m (N).
        time : int, optional
            Time of which payload and gravity in force are, ns. Default: ``stamp``.

        Returns
        -------
        bool
            Whether the residual is valid: not in the first ``SETTLING`` / K seconds.
        """
        time, elapsed = stamp if time is None else time, (stamp - self._stamp) * 1e-9
        if not (self._time >= 0.0 and 0.0 < elapsed <= LONGEST_STEP):
            self.reset()
            elapsed = 0.0
        else:
            # with the payload of now, so that a ramp of it is no momentum
            self._momentum_of.torque(time, self._q, self._qd, out=self._before)
        self._momentum_of.torque(time, q, qd, out=self._now)
        self._rate_of.torque(time, q, qd, out=self._rate)
        self._stamp, self.elapsed, self._time = stamp, elapsed, max(self._time, 0.0) + elapsed
        self._q[:], self._qd[:] = q, qd
        # the gear transmits what friction leaves of the torque
        np.subtract(torque, self._inputs[1], out=self._transmitted)
        self._friction.fill(0.0)
        self._add_friction(q, qd, self._transmitted, self._friction)
        if not self._step(self._friction, torque, math.exp(-self._gain * elapsed), elapsed):
            self.reset()
            return False
        friction = self.friction if self._tracker is None else self._tracker.torque(self.friction, self.residual)
        np.subtract(friction, self._measured, out=self.residual)
        return self._time * self._gain >= SETTLING

    def learn(self, share: float = 1.0) -> None:
        """Let the tracker learn from the last valid sample, by a ``share`` from 0 (contact) to 1 (free motion).

        In between a contact is possible, but not certain: the sample counts less.
        """
        if self._tracker is not None:
            self._tracker.update(self._qd, self.friction, self._measured, share * self.elapsed)
