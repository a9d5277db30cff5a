"""Operational-space dynamics by matrices: of several frames, and where the result of a kernel would not be finite."""

from collections.abc import Iterable

import numpy as np

from robot_dynamics_ros.algorithms.table import OF_FRAMES, OPERATIONAL_SPACE
from robot_dynamics_ros.errors import ArgumentError, SingularError
from robot_dynamics_ros.robot.evaluator import Evaluator, OfFrame, written

INERTIA, INVERSE = 'operational_space_inertia', 'operational_space_inertia_inverse'
LEAST_CONDITION = 1e-12
"""Smallest over largest singular value of J M^-1 J' below which the matrix counts as singular."""


class FramesEvaluator(Evaluator):
    """Evaluates all quantities: those of ``OPERATIONAL_SPACE`` of any number of frames.

    Their key has the name of a frame or a sequence of names. SingularError names frames and state if they cannot move
    in all directions.
    """

    def _evaluate_of_frame(self, request: OfFrame, inputs: np.ndarray, out, *vectors) -> np.ndarray:
        """Return the results by a kernel; by matrices where there is no kernel, or its result is not finite."""
        name, given, reference_frame = request
        if name not in OPERATIONAL_SPACE:
            return super()._evaluate_of_frame(request, inputs, out, *vectors)
        links = _names_of(given)
        link = links[0] if len(links) == 1 and isinstance(links[0], str) else links
        if link is not given:
            return self.evaluate_of_frame((name, link, reference_frame), inputs, out, *vectors)
        if self._has_kernel(name, links):
            try:
                return super()._evaluate_of_frame(request, inputs, out, *vectors)
            except ArgumentError:  # ``_by_matrices`` has the reason, or the result
                if name == INVERSE:
                    raise
        return written(out, self._by_matrices(name, inputs, links, reference_frame, *vectors))

    def nullspace_projector(self, q, link, reference_frame: str, out) -> np.ndarray:
        """Return 1 - J' Jbar' (..., nv, nv), Jbar the consistent inverse of J."""
        inverse = self.result_of_frame('consistent_inverse', link, reference_frame, q)
        J = self._jacobian(_names_of(link), reference_frame, q)
        return written(out, np.eye(self.arrays.nv) - np.swapaxes(inverse @ J, -1, -2))

    def _has_kernel(self, name: str, links: tuple[str, ...]) -> bool:
        """Return whether a kernel computes a quantity of these frames.

        For several frames, the row Y of a workspace has to be wide enough: 6 F of its 3 nv columns, or some more.
        """
        return len(links) == 1 or (name in OF_FRAMES and 2 * len(links) <= self.arrays.nv)

    def _by_matrices(
        self, name: str, inputs: np.ndarray, links: tuple[str, ...], reference_frame: str, q, *velocity
    ) -> np.ndarray:
        """Return a quantity from J, M^-1 and the inertia of F frames; of a single frame by singular values."""
        if name == INVERSE:
            J, M_inv = self._jacobian(links, reference_frame, q), self._mass_matrix_inverse(q)
            return J @ M_inv @ np.swapaxes(J, -1, -2)
        if name == INERTIA or len(links) == 1:
            inertia, inverse = self._by_singular_values(links, reference_frame, q)
        else:
            inertia = self.result_of_frame(INERTIA, links, reference_frame, q)
            inverse = self.result_of_frame('response_to_wrenches', links, reference_frame, q) @ inertia
        if name in (INERTIA, 'consistent_inverse'):
            return inertia if name == INERTIA else inverse
        # Jbar' h - inertia dJ/dt qd, h of the gravity in the inputs; qd is zero by default
        zeros = np.zeros(self.arrays.nv)
        (qd,) = velocity or (zeros,)
        h = self.evaluate('bias_torque', inputs, None, q, qd)
        blocks = [self.result_of_frame('link_acceleration', it, reference_frame, q, qd, zeros) for it in links]
        dJ_qd = np.concatenate(blocks, axis=-1)
        return (np.swapaxes(inverse, -1, -2) @ h[..., None] - inertia @ dJ_qd[..., None])[..., 0]

    def _by_singular_values(self, links: tuple[str, ...], reference_frame: str, q) -> tuple[np.ndarray, np.ndarray]:
        """Return (J M^-1 J')^-1 (..., 6 F, 6 F) and Jbar (..., nv, 6 F)."""
        J = self._jacobian(links, reference_frame, q)
        M_inv_J = self._mass_matrix_inverse(q) @ np.swapaxes(J, -1, -2)
        sizes = np.linalg.svd(J @ M_inv_J, compute_uv=False)
        singular = sizes[..., -1] <= LEAST_CONDITION * sizes[..., 0]
        if singular.any():
            index = [int(k) for k in np.argwhere(singular)[0]]
            where = f'q{index}' if index else 'q'
            who = f'link {links[0]!r}' if len(links) == 1 else f'links {", ".join(map(repr, links))}'
            count = 'six' if len(links) == 1 else 6 * len(links)
            raise SingularError(f'{where}: {who} cannot move in all {count} directions here')
        inertia = np.linalg.inv(J @ M_inv_J)
        return inertia, M_inv_J @ inertia

    def _mass_matrix_inverse(self, q) -> np.ndarray:
        """Return M^-1 (..., nv, nv)."""
        return self.result('mass_matrix_inverse', q)

    def _jacobian(self, links: tuple[str, ...], reference_frame: str, q) -> np.ndarray:
        """Return the Jacobian J (..., 6 F, nv) of F frames."""
        blocks = [self.result_of_frame('jacobian', link, reference_frame, q) for link in links]
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks, axis=-2)


def _names_of(link) -> tuple[str, ...]:
    """Return one name, or several, as a tuple; ArgumentError if there is none."""
    links = (link,) if isinstance(link, str) or not isinstance(link, Iterable) else tuple(link)
    if not links:
        raise ArgumentError('link: expected at least one name, got an empty sequence')
    return links
