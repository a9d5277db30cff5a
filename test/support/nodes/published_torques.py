"""Digest of torques that nodes publish and services return, for comparison between distributions of ROS 2.

``python -m support.nodes.published_torques`` prints it, after the version of rclpy. It has to use a single ROS prefix.
"""

import hashlib
import os
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from support.nodes import feedforward
from support.nodes import graph as ros
from support.nodes.own_domain import DOMAIN

import numpy as np
from sensor_msgs.msg import JointState

from robot_dynamics_interfaces.srv import GetForwardDynamics, GetInverseDynamics

GRAVITY, FEEDFORWARD, SERVER = 'gravity_compensation_node', feedforward.NODE, 'dynamics_server'
COUNT = 20
"""States that each torque node answers; services get ten times as many at once."""


def main() -> None:
    os.environ['ROS_DOMAIN_ID'] = str(DOMAIN)
    with tempfile.TemporaryDirectory() as folder, ros.Graph(Path(folder)) as graph:
        graph.start(GRAVITY, FEEDFORWARD, SERVER, arguments=(*feedforward.ARGUMENTS, '-p', 'evaluate_at:=measured'))
        torques = np.array([*published(graph), *served(graph)])
    check_prefix()
    assert np.isfinite(torques).all() and (torques != 0).all()
    sys.stdout.write(
        f'rclpy {version("ros-rclpy")}: {len(torques)} torques {hashlib.sha256(torques.tobytes()).hexdigest()}\n'
    )


def published(graph) -> list[float]:
    """Return the torques of both torque nodes, state by state; the feedforward ones of a motion of two seconds."""
    start, generator, found = graph.now(), np.random.default_rng(11), []
    motion, _ = feedforward.quintic(start)
    graph.follow(FEEDFORWARD, motion)
    gravity, inverse = (graph.listen(JointState, topic) for topic in ('gravity_torque', 'feedforward_torque'))
    for seconds in np.linspace(0.1, 1.9, COUNT):
        stamp, (q, qd) = feedforward.at(start, seconds), generator.uniform(-1, 1, (2, len(feedforward.NAMES)))
        for topic in (gravity, inverse):
            found += graph.answer(lambda stamp, q=q, qd=qd: feedforward.send(graph, stamp, q, qd), topic, stamp).effort
    return found


def served(graph) -> list[float]:
    """Return accelerations and efforts of many states, and each part of the latter."""
    q, qd, qdd = np.random.default_rng(12).uniform(-2, 2, (3, 10 * COUNT * len(feedforward.NAMES))).tolist()
    forward = graph.client.call(
        GetForwardDynamics,
        f'{SERVER}/get_forward_dynamics',
        GetForwardDynamics.Request(positions=q, velocities=qd, efforts=qdd),
    )
    inverse = graph.client.call(
        GetInverseDynamics,
        f'{SERVER}/get_inverse_dynamics',
        GetInverseDynamics.Request(positions=q, velocities=qd, accelerations=qdd),
    )
    assert forward.success and inverse.success, (forward.message, inverse.message)
    return [
        *forward.accelerations,
        *inverse.efforts,
        *inverse.inertia,
        *inverse.coriolis,
        *inverse.friction,
    ]


def check_prefix() -> None:
    """Check that every shared library of ROS in this process is one of this virtual environment."""
    lines = Path('/proc/self/maps').read_text(encoding='utf-8').splitlines()
    libraries = {Path(line.split()[-1]) for line in lines if '.so' in line}
    of_ros = {
        path for path in libraries if any(word in path.name for word in ('rcl', 'rmw', 'rosidl', 'fastrtps', '_msgs'))
    }
    foreign = sorted(path for path in of_ros if Path(sys.prefix) not in path.parents)
    assert of_ros and not foreign, f'expected libraries of {sys.prefix} alone, got {foreign}'


if __name__ == '__main__':
    main()
