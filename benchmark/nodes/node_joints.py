"""Does feedforward_node serve a robot of 32 joints at 500 Hz without a loss, and at what cost against the AUBO-i5's?

Both nodes run at the same time and get joint states in turn; CPU is that of all threads of a node's process.
"""

import os
import secrets
import tempfile
from contextlib import ExitStack
from pathlib import Path

os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
os.environ['ROS_DOMAIN_ID'] = str(1 + secrets.randbelow(100))

import numpy as np

from benchmark.known_robots import example_urdf
from benchmark.measure import heading, verdict
from benchmark.nodes.node_latency import JOINTS, PATIENT, Trips, cpu_time, follow_a_trajectory
from robot_dynamics_ros import Robot
from robot_dynamics_ros.tools.processes import Client, Processes

RATE, ROUNDS, LENGTH = 500.0, 5, 8.0
"""States per second, rounds, and seconds of each node in a round."""
CPU = 1.3
NAMESPACES = 'aubo', 'talos'


def started(stack: ExitStack, folder: Path, namespace: str, *parameters: str) -> Processes:
    """Start feedforward_node in a namespace."""
    (folder / namespace).mkdir()
    processes = stack.enter_context(Processes(folder / namespace))
    patient = (
        f'{name}:={value}'.replace('/joint_states', f'/{namespace}/joint_states') for name, value in PATIENT.items()
    )
    arguments = (part for parameter in (*patient, *parameters) for part in ('-p', parameter))
    processes.start('feedforward_node', '-r', f'__ns:=/{namespace}', *arguments)
    return processes


def main():
    print(heading())
    urdf = example_urdf('/talos_reduced.urdf')
    joints = {'AUBO-i5': JOINTS, 'Talos reduced': Robot.from_urdf(urdf).joint_names}
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        nodes = {
            'AUBO-i5': started(stack, folder, NAMESPACES[0]),
            'Talos reduced': started(stack, folder, NAMESPACES[1], f'robot_description:={urdf}'),
        }
        client = stack.enter_context(Client('benchmark', nodes['AUBO-i5']))
        trips, pids = {}, {}
        for (robot, processes), namespace in zip(nodes.items(), NAMESPACES, strict=True):
            client.wait_until_active(f'{namespace}/feedforward_node')
            topics = f'{namespace}/joint_states', f'{namespace}/feedforward_torque'
            trips[robot] = Trips(client, *topics, joints[robot])
            pids[robot] = processes._running['feedforward_node'].pid
        found = {robot: [] for robot in nodes}
        for _ in range(ROUNDS):
            for (robot, each), namespace in zip(trips.items(), NAMESPACES, strict=True):
                # the motion before has ended: no state came while the other robot was measured
                follow_a_trajectory(client, f'{namespace}/joint_trajectory', joints[robot])
                each.until_answered()
                before = cpu_time(pids[robot])
                times = each.run(RATE, LENGTH)
                cost = 1e6 * (cpu_time(pids[robot]) - before) / len(times)
                found[robot].append((cost, *np.nanquantile(times, (0.5, 0.99)), np.isnan(times).sum()))
    median = {robot: np.median(rows, axis=0) for robot, rows in found.items()}
    for robot, (cost, p50, p99, _) in median.items():
        lost = sum(row[3] for row in found[robot])
        print(
            f'{RATE:.0f} Hz, {robot}, {len(joints[robot])} joints: {cost:.0f} us of CPU a message; '
            f'round trip p50 {p50:.0f}, p99 {p99:.0f} us; {lost:.0f} lost (at most 0)'
        )
    print(f'  CPU / that of the AUBO-i5 {verdict(median["Talos reduced"][0] / median["AUBO-i5"][0], CPU)}')


if __name__ == '__main__':
    main()
