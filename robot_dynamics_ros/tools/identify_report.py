"""Reports of an identification: tables and figures."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robot_dynamics_ros.identification import IdentifiedParameter, Log, StandingPoses
from robot_dynamics_ros.model.model import Finding
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.tools.figures.figures import PALETTE, Axis, Curve, Figure, joint_curves
from robot_dynamics_ros.tools.identify_parameters import unseen_sentences, untold_sentences

if TYPE_CHECKING:
    from robot_dynamics_ros.identification import GravityIdentification, Identification, Validation

COLOURS = dict(zip(('measured', 'described', 'predicted', 'residual'), ('#7f7f7f', *PALETTE[:3]), strict=True))
TORQUE = Axis('torque', 'N m')
MOST_POINTS = 10_000
"""Samples of a curve; longer logs are thinned out for the page."""
WIDTH = 26
"""Of the two columns for a robot and a log."""


class Report(NamedTuple):
    """The identified robot, a table as text, figures, unexplained joints, and parameters.

    Of the torque of an unexplained joint the result explains nothing.
    """

    robot: Robot
    text: str
    figures: list[Figure]
    unexplained: Sequence[str]
    parameters: Sequence[IdentifiedParameter]

    def with_findings(self, findings: Iterable[Finding]) -> 'Report':
        """Return the report with findings on the logs in its text, as far as it has not said so."""
        lines = self.text.splitlines()
        return self._replace(text='\n'.join([*lines, *(it for it in _finding_lines(findings) if it not in lines)]))


def motion_report(found: 'Identification', judged: Mapping[str, 'Validation']) -> Report:
    """Return the report on what ``identify`` found.

    Parameters
    ----------
    found : Identification
    judged : mapping
        By title: how well the described and the identified robot predict a log; 'described' and 'identified' are those
        on the log that identified, titles of another log end with ', other log'.
    """
    robot = found.robot
    lines = [
        joint_table(robot, judged),
        '',
        f'{len(found.base_parameters)} base parameters; condition number {found.condition_number:.3g}',
        f'largest standard deviation: {found.standard_deviation.max():.3g} kg, kg m or kg m^2',
        *_left_out_lines(found.left_out),
        *untold_sentences(found.parameters),
        *unseen_sentences(found.parameters),
        *_finding_lines(found.findings),
    ]
    figures = []
    for suffix in ('', ', other log'):
        if (title := f'identified{suffix}') in judged:
            figures += _torque_figures(robot, judged[f'described{suffix}'], judged[title], suffix)
            frequency, amplitude = judged[title].spectrum()
            figures.append(
                Figure(
                    f'spectrum{_stem(suffix)}',
                    f'Spectrum of the residual{suffix}',
                    Axis('frequency', 'Hz', logarithmic=True),
                    Axis('amplitude', 'N m', logarithmic=True),
                    joint_curves(robot.joint_names, frequency[1:], amplitude[1:]),
                )
            )
    # NaN: a joint that does not move in a log is not judged by it
    of_result = [each.r2 > 0.0 for title, each in judged.items() if title == 'identified']
    of_result += [~(each.r2 <= 0.0) for title, each in judged.items() if not title.startswith('described')]
    explained = np.all(of_result, axis=0)
    unexplained = [name for name, it in zip(robot.joint_names, explained, strict=True) if not it]
    return Report(robot, '\n'.join(lines), figures, unexplained, found.parameters)


def standing_report(described: Robot, found: 'GravityIdentification', log: Log, other: Log | None) -> Report:
    """Return the report on what ``identify_gravity`` found in ``log``; poses of an ``other`` log judge it."""
    robot = found.robot
    width = max(map(len, robot.joint_names))
    logs = {'': log, ', other log': other}
    poses = {suffix: StandingPoses.from_log(robot, it) for suffix, it in logs.items() if it is not None}
    lines = [f'{"":<{width}}{"static friction, N m":>26}' + ''.join(f'{"RMS, N m" + it:>24}' for it in poses)]
    predicted = {suffix: _static_torque(robot, found, it) for suffix, it in poses.items()}
    errors = [np.sqrt(np.mean((poses[it].tau - predicted[it]) ** 2, axis=0)) for it in poses]
    for j, name in enumerate(robot.joint_names):
        friction = f'{found.static_friction[j]:.3f} +- {found.static_friction_deviation[j]:.3f}'
        lines.append(f'{name:<{width}}{friction:>26}' + ''.join(f'{error[j]:24.3f}' for error in errors))
    lines += [
        '',
        f'{len(poses[""].q)} poses, {len(found.base_parameters)} base parameters of gravity; '
        f'condition number {found.condition_number:.3g}',
        *untold_sentences(found.parameters),
        *_finding_lines(found.findings),
    ]
    figures = []
    for suffix, it in poses.items():
        number = np.arange(1.0, len(it.q) + 1.0)
        for j, name in enumerate(robot.joint_names):
            columns = {
                'measured': it.tau,
                'described': described.gravity_torque(it.q),
                'predicted': predicted[suffix],
                'residual': it.tau - predicted[suffix],
            }
            curves = [Curve(label, COLOURS[label], number, values[:, j]) for label, values in columns.items()]
            figures.append(Figure(f'poses_{j + 1}{_stem(suffix)}', f'{name}{suffix}', Axis('pose', ''), TORQUE, curves))
    # joints without gravity have friction alone: all are judged together
    explains = (errors[0] ** 2).sum() < poses[''].tau.var(axis=0).sum()
    return Report(robot, '\n'.join(lines), figures, () if explains else robot.joint_names, found.parameters)


def _static_torque(robot: Robot, found: 'GravityIdentification', poses: StandingPoses) -> np.ndarray:
    """Return gravity torque and static friction at poses, (k, n) N m (N)."""
    return robot.gravity_torque(poses.q) + poses.direction * found.static_friction


def joint_table(robot: Robot, judged: Mapping[str, 'Validation']) -> str:
    """Return a table: R2 and RMS of each joint for each robot and log; RMS also in % of the effort limit."""
    names = robot.joint_names
    width = max(map(len, names))
    lines = [' ' * width + ''.join(f'{title:>{WIDTH}}' for title in judged)]
    lines.append(' ' * width + f'{"R2":>9}{"RMS, N m":>10}{"limit":>7}'.rjust(WIDTH) * len(judged))
    for j, name in enumerate(names):
        limit = robot.limits.effort[j]
        cells = ''
        for each in judged.values():
            share = f'{100.0 * each.rms[j] / limit:.1f} %' if limit > 0.0 else '-'
            cells += f'{each.r2[j]:9.4f}{each.rms[j]:10.3f}{share:>7}'
        lines.append(f'{name:<{width}}{cells}')
    return '\n'.join(lines)


def _torque_figures(robot: Robot, described: 'Validation', identified: 'Validation', suffix: str) -> Iterable[Figure]:
    """Yield a figure for each joint: measured, described, predicted and residual torque over time."""
    step = slice(None, None, -(-len(identified.t) // MOST_POINTS))
    columns: dict[str, np.ndarray] = {
        'measured': identified.measured,
        'described': described.predicted,
        'predicted': identified.predicted,
        'residual': identified.residual,
    }
    for j, name in enumerate(robot.joint_names):
        curves = [Curve(label, COLOURS[label], identified.t[step], it[step, j]) for label, it in columns.items()]
        yield Figure(f'torque_{j + 1}{_stem(suffix)}', f'{name}{suffix}', Axis('time', 's'), TORQUE, curves)


def _left_out_lines(left_out: Mapping[str, Sequence[str]]) -> Iterable[str]:
    """Yield the line on terms of friction that joints do not have."""
    if left_out:
        terms = '; '.join(f'{term} of {", ".join(joints)}' for term, joints in left_out.items())
        yield f'friction left out, for it does not pay on parts of the log held out: {terms}'


def _finding_lines(findings: Iterable[Finding]) -> Iterable[str]:
    """Yield the lines of findings."""
    for it in findings:
        yield f'{it.severity}: {it.where}: {it.message}'


def _stem(suffix: str) -> str:
    """Return the part of a file's name for the suffix of a title."""
    return suffix.replace(', ', '_').replace(' ', '_')
