"""CSV files of measured motions: columns with the usual names, or with those that another tool gives them.

A template names the columns of a quantity: ``{joint}`` stands for the name of a joint, ``{index}`` for its number, from
0 or 1 on as in the file. Values are separated by commas, semicolons, tabs or spaces.
"""

import csv
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.identification.logs.log_files import FEWEST_SAMPLES, LogError

LATEST = 9e9
"""Times (s) below it are counted in ns by 64 bits."""
SLOWEST = 2.0
"""Least samples a second of times whose unit is not stated: arms report more, but 2 kHz in ms look like this."""
UNITS = {'q': 'rad', 'qd': 'rad_s', 'qdd': 'rad_s2', 'i': 'mA', 'tau': 'Nm', 'T': 'degC'}
"""Symbols and units in the usual names of columns, <symbol><k>_<unit>."""
QUANTITIES = {'position': 'q', 'velocity': 'qd', 'acceleration': 'qdd', 'effort': 'tau', 'temperature': 'T'}
"""Symbols of the quantities of a joint."""
OPTIONAL = ('velocity', 'acceleration', 'temperature')
"""Quantities that a file need not have."""
TIME, TIME_UNIT = 'time', 'time_unit'
TIMES = {'s': 1.0, 'ms': 1e-3, 'us': 1e-6, 'ns': 1e-9}
"""Units of times, s."""
LIKELY_UNITS = {'ms': 1e-2, 'us': 1e-5, 'ns': 0.0}
"""Least samples a second at which times in each unit, taken for s, belong to 10 Hz or more."""
KEYS = (TIME, TIME_UNIT, *QUANTITIES)
"""What can be stated of columns."""
EXAMPLE = 'time=timestamp position=q_{index} effort=tau_{index}'
LISTED = 40
"""Largest number of columns that an error lists; numbered ones count as one."""


class _Column(NamedTuple):
    """A column that is read, and the factor to the unit of ``read_csv``."""

    name: str
    factor: float


def columns_of(words: Iterable[str]) -> dict[str, str]:
    """Return the templates by quantity of words such as 'position=actual_q_{index}'.

    ArgumentError names the word that is no such assignment, or a quantity that is unknown or given twice.
    """
    found: dict[str, str] = {}
    for word in words:
        key, equals, template = (part.strip() for part in word.partition('='))
        if not (equals and template) or key not in KEYS:
            raise ArgumentError(f'columns: expected NAME=COLUMN with a name of {", ".join(KEYS)}, got {word!r:.80}')
        if key in found:
            raise ArgumentError(f'columns: {key} is given twice')
        found[key] = template
    return found


def column_names(symbols: Sequence[str], n: int) -> list[str]:
    """Return the usual names of the columns of times and of signals of joints k = 1..n."""
    return ['t_s', *(f'{symbol}{k}_{UNITS[symbol]}' for symbol in symbols for k in range(1, n + 1))]


def read_csv(path: Path, n: int, joint_names: Sequence[str], columns: Mapping[str, str]) -> dict[str, np.ndarray]:
    """Return times 't' (m,) from the start of a log, and of ``n`` joints each symbol of ``UNITS`` it has, (m, n).

    ``columns`` are the templates by quantity; what is not stated has its usual name. ``joint_names`` stand for
    ``{joint}``. Usual currents 'i' are in A; efforts in columns that are stated are 'effort', for their meaning is not
    known. Rows without any value of a joint, those of other signals, are skipped. LogError names the file with the line
    and column that is wrong, ArgumentError the template.
    """
    try:
        with path.open(newline='', encoding='utf-8-sig') as file:
            first = file.readline()
            separator = next((it for it in ',;\t' if it in first), ' ')
            rows = csv.reader(itertools.chain([first], file), delimiter=separator, skipinitialspace=separator == ' ')
            header = [name.strip() for name in next(rows, [])]
            found = _Header(path, header, n, joint_names, columns).found()
            table = list(_numbers(path, rows, header, list(itertools.chain(*found.values()))))
    except OSError as error:
        raise LogError(f'{path}: cannot be read: {error.strerror}') from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise LogError(f'{path}: not read as a CSV file in UTF-8: {error}') from None
    if len(table) < FEWEST_SAMPLES:
        raise LogError(f'{path}: expected at least {FEWEST_SAMPLES} samples, got {len(table)}')
    times, *signals = np.split(np.array(table), 1 + n * np.arange(len(found) - 1), axis=1)
    _check_times(path, times[:, 0], found['t'][0].name, TIME_UNIT in columns)
    _, *symbols = found
    return {'t': times[:, 0] - times[0, 0], **dict(zip(symbols, signals, strict=True))}


class _Header(NamedTuple):
    """The first line of a file, with the joints and the stated names of columns."""

    path: Path
    names: list[str]
    n: int
    joint_names: Sequence[str]
    columns: Mapping[str, str]

    def found(self) -> dict[str, list[_Column]]:
        """Return the column of times 't', and of each symbol those of the joints."""
        unit = self.columns.get(TIME_UNIT, 's')
        if unit not in TIMES:
            raise ArgumentError(f'columns: {TIME_UNIT}: expected one of {", ".join(TIMES)}, got {unit!r}')
        wanted = {'t': [self.columns.get(TIME, 't_s')]}
        for quantity, symbol in QUANTITIES.items():
            if template := self.columns.get(quantity):
                wanted['effort' if quantity == 'effort' else symbol] = self._of_template(quantity, template)
            elif quantity == 'effort':
                symbol = self._usual_effort()
                wanted[symbol] = column_names([symbol], self.n)[1:]
            elif quantity not in OPTIONAL or self._has(symbol):
                wanted[symbol] = column_names([symbol], self.n)[1:]
        if 'qd' not in wanted and 'qdd' in wanted:  # accelerations alone: velocities are missing
            wanted['qd'] = column_names(['qd'], self.n)[1:]
        self._check(wanted)
        factors = {'t': TIMES[unit], 'i': 1e-3}
        return {symbol: [_Column(it, factors.get(symbol, 1.0)) for it in names] for symbol, names in wanted.items()}

    def _has(self, symbol: str) -> bool:
        """Return whether some joint has a column with the usual name."""
        return not set(self.names).isdisjoint(column_names([symbol], self.n)[1:])

    def _usual_effort(self) -> str:
        """Return the symbol of usual efforts, torque or current; LogError for both."""
        torque, current = 'tau1_Nm' in self.names, 'i1_mA' in self.names
        if torque and current:
            text = "it has currents and torques, 'i1_mA' and 'tau1_Nm': remove the columns of one, or state effort"
            raise LogError(f'{self.path}, line 1: {text}')
        return 'i' if current else 'tau'

    def _of_template(self, quantity: str, template: str) -> list[str]:
        """Return the columns of the joints that a template names."""
        marks = set(re.findall(r'{[^}]*}', template))
        if marks not in ({'{joint}'}, {'{index}'}):
            raise ArgumentError(f'columns: {quantity}: expected {{joint}} or {{index}} in the name, got {template!r}')
        if marks == {'{joint}'}:
            if len(self.joint_names) != self.n:
                raise ArgumentError(f'columns: {quantity}: {{joint}} needs {self.n} names of joints')
            return [template.replace('{joint}', name) for name in self.joint_names]
        numbered = [template.replace('{index}', str(k)) for k in range(self.n + 2)]
        first = 0 if numbered[0] in self.names else 1
        if (beyond := template.replace('{index}', str(first + self.n))) in self.names:
            why = f'state {{joint}}, and by joint names (--joints) the numbers of the {self.n} joints in their order'
            raise LogError(f'{self.path}, line 1: column {beyond!r} is of an unknown joint: {why}')
        return numbered[first : first + self.n]

    def _joint(self, name: str, wanted: Mapping[str, list[str]]) -> str:
        """Return ' of joint ...' for a column of a joint whose name is known, else ''."""
        for symbol, columns in wanted.items():
            if symbol != 't' and name in columns and len(columns) == len(self.joint_names):
                return f' of joint {self.joint_names[columns.index(name)]!r}'
        return ''

    def _check(self, wanted: Mapping[str, list[str]]) -> None:
        """Raise LogError for columns that are missing, twice there, or of a joint that the robot does not have."""
        names = list(itertools.chain(*wanted.values()))
        for name in names:
            if self.names.count(name) > 1:
                raise LogError(f'{self.path}, line 1: column {name!r} occurs twice')
        if missing := [name for name in names if name not in self.names]:
            of_joint = self._joint(missing[0], wanted)
            raise LogError(
                f'{self.path}, line 1: column {missing[0]!r}{of_joint} is missing: expected {_listed(names)}, the file '
                f'has {_listed(self.names) or "none"}; state other names by columns (--columns {EXAMPLE}), and leave '
                'joints that are not recorded out of the robot, a finger by --tip-link or --lock'
            )
        for name in self.names:
            joint = re.fullmatch(r'([a-zA-Z]+)(\d+)_(\w+)', name)
            if joint and UNITS.get(joint[1]) == joint[3] and not 1 <= int(joint[2]) <= self.n:
                text = f'column {name!r} is of an unknown joint: the robot has {self.n} joints'
                raise LogError(f'{self.path}, line 1: {text}')


def _listed(names: Sequence[str]) -> str:
    """Return names as text; those that differ by numbers alone as 'q_0 .. q_5'."""
    groups = [list(group) for _, group in itertools.groupby(names, lambda name: re.sub(r'\d+', '#', name))]
    texts = [f'{group[0]} .. {group[-1]}' if len(group) > 2 else ', '.join(group) for group in groups]
    more = [f'and {len(texts) - LISTED} more'] if len(texts) > LISTED else []
    return ', '.join([*texts[:LISTED], *more])


def _numbers(path: Path, rows, header: list[str], columns: Sequence[_Column]) -> Iterator[list[float]]:
    """Yield the finite numbers of the columns in each row; the first of them, the time, increases."""
    places, last = [header.index(it.name) for it in columns], -np.inf
    for row in rows:
        where = f'{path}, line {rows.line_num}'
        if len(row) != len(header):
            raise LogError(f'{where}: expected {len(header)} columns, got {len(row)}')
        if not any(row[k].strip() for k in places[1:]):
            continue
        numbers = []
        for k, (name, factor) in zip(places, columns, strict=True):
            try:
                numbers.append(factor * float(row[k].replace('_', '?')))  # Python takes 1_000 for a number
            except ValueError:
                raise LogError(f'{where}: {name} is {row[k]!r}, not a number') from None
            if not np.isfinite(numbers[-1]):
                raise LogError(f'{where}: {name} is {row[k]}, not finite')
        if numbers[0] <= last:
            raise LogError(f'{where}: time does not increase, {columns[0].name} = {row[places[0]]}')
        last = numbers[0]
        yield numbers


def _check_times(path: Path, t: np.ndarray, column: str, is_stated: bool) -> None:
    """Raise LogError for times (m,) that look like another unit, unless theirs is stated, or that no clock has."""
    rate = 1.0 / float(np.median(np.diff(t)))
    if rate < SLOWEST and not is_stated:
        unit = next(unit for unit, least in LIKELY_UNITS.items() if rate >= least)
        raise LogError(
            f'{path}: the log has {rate:.3g} samples a second: is {column} in {unit}? State {TIME_UNIT}={unit} '
            f'(--columns {TIME_UNIT}={unit}), or {TIME_UNIT}=s where it is in s'
        )
    if (latest := float(np.abs(t).max())) >= LATEST:
        raise LogError(f'{path}: {column} is {latest:.3g}, expected less than {LATEST:g} s')
