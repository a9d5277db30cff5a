"""Do the efforts of a log belong to its motion? Signs, order and units are judged before anything is identified.

Whatever the masses of a description, the effort of a joint is a sum with coefficients of at least 0::

    effort = a gravity + b (inverse dynamics - gravity) + c qdd + d qd + e sign(qd) + offset

The last four are rotor inertia, viscous and Coulomb friction, and an offset. On 27 measured logs of five arms this
explains 0.69 to 0.999 of a joint's variance, and the effort with the other sign 0.29 or less.

Whether one effort has another scale than the others shows without any masses: links between two joints act on both.
With inertial parameters and friction eliminated, the squared residual of all joints is a quadratic form of the
factors of their efforts (Gautier & Briot 2014), whose part by noise is known from each joint alone.
"""

from collections.abc import Iterator

import numpy as np
from scipy.optimize import nnls

from robot_dynamics_ros.control.joints.standstill import SPEED
from robot_dynamics_ros.identification.friction_terms import USUAL, FrictionColumns
from robot_dynamics_ros.identification.logs.log import Log
from robot_dynamics_ros.identification.regression import Regression
from robot_dynamics_ros.model.model import Finding
from robot_dynamics_ros.robot import Robot

ENOUGH = 2000
"""Samples that are judged, at most."""
FEWEST = 100
"""Least number of them at which a joint moves."""
CLEARER = 0.3
"""R2 by which the other sign has to explain an effort better."""
MUCH_CLEARER = 4.0
"""Factor by which the motion of another joint has to leave less of an effort's variance."""
TOO_LARGE = 5.0
"""Effort without a finding, as a multiple of the effort limit; those of descriptions are often placeholders."""
POSSIBLE = 0.2, 5.0
"""Gravity torque of the efforts, as a share of the described one, beyond which their unit is another one."""
USUAL_SHARES = 0.6, 1.6
"""The same without a finding: descriptions are wrong by less, payloads apart."""
COUNTS = 0.3
"""Least share of a joint's effort that is gravity, from which on its factor is known."""
SCALE = 1.5
"""Largest factor between the effort of one joint and those of the others without a finding."""
AGREEMENT = 1.25
"""Largest ratio of that factor in one half of the log and in all of it: else it is an error of the model."""
DEVIATION = 0.1
"""Largest relative standard deviation of that factor."""
CORRELATED = 20.0
"""Samples that noise is correlated over."""
RANK = 1e-9
"""Of the largest eigenvalue, the least one of scaled normal equations that counts."""


def effort_findings(robot: Robot, log: Log) -> Iterator[Finding]:
    """Yield what is implausible about the efforts of a log, an 'error' where it cannot be right.

    ModelError as ``Log.torque``.
    """
    log = log[:: 1 + len(log) // ENOUGH]
    torque, names = log.torque(robot), [f'joint {name!r}' for name in robot.joint_names]
    measured = np.ptp(log.tau, axis=0) > 0.0
    for j in np.flatnonzero(~measured):
        yield Finding('error', names[j], f'no effort: it is {log.tau[0, j]:.4g} in all samples')
    found = list(_of_motion(robot, log, torque, np.flatnonzero(measured)))
    largest, limits = np.abs(torque).max(axis=0), robot.limits.effort
    for j in np.flatnonzero((limits > 0.0) & (largest > TOO_LARGE * limits)):
        if not any(it.where == names[j] for it in found):
            text = f'its effort reaches {largest[j]:.3g} N m (N), its limit is {limits[j]:.3g}'
            found.append(Finding('warning', names[j], f'{text}: its unit may be another one'))
    yield from found
    if robot.nv > 1 and measured.all() and not any(it.severity == 'error' for it in found):
        yield from _other_scale(robot, log, torque)


def _of_motion(robot: Robot, log: Log, torque: np.ndarray, joints) -> Iterator[Finding]:
    """Yield which of ``joints`` have an effort of the other sign or of another joint, and another unit of all."""
    lacks_gravity = log.effort == 'torque_without_gravity'
    efforts = log.tau if lacks_gravity else torque
    gravity = robot.gravity_torque(log.q)
    rigid = robot.with_rotor_inertia(np.zeros(robot.nv)).inverse_dynamics(log.q, log.qd, log.qdd)
    sign = log.qd / np.hypot(log.qd, USUAL)
    columns = np.stack([gravity * (not lacks_gravity), rigid - gravity, log.qdd, log.qd, sign], axis=2)
    moving = np.abs(log.qd) > SPEED
    joints = [int(j) for j in joints if moving[:, j].sum() >= FEWEST]
    shares = []
    for j in joints:
        where, used = f'joint {robot.joint_names[j]!r}', moving[:, j]
        explained, coefficients = _explained(columns[used, j], efforts[used, j])
        reverse = _explained(columns[used, j], -efforts[used, j])[0]
        others = [(_explained(columns[moving[:, k], k], efforts[moving[:, k], j])[0], k) for k in joints if k != j]
        best, other = max(others, default=(0.0, j))
        if reverse > max(explained + CLEARER, best):
            text = f'its effort is reversed: its motion explains it to R2 {explained:.2f}, and with the other sign to'
            yield Finding('error', where, f'{text} {reverse:.2f}')
        elif best > explained and 1.0 - best < (1.0 - explained) / MUCH_CLEARER:
            text = f'the motion of joint {robot.joint_names[other]!r} explains its effort to R2 {best:.2f}, its own to'
            yield Finding('error', where, f'{text} {explained:.2f}: the order may be another one')
        elif explained < CLEARER:
            text = f'no motion explains its effort, R2 {explained:.2f}'
            yield Finding('warning', where, f'{text}: it has another meaning, or something touched the arm')
        elif coefficients[0] * gravity[used, j].std() > COUNTS * efforts[used, j].std():
            shares.append(coefficients[0])
    yield from _other_unit(robot, float(np.median(shares)) if shares else 1.0)


def _other_unit(robot: Robot, share: float) -> Iterator[Finding]:
    """Yield that the gravity torque of the efforts is another multiple of the described one than masses explain."""
    text = f'the gravity torque in the efforts is {share:.2g} times the one of {robot.name!r}'
    if not POSSIBLE[0] < share < POSSIBLE[1]:
        yield Finding('error', 'log', f'{text}: efforts have another unit or meaning, or the robot is another one')
    elif not USUAL_SHARES[0] < share < USUAL_SHARES[1]:
        yield Finding('warning', 'log', f'{text}: a payload, wrong masses, or another scale of all efforts')


def _explained(columns: np.ndarray, effort: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the R2 of an effort (m,) by columns (m, k) with coefficients of at least 0 and an offset, and those."""
    centred, effort = columns - columns.mean(axis=0), effort - effort.mean()
    lengths, square = np.linalg.norm(centred, axis=0), float(effort @ effort)
    # gravity of a vertical axis is rounding
    lengths[lengths <= RANK * np.abs(columns).max(initial=0.0) * np.sqrt(len(columns))] = np.inf
    Q, R = np.linalg.qr(centred / lengths)
    seen = Q.T @ effort
    coefficients, left = nnls(R, seen)
    explained = 1.0 - (square - seen @ seen + left**2) / square if square > 0.0 else 0.0
    return float(explained), coefficients / lengths


def _other_scale(robot: Robot, log: Log, torque: np.ndarray) -> Iterator[Finding]:
    """Yield the joint whose effort has another scale than those of the others, where the motion tells."""
    used = np.abs(log.qd) > SPEED
    transmitted = robot.inverse_dynamics(log.q, log.qd, log.qdd)
    friction = FrictionColumns.of(('viscous', 'offset', 'coulomb', 'load'), log, transmitted, robot.friction).at(USUAL)
    own = np.stack([log.qdd, *friction], axis=2)
    halves = []
    for part in np.array_split(np.arange(len(log)), 2):
        if used[part].sum(axis=0).min() < FEWEST:
            return
        Y = robot.torque_regressor(log.q[part], log.qd[part], log.qdd[part])
        halves.append(Regression.of(Y, own[part], torque[part], used[part]).sums)
    counts = used.sum(axis=0)
    factors, information = _factors(halves[0] + halves[1], Y.shape[2], counts)
    j = int(((factors - 1.0) ** 2 * information).argmax())
    size = 1.0 / max(float(factors[j]), 1e-9)
    ratios = [_factors(it, Y.shape[2], counts / 2.0)[0][j] * size for it in halves]
    agree = all(1.0 / AGREEMENT < it < AGREEMENT for it in ratios)
    known = np.sqrt(CORRELATED / max(information[j], 1e-9)) * size < DEVIATION
    if known and agree and not 1.0 / SCALE < size < SCALE:
        text = f'its effort is {size:.2g} times what those of the other joints tell'
        where = f'joint {robot.joint_names[j]!r}'
        yield Finding('warning', where, f'{text}: a scale or torque constant, its own or theirs, is wrong')


def _factors(sums: np.ndarray, links: int, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the factor of each joint's effort that fits those of the others best, and the information on it, (n,).

    ``sums`` (n, c, c) are those of a regression with parameters of ``links`` first, over ``counts`` (n,) samples.
    """
    kept, own = np.r_[:links, sums.shape[1] - 1], slice(links, -1)
    # without each joint's own columns
    left = np.array([s[np.ix_(kept, kept)] - s[kept, own] @ _inverse(s[own, own]) @ s[own][:, kept] for s in sums])
    A, b, square = left[:, :-1, :-1], left[:, :-1, -1], left[:, -1, -1]
    noise = [square[j] - b[j] @ _inverse(A[j]) @ b[j] for j in range(len(sums))] / counts
    noise = np.maximum(noise, RANK * square / counts)
    between = (b / noise[:, None]).T
    form = np.diag(square / noise) - between.T @ _inverse((A / noise[:, None, None]).sum(axis=0)) @ between
    form -= np.diag(counts)
    information = np.maximum(np.diag(form), 1e-9)
    return 1.0 - form.sum(axis=1) / information, information


def _inverse(H: np.ndarray) -> np.ndarray:
    """Return the pseudo-inverse of a matrix of normal equations, scaled to a diagonal of 1."""
    scale = 1.0 / np.sqrt(np.where(np.diag(H) > 0.0, np.diag(H), 1.0))
    return np.outer(scale, scale) * np.linalg.pinv(H * np.outer(scale, scale), RANK, hermitian=True)
