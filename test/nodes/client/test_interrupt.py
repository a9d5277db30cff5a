"""SIGINT while a client waits for a motion: the arm is stopped, also where rclpy ends all contexts of the process."""

import signal
import subprocess
import sys

from support.nodes import graph as ros
from support.nodes.client import MOVES, run

import numpy as np
import pytest
from sensor_msgs.msg import JointState

BESIDE = """
import rclpy
rclpy.init()
beside = rclpy.create_node('beside')
"""
MOVE = """
import sys
from robot_dynamics_ros.client import Arm
with Arm() as arm:
    sys.stdin.readline()
    arm.move_joints({'wrist3_joint': -2.5}, duration=10.0)
"""


@pytest.fixture(scope='module')
def graph(file_graph):
    return run(file_graph)


def test_an_interrupted_client_sends_a_stop_first(graph):
    scripts = {'alone': MOVE, 'beside a node of rclpy': BESIDE + MOVE}
    pipe = subprocess.PIPE
    clients = {
        name: subprocess.Popen([sys.executable, '-c', script], stdin=pipe, stderr=pipe, text=True)
        for name, script in scripts.items()
    }
    try:
        for name, client in clients.items():
            interrupt(graph, client)
            _, errors = client.communicate(timeout=ros.TIMEOUT)
            assert errors.splitlines()[-1].startswith('KeyboardInterrupt'), f'{name}: {errors}'
    finally:
        for client in clients.values():
            client.kill()
            client.communicate()


def interrupt(graph, client):
    """Have a client move the arm; interrupt it, and wait until the arm rests, long before the goal."""
    with graph.record(JointState, 'joint_states', 10) as states:
        client.stdin.write('\n')
        client.stdin.flush()
        graph.until(lambda: states and np.abs(states[-1].velocity).max() > MOVES, 'a motion')
        client.send_signal(signal.SIGINT)
        graph.until(lambda: np.abs(states[-1].velocity).max() < MOVES / 3.0, 'rest')
        assert abs(states[-1].position[5] + 2.5) > 0.5
