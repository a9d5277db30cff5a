"""Inverse dynamics by vectors in the frames of the links: outward and inward iterations of Newton and Euler.

Sources: the course, section 02 ("RNEA by vector triangles", equations 4-14 to 4-31), and the notes on manipulator
dynamics (chapters on one rigid body, motion transfer, transfer of forces and moments). The method is that of Luh,
Walker & Paul 1980. Link i + 1 of the sources is link i here, with the parent i - 1; their axis Z is any unit vector.

Symbols, of link i in axes of its own frame: w, wd angular velocity and acceleration; v, vd velocity and acceleration
of the frame's origin; vc, vcd those of the centre of mass; F, N force and moment of inertia at the centre; f, n force
and moment that the parent exerts on the link, at the frame's origin. E rotates from the parent's frame to the link's.
"""

from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.formulations.kinematic_tree import KinematicTree, skew


class Motion(NamedTuple):
    """Motion of a link, in axes of its frame."""

    w: np.ndarray  # (3,) rad/s
    wd: np.ndarray  # (3,) rad/s^2
    v: np.ndarray  # (3,) m/s      of the frame's origin
    vd: np.ndarray  # (3,) m/s^2   likewise, the classical acceleration


def inverse_dynamics(robot, q, qd, qdd, tip_wrench=None) -> np.ndarray:
    """Joint torques of a motion: Z' n of revolute and Z' f of prismatic joints, rotor inertia included.

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
    The course, section 02, equations 4-14 to 4-31.
    Luh, Walker & Paul 1980, "On-line computational scheme for mechanical manipulators".
    """
    tree = KinematicTree.of(robot, 'newton_euler')
    q, qd, qdd, wrench = tree.arguments(tip_wrench, q=q, qd=qd, qdd=qdd)
    # gravity g is a base that accelerates with -g (the text after 4-31; G there)
    motions = outward(tree, q, qd, qdd, -tree.gravity)
    return inward(tree, q, motions, wrench) + tree.rotor[1:] * qdd


def outward(tree: KinematicTree, q, qd, qdd, base_acceleration) -> list[Motion]:
    """Return the motion of base and links (n + 1), from the base to the tip.

    ``base_acceleration`` (3, m/s^2) is that of the base's origin, in its axes: minus gravity for torques, zero for
    accelerations that a sensor at rest would see.
    """
    zero = np.zeros(3)
    # w_0 = wd_0 = 0
    motions = [Motion(zero, zero, zero, np.asarray(base_acceleration, float))]
    for i in range(1, tree.n + 1):
        R, p = tree.placement(i, q[i - 1])
        transfer = revolute_transfer if tree.revolute[i] else prismatic_transfer
        motions.append(transfer(motions[i - 1], R.T, p, tree.axis[i], qd[i - 1], qdd[i - 1]))
    return motions


def revolute_transfer(parent: Motion, E, p, Z, qd: float, qdd: float) -> Motion:
    """Return the motion of a link behind a revolute joint about Z (3, its frame); p (3, parent's frame) is its origin.

    The course, 4-21, 4-22 and the angular motions before 4-18; the notes, motion transfer of a revolute joint. Equation
    4-22 of the course has w x p where wd x p is meant, as in the notes.
    """
    w, wd, v, vd = parent
    # w_i = E w + Z qd,  wd_i = E wd + E w x Z qd + Z qdd
    w_i = E @ w + Z * qd
    wd_i = E @ wd + np.cross(E @ w, Z * qd) + Z * qdd
    # v_i = E (v + w x p),  vd_i = E (vd + wd x p + w x (w x p))
    return Motion(w_i, wd_i, E @ (v + np.cross(w, p)), E @ (vd + np.cross(wd, p) + np.cross(w, np.cross(w, p))))


def prismatic_transfer(parent: Motion, E, p, Z, qd: float, qdd: float) -> Motion:
    """Return the motion of a link behind a prismatic joint along Z (3, its frame); p (3, parent's frame) is its origin.

    The course, 4-23, 4-24 and the angular motions before 4-18; the notes, motion transfer of a prismatic joint. The
    notes' summary has the Coriolis acceleration within the bracket that E rotates; Z would have to be in the parent's
    axes there.
    """
    w, wd, v, vd = parent
    # w_i = E w,  wd_i = E wd
    w_i, wd_i = E @ w, E @ wd
    # v_i = E (v + w x p) + Z qd
    v_i = E @ (v + np.cross(w, p)) + Z * qd
    # vd_i = E (vd + wd x p + w x (w x p)) + 2 w_i x Z qd + Z qdd
    vd_i = E @ (vd + np.cross(wd, p) + np.cross(w, np.cross(w, p))) + 2.0 * np.cross(w_i, Z * qd) + Z * qdd
    return Motion(w_i, wd_i, v_i, vd_i)


def motion_of_point(link: Motion, c) -> tuple[np.ndarray, np.ndarray]:
    """Return velocity (3, m/s) and acceleration (3, m/s^2) of the point c (3, m) of a link, such as its centre of mass.

    The course, section 02, end of step 1; the notes, velocity and acceleration of a link's centre.
    """
    w, wd, v, vd = link
    # vc = v + w x c,  vcd = vd + wd x c + w x (w x c)
    return v + np.cross(w, c), vd + np.cross(wd, c) + np.cross(w, np.cross(w, c))


def inward(tree: KinematicTree, q, motions: list[Motion], tip_wrench) -> np.ndarray:
    """Return the joint torques (n,; N m or N) without rotors, from the tip to the base.

    ``tip_wrench`` (6,) is moment and force acting on the last link at its origin, in axes of the base. The course,
    section 02, steps 2 and 3 (4-14, 4-15, 4-28 to 4-31); the notes, transfer of forces and moments. Equation 4-30 of
    the course has c x f where c x F is meant, as in the notes, and step 2 has wd x I w where 4-15 has w x I w.
    """
    to_parent = [tree.placement(i, q[i - 1]) for i in range(1, tree.n + 1)]
    to_base = np.eye(3)
    for R, _ in to_parent:
        to_base = to_base @ R
    # n_n+1 and f_n+1 are what the last link exerts on its surroundings
    n, f = (-to_base.T @ part for part in (tip_wrench[:3], tip_wrench[3:]))
    R, p = np.eye(3), np.zeros(3)
    tau = []
    for i in range(tree.n, 0, -1):
        c, I = tree.com[i], tree.inertia[i]
        w, wd, _, _ = motions[i]
        _, vcd = motion_of_point(motions[i], c)
        # F = m vcd,  N = I wd + w x I w
        F = tree.mass[i] * vcd
        N = I @ wd + np.cross(w, I @ w)
        # n_i = N + R n_i+1 + c x F + p x R f_i+1,  f_i = F + R f_i+1
        n = N + R @ n + np.cross(c, F) + np.cross(p, R @ f)
        f = F + R @ f
        # tau_i = n_i' Z or f_i' Z
        tau.append(tree.axis[i] @ (n if tree.revolute[i] else f))
        R, p = to_parent[i - 1]
    return np.array(tau[::-1])


def inertia_of_points(masses, points) -> np.ndarray:
    """Return the inertia tensor (3, 3; kg m^2) about the origin of mass points (k,; kg) at ``points`` (k, 3; m).

    The notes, angular momentum and inertia tensor: j = sum of r x m (w x r) = I w with I = sum of m [r] [r]'. The notes
    have a minus before [r] [r]', which belongs to [r] [r].
    """
    return sum(m * skew(r) @ skew(r).T for m, r in zip(masses, points, strict=True))


def inertia_in_other_axes(I, R) -> np.ndarray:
    """Return the inertia tensor R I R' (3, 3; kg m^2) about the same point, in axes that R (3, 3) rotates to.

    The notes, transforms of the inertia tensor: origins coincide, axes do not.
    """
    return R @ I @ R.T


def inertia_about_other_point(I, m: float, c) -> np.ndarray:
    """Return the inertia tensor (3, 3; kg m^2) about an origin where the centre of mass is at c (3, m).

    ``I`` is about the centre, in the same axes. The notes, parallel-axis theorem: I + m (c'c 1 - c c').
    """
    c = np.asarray(c, float)
    return I + m * ((c @ c) * np.eye(3) - np.outer(c, c))


def inertia_rate(I, w) -> np.ndarray:
    """Return the time derivative (3, 3; kg m^2/s) of an inertia tensor in fixed axes, of a body that rotates with w.

    The notes, derivative of the inertia tensor: [w] I + I [w]'.
    """
    return skew(w) @ I + I @ skew(w).T
