"""Operational-space dynamics of the frames of one link or of several (Khatib 1987).

F = inertia dv/dt + bias + gravity, where v = J qd is the velocity of the frames and F are the wrenches of the joint
torques tau = J' F. J, v and F of several frames are stacked in the order of their names.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from robot_dynamics_ros.errors import ArgumentError, SingularError
from robot_dynamics_ros.evaluation.described_robot import ALIGNED, DescribedRobot
from robot_dynamics_ros.evaluation.evaluator import Evaluator, written

LEAST_CONDITION = 1e-12
"""Smallest over largest singular value of J M^-1 J' below which the matrix counts as singular."""
Links = str | Sequence[str]
"""Name of a link or frame, or names of several."""


class OperationalSpace(DescribedRobot):
    """Operational-space dynamics of the frames of one link or of several."""

    def operational_space_inertia(self, q, link: Links, reference_frame=ALIGNED, out=None) -> np.ndarray:
        """Operational-space inertia (J M^-1 J')^-1 of F frames. Khatib 1987.

        Raises SingularError where the links cannot move in all directions, six for each, independently of each other.

        Parameters
        ----------
        q : array_like, (..., nq)
            Joint positions in rad (prismatic: m).
        link : str or sequence of str
            Name of a link or frame, one of ``frame_names``, or names of F of them; F = 1 for one name. Rows and columns
            of several frames are in the order of their names.
        reference_frame : {'local_world_aligned', 'local', 'world'}
            How 6-vectors (angular, linear) are expressed: at the origin of the link in the axes of the base, at the
            origin of the link in its own axes, or at the origin of the base in its axes.
        out : ndarray, optional
            Writable float64 array of the shape of the result. It is overwritten and returned.

        Returns
        -------
        ndarray, (..., 6 F, 6 F)
            kg m^2 (angular), kg m (coupling), kg (linear).
        """
        name = 'operational_space_inertia'
        if isinstance(link, str):
            try:
                return self._evaluate((name, link, reference_frame), self._inputs, out, q)
            except ArgumentError:  # ``evaluate`` has the reason, or the result
                pass
        return evaluate(self._evaluator, name, self._inputs, out, link, reference_frame, q)

    def operational_space_inertia_inverse(self, q, link: Links, reference_frame=ALIGNED, out=None) -> np.ndarray:
        """Inverse J M^-1 J' of the operational-space inertia of F frames, which exists also where that is singular.

        Multiplied by wrenches on the frames it is the change of the frames' accelerations. The cost is linear in the
        number of joints. Rodriguez, Jain & Kreutz-Delgado 1991.

        Parameters
        ----------
        q : array_like, (..., nq)
            Joint positions in rad (prismatic: m).
        link : str or sequence of str
            Name of a link or frame, one of ``frame_names``, or names of F of them; F = 1 for one name. Rows and columns
            of several frames are in the order of their names.
        reference_frame : {'local_world_aligned', 'local', 'world'}
            How 6-vectors (angular, linear) are expressed: at the origin of the link in the axes of the base, at the
            origin of the link in its own axes, or at the origin of the base in its axes.
        out : ndarray, optional
            Writable float64 array of the shape of the result. It is overwritten and returned.

        Returns
        -------
        ndarray, (..., 6 F, 6 F)
            1/(kg m^2) (angular), 1/(kg m) (coupling), 1/kg (linear).
        """
        return inertia_inverse(self._evaluator, self._inputs, out, link, reference_frame, q)

    def consistent_inverse(self, q, link: Links, reference_frame=ALIGNED, out=None) -> np.ndarray:
        """Dynamically consistent inverse Jbar = M^-1 J' (J M^-1 J')^-1 of J of F frames. Raises SingularError.

        Parameters
        ----------
        q : array_like, (..., nq)
            Joint positions in rad (prismatic: m).
        link : str or sequence of str
            Name of a link or frame, one of ``frame_names``, or names of F of them; F = 1 for one name. Rows and columns
            of several frames are in the order of their names.
        reference_frame : {'local_world_aligned', 'local', 'world'}
            How 6-vectors (angular, linear) are expressed: at the origin of the link in the axes of the base, at the
            origin of the link in its own axes, or at the origin of the base in its axes.
        out : ndarray, optional
            Writable float64 array of the shape of the result. It is overwritten and returned.

        Returns
        -------
        ndarray, (..., nv, 6 F)
            rad (prismatic: m) per rad, m.
        """
        name = 'consistent_inverse'
        if isinstance(link, str):
            try:
                return self._evaluate((name, link, reference_frame), self._inputs, out, q)
            except ArgumentError:  # ``evaluate`` has the reason, or the result
                pass
        return evaluate(self._evaluator, name, self._inputs, out, link, reference_frame, q)

    def nullspace_projector(self, q, link: Links, reference_frame=ALIGNED, out=None) -> np.ndarray:
        """Dynamically consistent projector 1 - J' Jbar' of joint torques, Jbar the ``consistent_inverse`` of F frames.

        Projected torques do not accelerate the frames: J M^-1 (1 - J' Jbar') = 0. Khatib 1987, 1995. Raises
        SingularError.

        Parameters
        ----------
        q : array_like, (..., nq)
            Joint positions in rad (prismatic: m).
        link : str or sequence of str
            Name of a link or frame, one of ``frame_names``, or names of F of them; F = 1 for one name. Rows and columns
            of several frames are in the order of their names.
        reference_frame : {'local_world_aligned', 'local', 'world'}
            How 6-vectors (angular, linear) are expressed: at the origin of the link in the axes of the base, at the
            origin of the link in its own axes, or at the origin of the base in its axes.
        out : ndarray, optional
            Writable float64 array of the shape of the result. It is overwritten and returned.

        Returns
        -------
        ndarray, (..., nv, nv)
            N m (prismatic: N) per N m (prismatic: N).
        """
        return projector(self._evaluator, self._inputs, out, link, reference_frame, q)

    def operational_space_bias(self, q, qd, link: Links, reference_frame=ALIGNED, out=None) -> np.ndarray:
        """Bias wrench Jbar' c - inertia dJ/dt qd, Jbar the ``consistent_inverse``. Raises SingularError.

        Parameters
        ----------
        q : array_like, (..., nq)
            Joint positions in rad (prismatic: m).
        qd : array_like, (..., nv)
            Joint velocities in rad/s (m/s).
        link : str or sequence of str
            Name of a link or frame, one of ``frame_names``, or names of F of them; F = 1 for one name. Rows and columns
            of several frames are in the order of their names.
        reference_frame : {'local_world_aligned', 'local', 'world'}
            How 6-vectors (angular, linear) are expressed: at the origin of the link in the axes of the base, at the
            origin of the link in its own axes, or at the origin of the base in its axes.
        out : ndarray, optional
            Writable float64 array of the shape of the result. It is overwritten and returned.

        Returns
        -------
        ndarray, (..., 6 F)
            N m, N of each frame.
        """
        name = 'operational_space_bias'
        if isinstance(link, str):
            try:
                return self._evaluate((name, link, reference_frame), self._weightless, out, q, qd)
            except ArgumentError:  # ``evaluate`` has the reason, or the result
                pass
        return evaluate(self._evaluator, name, self._weightless, out, link, reference_frame, q, qd)

    def operational_space_gravity(self, q, link: Links, reference_frame=ALIGNED, out=None) -> np.ndarray:
        """Wrench Jbar' g of gravity, Jbar the ``consistent_inverse``. Raises SingularError.

        Parameters
        ----------
        q : array_like, (..., nq)
            Joint positions in rad (prismatic: m).
        link : str or sequence of str
            Name of a link or frame, one of ``frame_names``, or names of F of them; F = 1 for one name. Rows and columns
            of several frames are in the order of their names.
        reference_frame : {'local_world_aligned', 'local', 'world'}
            How 6-vectors (angular, linear) are expressed: at the origin of the link in the axes of the base, at the
            origin of the link in its own axes, or at the origin of the base in its axes.
        out : ndarray, optional
            Writable float64 array of the shape of the result. It is overwritten and returned.

        Returns
        -------
        ndarray, (..., 6 F)
            N m, N of each frame.
        """
        name = 'operational_space_gravity'
        if isinstance(link, str):
            try:
                return self._evaluate((name, link, reference_frame), self._inputs, out, q)
            except ArgumentError:  # ``evaluate`` has the reason, or the result
                pass
        return evaluate(self._evaluator, name, self._inputs, out, link, reference_frame, q)


def evaluate(evaluator: Evaluator, name: str, inputs: np.ndarray, out, link: Links, reference_frame: str, q, *velocity):
    """Return the results (..., shape) of an algorithm of operational space.

    Kernels compute no finite result where the condition may be too large; ``exact`` decides there. Raises SingularError
    naming links and state if they cannot move in all directions.
    """
    if not isinstance(link, str):
        links = names_of(link)
        if len(links) > 1:
            return of_frames(evaluator, name, inputs, out, links, reference_frame, q, *velocity)
        (link,) = links
    try:
        if velocity:
            return evaluator.evaluate((name, link, reference_frame), inputs, out, q, *velocity)
        return evaluator.evaluate((name, link, reference_frame), inputs, out, q)
    except ArgumentError:
        result = exact(evaluator, name, inputs, link, reference_frame, q, *velocity)
        return written(out, result)


def inertia_inverse(evaluator: Evaluator, inputs: np.ndarray, out, link: Links, reference_frame: str, q) -> np.ndarray:
    """Return J M^-1 J' (..., 6 F, 6 F) of F frames."""
    name, links = 'operational_space_inertia_inverse', names_of(link)
    if len(links) == 1:
        return evaluator.evaluate((name, links[0], reference_frame), inputs, out, q)
    if fits(evaluator, links):
        return evaluator.evaluate((name, links, reference_frame), inputs, out, q)
    J = jacobian(evaluator, links, reference_frame, q)
    return written(out, J @ evaluator.evaluate('mass_matrix_inverse', inputs, None, q) @ np.swapaxes(J, -1, -2))


def projector(evaluator: Evaluator, inputs: np.ndarray, out, link: Links, reference_frame: str, q) -> np.ndarray:
    """Return 1 - J' Jbar' (..., nv, nv), Jbar the consistent inverse of J. Raises SingularError."""
    inverse = evaluate(evaluator, 'consistent_inverse', inputs, None, link, reference_frame, q)
    J = jacobian(evaluator, names_of(link), reference_frame, q)
    return written(out, np.eye(evaluator.arrays.nv) - np.swapaxes(inverse @ J, -1, -2))


def of_frames(
    evaluator: Evaluator, name: str, inputs: np.ndarray, out, links: tuple[str, ...], reference_frame: str, q, *velocity
) -> np.ndarray:
    """Return what ``evaluate`` does for several frames."""
    if name == 'operational_space_inertia':
        if fits(evaluator, links):
            try:
                return evaluator.evaluate((name, links, reference_frame), inputs, out, q)
            except ArgumentError:  # ``exact`` has the reason
                pass
        return written(out, exact(evaluator, name, inputs, links, reference_frame, q))
    inertia = of_frames(evaluator, 'operational_space_inertia', inputs, None, links, reference_frame, q)
    inverse = evaluator.evaluate(('response_to_wrenches', links, reference_frame), inputs, None, q) @ inertia
    if name == 'consistent_inverse':
        return written(out, inverse)
    return written(out, bias(evaluator, inputs, links, reference_frame, inertia, inverse, q, *velocity))


def bias(
    evaluator: Evaluator,
    inputs: np.ndarray,
    links: tuple[str, ...],
    reference_frame: str,
    inertia,
    inverse,
    q,
    *velocity,
) -> np.ndarray:
    """Return Jbar' h - inertia dJ/dt qd (..., 6 F), h of the gravity in ``inputs``; qd is zero by default."""
    zeros = np.zeros(evaluator.arrays.nv)
    (qd,) = velocity or (zeros,)
    h = evaluator.evaluate('bias_torque', inputs, None, q, qd)
    blocks = [evaluator.evaluate_generic(('link_acceleration', it, reference_frame), q, qd, zeros) for it in links]
    dJ_qd = np.concatenate(blocks, axis=-1)
    return (np.swapaxes(inverse, -1, -2) @ h[..., None] - inertia @ dJ_qd[..., None])[..., 0]


def exact(
    evaluator: Evaluator, name: str, inputs: np.ndarray, link: Links, reference_frame: str, q, *velocity
) -> np.ndarray:
    """Return what ``evaluate`` does, by the singular values of J M^-1 J' (..., 6 F, 6 F)."""
    links = names_of(link)
    J = jacobian(evaluator, links, reference_frame, q)
    M_inv = evaluator.evaluate('mass_matrix_inverse', evaluator.inputs, None, q)
    # M^-1 J'
    M_inv_J = M_inv @ np.swapaxes(J, -1, -2)
    sizes = np.linalg.svd(J @ M_inv_J, compute_uv=False)
    singular = sizes[..., -1] <= LEAST_CONDITION * sizes[..., 0]
    if singular.any():
        index = [int(k) for k in np.argwhere(singular)[0]]
        where = f'q{index}' if index else 'q'
        who = f'link {links[0]!r}' if len(links) == 1 else f'links {", ".join(map(repr, links))}'
        count = 'six' if len(links) == 1 else 6 * len(links)
        raise SingularError(f'{where}: {who} cannot move in all {count} directions here')
    inertia = np.linalg.inv(J @ M_inv_J)
    if name == 'operational_space_inertia':
        return inertia
    inverse = M_inv_J @ inertia
    if name == 'consistent_inverse':
        return inverse
    return bias(evaluator, inputs, links, reference_frame, inertia, inverse, q, *velocity)


def jacobian(evaluator: Evaluator, links: tuple[str, ...], reference_frame: str, q) -> np.ndarray:
    """Return the Jacobian J (..., 6 F, nv) of F frames."""
    blocks = [evaluator.evaluate_generic(('jacobian', link, reference_frame), q) for link in links]
    return blocks[0] if len(blocks) == 1 else np.concatenate(blocks, axis=-2)


def names_of(link: Links) -> tuple[str, ...]:
    """Return one name, or several, as a tuple; ArgumentError if there is none."""
    links = (link,) if isinstance(link, str) or not isinstance(link, Iterable) else tuple(link)
    if not links:
        raise ArgumentError('link: expected at least one name, got an empty sequence')
    return links


def fits(evaluator: Evaluator, links: tuple[str, ...]) -> bool:
    """Return whether the row Y of a workspace is wide enough for the frames: 6 F of its 3 nv columns, or some more."""
    return 2 * len(links) <= evaluator.arrays.nv
