"""Tables and figures of an identification."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.identification import Log
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.tools.figures import PALETTE, Axis, Curve, Figure, joint_curves

TIME = Axis('time', 's')
COLOURS = dict(zip(('measured', 'predicted', 'described', 'residual'), ('#7f7f7f', *PALETTE[:3]), strict=True))
MOST_POINTS = 20_000
"""Samples of a curve; longer logs are thinned out for the page."""


class Judged(NamedTuple):
    """How well a robot predicts a log: R2 and RMS (N m, N) of each joint, (n,), under a title."""

    title: str
    r2: np.ndarray
    rms: np.ndarray


def joint_table(robot: Robot, judged: Sequence[Judged]) -> str:
    """Return R2 and RMS of each joint as text, two columns for each of ``judged``; RMS also in % of the rated effort.

    The effort limit stands for the rated effort, '-' where the description states none.
    """
    names = robot.joint_names
    width = max(map(len, names))
    lines = [' ' * width + ''.join(f'{each.title:>28}' for each in judged)]
    lines.append(' ' * width + f'{"R2":>9}{"RMS, N m":>11}{"of limit":>8}'.rjust(28) * len(judged))
    for j, name in enumerate(names):
        limit = robot.limits.effort[j]
        cells = ''
        for each in judged:
            share = f'{100.0 * each.rms[j] / limit:.1f} %' if limit > 0.0 else '-'
            cells += f'{each.r2[j]:9.4f}{each.rms[j]:11.3f}{share:>8}'
        lines.append(f'{name:<{width}}{cells}')
    return '\n'.join(lines)


def torque_figures(log: Log, robot: Robot, described: np.ndarray, predicted: np.ndarray, title: str) -> list[Figure]:
    """Return a figure for each joint with measured, predicted and residual torque, and that of the description.

    Parameters
    ----------
    log : Log
    robot : Robot
        The identified one; its torque constants convert currents.
    described, predicted : ndarray, (m, n)
        Torques by the description, and by the identified robot, N m (N).
    title : str
        Name of the log.
    """
    step = -(-len(log) // MOST_POINTS)
    t, measured = log.t[::step], log.torque(robot)[::step]
    described, predicted = described[::step], predicted[::step]
    curves = {'measured': measured, 'described': described, 'predicted': predicted, 'residual': measured - predicted}
    return [
        Figure(
            f'{title}_{j + 1}',
            f'{name}, {title}',
            TIME,
            Axis('torque', 'N m'),
            [Curve(label, COLOURS[label], t, columns[:, j]) for label, columns in curves.items()],
        )
        for j, name in enumerate(robot.joint_names)
    ]


def spectrum_figure(robot: Robot, frequency: np.ndarray, amplitude: np.ndarray, title: str) -> Figure:
    """Return the spectrum of the residual, amplitudes (k, n) in N m (N) at frequencies (k,) Hz."""
    return Figure(
        f'{title}_spectrum',
        f'Spectrum of the residual, {title}',
        Axis('frequency', 'Hz', logarithmic=True),
        Axis('amplitude', 'N m', logarithmic=True),
        joint_curves(robot.joint_names, frequency, amplitude),
    )
