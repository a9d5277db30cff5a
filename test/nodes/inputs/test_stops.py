"""A stop, a trajectory without points, acts whatever else the node's process is doing. Nobody spins these nodes."""

import threading
import time

from support.nodes import graph as ros
from support.nodes.feedforward import NAMES, A, B

import pytest
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.messages.joint_trajectory import TrajectoryPoints
from robot_dynamics_ros.nodes.executables.dynamics_server import DynamicsServer
from robot_dynamics_ros.nodes.executables.feedforward_node import FeedforwardNode
from robot_dynamics_ros.nodes.executables.torque_controller import TorqueController


class Follower:
    """An active node of this process, and a publisher of trajectories that it has discovered."""

    def __init__(self, process, kind):
        self.node = process.node(kind)
        witness = process.node(DynamicsServer, namespace='elsewhere')
        self._publisher = witness.create_publisher(JointTrajectory, '/joint_trajectory', 10)
        self.node.start()
        assert self.node.active, self.node.silence
        self.until(self._publisher.get_subscription_count, 'the node')
        self.input = self.node.task.trajectory
        # a message may come before the subscription is known to both sides
        self.until(lambda: self.follows or self.send((0.0, A), (3600.0, B)), 'the first trajectory', 0.1)

    @property
    def follows(self) -> bool:
        return bool(self.input._follower._plans)

    def send(self, *points):
        self._publisher.publish(ros.trajectory(NAMES, 0, *points))

    def stop(self):
        self._publisher.publish(JointTrajectory())

    @staticmethod
    def until(condition, what, period=0.001):
        deadline = time.monotonic() + ros.TIMEOUT
        while not condition():
            assert time.monotonic() < deadline, what
            time.sleep(period)


def read_slowly(monkeypatch):
    """Return two events: a trajectory is being read; and its reading may end, which the test sets."""
    reading, may_end, read = threading.Event(), threading.Event(), TrajectoryPoints.read

    def slow(data):
        reading.set()
        assert may_end.wait(ros.TIMEOUT)
        return read(data)

    monkeypatch.setattr(TrajectoryPoints, 'read', slow)
    return reading, may_end


@pytest.mark.parametrize('kind', [FeedforwardNode, TorqueController])
def test_trajectories_and_stops_do_not_wait_for_the_executor(process, kind):
    follower = Follower(process, kind)
    for _ in range(2):
        follower.stop()
        follower.until(lambda: not follower.follows, 'the stop')
        follower.send((0.0, A), (3600.0, B))
        follower.until(lambda: follower.follows, 'the next trajectory')


def test_a_stop_overtakes_a_long_trajectory_that_is_being_read_and_those_that_wait(process, monkeypatch):
    follower, (reading, may_end) = Follower(process, FeedforwardNode), read_slowly(monkeypatch)
    for _ in range(3):
        follower.send((0.0, A), (3600.0, B))
    assert reading.wait(ros.TIMEOUT)
    follower.until(lambda: len(follower.input._queue._waiting) == 2, 'the trajectories behind it')
    follower.stop()
    follower.until(lambda: not follower.follows, 'the stop')
    may_end.set()
    follower.until(lambda: 'a stop' in follower.input.verdicts.refused, 'the refusal of the long one')
    assert not follower.follows and not follower.input._queue._waiting
    follower.send((0.0, A), (3600.0, B))
    follower.until(lambda: follower.follows, 'the next trajectory')


def test_what_waits_at_the_deactivation_is_refused_and_not_followed_after_the_next_activation(process, monkeypatch):
    follower, (reading, may_end) = Follower(process, FeedforwardNode), read_slowly(monkeypatch)
    for _ in range(2):
        follower.send((0.0, A), (3600.0, B))
    assert reading.wait(ros.TIMEOUT)
    follower.until(lambda: follower.input._queue._waiting, 'the trajectory behind it')
    ending = threading.Thread(target=follower.node.trigger_deactivate)
    ending.start()
    follower.until(lambda: not follower.node.active, 'the deactivation')
    may_end.set()
    ending.join()
    assert 'not active' in follower.input.verdicts.refused
    follower.node.trigger_activate()
    follower.until(lambda: not follower.input._queue._waiting, 'the refusal of the other one')
    assert 'not active' in follower.input.verdicts.refused and not follower.follows
