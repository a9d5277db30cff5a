"""Logs for tests: a table of two joints in a CSV file, and two joints that swing in a bag."""

from pathlib import Path

import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

DATA = Path(__file__).resolve().parents[4] / 'shared' / 'data'
NAMES = ('first', 'second')
COLUMNS = ['t_s', 'q1_rad', 'q2_rad', 'qd1_rad_s', 'qd2_rad_s', 'qdd1_rad_s2', 'qdd2_rad_s2', 'i1_mA', 'i2_mA']
TYPES = get_typestore(Stores.ROS2_HUMBLE)
TIMES = 0.01 * np.arange(100)


def table(rows=30):
    """A log of two joints: a row for each 0.01 s, all numbers different."""
    values = np.random.default_rng(3).uniform(-1.0, 1.0, (rows, len(COLUMNS)))
    values[:, 0] = 5.0 + 0.01 * np.arange(rows)
    return values


def written(path, header, rows):
    path.write_text('\n'.join([','.join(header), *(','.join(map(str, row)) for row in rows)]) + '\n')
    return path


def state(stamp, q, qd, effort, names=NAMES):
    """A JointState of rosbags' own types, serialised."""
    time = TYPES.types['builtin_interfaces/msg/Time'](*divmod(round(stamp * 1e9), 1_000_000_000))
    header = TYPES.types['std_msgs/msg/Header'](stamp=time, frame_id='')
    rows = (np.asarray(values, float) for values in (q, qd, effort))
    message = TYPES.types['sensor_msgs/msg/JointState'](header, list(names), *rows)
    return TYPES.serialize_cdr(message, 'sensor_msgs/msg/JointState')


def bag(folder, messages, topic='/joint_states', plugin=StoragePlugin.SQLITE3):
    """Write (time of reception in s, data) into a bag."""
    with Writer(folder, version=8, storage_plugin=plugin) as writer:
        connection = writer.add_connection(topic, 'sensor_msgs/msg/JointState', typestore=TYPES)
        for received, data in messages:
            writer.write(connection, round(received * 1e9), data)
    return folder


def swing(t):
    """Position, velocity and acceleration of both joints at time t."""
    t = np.asarray(t)[..., None]
    a, w = np.array([0.5, 0.3]), np.array([2.0, 3.0])
    return a * np.sin(w * t), a * w * np.cos(w * t), -a * w * w * np.sin(w * t)


def good_messages(times=TIMES, stamped=True):
    q, qd, _ = swing(times)
    return [
        (100.0 + t, state(100.0 + t if stamped else 0.0, *rows)) for t, *rows in zip(times, q, qd, 3.0 * q, strict=True)
    ]
