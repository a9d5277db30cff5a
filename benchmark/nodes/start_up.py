"""How long does feedforward_node take from the start of its process to its first torque, the first time and again?"""

import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
os.environ['ROS_DOMAIN_ID'] = str(1 + secrets.randbelow(100))

import numpy as np
from trajectory_msgs.msg import JointTrajectory

from benchmark.measure import first_line, heading, verdict
from benchmark.nodes.node_latency import Trips, trajectory_of_an_hour
from robot_dynamics_ros.nodes.process import discovery
from robot_dynamics_ros.tools.processes import Client, Processes

START, FIRST = 1.2, 1.05
"""At most: s, and the first start with an empty folder of compiled code over the next one."""
IMPORTS = """
import rclpy
import diagnostic_msgs.msg
import lifecycle_msgs.msg
import sensor_msgs.msg
import std_msgs.msg
import trajectory_msgs.msg
print(1, flush=True)
"""
REFERENCES = {
    'importing rclpy and messages': (IMPORTS, 2.0),
    'importing rclpy, messages and Numba': ('import numba' + IMPORTS, 1.6),
}
"""Programs with which the start of a node is compared, and the largest ratio of the two times."""
ECHO = 'first answer of an rclpy node that echoes', 2.5
"""A node that computes nothing, and the largest ratio: other processes have to discover it as they discover ours."""
ROUNDS = 7
PERIOD = 0.005
"""Time between two joint states, s."""


def first_torque(folder: Path, cache: Path) -> float:
    """Return the time from the start of the node's process until its first torque arrives, s."""
    os.environ['XDG_CACHE_HOME'] = str(cache)
    with Processes(folder) as processes, Client('benchmark', processes) as client:
        trips = Trips(client, 'joint_states', 'feedforward_torque')
        trajectory = client.node.create_publisher(JointTrajectory, 'joint_trajectory', 10)
        message = trajectory_of_an_hour()
        began = time.perf_counter()
        processes.start('feedforward_node', '-p', 'model:=aubo_i5', '-p', 'await_payload_gravity:=false')
        while True:
            processes.check()
            trajectory.publish(message)
            trips.send()
            if trips.answer(PERIOD) is not None:
                return time.perf_counter() - began


def first_echo(folder: Path) -> float:
    """Return the time from the start of the process of echo_node.py until its first answer arrives, s."""
    with Processes(folder) as processes, Client('benchmark', processes) as client:
        trips = Trips(client, 'echo/joint_states', 'echo/answers')
        began = time.perf_counter()
        with subprocess.Popen([sys.executable, str(Path(__file__).with_name('echo_node.py'))]) as echo:
            while True:
                assert echo.poll() is None, f'status {echo.returncode} of echo_node.py'
                trips.send()
                if trips.answer(PERIOD) is not None:
                    seconds = time.perf_counter() - began
                    echo.send_signal(signal.SIGINT)
                    return seconds


def main():
    print(heading())
    discovery.use_profiles()  # the echo's discovery has the settings of the nodes
    with tempfile.TemporaryDirectory() as folder:
        first, again, *references = np.median(
            [
                (
                    first_torque(Path(folder), Path(folder) / f'cache_{k}'),
                    first_torque(Path(folder), Path(folder) / f'cache_{k}'),
                    *(first_line(code) for code, _ in REFERENCES.values()),
                    first_echo(Path(folder)),
                )
                for k in range(ROUNDS)
            ],
            axis=0,
        )
    print(f'{verdict(again, START)} s, median of {ROUNDS}; the first time / again {verdict(first / again, FIRST)}')
    compared = [*((name, at_most) for name, (_, at_most) in REFERENCES.items()), ECHO]
    for (name, at_most), seconds in zip(compared, references, strict=True):
        print(f'  / {name} ({seconds:.3f} s) {verdict(again / seconds, at_most)}')


if __name__ == '__main__':
    main()
