"""Torque limiter: finite check, effort limit and rate limit before a torque is published."""

from collections.abc import Sequence
from enum import IntFlag

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.kinds import IntegerMatrix, Integers, Vector
from robot_dynamics_ros.kernels.torque_limits import limit_effort, limit_rate


class Limited(IntFlag):
    """Flags of what was limited in the torque of a joint, as ``kernels.torque_limits`` writes them."""

    EFFORT = 1
    RATE = 2
    NOT_FINITE = 4


REASONS = {
    Limited.EFFORT: 'beyond the effort limit',
    Limited.RATE: 'faster than the rate limit',
    Limited.NOT_FINITE: 'not finite',
}
EFFORT, NOT_FINITE = int(Limited.EFFORT), int(Limited.NOT_FINITE)


@compiled(given='torque elapsed')
def _limit(
    effort_limit: Vector,
    rate_limit: Vector,
    last: Vector,
    found_by_joint: Integers,
    limited: IntegerMatrix,
    flags: Vector,
    limited_torque: Vector,
    enforced: bool,
    torque: Vector,
    elapsed: float,
) -> int:
    """Limit |torque| <= effort_limit and |torque - last| <= rate_limit elapsed, (n) each; return the flags of all.

    Writes torque, where the limits are ``enforced``, ``last`` = torque, adds the flags of each joint to
    ``found_by_joint`` (n), and counts torques that were limited in effort and in rate in ``limited`` (2, n). If an
    entry is not finite, torque and ``last`` are not changed. flags and limited_torque (n) are scratch.
    """
    n = torque.shape[0]
    for k in range(n):
        limited_torque[k] = torque[k]
    found = int(limit_effort(effort_limit, flags, limited_torque))
    if found:
        for k in range(n):
            found_by_joint[k] |= int(flags[k])
            limited[0, k] += int(flags[k]) & EFFORT
    if found == NOT_FINITE:
        return found
    if not enforced:
        for k in range(n):
            limited_torque[k] = torque[k]
    fast = int(limit_rate(rate_limit, last, flags, limited_torque, elapsed))
    if fast:
        for k in range(n):
            found_by_joint[k] |= int(flags[k])
            limited[1, k] += flags[k] > 0.0
    if enforced:
        for k in range(n):
            torque[k] = limited_torque[k]
    else:
        for k in range(n):
            last[k] = torque[k]
    return found | fast


class TorqueLimiter:
    """Limits the torques of one robot: ``|tau| <= effort_limit``, then ``|tau - last| <= rate_limit * elapsed``.

    A torque that is not finite is rejected. The rate limit is relative to the last torque that was sent, however long
    ago, since a controller without a timeout (forward_command_controller) still applies it. The first torque is limited
    relative to zero.

    Parameters
    ----------
    effort_limit : array_like, (n,)
        Largest magnitude, N m (prismatic joints: N), above 0; inf: no limit.
    rate_limit : array_like, (n,)
        Largest rate of change, N m/s (prismatic joints: N/s); 0: no limit.
    enforced : bool
        False: count what exceeds a limit, and leave the torque unchanged.

    Attributes
    ----------
    last : ndarray, (n,)
        The last torque that was sent, N m or N.
    counts : dict of Limited to int
        Number of torques by reason since the last ``reset``.
    by_joint : ndarray of int, (n,)
        Flags (``Limited``) of each joint since the last ``reset``.
    limited : ndarray of int, (2, n)
        Number of torques of each joint that were limited in effort, and in rate; ``reset`` leaves it.
    """

    def __init__(self, effort_limit: ArrayLike, rate_limit: ArrayLike, enforced: bool = True):
        self.effort_limit: np.ndarray = np.array(effort_limit, float)
        self.rate_limit: np.ndarray = np.array(rate_limit, float)
        n = len(self.effort_limit)
        self.last: np.ndarray = np.zeros(n)
        self.by_joint: np.ndarray = np.zeros(n, np.int64)
        self.limited: np.ndarray = np.zeros((2, n), np.int64)
        self.counts: dict[Limited, int] = dict.fromkeys(REASONS, 0)
        written = self.last, self.by_joint, self.limited, *np.zeros((2, n))
        limits = self.effort_limit, self.rate_limit
        self._limit = bound(_limit, *limits, *written, enforced, then=(np.zeros_like(self.last), 0.0))

    def apply(self, torque: np.ndarray, elapsed: float) -> bool:
        """Limit a torque in place.

        Parameters
        ----------
        torque : ndarray, (n,)
            N m or N.
        elapsed : float
            Time since the last torque, s.

        Returns
        -------
        bool
            Whether the torque is finite and may be sent.
        """
        found = self._limit(torque, elapsed)
        if found:
            for flag in REASONS:
                self.counts[flag] += bool(found & flag)
        return found < NOT_FINITE

    def reset(self) -> None:
        """Reset counts and flags, but not the last torque."""
        self.by_joint.fill(0)
        for flag in REASONS:
            self.counts[flag] = 0

    def reasons(self, joint_names: Sequence[str]) -> str:
        """Return for each joint (n names) that was limited since the last reset why; '' if none was."""
        lines = []
        for name, bits in zip(joint_names, self.by_joint.tolist(), strict=True):
            reasons = [text for flag, text in REASONS.items() if bits & flag]
            lines += [f'{name}: {", ".join(reasons)}'] if reasons else []
        return '; '.join(lines)


def effort_limits(stated: ArrayLike, known: ArrayLike, joint_names: Sequence[str]) -> np.ndarray:
    """Return the effort limit of each joint: the configured one, else that of the model.

    Parameters
    ----------
    stated : array_like, (1,) or (n,)
        Configured limits, N m (prismatic joints: N); 0: use that of the model, inf: no limit.
    known : array_like, (n,)
        Limits of the model, N m or N; 0 or NaN: unknown.
    joint_names : sequence of str
        Names of the n joints, for messages.

    Returns
    -------
    ndarray, (n,)
        N m or N, above 0.

    Raises
    ------
    ArgumentError
        If a joint has neither limit, or ``stated`` has a wrong length or a negative entry.
    """
    limits = stated_effort_limits(stated, known, joint_names)
    for name, limit in zip(joint_names, limits, strict=True):
        if not limit > 0.0:
            raise ArgumentError(
                f'joint {name!r}: no effort limit is known; set the parameter effort_limit (.inf: no limit)'
            )
    return limits


def stated_effort_limits(stated, known, joint_names) -> np.ndarray:
    """Return the limits of ``effort_limits`` (n,), N m or N; 0 or NaN where none is known."""
    stated = _for_each('effort_limit', stated, joint_names)
    return np.where(stated > 0.0, stated, known)


def rate_limits(stated: ArrayLike, joint_names: Sequence[str]) -> np.ndarray:
    """Return the rate limit of each joint.

    Parameters
    ----------
    stated : array_like, (1,) or (n,)
        Configured limits, N m/s (prismatic joints: N/s); 0: no limit.
    joint_names : sequence of str
        Names of the n joints.

    Returns
    -------
    ndarray, (n,)
        N m/s or N/s.

    Raises
    ------
    ArgumentError
        For a wrong length or a negative entry.
    """
    return _for_each('rate_limit', stated, joint_names)


def _for_each(name: str, values, joint_names) -> np.ndarray:
    """Return ``values`` (1 or n), all at least 0, as an array (n,); raise ArgumentError otherwise."""
    values = np.array(values, float)
    if values.shape not in ((1,), (len(joint_names),)) or not (values >= 0.0).all():
        raise ArgumentError(f'{name}: expected one number >= 0 or {len(joint_names)}, got {values.tolist()}')
    return np.broadcast_to(values, len(joint_names)).copy()
