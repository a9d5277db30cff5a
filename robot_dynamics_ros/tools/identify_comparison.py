"""Comparison of two results of an identification: parameters that differ, and how well both predict a log."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.identification import Log, validate
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.tools.identify_parameters import DIGITS, FILE, Estimate, read_parameters
from robot_dynamics_ros.tools.identify_report import joint_table

FRICTION = ' friction'
"""End of the names of friction terms."""
CLEAR = 2.0
"""Standard deviations of the difference from which on two results differ in a parameter."""
SAME = 1e-3
"""Largest difference of the coefficients of a sum that both results have, relative to their size."""


class Result(NamedTuple):
    """What is in the folder of a result."""

    name: str
    robot: Robot
    parameters: dict[tuple[str, str], Estimate]

    @classmethod
    def read(cls, folder: Path, joint_names: Sequence[str]) -> 'Result':
        """Return the result in a folder; ArgumentError for a folder without one, and for a robot with other joints."""
        if missing := [it for it in ('robot.yaml', FILE) if not (folder / it).is_file()]:
            expected = 'the folder of a result of this command'
            raise ArgumentError(f'--compare: {folder} has no {" and no ".join(missing)}; expected {expected}')
        robot = Robot.from_yaml(folder / 'robot.yaml')
        if tuple(robot.joint_names) != tuple(joint_names):
            of = f'the robot in {folder} has the joints {", ".join(robot.joint_names)}'
            raise ArgumentError(f'--compare: {of}, the one that is stated {", ".join(joint_names)}')
        return cls(folder.name or str(folder), robot, read_parameters(folder / FILE))


def comparison_text(one: Result, other: Result, log: Log) -> str:
    """Return tables of the parameters that differ, the clearest first, and of the torque errors on a log."""
    found = sorted(_differences(one, other), key=lambda it: -it[0])
    clear = [(ratio, line) for ratio, line in found if ratio > CLEAR]
    titles = [it.name if one.name != other.name else str(k) for k, it in enumerate((one, other), 1)]
    judged = {title: validate(it.robot, log) for title, it in zip(titles, (one, other), strict=True)}
    lines = [
        f'{len(clear)} of {len(found)} parameters differ by more than {CLEAR:g} standard deviations of the difference',
        *(['', f'{"":<46}{titles[0]:>26}{titles[1]:>26}{"deviations":>12}'] if clear else []),
        *(line for _, line in clear),
        '',
        joint_table(one.robot, judged),
    ]
    return '\n'.join(lines)


def _differences(one: Result, other: Result) -> Iterator[tuple[float, str]]:
    """Yield the difference of each parameter in standard deviations, and its line.

    Friction that one result leaves out is 0; what else one of them has alone is not compared.
    """
    for of, name in dict.fromkeys([*one.parameters, *other.parameters]):
        pair = [result.parameters.get((of, name)) for result in (one, other)]
        present = [it for it in pair if it]
        if len(present) == 1 and not name.endswith(FRICTION):
            continue
        if len(present) == 2 and not _same_sum(*present):
            raise ArgumentError(f'--compare: {name} of {of} is another sum in {other.name}: geometry or gravity differ')
        values = [it.identified if it else 0.0 for it in pair]
        deviation = float(np.hypot.reduce([it.standard_deviation for it in present]))
        difference = abs(values[1] - values[0])
        with np.errstate(divide='ignore', invalid='ignore'):
            ratio = float(np.nan_to_num(np.divide(difference, deviation), posinf=np.inf))
        cells = [f'{it.identified:{DIGITS}} +- {it.standard_deviation:.2g}' if it else 'left out' for it in pair]
        label = f'{of}, {name}{" + ..." if present[0].sum_with else ""}'
        yield ratio, f'{label:<34}{present[0].unit:>12}{cells[0]:>26}{cells[1]:>26}{ratio:12.1f}'


def _same_sum(one: Estimate, other: Estimate) -> bool:
    """Return whether two parameters are the same sum."""
    largest = SAME * max([1.0, *map(abs, one.sum_with.values())])
    names = one.sum_with.keys() | other.sum_with.keys()
    return all(abs(one.sum_with.get(it, 0.0) - other.sum_with.get(it, 0.0)) < largest for it in names)
