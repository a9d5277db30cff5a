"""Nearest physically consistent inertias: a correction of descriptions whose inertias no body can have.

A body has positive semidefinite second moments about its centre, P = tr(I)/2 1 - I, the sum of m x x' over its mass
points: this is the triangle inequality of its principal moments (Wensing, Kim & Slotine 2018). The nearest such matrix
in the Frobenius norm is P without its negative eigenvalues (Higham 1988). Mass and centre are kept, and with them
every gravity torque.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.model.audit import audit_model
from robot_dynamics_ros.model.inertial_parameters import central_parameters
from robot_dynamics_ros.model.linear_algebra import norm, trace
from robot_dynamics_ros.model.model import Finding, Model

MISTAKE = 0.05
"""Of the largest principal moment: a correction above it is hardly one of rounding, but of a wrong number."""
ROUNDING_OF_AXIS = 1e-6
AXES = 'xyz'
ROUNDING = 1e-12
"""Of the largest second moment: rounding of bodies without thickness, whose smallest one is zero."""
SWEEPS = 40
PAIRS = ((0, 1), (0, 2), (1, 2))
ENTRIES = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def with_consistent_inertias(model: Model) -> Model:
    """Return the model with the nearest consistent inertia of each body; a finding names each change and its size.

    Raises ModelError naming a link with a negative mass.
    """
    inertias, changed = np.array(model.arrays.I), {}
    for i, link in enumerate(model.link_names):
        if inertias[i, 0] < 0.0:
            raise ModelError(f'link {link!r}: its mass of {inertias[i, 0]:g} kg is negative, no inertia is consistent')
        change = correction(inertias[i])
        if change.any():
            before = inertias[i].copy()
            # I = tr(P) 1 - P
            of_inertia = trace(change) * np.eye(3) - change
            inertias[i, 4:] += [of_inertia[entry] for entry in ENTRIES]
            if inertias[i, 0] == 0.0:
                inertias[i, 4:] = 0.0  # exactly
            changed[i] = _finding(link, before, inertias[i], norm(change.ravel()))
    outdated = set(audit_model(model))
    kept = (it for it in model.findings if it not in outdated and not _is_on_one_of(model, it, changed))
    corrected = replace(model, arrays=model.arrays._replace(I=inertias))
    return replace(corrected, findings=(*changed.values(), *kept, *audit_model(corrected)))


def correction(row) -> np.ndarray:
    """Return what the second moments (3, 3; kg m^2) of ten parameters (10,) lack to be those of a body; else zeros.

    A body without mass has none.
    """
    mass, _, inertia = central_parameters(row)
    P = 0.5 * trace(inertia) * np.eye(3) - inertia
    if mass == 0.0:
        return -P
    moments, axes = eigenvalues(P)
    least = -ROUNDING * max(abs(moment) for moment in moments)
    return sum(
        (-moment * axis[:, None] * axis for moment, axis in zip(moments, axes, strict=True) if moment < least),
        np.zeros((3, 3)),
    )


def eigenvalues(matrix) -> tuple[list[float], list[np.ndarray]]:
    """Return eigenvalues and unit eigenvectors (3,) of a symmetric matrix (3, 3), by cyclic Jacobi rotations.

    Written out, since the results of LAPACK differ between processors and a model has the same bits on all of them.
    Golub & Van Loan 2013, section 8.5.
    """
    A, V = [[float(entry) for entry in row] for row in matrix], np.eye(3).tolist()
    for _ in range(SWEEPS):
        for p, q in PAIRS:
            if abs(A[p][q]) <= 1e-300 or (A[p][p] + A[p][q] == A[p][p] and A[q][q] + A[p][q] == A[q][q]):
                A[p][q] = A[q][p] = 0.0
                continue
            theta = (A[q][q] - A[p][p]) / (2.0 * A[p][q])
            t = math.copysign(1.0, theta) / (abs(theta) + math.sqrt(1.0 + theta * theta))
            c = 1.0 / math.sqrt(1.0 + t * t)
            s = t * c
            for k in range(3):  # columns, then rows
                A[k][p], A[k][q] = c * A[k][p] - s * A[k][q], s * A[k][p] + c * A[k][q]
                V[k][p], V[k][q] = c * V[k][p] - s * V[k][q], s * V[k][p] + c * V[k][q]
            for k in range(3):
                A[p][k], A[q][k] = c * A[p][k] - s * A[q][k], s * A[p][k] + c * A[q][k]
            A[p][q] = A[q][p] = 0.0
        if A[0][1] == A[0][2] == A[1][2] == 0.0:
            break
    return [A[k][k] for k in range(3)], [np.array([V[0][k], V[1][k], V[2][k]]) for k in range(3)]


def principal_moments(row) -> list[float]:
    """Return the principal moments of inertia about the centre (3; kg m^2), ascending, of ten parameters (10,)."""
    return sorted(eigenvalues(central_parameters(row)[2])[0])


def _finding(link: str, before, after, size: float) -> Finding:
    """Return the finding on a corrected inertia; ``size`` is the Frobenius norm of the change, kg m^2."""
    was, now = principal_moments(before), principal_moments(after)
    share = size / max(abs(moment) for moment in was)
    was_text, now_text = (', '.join(f'{moment:.6g}' for moment in moments) for moments in (was, now))
    message = (
        f'its inertia was corrected by {size:.3g} kg m^2, {100.0 * share:.2g} % of its largest principal moment: '
        f'principal moments {was_text} became {now_text} kg m^2; mass and centre are unchanged'
    )
    suspect = f'. {_suspect(before)}' if share > MISTAKE else ''
    return Finding('warning', f'link {link!r}', message + suspect, 'inertias')


def _suspect(row) -> str:
    """Return which number of an inertia that no body has is probably wrong; the correction changes others, too."""
    mass, _, inertia = central_parameters(row)
    if mass == 0.0:
        return 'Look at the mass, which is 0 kg'
    moments, axes = eigenvalues(inertia)
    negative = min(moments) < 0.0
    k = moments.index(min(moments) if negative else max(moments))
    where, moment = _place(axes[k], inertia), moments[k]
    if negative:
        return f'Look at {where}: {moment:.6g} kg m^2 is negative'
    return (
        f'Look at {where}: {moment:.6g} kg m^2, which the correction keeps, is more than the sum of the other two, '
        f'{sum(moments) - moment:.6g} kg m^2, and that of {mass:.6g} kg at {math.sqrt(moment / mass):.3g} m'
    )


def _place(axis: np.ndarray, inertia: np.ndarray) -> str:
    """Return the words for the moment about a principal axis (3,), and for products that alone may have made it."""
    for k, name in enumerate(AXES):
        if abs(axis[k]) > 1.0 - ROUNDING_OF_AXIS:
            return f'i{name}{name}, the moment about the {name} axis of the link'
    P = 0.5 * trace(inertia) * np.eye(3) - inertia
    products = [f'i{AXES[i]}{AXES[j]}' for i, j in PAIRS if P[i, j] ** 2 > P[i, i] * P[j, j]]
    or_at = f', or at {", ".join(products)}' if products else ''
    return f'the moment about the axis ({", ".join(f"{number:.3g}" for number in axis)}) of the link{or_at}'


def _is_on_one_of(model: Model, finding: Finding, bodies) -> bool:
    """Return whether a finding is on the inertia of a link that belongs to one of ``bodies``, numbers of links."""
    links: Iterator[str] = (name for name, frame in model.frames.items() if frame.link in bodies)
    return finding.affects == 'inertias' and finding.where in {f'link {name!r}' for name in links}
