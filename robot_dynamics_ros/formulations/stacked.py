"""Closed form of a chain's dynamics by stacked twists and wrenches: M, c, g and J' F_tip.

Source: the course, section 04 ("closed form of the dynamics by stacked vectors", equations 4-33 to 4-40 of that section
and the formulas of M, c and g behind them), after Lynch & Park, "Modern Robotics". Frames, screws and signs are those
of ``screws``. Equations 4-34 and 4-38 of the course have A qd in places where A qdd is meant, and W has Ad_T.
"""

from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.formulations.screws import ScrewChain, ad, adjoint


class ClosedForm(NamedTuple):
    """Terms of tau = M qdd + c + g + J' F_tip at a state."""

    M: np.ndarray  # (n, n) kg m^2, kg   mass matrix, rotor inertia included
    c: np.ndarray  # (n,) N m, N         Coriolis and centrifugal torques
    g: np.ndarray  # (n,) N m, N         torques against gravity
    tip: np.ndarray  # (n,) N m, N       J' F_tip, F_tip being what the last link exerts on its surroundings


class Stack(NamedTuple):
    """Stacked matrices of a chain at a position."""

    A: np.ndarray  # (6n, n)    block diagonal: screw axes of the joints
    G: np.ndarray  # (6n, 6n)   block diagonal: spatial inertias
    W: np.ndarray  # (6n, 6n)   Ad_T below the diagonal: from each link to the next
    L: np.ndarray  # (6n, 6n)   (1 - W)^-1: from each link to all behind it
    base: np.ndarray  # (6n,)   Vd_base: the acceleration that replaces gravity, at the first link
    tip: np.ndarray  # (6, 6n)  Ad_T of the last link to frame {n + 1}: its origin, axes of the base


def inverse_dynamics(robot, q, qd, qdd, tip_wrench=None) -> np.ndarray:
    """Joint torques of a motion: M qdd + c + g + J' F_tip, rotor inertia included.

    Parameters
    ----------
    robot : Robot
        Serial chain of revolute and prismatic joints.
    q, qd, qdd : array_like, (n,)
        Joint positions, velocities and accelerations; rad or m, per s, per s^2.
    tip_wrench : array_like, (6,), optional
        Moment (N m) and force (N) acting on the last link at its frame's origin, in axes of the base.

    Returns
    -------
    ndarray, (n,)
        N m (prismatic joints: N).

    Raises
    ------
    ModelError
        For a robot with branches or other joints; it names the joint.
    ArgumentError
        For an array of another shape, or with NaN or inf; it names the argument.

    References
    ----------
    The course, section 04.
    """
    chain = ScrewChain.of(robot, 'stacked')
    q, qd, qdd, wrench = chain.tree.arguments(tip_wrench, q=q, qd=qd, qdd=qdd)
    M, c, g, tip = _closed_form(chain, q, qd, wrench)
    return M @ qdd + c + g + tip


def closed_form(robot, q, qd, tip_wrench=None) -> ClosedForm:
    """Return M, c, g and J' F_tip of tau = M qdd + c + g + J' F_tip; arguments as for ``inverse_dynamics``."""
    chain = ScrewChain.of(robot, 'stacked')
    q, qd, wrench = chain.tree.arguments(tip_wrench, q=q, qd=qd)
    return _closed_form(chain, q, qd, wrench)


def jacobian(robot, q) -> np.ndarray:
    """Return the Jacobian (6, n) of the last link at its origin, in axes of the base: Ad_T L A, last rows."""
    chain = ScrewChain.of(robot, 'stacked')
    q, _ = chain.tree.arguments(q=q)
    A, _, _, L, _, tip = stack(chain, q)
    return tip @ L @ A


def _closed_form(chain: ScrewChain, q, qd, wrench) -> ClosedForm:
    """Return the terms from arrays that are checked."""
    A, G, W, L, base, tip = stack(chain, q)
    # V = L A qd (4-37),  ad_V and ad_Aqd block diagonal
    V = L @ A @ qd
    ad_V, ad_Aqd = (_diagonal([ad(block) for block in stacked.reshape(-1, 6)]) for stacked in (V, A @ qd))
    return ClosedForm(
        # M = A' L' G L A, and rotors
        M=A.T @ L.T @ G @ L @ A + np.diag(chain.tree.rotor[1:]),
        # c = -A' L' (G L ad_Aqd W + ad_V' G) L A qd
        c=-A.T @ L.T @ (G @ L @ ad_Aqd @ W + ad_V.T @ G) @ V,
        # g = A' L' G L Vd_base
        g=A.T @ L.T @ G @ L @ base,
        # J' F_tip = A' L' (0, ..., Ad_T' F_n+1)
        tip=A.T @ L.T @ tip.T @ -wrench,
    )


def stack(chain: ScrewChain, q) -> Stack:
    """Return the stacked matrices at q (n,)."""
    n, T = chain.n, chain.transforms(q)
    # block (i, i - 1) = Ad_T of T_i,i-1
    none = np.zeros((6, 6))
    W = np.block([[adjoint(T[i]) if j == i - 1 else none for j in range(1, n + 1)] for i in range(1, n + 1)])
    # Vd_base = (Ad_T Vd_0, 0, ..., 0)
    base = np.concatenate([adjoint(T[1]) @ chain.base_acceleration, np.zeros(6 * n - 6)])
    tip = np.concatenate([np.zeros((6, 6 * n - 6)), adjoint(chain.tip_transform(T))], axis=1)
    # L = 1 + W + ... + W^(n - 1), for W^n = 0
    L = one = np.eye(6 * n)
    for _ in range(n - 1):
        L = one + W @ L
    return Stack(_diagonal(chain.A[1:, :, None]), _diagonal(chain.G[1:]), W, L, base, tip)


def _diagonal(blocks) -> np.ndarray:
    """Return the block-diagonal matrix of n blocks of one shape."""
    none, n = np.zeros(np.shape(blocks[0])), len(blocks)
    return np.block([[blocks[i] if i == j else none for j in range(n)] for i in range(n)])
