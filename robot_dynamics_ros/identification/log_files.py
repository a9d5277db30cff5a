"""Files of measured motions: CSV with motion and current or torque, and rosbag2 with joint states."""

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from robot_dynamics_ros.control.joint_order import places_of
from robot_dynamics_ros.errors import DynamicsError

TOPIC = '/joint_states'
JOINT_STATE = 'sensor_msgs/msg/JointState'
FEWEST_SAMPLES = 20
UNITS = {'q': 'rad', 'qd': 'rad_s', 'qdd': 'rad_s2', 'i': 'mA', 'tau': 'Nm', 'T': 'degC'}
"""Symbols and units in the names of columns, <symbol><k>_<unit>."""


class LogError(DynamicsError, ValueError):
    """An invalid log; the text names the file and the line, message or column."""


class Columns(NamedTuple):
    """Columns of a CSV file: t (m,), q, qd, qdd and effort (m, n each; A or N m), and temperature (m, n) or None."""

    signals: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]
    temperature: np.ndarray | None
    is_current: bool


def read_csv(path: Path, n: int) -> Columns:
    """Return the columns for joints k = 1..n; LogError names the file with the line and column that is wrong."""
    if not path.exists():
        raise LogError(f'{path}: file not found')
    try:
        with path.open(newline='') as file:
            return _columns(path, csv.reader(file), n)
    except (UnicodeDecodeError, csv.Error) as error:
        raise LogError(f'{path}: expected a CSV file in UTF-8: {error}') from None


def _columns(path: Path, rows, n: int) -> Columns:
    """Return the columns of a table whose first row is the header."""
    header = [name.strip() for name in next(rows, [])]
    effort = 'tau' if 'tau1_Nm' in header else 'i'
    if {'tau1_Nm', 'i1_mA'} <= set(header):
        raise LogError(f"{path}, line 1: it has currents and torques, 'i1_mA' and 'tau1_Nm': remove the columns of one")
    chosen = ['q', 'qd', 'qdd', effort, *(['T'] if 'T1_degC' in header else [])]
    names = ['t_s', *(f'{symbol}{k}_{UNITS[symbol]}' for symbol in chosen for k in range(1, n + 1))]
    missing = [name for name in names if name not in header]
    if missing:
        raise LogError(f'{path}, line 1: column {missing[0]!r} is missing')
    for name in header:
        joint = re.fullmatch(r'([a-zA-Z]+)(\d+)_(\w+)', name)
        if joint and UNITS.get(joint[1]) == joint[3] and not 1 <= int(joint[2]) <= n:
            raise LogError(f'{path}, line 1: column {name!r} is of an unknown joint: the robot has {n} joints')
    places = [header.index(name) for name in names]
    table: list[list[float]] = []
    for row in rows:
        if len(row) != len(header):
            raise LogError(f'{path}, line {rows.line_num}: expected {len(header)} columns, got {len(row)}')
        table.append([_number(path, rows.line_num, header[k], row[k]) for k in places])
        if len(table) > 1 and table[-1][0] <= table[-2][0]:
            raise LogError(f'{path}, line {rows.line_num}: time does not increase, t_s = {table[-1][0]}')
    if len(table) < FEWEST_SAMPLES:
        raise LogError(f'{path}: expected at least {FEWEST_SAMPLES} samples, got {len(table)}')
    values = np.array(table)
    parts = [values[:, 1 + k * n : 1 + (k + 1) * n] for k in range(len(chosen))]
    q, qd, qdd, efforts = parts[:4]
    if effort == 'i':
        efforts = efforts * 1e-3
    signals = values[:, 0] - values[0, 0], q, qd, qdd, efforts
    return Columns(signals, parts[4] if len(parts) > 4 else None, effort == 'i')


def _number(path: Path, line: int, column: str, text: str) -> float:
    """Return ``text`` as a number; LogError unless it is finite."""
    try:
        value = float(text)
    except ValueError:
        raise LogError(f'{path}, line {line}: {column} is {text!r}, not a number') from None
    if not np.isfinite(value):
        raise LogError(f'{path}, line {line}: {column} is {text}, not finite')
    return value


def read_bag(path: Path, joint_names: Sequence[str], topic: str = TOPIC) -> tuple:
    """Return t (m,) from its start, q, qd and effort (m, n each) of a rosbag2: its folder, or its .db3 or .mcap file.

    qd is None where no message has velocities. LogError names the file with the number of the message.
    """
    try:
        from rosbags.rosbag2 import ReaderError  # noqa: PLC0415  (a CSV file does not need it)
        from rosbags.serde import SerdeError  # noqa: PLC0415
    except ImportError:
        raise LogError(f'{path}: a bag needs the package rosbags: pip install rosbags') from None
    if not path.exists():
        raise LogError(f'{path}: file not found')
    samples: list = []
    try:
        for number, (stamp, message) in enumerate(_messages(path, topic), start=1):
            where = f'{path}, message {number}'
            if samples and stamp < samples[-1][0]:
                raise LogError(f'{where}: time decreases by {(samples[-1][0] - stamp) * 1e-9:.3f} s')
            if not samples or stamp > samples[-1][0]:  # repeated states are dropped
                samples.append((stamp, *_sample(where, message, joint_names)))
    except (ReaderError, SerdeError, OSError) as error:
        raise LogError(f'{path}, after {len(samples)} messages: {error}') from None
    if len(samples) < FEWEST_SAMPLES:
        raise LogError(f'{path}: expected at least {FEWEST_SAMPLES} messages on {topic}, got {len(samples)}')
    stamps, positions, velocities, efforts = zip(*samples, strict=True)
    measured = [row is not None for row in velocities]
    if any(measured) and not all(measured):
        raise LogError(f'{path}: some messages have velocities, and some have none')
    qd = np.array(velocities) if all(measured) else None
    return (np.array(stamps) - stamps[0]) * 1e-9, np.array(positions), qd, np.array(efforts)


def _messages(path: Path, topic: str) -> Iterator[tuple[int, Any]]:
    """Yield the stamp (ns) and JointState of each message on ``topic``; the time of reception if the stamp is zero."""
    from rosbags.rosbag2 import Reader  # noqa: PLC0415
    from rosbags.typesys import Stores, get_typestore  # noqa: PLC0415

    typestore = get_typestore(Stores.ROS2_HUMBLE)
    with Reader(path) as reader:
        connections = [connection for connection in reader.connections if connection.topic == topic]
        for connection in connections:
            if connection.msgtype != JOINT_STATE:
                raise LogError(f'{path}: expected {JOINT_STATE} on {topic}, got {connection.msgtype}')
        for _, received, data in reader.messages(connections) if connections else ():
            message: Any = typestore.deserialize_cdr(data, JOINT_STATE)
            stamp = message.header.stamp
            yield stamp.sec * 1_000_000_000 + stamp.nanosec or received, message


def _sample(where: str, message, joint_names: Sequence[str]) -> list[np.ndarray | None]:
    """Return position, velocity (None if there is none) and effort (n each) of one message in the robot's order."""
    try:
        places = places_of(joint_names, message.name)
    except DynamicsError as error:
        raise LogError(f'{where}: {error}') from None
    rows: list[np.ndarray | None] = []
    for field in ('position', 'velocity', 'effort'):
        values = getattr(message, field)
        if field == 'velocity' and np.isnan(values).all():  # or empty: not measured
            rows.append(None)
            continue
        if len(values) != len(message.name):
            raise LogError(f'{where}: {len(message.name)} joints have {len(values)} numbers in {field}')
        row = values[places]
        if not np.isfinite(row).all():
            joint = joint_names[int(np.argmin(np.isfinite(row)))]
            raise LogError(f'{where}: {field} of joint {joint!r} is not finite')
        rows.append(row)
    return rows
