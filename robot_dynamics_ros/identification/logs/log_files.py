"""Files of measured motions: their errors, times in bursts, and rosbag2 with joint states."""

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


class LogError(DynamicsError, ValueError):
    """An invalid log; the text names the file and the line, message or column."""


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
        other = '' if number or path.is_dir() else '; expected a CSV file (.csv) or a rosbag2'
        raise LogError(f'{path}, after {number} messages: {error}{other}') from None


def _sample(where: str, message, joint_names: Sequence[str]) -> Iterator[np.ndarray]:
    """Yield position, velocity and effort (n each) of a message in the robot's order; velocities may all be NaN."""
    try:
        places = places_of(joint_names, message.name)
    except DynamicsError as error:
        part = 'leave a joint that is not recorded out of the robot, a finger by --tip-link or --lock'
        raise LogError(f'{where}: {error}; {part}') from None
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
