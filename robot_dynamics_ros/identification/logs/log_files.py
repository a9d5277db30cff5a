"""Files of measured motions: CSV with motion and current or torque, and rosbag2 with joint states."""

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.control.joints.joint_order import places_of
from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.identification.logs import stamps

TOPIC = '/joint_states'
JOINT_STATE = 'sensor_msgs/msg/JointState'
FEWEST_SAMPLES = 20
LATEST = 9e9
"""Times (s) below it are counted in ns by 64 bits."""
UNITS = {'q': 'rad', 'qd': 'rad_s', 'qdd': 'rad_s2', 'i': 'mA', 'tau': 'Nm', 'T': 'degC'}
"""Symbols and units in the names of columns, <symbol><k>_<unit>."""


class LogError(DynamicsError, ValueError):
    """An invalid log; the text names the file and the line, message or column."""


def read_csv(path: Path, n: int) -> dict[str, np.ndarray]:
    """Return times 't' (m,) from the start of a log, and of joints k = 1..n each symbol of ``UNITS`` it has, (m, n).

    Currents 'i' are in A. LogError names the file with the line and column that is wrong.
    """
    try:
        with path.open(newline='', encoding='utf-8-sig') as file:
            rows = csv.reader(file)
            header = [name.strip() for name in next(rows, [])]
            symbols, names = _columns(path, header, n)
            table = list(_numbers(path, rows, header, names))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise LogError(f'{path}: not read as a CSV file in UTF-8: {error}') from None
    if len(table) < FEWEST_SAMPLES:
        raise LogError(f'{path}: expected at least {FEWEST_SAMPLES} samples, got {len(table)}')
    times, *signals = np.split(np.array(table), 1 + n * np.arange(len(symbols)), axis=1)
    found = {'t': times[:, 0] - times[0, 0], **dict(zip(symbols, signals, strict=True))}
    return found | ({'i': 1e-3 * found['i']} if 'i' in found else {})


def has_accelerations(path: Path) -> bool:
    """Return whether a CSV file that was read has columns of accelerations."""
    with path.open(newline='', encoding='utf-8-sig') as file:
        return 'qdd1_rad_s2' in [name.strip() for name in next(csv.reader(file), [])]


def checked_times(path: Path, t: np.ndarray, even_times: bool) -> np.ndarray:
    """Return the times (m,) of a log, evenly spaced if that is asked for; LogError for stamps in bursts otherwise."""
    if even_times:
        try:
            return stamps.evened(t)
        except ArgumentError as error:
            raise LogError(f'{path}: {error}') from None
    if stamps.in_bursts(t):
        median, mean = float(np.median(np.diff(t))), float(t[-1] - t[0]) / (len(t) - 1)
        raise LogError(
            f'{path}: stamps come in bursts, as times of reception do: half of the steps are below {median:.3g} s, the '
            f'mean one is {mean:.3g} s. Record stamps of the driver, or read the log with even_times (--even-times)'
        )
    return t


def column_names(symbols: Sequence[str], n: int) -> list[str]:
    """Return the names of the columns of times and of signals of joints k = 1..n."""
    return ['t_s', *(f'{symbol}{k}_{UNITS[symbol]}' for symbol in symbols for k in range(1, n + 1))]


def _columns(path: Path, header: list[str], n: int) -> tuple[list[str], list[str]]:
    """Return the symbols that a log with this header has, and the names of all columns that are read."""
    if {'tau1_Nm', 'i1_mA'} <= set(header):
        raise LogError(f"{path}, line 1: it has currents and torques, 'i1_mA' and 'tau1_Nm': remove the columns of one")
    symbols = ['q', 'qd', 'qdd', 'tau' if 'tau1_Nm' in header else 'i', *(['T'] if 'T1_degC' in header else [])]
    for left_out in ('qdd', 'qd'):  # velocities without accelerations, or neither
        if set(header).isdisjoint(column_names(symbols[symbols.index(left_out) :][:1], n)[1:]):
            symbols.remove(left_out)
        else:
            break
    names = column_names(symbols, n)
    for name in names:
        if header.count(name) != 1:
            what = 'occurs twice' if name in header else 'is missing'
            raise LogError(f'{path}, line 1: column {name!r} {what}')
    for name in header:
        joint = re.fullmatch(r'([a-zA-Z]+)(\d+)_(\w+)', name)
        if joint and UNITS.get(joint[1]) == joint[3] and not 1 <= int(joint[2]) <= n:
            raise LogError(f'{path}, line 1: column {name!r} is of an unknown joint: the robot has {n} joints')
    return symbols, names


def _numbers(path: Path, rows, header: list[str], names: list[str]) -> Iterator[list[float]]:
    """Yield the finite numbers of the named columns of each row; the first of them, the time, increases."""
    places, last = [header.index(name) for name in names], -np.inf
    for row in rows:
        where = f'{path}, line {rows.line_num}'
        if len(row) != len(header):
            raise LogError(f'{where}: expected {len(header)} columns, got {len(row)}')
        numbers = []
        for k in places:
            try:
                numbers.append(float(row[k].replace('_', '?')))  # Python takes 1_000 for a number
            except ValueError:
                raise LogError(f'{where}: {header[k]} is {row[k]!r}, not a number') from None
            if not np.isfinite(numbers[-1]):
                raise LogError(f'{where}: {header[k]} is {row[k]}, not finite')
        if numbers[0] <= last:
            raise LogError(f'{where}: time does not increase, t_s = {numbers[0]}')
        if abs(numbers[0]) >= LATEST:
            raise LogError(f'{where}: t_s is {row[places[0]]}, expected less than {LATEST:g} s')
        last = numbers[0]
        yield numbers


def read_bag(path: Path, joint_names: Sequence[str], topic: str = TOPIC) -> tuple:
    """Return t (m,) from its start, q, qd and effort (m, n each) of a rosbag2: its folder, or its .db3 or .mcap file.

    Messages with other joints alone, such as those of a gripper, are skipped, as nodes do. qd is None where no message
    has velocities. LogError names the file with the number of the message.
    """
    samples: list[tuple] = []
    others = None
    for where, stamp, message in _messages(path, topic):
        if message.name and not set(message.name).intersection(joint_names):
            others = others or (where, message)
            continue
        if samples and stamp < samples[-1][0]:
            raise LogError(f'{where}: time decreases by {(samples[-1][0] - stamp) * 1e-9:.3f} s')
        if not samples or stamp > samples[-1][0]:  # repeated states are dropped
            samples.append((stamp, *_sample(where, message, joint_names)))
    if others and not samples:
        list(_sample(*others, joint_names))  # names the joint that is missing
    if len(samples) < FEWEST_SAMPLES:
        raise LogError(f'{path}: expected at least {FEWEST_SAMPLES} messages on {topic}, got {len(samples)}')
    stamps, q, qd, effort = map(np.array, zip(*samples, strict=True))
    measured = np.isfinite(qd[:, 0])
    if measured.any() and not measured.all():
        raise LogError(f'{path}: some messages have velocities, and some have none')
    return (stamps - stamps[0]) * 1e-9, q, qd if measured.all() else None, effort


def _messages(path: Path, topic: str) -> Iterator[tuple[str, int, Any]]:
    """Yield where each JointState on ``topic`` is, its stamp (ns; that of its reception if it is zero), and itself."""
    try:
        from rosbags.rosbag2 import Reader, ReaderError  # noqa: PLC0415  (a CSV file does not need it)
        from rosbags.serde import SerdeError  # noqa: PLC0415
        from rosbags.typesys import Stores, get_typestore  # noqa: PLC0415
    except ImportError:
        raise LogError(f'{path}: a bag needs the package rosbags: pip install rosbags') from None
    typestore, number = get_typestore(Stores.ROS2_HUMBLE), 0
    try:
        with Reader(path) as reader:
            connections = [connection for connection in reader.connections if connection.topic == topic]
            for connection in connections:
                if connection.msgtype != JOINT_STATE:
                    raise LogError(f'{path}: expected {JOINT_STATE} on {topic}, got {connection.msgtype}')
            for _, received, data in reader.messages(connections) if connections else ():
                number += 1
                message: Any = typestore.deserialize_cdr(data, JOINT_STATE)
                stamp = message.header.stamp
                yield f'{path}, message {number}', stamp.sec * 1_000_000_000 + stamp.nanosec or received, message
    except (ReaderError, SerdeError, OSError) as error:
        raise LogError(f'{path}, after {number} messages: {error}') from None


def _sample(where: str, message, joint_names: Sequence[str]) -> Iterator[np.ndarray]:
    """Yield position, velocity and effort (n each) of a message in the robot's order; velocities may all be NaN."""
    try:
        places = places_of(joint_names, message.name)
    except DynamicsError as error:
        raise LogError(f'{where}: {error}') from None
    for field in ('position', 'velocity', 'effort'):
        values = getattr(message, field)
        if field == 'velocity' and np.isnan(values).all():  # or empty: not measured
            yield np.full(len(places), np.nan)
            continue
        if len(values) != len(message.name):
            raise LogError(f'{where}: {len(message.name)} joints have {len(values)} numbers in {field}')
        row = values[places]
        if not np.isfinite(row).all():
            raise LogError(f'{where}: {field} of joint {joint_names[int(np.isfinite(row).argmin())]!r} is not finite')
        yield row
