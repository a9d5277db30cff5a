"""``Log``: a measured motion with the torques of the joints, from arrays, a CSV file or a rosbag2."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline

from robot_dynamics_ros import validation
from robot_dynamics_ros.control.guards.effort_check import EffortCheck
from robot_dynamics_ros.control.guards.measured_effort import MEANINGS, MeasuredEffort, Verdict
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.identification.logs import csv_files, log_files, signals
from robot_dynamics_ros.robot import Robot

CUTOFF = 5.0
"""Cut-off frequency for the signals of a bag, Hz: above the motions of arms, below most vibrations of their joints."""
ENDS = 2.5
"""Part at either end of a segment that a low-pass cuts, in periods of its cut-off frequency: the error of an end sample
has decayed to a thousandth there."""
EDGE = 4
"""Samples at either end of a segment that a derivative cuts: the effect of the end has decayed to a hundredth there."""
PAUSE = 10.0
"""Gap between logs that are joined, s."""
EFFORTS = {'i': ('current',), 'tau': ('torque', 'torque_without_gravity'), 'effort': MEANINGS}
"""Meanings that efforts in the columns of a CSV file may have."""
PERIOD = 0.02
"""Time between the samples that are looked at for a standstill, s."""


@dataclass(frozen=True, eq=False)
class Log:
    """A measured motion in joint order; ``len`` is its number of samples m, and ``log[part]`` a part of it.

    Its arrays are copies of the arguments, C-contiguous and read-only. Positions that are reported modulo a turn are
    continued beyond it, so that no derivative and no filter sees a turn.

    Parameters
    ----------
    t : array_like, (m,)
        Times that increase, s.
    q : array_like, (m, nq)
        Positions, rad (m).
    qd, qdd : array_like, (m, n)
        Velocities, rad/s (m/s), and accelerations, rad/s^2 (m/s^2).
    tau : array_like, (m, n)
        Efforts: N m (N), or A of the motors with ``effort='current'``.
    temperature : array_like, (m, n), optional
        Temperatures of the joints, degrees Celsius.
    effort : {'torque', 'current', 'torque_without_gravity'}
        What ``tau`` is: a joint torque with gravity, a motor current, or a torque from which driver or robot subtract
        the gravity torque.

    Raises
    ------
    ArgumentError
        Naming the argument: another shape, a value that is not finite, times that do not increase, another ``effort``.
    """

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray
    temperature: np.ndarray | None = None
    effort: str = 'torque'

    def __post_init__(self) -> None:
        """Copy the fields to read-only arrays and check them."""
        validation.choice('effort', self.effort, MEANINGS)
        m = len(validation.increasing('t', self.t, 1))
        nq, n = ((*validation.numbers(name, getattr(self, name)).shape, 1, 1)[1] for name in ('q', 'qd'))
        shapes = {'t': (m,), 'q': (m, nq)}
        for name in ('t', *self._signals()):
            array = np.array(validation.finite(name, getattr(self, name), shapes.get(name, (m, n))), order='C')
            if name == 'q':
                array = signals.unwrapped(self.t, array)
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @classmethod
    def from_csv(
        cls,
        path: str | Path,
        robot: Robot | int | Sequence[str],
        effort: str | None = None,
        even_times: bool = False,
        columns: Mapping[str, str] | None = None,
    ) -> 'Log':
        """Return the log of a CSV file, unfiltered.

        Its columns are t_s, q<k>_rad, qd<k>_rad_s, qdd<k>_rad_s2, and either i<k>_mA or tau<k>_Nm, for joints k = 1..n
        in joint order; T<k>_degC may be there. Others are ignored, and so are rows without a value of a joint.
        Accelerations, and velocities too, that are no columns are derivatives, as those of ``from_bag``: ``low_pass``
        the log then. Values are separated by commas, semicolons, tabs or spaces.

        Parameters
        ----------
        path : str or Path
            The file.
        robot : Robot, int or sequence of str
            The robot, its number of joints, or the names of its joints in the file.
        effort : {'torque', 'current', 'torque_without_gravity'}, optional
            What efforts are. Default: 'current' with columns i<k>_mA, else 'torque'.
        even_times : bool
            Replace times in bursts, such as those of reception, by evenly spaced ones; gaps stay.
        columns : mapping of str to str, optional
            Names of columns by 'time', 'position', 'velocity', 'acceleration', 'effort' (N m, or A) and 'temperature',
            as far as they are other ones. ``{joint}`` in them is the name of a joint, ``{index}`` its number, from 0 or
            1 on as in the file. 'time_unit' is 's', 'ms', 'us' or 'ns'.

        Returns
        -------
        Log
            Its times begin with 0.

        Raises
        ------
        LogError
            Naming the file with line and column, times in bursts, or too few samples in a row for derivatives.
        ArgumentError
            For an ``effort`` that the columns are not, and for ``columns`` that name none.
        """
        if isinstance(robot, Robot):
            n, names = robot.nv, robot.joint_names
        else:
            n, names = (robot, ()) if isinstance(robot, int) else (len(robot), tuple(robot))
        found = csv_files.read_csv(Path(path), n, names, columns or {})
        return log_of_table(Path(path), found, effort, even_times)

    @classmethod
    def from_bag(
        cls,
        path: str | Path,
        joint_names: Sequence[str],
        topic: str = log_files.TOPIC,
        effort: str = 'torque',
        cutoff: float | None = CUTOFF,
        even_times: bool = False,
    ) -> 'Log':
        """Return the joint states of a rosbag2, low-passed; needs the package rosbags.

        Joints are matched by name; others are ignored. The stamp of a message is its time, or the time of reception
        where stamps are zero; repeated stamps are dropped. Velocities are those of the messages, or derivatives of the
        positions where messages have none; accelerations are derivatives of the velocities. JointState has no field for
        them. A gap of more than 0.2 s splits the log: no derivative and no filter goes across it, and the ends of each
        segment, where they are inaccurate, are cut.

        Parameters
        ----------
        path : str or Path
            Folder of the bag, or its .db3 or .mcap file.
        joint_names : sequence of str
            The joints, for instance ``robot.joint_names``.
        topic : str
            Topic of the joint states.
        effort : {'torque', 'current', 'torque_without_gravity'}
            Meaning of the field ``effort``.
        cutoff : float, optional
            Cut-off frequency of ``low_pass``, Hz. None leaves all signals as they are.
        even_times : bool
            Replace stamps in bursts, such as times of reception, by evenly spaced ones; gaps stay.

        Returns
        -------
        Log
            Its times are those since the first message.

        Raises
        ------
        LogError
            Naming the file, with the number of the message, or stamps in bursts.
        ArgumentError
            As ``low_pass``.
        """
        t, q, qd, tau = log_files.read_bag(Path(path), joint_names, topic)
        t = log_files.checked_times(Path(path), t, even_times)
        log = cls(t, q, np.zeros_like(q) if qd is None else qd, np.zeros_like(q), tau, None, effort)
        log = _with_derivatives(Path(path), log, qd is None)
        return log if cutoff is None else log.low_pass(cutoff)

    @classmethod
    def joined(cls, logs: Sequence['Log']) -> 'Log':
        """Return several logs of one arm as one.

        Parameters
        ----------
        logs : sequence of Log
            A log keeps its times if they begin after the end of the one before. Otherwise they are shifted, to begin
            10 s after it: the gap keeps what is derived or filtered later apart.

        Returns
        -------
        Log

        Raises
        ------
        ArgumentError
            For no logs, and for logs of other joints, with another meaning of effort, or some without temperatures.
        """
        if not logs:
            raise ArgumentError('logs: expected at least one')
        first, times = logs[0], [logs[0].t]
        for k, log in enumerate(logs[1:], 1):
            if log._kind() != first._kind():
                raise ArgumentError(f'logs[{k}]: expected {first._kind()} as in the first, got {log._kind()}')
            end = times[-1][-1]
            times.append(log.t if log.t[0] > end else log.t - log.t[0] + end + PAUSE)
        rows: dict[str, Any] = {name: np.concatenate([getattr(it, name) for it in logs]) for name in first._signals()}
        return replace(first, t=np.concatenate(times), **rows)

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.t)

    def __getitem__(self, part: slice | ArrayLike) -> 'Log':
        """Return the samples of a slice, or of a mask or indices (array_like); times stay as they are."""
        part = part if isinstance(part, slice) else np.asarray(part)
        try:
            times = self.t[part]
        except IndexError:
            times = None
        if times is None or times.ndim != 1:
            which = f'a slice, a mask ({len(self)},) or indices of its samples'
            raise ArgumentError(f'part of a log: expected {which}, got {part!r:.80}')
        chosen: dict[str, Any] = {name: getattr(self, name)[part] for name in ('t', *self._signals())}
        return replace(self, **chosen)

    def torque(self, robot: Robot) -> np.ndarray:
        """Return the joint torques, friction included: what ``tau`` says in the unit N m (N).

        Currents are multiplied by the robot's torque constants; the gravity torque is added where ``tau`` lacks it.

        Parameters
        ----------
        robot : Robot

        Returns
        -------
        ndarray, (m, nv)
            N m (prismatic: N).

        Raises
        ------
        ModelError
            For currents of a robot with an unknown torque constant.
        ArgumentError
            For a robot with another number of joints.
        """
        if self.tau.shape[1] != robot.nv or self.q.shape[1] != robot.nq:
            raise ArgumentError(
                f'robot: expected one with the joints of the log, q (m, {self.q.shape[1]}) and tau '
                f'(m, {self.tau.shape[1]}), got {robot.name!r} with nq = {robot.nq}, nv = {robot.nv}'
            )
        if self.effort == 'current':
            return robot.torque_of_current(self.tau)
        return self.tau + robot.gravity_torque(self.q) if self.effort == 'torque_without_gravity' else self.tau.copy()

    def effort_at_rest(self, robot: Robot) -> Verdict:
        """Return whether efforts fit their stated meaning where the arm stands still, and why.

        Parameters
        ----------
        robot : Robot

        Returns
        -------
        Verdict
            ``fits`` is None where nothing can be said, for instance because the arm never stands for half a second;
            ``sentence`` has the largest difference from the gravity torque, or what the efforts look like instead.

        Raises
        ------
        ArgumentError
            For currents of a robot without torque constants.
        """
        check = EffortCheck(MeasuredEffort(self.effort, robot.joint_names, robot.model.torque_constant), robot.nv)
        step = max(1, round(PERIOD / float(np.median(np.diff(self.t))))) if len(self) > 1 else 1
        for k in range(0, len(self), step):
            check.add(robot, round(self.t[k] * 1e9), self.q[k], self.qd[k], self.tau[k])
        return check.verdict()

    def segments(self, longest: float | None = None) -> list['Log']:
        """Return the segments between gaps, steps in time of more than ``longest`` s.

        Default: 0.2 s, and four median steps of a log that is slower.
        """
        return [self[part] for part in signals.segments(self.t, longest)]

    def low_pass(self, cutoff: float) -> 'Log':
        """Return the log with positions, velocities and efforts low-passed by ``signals.zero_phase``.

        One linear filter leaves the equation of motion valid, as far as its coefficients hardly change within a period
        of the cut-off frequency. It rounds the step of Coulomb friction where a joint reverses: too low a cut-off
        frequency makes an identified one too large. Accelerations are the derivatives of the low-passed velocities;
        temperatures stay as they are. The filter treats each segment between gaps on its own. Within 2.5 periods of its
        ends what a filter computes is no measurement: these samples are cut.

        Parameters
        ----------
        cutoff : float
            Cut-off frequency, Hz. A time between samples of more than its period is a gap.

        Returns
        -------
        Log
            With fewer samples.

        Raises
        ------
        ArgumentError
            As ``zero_phase``, and where no segment is longer than what is cut.
        """
        ends = ENDS / validation.positive('cutoff', cutoff)
        median = float(np.median(np.diff(self.t))) if len(self) > 1 else 0.0
        parts = self.segments(max(1.0 / cutoff, 2.0 * median))
        lengths = np.array([part.t[-1] - part.t[0] for part in parts])
        are_long = lengths > 2.0 * ends + signals.FEWEST * median
        if not are_long.any():
            raise ArgumentError(
                f'cutoff: {ends:.3g} s at each end of a segment are cut, and the longest one without a gap has '
                f'{lengths.max():.3g} s: a cut-off frequency above {cutoff:g} Hz or a longer log is needed'
            )
        return Log.joined([_low_passed(part, cutoff, ends) for part in itertools.compress(parts, are_long)])

    def without_delay(self, delay: float) -> 'Log':
        """Return the log with efforts measured ``delay`` s later, which ``delay_of_torques`` finds; ends are cut."""
        parts = []
        for part in self.segments():
            times = part.t + delay
            inner = (times >= part.t[0]) & (times <= part.t[-1])
            if inner.sum() >= signals.FEWEST:
                parts.append(replace(part[inner], tau=CubicSpline(part.t, part.tau)(times[inner])))
        if not parts:
            duration = self.t[-1] - self.t[0]
            raise ArgumentError(f'delay: expected a part of the duration, {duration:.4g} s, got {delay} s')
        return Log.joined(parts)

    def _kind(self) -> str:
        """Return what logs that are joined have in common."""
        temperatures = 'no temperatures' if self.temperature is None else 'temperatures'
        return f'q (m, {self.q.shape[1]}), qd (m, {self.qd.shape[1]}), effort {self.effort!r}, {temperatures}'

    def _signals(self) -> list[str]:
        """Return the names of the fields with a row for each sample."""
        return ['q', 'qd', 'qdd', 'tau', *(['temperature'] if self.temperature is not None else [])]


def log_of_table(path: Path, found: Mapping[str, np.ndarray], effort: str | None, even_times: bool) -> Log:
    """Return the log of what ``read_csv`` has found in a file; arguments and errors as of ``Log.from_csv``."""
    (column,) = found.keys() & EFFORTS
    meanings, tau = EFFORTS[column], found[column]
    effort = validation.choice(f'effort of {path}', meanings[0] if effort is None else effort, meanings)
    t = log_files.checked_times(path, found['t'], even_times)
    zeros = np.zeros_like(tau)
    log = Log(t, found['q'], found.get('qd', zeros), found.get('qdd', zeros), tau, found.get('T'), effort)
    return log if 'qdd' in found else _with_derivatives(path, log, 'qd' not in found)


def _with_derivatives(path: Path, log: Log, velocities: bool) -> Log:
    """Return a log with accelerations, and ``velocities`` if asked for, by derivatives in each of its segments."""
    fewest = 2 * EDGE + signals.FEWEST
    parts = [_differentiated(part, velocities) for part in log.segments() if len(part) >= fewest]
    if not parts:
        raise log_files.LogError(f'{path}: expected {fewest} samples in a row, without a gap of {signals.GAP} s')
    return Log.joined(parts)


def _differentiated(log: Log, velocities: bool) -> Log:
    """Return a log without gaps with accelerations, and ``velocities`` if asked for, by derivatives; without ends."""
    qd = signals.differentiate(log.t, log.q) if velocities else log.qd
    return replace(log, qd=qd, qdd=signals.differentiate(log.t, qd))[EDGE:-EDGE]


def _low_passed(log: Log, cutoff: float, ends: float) -> Log:
    """Return a log without gaps low-passed, without the first and the last ``ends`` s."""
    q, qd, tau = (signals.zero_phase(log.t, getattr(log, name), cutoff) for name in ('q', 'qd', 'tau'))
    smooth = replace(log, q=q, qd=qd, qdd=signals.differentiate(log.t, qd), tau=tau)
    return smooth[(log.t >= log.t[0] + ends) & (log.t <= log.t[-1] - ends)]
