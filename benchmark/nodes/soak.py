"""Does feedforward_node answer every joint state for ten minutes, at 500 Hz, and does its memory stay as it is?

A round trip lasts from publishing a joint state to receiving its torque, in another process; the age is that of the
state of the newest torque, just before the next torque arrives.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray

from benchmark.measure import heading
from benchmark.nodes.node_latency import PATIENT, Trips, follow_a_trajectory, memory, quantiles
from robot_dynamics_ros.tools.processes import Client, Processes

RATE, PART = 500.0, 60.0
"""States per second, and the duration of a part in s; the memory is measured after each part."""
MEGABYTES = 5.0


def ages(trips: np.ndarray, sent: np.ndarray) -> np.ndarray:
    """Return the age of the state of each torque when the next torque arrived, us."""
    answered = ~np.isnan(trips)
    begun = 1e6 * sent[answered]
    return np.diff(begun) + trips[answered][1:]


def refused(client: Client) -> str:
    """Return the number of states that the node has rejected, which arrived too late."""
    found: list = []
    client.node.create_subscription(DiagnosticArray, '/diagnostics', lambda message: found.extend(message.status), 10)

    def counts():
        statuses = [status for status in found if status.name == '/feedforward_node']
        return [value.value for status in statuses for value in status.values if value.key == 'states rejected']

    client.spin_until(counts, 10.0, 'diagnostics')
    return counts()[0]


def soak(client: Client, pid: int, seconds: float) -> bool:
    """Print the results; return whether no state was lost and the memory did not grow."""
    trips = Trips(client, 'joint_states', 'feedforward_torque')
    trips.until_answered()
    length = min(PART, seconds / 3)
    found, oldest, sizes = [], [], []
    for _ in range(round(seconds / length)):
        found.append(trips.run(RATE, length))
        oldest.append(ages(found[-1], trips.sent).max())
        sizes.append(memory(pid))
    times = np.concatenate(found)
    lost, grown = np.isnan(times).sum(), sizes[-1] - sizes[0]
    print(f'{RATE:.0f} Hz for {seconds:.0f} s: {lost} of {len(times)} lost (at most 0), {refused(client)} too old')
    print(f'  round trip {quantiles(times, 0.5, 0.99, 0.999, 1.0)} us')
    print(f'  worst age {max(oldest):.0f} us, pauses of the sender included')
    print(
        f'  memory {sizes[0]:.1f} MB after {length:.0f} s, {sizes[-1]:.1f} MB at the end (at most {MEGABYTES:.0f} more)'
    )
    return not lost and grown <= MEGABYTES


def main() -> int:
    parser = argparse.ArgumentParser(prog='scripts/soak', description=__doc__.splitlines()[0])
    parser.add_argument('--seconds', type=float, default=600.0, help='how long; 600 where nothing is said')
    seconds = parser.parse_args().seconds
    print(heading())
    with tempfile.TemporaryDirectory() as name, Processes(Path(name)) as processes, Client('soak', processes) as client:
        processes.start(
            'feedforward_node', *(part for name, value in PATIENT.items() for part in ('-p', f'{name}:={value}'))
        )
        client.wait_until_active('feedforward_node')
        follow_a_trajectory(client)
        passed = soak(client, processes._running['feedforward_node'].pid, seconds)
    return not passed


if __name__ == '__main__':
    sys.exit(main())
