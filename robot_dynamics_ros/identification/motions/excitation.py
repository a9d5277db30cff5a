"""Exciting trajectories: motions that make the base parameters of a robot identifiable with little error.

What is minimised is the condition number of the weighted base regressor W = S^-1 Y_b over a period, Y_b the columns of
``robot.base_parameters().independent`` at all samples, S the standard deviation of each joint's torque (Swevers et al.
1997, "Optimal robot excitation and identification"; Gautier & Khalil 1992, "Exciting trajectories for the
identification of base inertial parameters of robots"). It bounds the relative error of the parameters over that of the
torques. It mixes the units of the parameters; the condition number of W with columns of length 1 does not.
"""

import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from robot_dynamics_ros import validation
from robot_dynamics_ros.control.trajectories.motion_profiles import fourier_basis
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.identification.motions.fourier_trajectory import (
    DENSITY,
    FEWEST_HARMONICS,
    FourierTrajectory,
    at_rest,
)
from robot_dynamics_ros.identification.motions.motion_limits import MotionLimits, motion_limits
from robot_dynamics_ros.model.closed_loops.loops import check_tree
from robot_dynamics_ros.robot import Robot

SAMPLES = 20
"""Samples of a period for each harmonic while coefficients are optimised."""
SHARPNESS = 8.0
"""Power p in (sum of lambda^p)^(1/p), which stands for the largest eigenvalue lambda and is smooth."""
STEP = 1e-6
"""Step of the differences that are the gradient, in units of q, qd and qdd."""
STAGES = (1.0, 60), (10.0, 100), (100.0, 200)
"""Weight of what exceeds a limit, and largest number of iterations."""
ROUNDS = 8
"""Further rounds of the last stage while samples are forbidden."""
HALVINGS = 12
MARGIN = 0.02
"""Distance from forbidden positions, as a share of half of each joint's range."""
POSTURES = 200
"""Random postures among which those are found where a motion may be centred."""
WORST = 1e4
"""Condition numbers above this one count as not excited."""


class ConditionNumbers(NamedTuple):
    """Condition numbers of a base regressor."""

    weighted: float
    """With the rows of each joint divided by the standard deviation of its torque."""
    scaled: float
    """Likewise, and with columns of length 1, so that units of parameters do not count."""


def condition_numbers(
    robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, noise: ArrayLike | None = None
) -> ConditionNumbers:
    """Return condition numbers of the weighted base regressor of a motion.

    Parameters
    ----------
    robot : Robot
    q, qd, qdd : array_like, (m, n)
        Positions, velocities and accelerations, rad, rad/s and rad/s^2 (m, m/s and m/s^2).
    noise : array_like, (n,) or (1,), optional
        Standard deviation of each joint's torque, N m (N); one factor of all does not matter. Default: proportional to
        the effort limits.

    Returns
    -------
    ConditionNumbers
        Infinite where a base parameter has no effect.
    """
    noise = _noise(robot, noise, robot.limits.effort)
    Y = robot.torque_regressor(q, qd, qdd)[..., robot.base_parameters().independent] / noise[:, None]
    W = Y.reshape(-1, Y.shape[-1])
    lengths = np.linalg.norm(W, axis=0)
    if not lengths.all():
        return ConditionNumbers(np.inf, np.inf)
    return ConditionNumbers(float(np.linalg.cond(W)), float(np.linalg.cond(W / lengths)))


def optimise_excitation(
    robot: Robot,
    harmonics: int = 5,
    duration: float = 10.0,
    limits: Mapping[str, ArrayLike] | None = None,
    avoid: Callable[[np.ndarray], bool] | None = None,
    *,
    share: float = 0.95,
    noise: ArrayLike | None = None,
    starts: int = 8,
    seed: int = 0,
    time_limit: float = 30.0,
) -> FourierTrajectory:
    """Return a periodic motion within limits whose weighted base regressor has a small condition number.

    The motion is at rest where it begins and ends, its position there is ``start``. A quasi-Newton method (L-BFGS)
    minimises the condition number from several random starts, with what exceeds a limit as penalty. Then the motion is
    scaled down about its centre until all limits hold: positions, velocities and accelerations at all times, torques
    and ``avoid`` at 200 samples for each harmonic. Without ``avoid`` the motion uses all of the range of the
    joints: the arm hits itself and the table.

    Parameters
    ----------
    robot : Robot
        A tree of revolute and prismatic joints, with the best model there is: torques are checked with it.
    harmonics : int
        Number of harmonics, at least 2.
    duration : float
        Period, s.
    limits : mapping, optional
        Values in place of ``robot.limits``: 'lower', 'upper' (rad, m), 'velocity', 'acceleration' and 'effort'
        (torques with friction, N m, N), each a number or (n,). See ``motion_limits`` for what is assumed.
    avoid : callable, optional
        Called with positions (m, n); returns m numbers, True or positive where a position is forbidden.
    share : float
        Share of the limits, and of the range about its middle, that is used. The rest is for tracking errors.
    noise : array_like, (n,) or (1,), optional
        As that of ``condition_numbers``.
    starts : int
        Number of random starts; the best result is returned.
    seed : int
        Seed of the random starts.
    time_limit : float
        Processor time of this thread after which nothing further is tried, s; what has begun takes up to a second more.
        Without reaching it, equal arguments give equal results.

    Returns
    -------
    FourierTrajectory

    Raises
    ------
    ArgumentError
        Naming the argument; or the joint without a limit, whose limits leave no room for its own gravity and friction,
        or which moves least where limits leave too little motion; or ``avoid`` where it forbids all postures.
    ModelError
        For closed loops and joints of several degrees of freedom.
    """
    check_tree(robot.model, 'optimise_excitation')
    bounds = motion_limits(robot, limits, share)
    stated = (limits or {}).get('effort', robot.limits.effort)
    harmonics = validation.whole('harmonics', harmonics, FEWEST_HARMONICS)
    noise = _noise(robot, noise, np.broadcast_to(stated, robot.nv))
    problem = _Excitation(robot, harmonics, validation.positive('duration', duration), bounds, noise, avoid)
    deadline = time.thread_time() + validation.positive('time_limit', time_limit)
    centres = problem.centres(np.random.default_rng(seed))
    found: list[tuple[float, FourierTrajectory]] = []
    for k in range(validation.whole('starts', starts, 1)):
        x = problem.optimised(centres[k % len(centres)], np.random.default_rng([seed, k]), deadline)
        trajectory = problem.within_limits(x, centres[k % len(centres)])
        motion = trajectory.sample(problem.fine_times)
        found.append((condition_numbers(robot, *motion, noise).weighted, trajectory))
        if time.thread_time() > deadline:
            break
    condition, best = min(found, key=lambda pair: pair[0])
    if not condition < WORST:
        slowest = int(np.abs(best.sample(problem.fine_times)[1]).max(axis=0).argmin())
        raise ArgumentError(
            f'limits: they leave too little motion in {duration:g} s with {harmonics} harmonics, the condition number '
            f'is {condition:.3g}, and joint {robot.joint_names[slowest]!r} moves least; state other limits or a longer '
            'duration'
        )
    return best


def _noise(robot: Robot, noise, effort) -> np.ndarray:
    """Return the standard deviation of each joint's torque (n,), by default the effort limits.

    ArgumentError names a joint without an effort limit where there is no ``noise``.
    """
    if noise is None:
        for name, limit in zip(robot.joint_names, effort, strict=True):
            if not 0.0 < limit < np.inf:
                raise ArgumentError(
                    f'joint {name!r} has no effort limit, to which its noise would be proportional: state noise (N m), '
                    'or the limit, in the description or by Robot.with_limits'
                )
    return validation.of_each_joint('noise', effort if noise is None else noise, robot.nv, zero=False)


class _Excitation:
    """Condition number and limits of Fourier series as functions of their scaled coefficients x (2 H - 1, n).

    The first row of x is the centre, the others are coefficients of motions that begin at rest.
    """

    def __init__(self, robot: Robot, harmonics: int, duration: float, limits: MotionLimits, noise, avoid):
        self._robot, self._limits, self._duration = robot, limits, duration
        self._avoid = avoid or (lambda q: np.zeros(len(q)))
        self._columns, self._noise = robot.base_parameters().independent, noise
        self._at_rest = at_rest(harmonics)
        times = np.arange(SAMPLES * harmonics) * (duration / (SAMPLES * harmonics))
        self.fine_times = np.arange(DENSITY * harmonics) * (duration / (DENSITY * harmonics))
        basis = fourier_basis(times, harmonics, duration)
        centre = np.zeros((*basis.shape[:2], 1))
        centre[0] = 1.0
        self._basis = np.concatenate([centre, basis @ self._at_rest], axis=2)
        self._middle, self._half = 0.5 * (limits.upper + limits.lower), 0.5 * (limits.upper - limits.lower)
        # of q from the middle, qd and qdd
        self._bounds = np.stack([self._half, limits.velocity, limits.acceleration])[:, None]
        velocity = np.tile(limits.velocity / np.sqrt(harmonics), (2 * harmonics - 2, 1))
        self._scale = np.vstack([0.5 * self._half, velocity])
        # half-spaces in which samples stay, in units of half of the ranges: samples (k,), normals (k, n), places (k,)
        self._walls: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def centres(self, generator) -> np.ndarray:
        """Return postures (., n) that are allowed, at least one, the middle of the ranges first."""
        offsets = np.vstack([0.0 * self._half, generator.uniform(-0.7, 0.7, (POSTURES, len(self._half))) * self._half])
        postures = self._middle + offsets
        share = np.abs(self._robot.gravity_torque(postures)) / self._limits.effort
        within = postures[(share < 1.0).all(axis=1)]
        if not len(within):
            joint = self._robot.joint_names[int(share.min(axis=0).argmax())]
            raise ArgumentError(f'limits: gravity and friction need more than the effort limit of joint {joint!r}')
        allowed = within[~self._forbidden(within)]
        if not len(allowed):
            raise ArgumentError(f'avoid: it forbids all of {len(within)} postures within the limits')
        return allowed

    def optimised(self, centre, generator, deadline: float) -> np.ndarray:
        """Return coefficients that are optimised from a random start about ``centre`` (n,)."""
        x = 0.3 * generator.normal(size=self._scale.shape)
        x[0] = (centre - self._middle) / self._scale[0]
        self._walls = []
        stages = [*STAGES, *[STAGES[-1]] * ROUNDS]
        for number, (weight, iterations) in enumerate(stages, start=1):
            options = {'maxiter': iterations, 'maxcor': 20}
            x = minimize(self._cost, x.ravel(), (weight,), 'L-BFGS-B', jac=True, options=options).x
            is_done = not self._meets_walls(x, centre) and number >= len(STAGES)
            if is_done or time.thread_time() > deadline:
                break
        return x.reshape(self._scale.shape)

    def within_limits(self, x, centre) -> FourierTrajectory:
        """Return the trajectory of x, scaled down about ``centre`` (n,) until it exceeds no limit."""
        still = np.vstack([(centre - self._middle) / self._scale[0], 0.0 * x[1:]])
        (share,) = _largest_shares(lambda shares: self._exceeds(self._trajectory(still + shares * (x - still))), 1)
        return self._trajectory(still + share * (x - still))

    def _trajectory(self, x) -> FourierTrajectory:
        X = x * self._scale
        sines, cosines = np.split(self._at_rest @ X[1:], 2)
        return FourierTrajectory(self._robot.joint_names, self._duration, self._middle + X[0], sines, cosines)

    def _exceeds(self, trajectory: FourierTrajectory) -> bool:
        """Return whether a trajectory exceeds a limit."""
        if (trajectory.peaks(self._middle) > self._bounds[:, 0]).any():
            return True
        q, qd, qdd = trajectory.sample(self.fine_times)
        torque = self._robot.inverse_dynamics(q, qd, qdd)
        return bool((np.abs(torque) > self._limits.effort).any() or self._forbidden(q).any())

    def _forbidden(self, q) -> np.ndarray:
        """Return which positions (m, n) are forbidden, (m,)."""
        found = np.asarray(self._avoid(q))
        if found.shape != (len(q),):
            raise ArgumentError(
                f'avoid: expected a result of shape ({len(q)},) for positions {q.shape}, got {found.shape}; for a '
                'function of one position pass lambda q: [function(row) for row in q]'
            )
        return ~(found <= 0)

    def _meets_walls(self, x, centre) -> bool:
        """Add a wall between ``centre`` and each forbidden sample of the motion; return whether there was one."""
        q = self._middle + self._motion(x)[0]
        (samples,) = np.nonzero(self._forbidden(q))
        if not len(samples):
            return False
        reach = q[samples] - centre
        shares = _largest_shares(lambda shares: self._forbidden(centre + shares[:, None] * reach), len(samples))
        normals = reach / self._half / np.linalg.norm(reach / self._half, axis=1, keepdims=True)
        allowed = (centre + shares[:, None] * reach - self._middle) / self._half
        self._walls.append((samples, normals, (allowed * normals).sum(axis=1) - MARGIN))
        return True

    def _motion(self, x) -> np.ndarray:
        """Return q from the middle of the ranges, qd and qdd, (3, m, n), at all samples."""
        return self._basis @ (x.reshape(self._scale.shape) * self._scale)

    def _cost(self, x, weight: float) -> tuple[float, np.ndarray]:
        """Return a smooth logarithm of the squared condition number plus the weighted excess, and its gradient."""
        motion, effort = self._motion(x), self._limits.effort
        q, qd, qdd = self._middle + motion[0], motion[1], motion[2]
        value, gradients = self._condition(q, qd, qdd)
        excess, slope = _excess(motion / self._bounds)
        value += weight * excess
        gradients += weight * slope / self._bounds
        excess, slope = _excess(self._robot.inverse_dynamics(q, qd, qdd) / effort)
        if excess > 0.0:
            value += weight * excess
            derivatives = self._robot.inverse_dynamics_derivatives(q, qd, qdd)
            gradients += weight * np.einsum('mi,mkij->kmj', slope / effort, derivatives)
        for samples, normals, places in self._walls:
            beyond = np.maximum((motion[0, samples] / self._half * normals).sum(axis=1) - places, 0.0)
            value += weight * float(beyond @ beyond)
            gradients[0, samples] += 2.0 * weight * beyond[:, None] * normals / self._half
        return value, (np.tensordot(self._basis, gradients, ((0, 1), (0, 1))) * self._scale).ravel()

    def _condition(self, q, qd, qdd) -> tuple[float, np.ndarray]:
        """Return a smooth logarithm of the squared condition number, and its gradient (3, m, n) by q, qd and qdd."""
        regressor = self._robot.torque_regressor
        Y, columns = regressor(q, qd, qdd), self._columns
        W = (Y[..., columns] / self._noise[:, None]).reshape(-1, len(columns))
        eigenvalues, vectors = np.linalg.eigh(W.T @ W / len(q))
        eigenvalues = np.maximum(eigenvalues, np.finfo(float).eps * eigenvalues[-1])
        large, small = (eigenvalues / eigenvalues[-1]) ** SHARPNESS, (eigenvalues[0] / eigenvalues) ** SHARPNESS
        value = np.log(large.sum() * small.sum()) / SHARPNESS + np.log(eigenvalues[-1] / eigenvalues[0])
        by_eigenvalue = (large / large.sum() - small / small.sum()) / eigenvalues
        # d value = <D, dY>, D = 2 W V diag(d value / d lambda) V' / m
        D = np.zeros(Y.shape)
        D[..., columns] = (W @ (vectors * by_eigenvalue) @ vectors.T).reshape(*Y.shape[:2], -1)
        D *= 2.0 / len(q) / self._noise[:, None]
        gradients = np.empty((3, *q.shape))
        for k, j in np.ndindex(3, q.shape[1]):
            motion = np.array([q, qd, qdd])
            motion[k, :, j] += STEP
            gradients[k, :, j] = np.einsum('mic,mic->m', regressor(*motion) - Y, D) / STEP
        return value, gradients


def _largest_shares(exceeds: Callable, count: int) -> np.ndarray:
    """Return the largest shares (count,) from 0 to 1 for which ``exceeds`` (shares) is False, by bisection."""
    high = np.ones(count)
    low = np.where(exceeds(high), 0.0, high)
    for _ in range(HALVINGS):
        shares = 0.5 * (low + high)
        wrong = exceeds(shares)
        low, high = np.where(wrong, low, shares), np.where(wrong, shares, high)
    return low


def _excess(share) -> tuple[float, np.ndarray]:
    """Return the sum of squares of what exceeds 1 in magnitude, and its gradient."""
    excess = np.maximum(np.abs(share) - 1.0, 0.0)
    return float((excess**2).sum()), 2.0 * np.sign(share) * excess
