"""Reading of logs for identification: what is unsuitable is refused by name, rests at the ends are cut."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.control.guards.measured_effort import MEANINGS
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.identification import Log, LogError, moving
from robot_dynamics_ros.identification.logs.csv_files import read_csv
from robot_dynamics_ros.identification.logs.log import CUTOFF, log_of_table
from robot_dynamics_ros.identification.logs.motion_plausibility import velocity_findings
from robot_dynamics_ros.identification.logs.plausibility import check_log
from robot_dynamics_ros.identification.logs.signals import segments
from robot_dynamics_ros.model.model import Finding
from robot_dynamics_ros.robot import Robot

SHORTEST = 5.0
"""Least time in motion, s: shorter logs hold too few reversals to tell friction from inertia."""
RANGE, SPEED = 0.05, 0.05
"""Least range (rad, m) and largest speed (rad/s, m/s) of a joint that is excited."""
BEYOND = 0.1
"""Distance beyond a position limit that is no error of a limit, rad (m)."""
REST = 0.5
"""Time at rest that stays before the first motion, s."""


class Source(NamedTuple):
    """How logs are to be read: names of the joints in them, topic, meaning of effort, cut-off frequency, and columns.

    ``effort`` is None where nobody has stated a meaning, ``cutoff`` (Hz) None for 5 Hz of bags and of CSV files without
    accelerations, and none of others.
    """

    joint_names: Sequence[str]
    topic: str
    effort: str | None
    cutoff: float | None
    even_times: bool = False
    columns: Mapping[str, str] = {}

    def read(self, path: Path, robot: Robot, say: Callable[[str], None]) -> Log:
        """Return the log of a CSV file or a bag, low-passed.

        ``say`` is told what is read, and what efforts at rest tell. LogError names the file, and why it does not suit:
        no effort, efforts with another meaning, another robot.
        """
        say(f'reading {path}')
        cutoff = self.cutoff
        if path.suffix == '.csv':
            found = read_csv(path, robot.nv, self.joint_names, self.columns)
            raw = log_of_table(path, found, self.effort, self.even_times)
            if 'qdd' not in found:
                say('accelerations are derivatives: the file has none')
                cutoff = cutoff or CUTOFF
        else:
            topic, effort = '/' + self.topic.removeprefix('/'), self.effort or 'torque'
            raw = Log.from_bag(path, self.joint_names, topic, effort, None, self.even_times)
            cutoff = cutoff or CUTOFF
        for j, name in enumerate(robot.joint_names):
            if not np.ptp(raw.tau[:, j]):
                text = f'{path}: no effort: that of joint {name!r} is {raw.tau[0, j]:.4g} in all samples'
                raise LogError(f'{text}; {_without(robot, j)}')
        _check_positions(path, raw, robot)
        smooth = raw if cutoff is None else raw.low_pass(cutoff)
        _check_meaning(path, raw, smooth, robot, self.effort, say)
        say(f'{len(raw)} samples, {raw.t[-1] - raw.t[0]:.1f} s')
        for before, after in itertools.pairwise(segments(raw.t)):
            gap = raw.t[before.stop - 1], raw.t[after.start]
            say(f'a gap of {gap[1] - gap[0]:.2f} s after {gap[0]:.2f} s splits the log')
        if cutoff is not None:
            say(f'{len(smooth)} samples after a low-pass at {cutoff:g} Hz, without its ends')
        return smooth


def read_all(source: Source, paths: Sequence[Path], robot: Robot, standing: bool, say: Callable[[str], None]) -> Log:
    """Return one log of all files, without rests at the ends of each unless the arm is ``standing``."""
    logs = [source.read(path, robot, say) for path in paths]
    return Log.joined(logs if standing else [_without_rest(it, say) for it in logs])


def check(paths: Sequence[Path], log: Log, robot: Robot, standing: bool, force: bool) -> Sequence[Finding]:
    """Return what is implausible about the log of some files; LogError for what cannot be right, unless by ``force``.

    Of standing poses the velocities alone are judged; a motion that does not suit is refused anyway.
    """
    found, where = velocity_findings(robot, log) if standing else check_log(robot, log), ', '.join(map(str, paths))
    errors = [f'{it.where}: {it.message}' for it in found if it.severity == 'error']
    if errors and not force:
        raise LogError('\n  '.join([f'{where}: implausible; --force identifies all the same', *errors]))
    if not standing:
        _check_motion(where, log, robot)
    return found


def _check_motion(where: str, log: Log, robot: Robot) -> None:
    """Raise LogError naming the files and why their motion does not suit: too short, not excited."""
    mask, steps = moving(log.qd), np.diff(log.t)
    for part in segments(log.t)[1:]:
        steps[part.start - 1] = 0.0
    time = float(steps[mask[1:]].sum())
    if time < SHORTEST:
        raise LogError(f'{where}: too short: the arm moves for {time:.1f} s, expected at least {SHORTEST:g} s')
    for j, name in enumerate(robot.joint_names):
        reach, speed = float(np.ptp(log.q[:, j])), float(np.abs(log.qd[:, j]).max())
        if reach < RANGE or speed < SPEED:
            raise LogError(
                f'{where}: not excited: joint {name!r} moves by {reach:.3g} rad, at {speed:.3g} rad/s or slower; '
                f'move all joints by {RANGE:g} rad and faster than {SPEED:g} rad/s, or {_without(robot, j)}'
            )


def _without(robot: Robot, j: int) -> str:
    """Return how to identify a robot without its joint ``j``, such as a finger."""
    name, parent = robot.joint_names[j], int(robot.model.arrays.parent[j + 1])
    end = f', or end the arm before it by --tip-link {robot.link_names[parent]}' if parent else ''
    return f'hold a finger by --lock {name}:POSITION{end}'


def _without_rest(log: Log, say: Callable[[str], None]) -> Log:
    """Return the log from shortly before the first motion to shortly after the last, if it has one."""
    where = np.flatnonzero(moving(log.qd))
    if not len(where):
        return log
    begin, end = log.t[where[0]] - REST, log.t[where[-1]] + REST
    part = log[(log.t >= begin) & (log.t <= end)]
    for what, cut in (('start', part.t[0] - log.t[0]), ('end', log.t[-1] - part.t[-1])):
        if cut > REST:
            say(f'cut a rest of {cut:.1f} s at the {what}')
    return part


def _check_positions(path: Path, log: Log, robot: Robot) -> None:
    """Raise LogError naming a joint whose positions are beyond its limits."""
    low, high = log.q.min(axis=0), log.q.max(axis=0)
    limits = robot.limits
    for j in np.flatnonzero((low < limits.lower - BEYOND) | (high > limits.upper + BEYOND)):
        raise LogError(
            f'{path}: another robot: joint {robot.model.joint_of_coordinate(int(j))!r} is between {low[j]:.4g} and '
            f'{high[j]:.4g}, its limits are {limits.lower[j]:.4g} and {limits.upper[j]:.4g} rad (m)'
        )


def _check_meaning(
    path: Path, log: Log, smooth: Log, robot: Robot, stated: str | None, say: Callable[[str], None]
) -> None:
    """Say what efforts at rest tell; LogError if they fit another meaning than ``torque``, which nobody has stated.

    It also has what the motion tells of single joints, by the ``smooth`` log: with efforts of another sign or order a
    meaning may fit by chance.
    """
    fits, sentence = log.effort_at_rest(robot)
    if fits is None:
        sentence += (
            f': unchecked, efforts count as {log.effort} (--effort). A rest of 0.5 s in the log, where gravity loads a '
            'joint, checks them'
        )
    say(f'effort at rest: {sentence}')
    if fits is not False or stated or log.effort == 'current':
        return
    for other in MEANINGS:
        try:
            found = replace(log, effort=other).effort_at_rest(robot).fits
        except ArgumentError:  # a current without torque constants
            continue
        if found:
            text = f'{path}: its efforts at rest look like {other}, not torque; state them by --effort'
            of_joints = [f'but {it.where}: {it.message}' for it in check_log(robot, smooth) if it.where != 'log']
            raise LogError('\n  '.join([text, *of_joints]))
