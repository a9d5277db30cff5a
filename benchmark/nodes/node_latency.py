"""How fast does feedforward_node answer, and at what cost, against a typed rclpy echo? Does it hold out under load?

A round trip lasts from publishing a joint state to receiving its torque, in another process; CPU is that of all threads
of the node's process.
"""

import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
os.environ['ROS_DOMAIN_ID'] = str(1 + secrets.randbelow(100))

import numpy as np
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from benchmark.measure import heading, verdict
from robot_dynamics_ros import Robot
from robot_dynamics_ros.messages.cdr import JointStateBuffer, stamp_of
from robot_dynamics_ros.nodes.process import realtime
from robot_dynamics_ros.nodes.process.raw_executor import NoExecutor
from robot_dynamics_ros.tools.processes import Client, Processes

ROUNDS, LENGTH = 5, 4.0
"""Rounds of the comparisons, and seconds of each side in a round."""
CPU, P50, P99, LOADED = 0.45, 0.75, 0.75, 2.0
MEMORY = 250.0
PATIENT = {
    'model': 'aubo_i5',
    'await_payload_gravity': 'false',
    'age_limit': 0.1,
    'qos_overrides./joint_states.subscription.depth': 100,
    'qos_overrides./feedforward_torque.publisher.depth': 100,
}
"""With this age limit lost states count at 1 kHz, not states that are rejected after a pause of the machine."""
DEPTH = 100
JOINTS = Robot.named('aubo_i5').joint_names
REALTIME = 50
"""Priority of the node's thread and of this process in the comparison under load."""


class Trips:
    """Sends joint states to one node and measures the time until its torques arrive."""

    def __init__(self, client: Client, state_topic: str, answer_topic: str, joints: Sequence[str] = JOINTS):
        rest = [0.1] * len(joints)
        self.state = JointStateBuffer.of(JointState(name=list(joints), position=rest, velocity=rest))
        self.write = self.state.writer()
        self.publisher = client.node.create_publisher(JointState, state_topic, 10)
        self.answers = client.node.create_subscription(
            JointState,
            answer_topic,
            lambda _: None,
            QoSProfile(depth=DEPTH, reliability=ReliabilityPolicy.BEST_EFFORT),
            callback_group=NoExecutor(),
            raw=True,
        )
        self.wait_set = _rclpy.WaitSet(1, 0, 0, 0, 0, 0, client.node.context.handle)

    def run(self, rate: float, seconds: float) -> np.ndarray:
        """Return the round trips in us, NaN for a state without a torque; ``sent`` are the times of sending, s."""
        count = int(rate * seconds)
        self.sent = sent = np.zeros(count)
        trips, number = np.full(count, np.nan), {}
        begun = time.perf_counter()
        for k in range(count + 1):
            due = begun + k / rate if k < count else time.perf_counter() + 0.5
            if k < count:
                time.sleep(max(0.0, due - time.perf_counter()))
                sent[k] = time.perf_counter()
                number[self.send()] = k
                due += 1.0 / rate
            while (left := due - time.perf_counter()) > 0.0001:
                answer = self.answer(left)
                if answer is not None:
                    arrived = time.perf_counter()
                    answered = number.get(stamp_of(answer))
                    if answered is not None:
                        trips[answered] = 1e6 * (arrived - sent[answered])
        return trips

    def send(self) -> int:
        """Send a state with the present time; return its stamp."""
        stamp = time.time_ns()
        self.write(self.state.effort, stamp)
        self.publisher.publish(bytes(self.state))
        return stamp

    def answer(self, timeout: float):
        """Return the next torque message (bytes), or None after ``timeout`` s."""
        self.wait_set.clear_entities()
        self.wait_set.add_subscription(self.answers.handle)
        self.wait_set.wait(int(timeout * 1e9))
        taken = self.answers.handle.take_message(JointState, True)
        return None if taken is None else taken[0]

    def until_answered(self):
        while np.isnan(self.run(20.0, 0.5)).any():
            pass


def cpu_time(pid: int) -> float:
    """Return the CPU time of all threads of a process, s."""
    return sum(int((task / 'schedstat').read_text().split()[0]) for task in Path(f'/proc/{pid}/task').iterdir()) * 1e-9


def memory(pid: int) -> float:
    """Return the resident memory of a process in MB."""
    (line,) = [line for line in Path(f'/proc/{pid}/status').read_text().splitlines() if line.startswith('VmRSS')]
    return int(line.split()[1]) / 1000.0


def trajectory_of_an_hour(joints: Sequence[str] = JOINTS) -> JointTrajectory:
    rest = [0.0] * len(joints)
    message = JointTrajectory(joint_names=list(joints))
    for seconds, place in ((0, 0.0), (3600, 1.0)):
        point = JointTrajectoryPoint(positions=[place] * len(joints), velocities=rest, accelerations=rest)
        point.time_from_start.sec = seconds
        message.points.append(point)
    return message


def follow_a_trajectory(client: Client, topic: str = 'joint_trajectory', joints: Sequence[str] = JOINTS):
    """Send feedforward_node a motion that lasts an hour."""
    publisher = client.node.create_publisher(JointTrajectory, topic, 10)
    client.spin_until(publisher.get_subscription_count, 20.0, f'a subscriber of {topic}')
    for _ in range(3):  # a new subscription may miss the first message
        publisher.publish(trajectory_of_an_hour(joints))
        client.spin_while_waiting(lambda: False, 0.5)


def quantiles(trips: np.ndarray, *shares: float) -> str:
    return ', '.join(f'p{100 * share:g} {np.nanquantile(trips, share):.0f}' for share in shares)


def against_the_echo(client: Client, processes: Processes, echo: subprocess.Popen):
    pids = {'feedforward_node': processes._running['feedforward_node'].pid, 'echo': echo.pid}
    trips = {
        'feedforward_node': Trips(client, 'joint_states', 'feedforward_torque'),
        'echo': Trips(client, 'echo/joint_states', 'echo/answers'),
    }
    trips['echo'].until_answered()
    found = {name: [] for name in trips}
    for _ in range(ROUNDS):
        for name, each in trips.items():
            if name == 'feedforward_node':
                follow_a_trajectory(client)  # the one before has ended: no state came while the echo was measured
                each.until_answered()
            before = cpu_time(pids[name])
            times = each.run(500.0, LENGTH)
            cost = 1e6 * (cpu_time(pids[name]) - before) / len(times)
            found[name].append((cost, *np.nanquantile(times, (0.5, 0.99)), np.isnan(times).sum()))
    median = {name: np.median(rows, axis=0) for name, rows in found.items()}
    for name, (cost, p50, p99, _) in median.items():
        lost = sum(row[3] for row in found[name])
        print(
            f'500 Hz, {name}: {cost:.0f} us of CPU a message; round trip p50 {p50:.0f}, p99 {p99:.0f} us; {lost} lost'
        )
    ratios = median['feedforward_node'][:3] / median['echo'][:3]
    for what, ratio, at_most in zip(('CPU', 'p50', 'p99'), ratios, (CPU, P50, P99), strict=True):
        print(f'  {what} / that of the echo {verdict(ratio, at_most)}')
    print(f'  memory of feedforward_node {memory(pids["feedforward_node"]):.0f} MB (at most {MEMORY:.0f})')
    follow_a_trajectory(client)
    trips['feedforward_node'].until_answered()
    times = trips['feedforward_node'].run(1000.0, 60.0)
    print(f'1 kHz for 60 s: {np.isnan(times).sum()} of {len(times)} lost (at most 0)')
    print(f'  round trip {quantiles(times, 0.5, 0.99, 0.999, 1.0)} us')


def beside_a_batch_client(client: Client):
    # with few cores the measuring process would wait for the batch client too
    refused = realtime.apply(realtime.Schedule(REALTIME, (), lock_memory=False))
    print(f'priority {REALTIME} at both ends: {"; ".join(refused) or "permitted"}')
    trips = Trips(client, 'joint_states', 'feedforward_torque')
    quiet, loaded = [], []
    for _ in range(ROUNDS):
        follow_a_trajectory(client)
        trips.until_answered()
        quiet.append(np.nanquantile(trips.run(500.0, LENGTH), 0.99))
        load = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name('batch_client.py'))],
            stdout=subprocess.PIPE,
            text=True,
        )
        trips.run(500.0, 2.0)  # it has begun
        loaded.append(np.nanquantile(trips.run(500.0, LENGTH), 0.99))
        load.send_signal(signal.SIGINT)
        batches = int(load.communicate(timeout=10)[0] or 0)
        assert batches > 10, batches
    print(f'bringup, 500 Hz: p99 {np.median(quiet):.0f} us; beside a client of batches {np.median(loaded):.0f} us')
    print(
        f'  with batches / quiet {verdict(np.median(loaded) / np.median(quiet), LOADED)}; {batches} in the last round'
    )


def main():
    print(heading())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Processes(folder) as processes, Client('benchmark', processes) as client:
            echo = subprocess.Popen([sys.executable, str(Path(__file__).with_name('echo_node.py'))])
            try:
                patient = [part for name, value in PATIENT.items() for part in ('-p', f'{name}:={value}')]
                processes.start('feedforward_node', *patient)
                client.wait_until_active('feedforward_node')
                against_the_echo(client, processes, echo)
                processes.stop()
                processes.start('bringup', '-p', 'model:=aubo_i5', '-p', f'realtime_priority:={REALTIME}')
                client.wait_until_active('feedforward_node')
                client.wait_until_active('dynamics_server')
                beside_a_batch_client(client)
            finally:
                echo.send_signal(signal.SIGINT)
                echo.wait(10)


if __name__ == '__main__':
    main()
