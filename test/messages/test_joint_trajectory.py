"""Serialised JointTrajectory messages, read point by point, against rclpy's deserialisation."""

import numpy as np
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.messages.joint_trajectory import TrajectoryPoints, resampled, serialized, trajectory_of


def drawn(seed):
    """Return a message with names and lists of any length."""
    random = np.random.default_rng(seed)
    names = ['j' * random.integers(0, 9) + str(k) for k in range(random.integers(0, 8))]
    message = JointTrajectory(joint_names=names)
    message.header.frame_id = 'f' * random.integers(0, 9)
    message.header.stamp.sec, message.header.stamp.nanosec = (int(random.integers(10**9)) for _ in range(2))
    for _ in range(random.integers(0, 6)):
        lists = [random.normal(size=random.choice([0, 1, len(names)])).tolist() for _ in range(4)]
        point = JointTrajectoryPoint(
            **dict(zip(('positions', 'velocities', 'accelerations', 'effort'), lists, strict=True))
        )
        point.time_from_start.sec, point.time_from_start.nanosec = (int(random.integers(10**6)) for _ in range(2))
        message.points.append(point)
    return message


def contents(points):
    return points._replace(columns=[[values.tolist() for values in column] for column in points.columns])


@pytest.mark.parametrize('seed', range(60))
def test_the_numbers_are_those_that_rclpy_reads(seed):
    message = drawn(seed)
    data = serialize_message(message)
    assert contents(TrajectoryPoints.read(data)) == contents(
        TrajectoryPoints.of(deserialize_message(data, JointTrajectory))
    )


def test_a_trajectory_is_the_same_either_way():
    random = np.random.default_rng(1)
    names = ['a', 'b', 'extra']
    message = JointTrajectory(joint_names=names)
    for k in range(5):
        point = JointTrajectoryPoint(positions=random.normal(size=3).tolist())
        if k % 2:
            point.velocities = random.normal(size=3).tolist()
        point.time_from_start.sec = k
        message.points.append(point)
    read = TrajectoryPoints.read(serialize_message(message))
    assert trajectory_of(['b', 'a'], read, ['extra']).digest == trajectory_of(['b', 'a'], message, ['extra']).digest


def test_bytes_that_are_cut_off_or_of_another_encoding_are_refused():
    point = JointTrajectoryPoint(positions=[1.0, 2.0], velocities=[3.0, 4.0])
    data = serialize_message(JointTrajectory(joint_names=['a', 'b'], points=[point]))
    for length in range(len(data) - 8):
        with pytest.raises(ArgumentError, match='not a JointTrajectory'):
            TrajectoryPoints.read(data[:length])
    for encoding in (b'\0\0', b'\0\7'):
        with pytest.raises(ArgumentError, match='little-endian'):
            TrajectoryPoints.read(encoding + data[2:])


@pytest.mark.parametrize('seed', range(20))
def test_changed_bytes_are_refused_or_read_as_rclpy_reads_them(seed):
    random, data = np.random.default_rng(seed), bytearray(serialize_message(drawn(seed)))
    for _ in range(50):
        changed = bytearray(data)
        for place in random.integers(4, len(data), 3):
            changed[place] = random.integers(256)
        try:
            read = TrajectoryPoints.read(bytes(changed))
        except ArgumentError:
            continue
        message = TrajectoryPoints.of(deserialize_message(bytes(changed), JointTrajectory))
        assert repr(contents(read)) == repr(contents(message))  # where NaN equals NaN


@pytest.mark.parametrize('seed', range(40))
def test_a_message_with_other_efforts_is_what_rclpy_reads(seed):
    message = drawn(seed)
    data = serialize_message(message)
    efforts = [np.random.default_rng(k).normal(size=k % 3) for k in range(len(message.points))]
    found = deserialize_message(serialized(data, TrajectoryPoints.read(data), efforts), JointTrajectory)
    for point, effort in zip(message.points, efforts, strict=True):
        point.effort = effort.tolist()
    assert found == message


def test_a_point_whose_rates_are_nan_has_none_in_the_message():
    point = JointTrajectoryPoint(positions=[1.0, 2.0], velocities=[np.nan, np.nan])
    data = serialize_message(JointTrajectory(joint_names=['a', 'b'], points=[point]))
    found = deserialize_message(serialized(data, TrajectoryPoints.read(data), [[3.0, 4.0]]), JointTrajectory)
    assert found.points == [JointTrajectoryPoint(positions=[1.0, 2.0], effort=[3.0, 4.0])]


def plan(*points):
    """Return the contents of a plan of two joints; a point is (time, positions, velocities, accelerations)."""
    times, *columns = zip(*points, strict=True)
    return TrajectoryPoints(0, ['a', 'b'], list(times), [[np.array(values) for values in rows] for rows in columns])


def test_a_resampled_plan_is_the_same_motion():
    given = plan(
        (0.0, [0.0, 1.0], [0.0, 0.0], [0.0, 0.0]),
        (0.5, [0.4, 0.2], [0.3, -0.2], [0.1, 0.5]),
        (1.3, [1.0, 0.0], [0.2, 0.1], [0.7, 0.0]),
    )
    found = resampled(given, 0.1)
    assert found.times == pytest.approx([0.1 * k for k in range(14)])
    assert np.isin(given.times, found.times).all()
    before, after = (trajectory_of('ab', points) for points in (given, found))
    rows, expected = np.zeros((3, 2)), np.zeros((3, 2))
    for t in np.linspace(0.0, 1.3, 50):
        before.sample(t, *expected)
        after.sample(t, *rows)
        assert rows == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_a_resampled_plan_ends_as_stated_or_at_rest():
    """A controller refuses one that does not end at rest, unless it is asked to."""
    cubic = plan((0.0, [0.0, 0.0], [0.0, 0.0], []), (1.0, [1.0, 1.0], [0.0, 0.3], []))
    found = resampled(cubic, 0.1)
    assert (found.columns[1][-1].tolist(), found.columns[2][-1].tolist()) == ([0.0, 0.3], [0.0, 0.0])
    assert found.columns[2][-2][0] == pytest.approx(6.0 - 12.0 * 0.9)
    line = plan((0.0, [0.0, 0.0], [], []), (1.0, [1.0, 1.0], [], []))
    found = resampled(line, 0.1)
    assert (found.columns[1][-1].tolist(), found.columns[1][-2].tolist()) == ([0.0, 0.0], [1.0, 1.0])
