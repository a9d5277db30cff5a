"""Measured logs: a CSV file with joint motion and motor current, or a rosbag2 with joint states."""

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rosbags.rosbag2 import Reader, ReaderError
from rosbags.serde import SerdeError
from rosbags.typesys import Stores, get_typestore
from scipy.signal import savgol_filter

from robot_dynamics_ros.control.joint_order import places_of
from robot_dynamics_ros.errors import DynamicsError, ModelError

TOPIC = '/joint_states'
JOINT_STATE = 'sensor_msgs/msg/JointState'
FEWEST_SAMPLES = 20
SMOOTHING = 0.2
"""Window for smoothing and differentiating the velocities of a bag, s."""


class LogError(DynamicsError, ValueError):
    """An invalid log; the text names the file and the line, message or column."""


@dataclass(frozen=True)
class Log:
    """A measured motion: time (m,) s from its start; q, qd, qdd and the joint torque (m, n), SI, in joint order."""

    time: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    torque: np.ndarray


def read_log(path: Path, joint_names, torque_of_current: Callable[[np.ndarray], np.ndarray], topic: str = TOPIC) -> Log:
    """Return the log in ``path`` for the joints ``joint_names``; LogError names the file and line that is wrong.

    ``torque_of_current`` converts motor currents of a CSV file (m, n; A) to torques (m, n; N m), as does the method of
    ``Robot``. ``topic`` is that of the joint states in a bag.
    """
    if not path.exists():
        raise LogError(f'{path}: file not found')
    if path.suffix != '.csv':
        return _read_bag(path, joint_names, topic)
    try:
        return _read_csv(path, len(joint_names), torque_of_current)
    except (UnicodeDecodeError, csv.Error) as error:
        raise LogError(f'{path}: expected a CSV file in UTF-8: {error}') from None


def _read_csv(path: Path, n: int, torque_of_current) -> Log:
    """Read columns t_s, q<k>_rad, qd<k>_rad_s, qdd<k>_rad_s2 and i<k>_mA for joints k = 1..n."""
    units = {'q': 'rad', 'qd': 'rad_s', 'qdd': 'rad_s2', 'i': 'mA'}
    columns = ['t_s', *(f'{symbol}{k}_{unit}' for symbol, unit in units.items() for k in range(1, n + 1))]
    with path.open(newline='') as file:
        rows = csv.reader(file)
        header = [name.strip() for name in next(rows, [])]
        missing = [name for name in columns if name not in header]
        if missing:
            raise LogError(f'{path}, line 1: column {missing[0]!r} is missing')
        for name in header:
            joint = re.fullmatch(r'(?:q|qd|qdd|i)(\d+)_(?:rad|rad_s|rad_s2|mA)', name)
            if joint and not 1 <= int(joint[1]) <= n:
                raise LogError(f'{path}, line 1: column {name!r} is of an unknown joint: the robot has {n} joints')
        places = [header.index(name) for name in columns]
        table = []
        for row in rows:
            if len(row) != len(header):
                raise LogError(f'{path}, line {rows.line_num}: expected {len(header)} columns, got {len(row)}')
            table.append([_number(path, rows.line_num, header[k], row[k]) for k in places])
            if len(table) > 1 and table[-1][0] <= table[-2][0]:
                raise LogError(f'{path}, line {rows.line_num}: time does not increase, t_s = {table[-1][0]}')
    if len(table) < FEWEST_SAMPLES:
        raise LogError(f'{path}: expected at least {FEWEST_SAMPLES} samples, got {len(table)}')
    values = np.array(table).reshape(-1, len(columns))
    q, qd, qdd, current = (values[:, 1 + k * n : 1 + (k + 1) * n] for k in range(4))
    try:
        torque = torque_of_current(current * 1e-3)
    except ModelError as error:
        raise LogError(f'{path}: motor currents: {error}') from None
    return Log(values[:, 0] - values[:1, 0], q, qd, qdd, torque)


def _number(path: Path, line: int, column: str, text: str) -> float:
    """Return ``text`` as a number; LogError unless it is finite."""
    try:
        value = float(text)
    except ValueError:
        raise LogError(f'{path}, line {line}: {column} is {text!r}, not a number') from None
    if not np.isfinite(value):
        raise LogError(f'{path}, line {line}: {column} is {text}, not finite')
    return value


def _read_bag(path: Path, joint_names, topic: str) -> Log:
    """Read a rosbag2: its folder, or its .db3 or .mcap file."""
    samples: list = []
    try:
        for number, (stamp, message) in enumerate(_bag_messages(path, topic), start=1):
            where = f'{path}, message {number}'
            if samples and stamp < samples[-1][0]:
                raise LogError(f'{where}: time decreases by {(samples[-1][0] - stamp) * 1e-9:.3f} s')
            if not samples or stamp > samples[-1][0]:  # repeated states are dropped
                samples.append((stamp, *_bag_sample(where, message, joint_names)))
    except (ReaderError, SerdeError, OSError) as error:
        raise LogError(f'{path}, after {len(samples)} messages: {error}') from None
    if len(samples) < FEWEST_SAMPLES:
        raise LogError(f'{path}: expected at least {FEWEST_SAMPLES} messages on {topic}, got {len(samples)}')
    stamps, positions, velocities, efforts = zip(*samples, strict=True)
    time = (np.array(stamps) - stamps[0]) * 1e-9
    q, qd, torque = (np.array(rows) for rows in (positions, velocities, efforts))
    # JointState has no accelerations: a quadratic fit to a short window of velocities gives both without lag
    period = float(np.median(np.diff(time)))
    window = max(5, 2 * round(SMOOTHING / period / 2) + 1)
    if len(time) < window:
        raise LogError(f'{path}: expected at least {window} messages, one for each sample of a window, got {len(time)}')
    smooth = savgol_filter(qd, window, 2, axis=0)
    return Log(time, q, smooth, savgol_filter(qd, window, 2, deriv=1, delta=period, axis=0), torque)


def _bag_messages(path: Path, topic: str):
    """Yield the stamp (ns) and JointState of each message on ``topic``; the time of reception if the stamp is zero."""
    typestore = get_typestore(Stores.ROS2_HUMBLE)
    with Reader(path) as reader:
        connections = [connection for connection in reader.connections if connection.topic == topic]
        for connection in connections:
            if connection.msgtype != JOINT_STATE:
                raise LogError(f'{path}: expected {JOINT_STATE} on {topic}, got {connection.msgtype}')
        for _, received, data in reader.messages(connections) if connections else ():
            message = typestore.deserialize_cdr(data, JOINT_STATE)
            stamp = message.header.stamp
            yield stamp.sec * 1_000_000_000 + stamp.nanosec or received, message


def _bag_sample(where: str, message, joint_names) -> list[np.ndarray]:
    """Return position, velocity and effort (n each) of one message in the robot's joint order."""
    try:
        places = places_of(joint_names, message.name)
    except DynamicsError as error:
        raise LogError(f'{where}: {error}') from None
    rows = []
    for field in ('position', 'velocity', 'effort'):
        values = getattr(message, field)
        if len(values) != len(message.name):
            raise LogError(f'{where}: {len(message.name)} joints have {len(values)} numbers in {field}')
        row = values[places]
        if not np.isfinite(row).all():
            joint = joint_names[int(np.argmin(np.isfinite(row)))]
            raise LogError(f'{where}: {field} of joint {joint!r} is not finite')
        rows.append(row)
    return rows
