"""Lagrange's equations: a planar 2R arm in closed form, and any chain of up to three joints as SymPy derives it.

Source: the course, "Lagrangian formulation" (before section 02): the 2R arm with point masses, equations 4-6 and 4-11
and the M, c and g behind them; 4-12 is tau = M(q) qdd + c(q, qd) + g(q). The course's theta is q here.

SymPy is imported where a derivation begins (``derivation``); the closed form works without it.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formulations.kinematic_tree import ZERO, KinematicTree, skew
from robot_dynamics_ros.model.inertial_parameters import ten_parameters
from robot_dynamics_ros.model.joint_types import Joint
from robot_dynamics_ros.model.model import Model
from robot_dynamics_ros.robot import Robot

if TYPE_CHECKING:
    from robot_dynamics_ros.formulations.derivation import Derivation, Variables

LARGEST = 3
"""Joints of a derivation: its equations fill pages from the fourth joint on."""


def inverse_dynamics(robot, q, qd, qdd, tip_wrench=None) -> np.ndarray:
    """Joint torques of a motion by the equations that ``derive`` finds, rotor inertia included.

    Parameters
    ----------
    robot : Robot
        Serial chain of at most three revolute and prismatic joints. The last few robots' equations are kept.
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
        For a robot with more joints, branches or other joints; it names the culprit. Also where SymPy is missing.
    ArgumentError
        For an array of another shape, or with NaN or inf; it names the argument.

    References
    ----------
    The course, equations 4-11 and 4-12.
    """
    tree = _tree_of(robot)
    q, qd, qdd, wrench = tree.arguments(tip_wrench, q=q, qd=qd, qdd=qdd)
    M, c, g, J = _derived(robot).numbers(q, qd)
    return M @ qdd + c + g - J.T @ wrench


@dataclass(frozen=True)
class PlanarArm:
    """A planar 2R arm with point masses at the ends of its links, in closed form; q_1 is measured from the horizontal.

    The course, between 4-11 and 4-12. ``q``, ``qd`` and ``qdd`` of its methods have any batch shape (..., 2).
    """

    L1: float  # m    length of the first link
    L2: float  # m
    m1: float  # kg   mass at the end of the first link
    m2: float  # kg
    g: float = 9.81  # m/s^2, downwards

    def mass_matrix(self, q) -> np.ndarray:
        """Return M(q), (..., 2, 2), kg m^2."""
        (q,) = _angles(q=q)
        m1, m2, L1, L2 = self.m1, self.m2, self.L1, self.L2
        c2 = np.cos(q[..., 1])
        M = np.empty((*q.shape[:-1], 2, 2))
        M[..., 0, 0] = m1 * L1**2 + m2 * (L1**2 + 2.0 * L1 * L2 * c2 + L2**2)
        M[..., 0, 1] = M[..., 1, 0] = m2 * (L2**2 + L1 * L2 * c2)
        M[..., 1, 1] = m2 * L2**2
        return M

    def coriolis_torque(self, q, qd) -> np.ndarray:
        """Return c(q, qd), (..., 2), N m."""
        q, qd = _angles(q=q, qd=qd)
        w1, w2 = qd[..., 0], qd[..., 1]
        h = self.m2 * self.L1 * self.L2 * np.sin(q[..., 1])
        return np.stack([-h * (2.0 * w1 * w2 + w2**2), h * w1**2], axis=-1)

    def gravity_torque(self, q) -> np.ndarray:
        """Return g(q), (..., 2), N m."""
        (q,) = _angles(q=q)
        outer = self.m2 * self.g * self.L2 * np.cos(q[..., 0] + q[..., 1])
        return np.stack([(self.m1 + self.m2) * self.L1 * self.g * np.cos(q[..., 0]) + outer, outer], axis=-1)

    def inverse_dynamics(self, q, qd, qdd) -> np.ndarray:
        """Return tau = M qdd + c + g (4-12), (..., 2), N m."""
        q, qd, qdd = _angles(q=q, qd=qd, qdd=qdd)
        inertial = np.einsum('...ij,...j->...i', self.mass_matrix(q), qdd)
        return inertial + self.coriolis_torque(q, qd) + self.gravity_torque(q)

    def robot(self) -> Robot:
        """Return this arm as a robot: joints about z, gravity along -y."""
        joints = [
            Joint(
                f'joint_{i}',
                f'link_{i}',
                f'link_{i - 1}' if i > 1 else 'base',
                'revolute',
                np.array([0.0, 0.0, 1.0]),
                np.eye(3),
                np.array([x, 0.0, 0.0]),
                ten_parameters(mass, [length, 0.0, 0.0], np.zeros((3, 3))),
            )
            for i, x, mass, length in ((1, 0.0, self.m1, self.L1), (2, self.L1, self.m2, self.L2))
        ]
        return Robot(Model.of('planar_arm', 'base', joints), (0.0, -self.g, 0.0))


def derive(robot, letters: bool = False) -> 'Derivation':
    """Return the equations of motion of a chain of at most three joints, derived from K - P.

    Parameters
    ----------
    robot : Robot
        Serial chain of revolute and prismatic joints, at most three.
    letters : bool
        Whether masses, lengths, moments of inertia and gravity are symbols; else they are the robot's numbers. Those
        that are zero vanish either way. Meant for robots whose joints are parallel or at right angles. Of link i: mass
        m_i, origin in the parent's frame x_i, y_i, z_i, centre c_xi, inertia about it I_xxi, rotor J_i; gravity g_x.

    Returns
    -------
    Derivation

    Raises
    ------
    ModelError
        As for ``inverse_dynamics``.
    """
    tree, derivation = _tree_of(robot), _derivation()
    parameters = _parameters(tree)
    x = derivation.Variables(tree.n, parameters if letters else {})
    K, P, twist = _energies(tree, {**parameters, **x.letters}, x)
    n = range(tree.n)
    # p_i = dL/dqd_i,  tau_i = dp_i/dt - dL/dq_i                                                           (4-11)
    L = K - P
    p = [x.by_rate(L, i) for i in n]
    # M_ij = dp_i/dqd_j,  c_i = sum over j of dp_i/dq_j qd_j - dK/dq_i,  g_i = dP/dq_i                      (4-12)
    M = [[x.by_rate(p[i], j) for j in n] for i in n]
    c = [sum((x.by_position(p[i], j) * x.rate[j] for j in n), x.zero) - x.by_position(K, i) for i in n]
    g = [x.by_position(P, i) for i in n]
    J = [[x.by_rate(part, j) for j in n] for part in twist]
    return derivation.Derivation(x, *(x.simplified(array) for array in (M, c, g, J)))


def _tree_of(robot) -> KinematicTree:
    """Return the tree of a robot with few joints; ModelError otherwise."""
    tree = KinematicTree.of(robot, 'lagrange')
    if tree.n > LARGEST:
        raise ModelError(f'lagrange: expected at most {LARGEST} joints, got {tree.n}')
    return tree


@lru_cache(maxsize=8)
def _derived(robot) -> 'Derivation':
    """Return the equations of a robot in numbers, kept for the next state."""
    return derive(robot)


def _derivation():
    """Return the module that needs SymPy."""
    try:
        from robot_dynamics_ros.formulations import derivation  # noqa: PLC0415
    except ImportError:
        raise ModelError('lagrange: a derivation needs SymPy, which is not installed: pip install sympy') from None
    return derivation


def _parameters(tree: KinematicTree) -> dict[str, float]:
    """Return all parameters that are not zero, by names as in a derivation."""
    named: dict[str, float] = dict(zip(('g_x', 'g_y', 'g_z'), tree.gravity, strict=True))
    for i in range(1, tree.n + 1):
        named |= {f'm_{i}': tree.mass[i], f'J_{i}': tree.rotor[i]}
        for k, x in enumerate('xyz'):
            named |= {f'{x}_{i}': tree.origin[i, k], f'c_{x}{i}': tree.com[i, k]}
            named |= {f'I_{x}{y}{i}': tree.inertia[i, k, m] for m, y in enumerate('xyz') if m >= k}
    return {name: float(value) for name, value in named.items() if abs(value) > ZERO}


def _energies(tree: KinematicTree, parameters: dict, x: 'Variables'):
    """Return K, P and the twist (6) of the last link at its origin, in axes of the base: polynomials.

    K_i = 1/2 m vc'vc + 1/2 w' I w in the link's axes, P_i = -m g'pc in those of the base; velocities pass from link to
    link as in ``newton_euler``.
    """

    def named(*names: str) -> np.ndarray:
        return x.array([parameters.get(name, 0.0) for name in names])

    zero = x.array([0.0, 0.0, 0.0])
    w, v, p, to_base = zero, zero, zero, x.array(np.eye(3))
    K = P = x.zero
    gravity = named('g_x', 'g_y', 'g_z')
    for i in range(1, tree.n + 1):
        k = i - 1
        m, rotor = named(f'm_{i}', f'J_{i}')
        r, c = (
            named(*(f'{name}{axis}{i}' for axis in axes)) for name, axes in (('', ('x_', 'y_', 'z_')), ('c_', 'xyz'))
        )
        I = x.array([[parameters.get(f'I_{min(a, b)}{max(a, b)}{i}', 0.0) for b in 'xyz'] for a in 'xyz'])
        a, R = x.array(tree.axis[i]), x.array(tree.rotation[i])
        if tree.revolute[i]:
            # R(q) = R (1 + sin q [a] + (1 - cos q) [a]^2)
            cross = skew(a)
            R = R @ (x.array(np.eye(3)) + cross * x.sin[k] + cross @ cross * (1 - x.cos[k]))
        else:
            r = r + R @ a * x.position[k]
        p = p + to_base @ r
        # w = R' w + a qd  or  v = R' (v + w x r) + a qd
        v, w = R.T @ (v + np.cross(w, r)), R.T @ w
        if tree.revolute[i]:
            w = w + a * x.rate[k]
        else:
            v = v + a * x.rate[k]
        w, v, to_base = (x.simplified(array) for array in (w, v, to_base @ R))
        vc = v + np.cross(w, c)
        K = K + (m * (vc @ vc) + w @ (I @ w) + rotor * x.rate[k] ** 2) / 2
        P = P - m * (gravity @ (p + to_base @ c))
    return K, P, np.concatenate([to_base @ w, to_base @ v])


def _angles(**named) -> list[np.ndarray]:
    """Return joint vectors (..., 2) of one batch; ArgumentError names the one of another shape or with NaN or inf."""
    arrays, shape = validation.states(dict.fromkeys(named, 2), **named)
    vectors = [array.reshape(*shape, 2) for array in arrays]
    for name, vector in zip(named, vectors, strict=True):
        validation.check_finite(name, vector)
    return vectors
