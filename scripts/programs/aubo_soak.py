"""Does aubo_node publish every sample of a controller for ten minutes, in time and with right stamps, and come back?

The controller is emulated (test/support/aubo/aubo_controller.py), in a process of its own; its clock is 50 ppm fast.
Latency lasts from sending a sample to the callback of a subscriber in Python; the truth of a stamp is when the sample
was due at the controller.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / 'test'))

from support.aubo.aubo_controller import Sent
from support.aubo.aubo_measurement import ControllerProcess, Received, figures

import numpy as np
from sensor_msgs.msg import JointState

from robot_dynamics_ros.tools.processes import Client, Processes

DRIFT = 5e-5
RESTARTS = 20
LATENCY, STAMP = 5.0, 1.0
"""Bounds in ms: of the 99th percentile of the latency, and of all errors of stamps."""
PATIENCE = 30.0


def until(client: Client, states: list, count: int) -> None:
    """Wait for ``count`` states."""
    client.spin_until(lambda: len(states) >= count, PATIENCE, f'{count} states')


def main() -> int:
    """Print the figures; return 1 where one is out of bounds."""
    parser = argparse.ArgumentParser(prog='scripts/aubo_soak', description=__doc__.splitlines()[0])
    parser.add_argument('--seconds', type=float, default=600.0, help='how long; 600 where nothing is said')
    seconds = parser.parse_args().seconds
    print(f'{len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f} at the beginning')
    with (
        tempfile.TemporaryDirectory() as folder,
        Processes(Path(folder)) as processes,
        Client('soak', processes) as client,
    ):
        controller = ControllerProcess(DRIFT)
        try:
            arguments = {
                'model': 'aubo_i5',
                'robot_ip': '127.0.0.1',
                'rtde_port': controller.rtde_port,
                'rpc_port': controller.rpc_port,
            }
            processes.start(
                'aubo_node', *(part for pair in arguments.items() for part in ('-p', '{}:={}'.format(*pair)))
            )
            client.wait_until_active('aubo_node')
            return not (stays(client, controller, seconds) & comes_back(client, controller))
        finally:
            controller.end()


def stays(client: Client, controller: ControllerProcess, seconds: float) -> bool:
    """Listen for ``seconds``; print the figures, and return whether they are within their bounds."""
    states: list[Received] = []

    def on_state(message: JointState) -> None:
        states.append(Received.of(message))

    subscription = client.node.create_subscription(JointState, 'joint_states', on_state, 1000)
    until(client, states, 1)
    client.spin_while_waiting(lambda: False, seconds)
    client.node.destroy_subscription(subscription)
    found = figures([Sent(*sample) for sample in controller.ask('sent')], states)
    latency, error = found.latency, np.abs(found.stamp_error)
    print(f'200 Hz for {seconds:.0f} s: {found.lost} of {found.sent} samples lost (at most 0)')
    print(
        f'  latency p50 {np.median(latency):.2f} ms, p99 {np.percentile(latency, 99):.2f} ms (below {LATENCY:g}), '
        f'max {latency.max():.1f} ms'
    )
    print(
        f'  stamps: median error {np.median(found.stamp_error):+.3f} ms, p99 {np.percentile(error, 99):.3f} ms, '
        f'max {error.max():.3f} ms (below {STAMP:g})'
    )
    return not found.lost and np.percentile(latency, 99) < LATENCY and error.max() < STAMP


def comes_back(client: Client, controller: ControllerProcess) -> bool:
    """Restart the controller; print and return whether states came back each time, none by hand."""
    states: list = []
    client.node.create_subscription(JointState, 'joint_states', states.append, 1000)
    paused = []
    for _ in range(RESTARTS):
        controller.ask('stop')
        client.spin_while_waiting(lambda: False, 0.5)
        states.clear()
        controller.ask('start')
        began = time.monotonic()
        until(client, states, 10)
        paused.append(time.monotonic() - began)
    print(f'{RESTARTS} restarts: states again after {np.median(paused):.1f} s, {max(paused):.1f} s at most')
    return True


if __name__ == '__main__':
    sys.exit(main())
