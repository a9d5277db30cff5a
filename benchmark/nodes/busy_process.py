"""How soon do a stop, SIGINT and SIGTERM act, and how late are torques, while the process of bringup is busy?

A stop is a trajectory without points; it acts when the last state was sent that gets a torque along the motion. Its
process is busy with one service call: a large request to dynamics_server, or the deactivation of another node, whose
torque ramps to zero.
"""

import argparse
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from lifecycle_msgs.msg import State, Transition
from trajectory_msgs.msg import JointTrajectory

from benchmark.measure import heading
from benchmark.nodes.node_latency import JOINTS, Trips, trajectory_of_an_hour
from robot_dynamics_ros.messages.cdr import stamp_of
from robot_dynamics_ros.tools.processes import Client, Processes

RATE = 500.0
"""Joint states per second."""
AT_MOST = 50.0
"""ms in which a stop or a signal has to act."""
NODES = 'feedforward_node gravity_compensation_node dynamics_server'
RAMPS = 'gravity_compensation_node'
"""The node that ramps."""
BUSY = {
    'nothing else': '',
    'a ramp to zero of 2 s': 'ramp',
    'check_trajectory, 90,000 points': 'check',
    'a million mass matrices': 'mass_matrix',
    'a million inverse dynamics': 'inverse_dynamics',
}
"""What the process does meanwhile, and the argument of large_request.py for it."""
LENGTH, MOMENTS = 8.0, (0.1, 1.0)
"""Duration of a run, s, and the times after the request at which a stop is sent, one a run."""


class Requests:
    """The process that sends one request when it is told to."""

    def __init__(self, kind: str):
        command = [sys.executable, str(Path(__file__).with_name('large_request.py')), kind]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline(), f'{kind}: the service was not found'

    def send(self):
        self.process.stdin.write('\n')
        self.process.stdin.flush()

    def end(self):
        self.process.kill()
        self.process.communicate()


class Watch:
    """Sends states and records when their torques come."""

    def __init__(self, client: Client):
        self.trips = Trips(client, 'joint_states', 'feedforward_torque')
        self.client = client
        self.trajectories = client.node.create_publisher(JointTrajectory, 'joint_trajectory', 10)
        client.spin_until(self.trajectories.get_subscription_count, 20.0, 'a subscriber of joint_trajectory')

    def follow(self):
        deadline = time.monotonic() + 60.0
        while np.isnan(self.trips.run(50.0, 0.2)).any():
            assert time.monotonic() < deadline, 'no torque'
            self.trajectories.publish(trajectory_of_an_hour())

    def run(self, seconds: float, *actions: tuple[float, Callable[[], object]]):
        """Return when each torque came, and when its state was sent (s, of time.perf_counter)."""
        trips, due, waiting = self.trips, 0.0, sorted(actions, key=lambda it: it[0])
        arrivals, answered, sent = [], [], {}
        begun = time.perf_counter()
        while (now := time.perf_counter() - begun) < seconds:
            if waiting and now >= waiting[0][0]:
                waiting.pop(0)[1]()
            if now >= due:
                sent[trips.send()] = begun + now
                due += 1.0 / RATE
            answer = trips.answer(max(0.0002, due - (time.perf_counter() - begun)))
            if answer is not None and (at := sent.get(stamp_of(answer))) is not None:
                arrivals.append(time.perf_counter())
                answered.append(at)
        return np.array(arrivals), np.array(answered)


def started(processes: Processes, client: Client):
    limits = ('age_limit:=1.0', 'on_deactivate:=ramp_to_zero', 'gravity_compensation_node:ramp_time:=2.0')
    parameters = [part for each in ('model:=aubo_i5', 'ramp_time:=0.1', *limits) for part in ('-p', each)]
    processes.start('bringup', *parameters, '--', '--nodes', NODES)
    for node in NODES.split():
        client.wait_until_active(node)


def acts(watch: Watch, moment: float, action: Callable[[], object], requests: Requests | None, length: float):
    """Return after how many ms an ``action`` at a ``moment`` after the request acts."""
    actions, begun = [(0.5, requests.send)] if requests else [], []

    def begin():
        begun.append(time.perf_counter())
        action()

    _, answered = watch.run(0.5 + moment + length, *actions, (0.5 + moment, begin))
    return 1e3 * max(0.0, answered[-1] - begun[0])


def gaps(client: Client, what: str, kind: str, seconds: float):
    watch, requests = Watch(client), Requests(kind) if kind else None
    watch.follow()
    arrivals, answered = watch.run(seconds, *([(0.5, requests.send)] if requests else []))
    taken = arrivals - answered
    if requests:
        requests.end()
    print(
        f'{what}: round trip p50 {1e3 * np.median(taken):.2f}, p99 {1e3 * np.quantile(taken, 0.99):.2f}, '
        f'longest time without a torque {1e3 * np.diff(arrivals).max():.1f} ms',
        flush=True,
    )


def stops(client: Client, what: str, kind: str, moments):
    watch, found = Watch(client), []
    for moment in moments:
        requests = Requests(kind) if kind else None
        watch.follow()
        found.append(acts(watch, moment, lambda: watch.trajectories.publish(JointTrajectory()), requests, 5.0))
        if requests:
            requests.end()
        if client.state_of(RAMPS).id != State.PRIMARY_STATE_ACTIVE:
            client.change_state(RAMPS, Transition.TRANSITION_ACTIVATE)
    print(f'{what}: a stop acts after {listed(found)}', flush=True)


def signals(folder: Path, what: str, kind: str, moments):
    for number in (signal.SIGINT, signal.SIGTERM):
        found, ended = [], []
        for moment in moments:
            with Processes(folder) as processes, Client('benchmark', processes) as client:
                started(processes, client)
                watch, requests = Watch(client), Requests(kind) if kind else None
                watch.follow()
                process = processes._running.pop('bringup')
                begun: list[float] = []

                def end(process=process, begun=begun, number=number):
                    process.send_signal(number)
                    begun.append(time.monotonic())

                found.append(acts(watch, moment, end, requests, 1.0))
                process.wait(60.0)
                ended.append(time.monotonic() - begun[0])
                if requests:
                    requests.end()
        print(
            f'{what}: {number.name} acts after {listed(found)}; the process ends within {max(ended):.1f} s', flush=True
        )


def listed(found) -> str:
    worst = max(found)
    numbers = ', '.join(f'{value:.0f}' for value in found)
    return f'{numbers} ms (at most {AT_MOST:.0f}{"" if worst <= AT_MOST else ", MISSED"})'


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--what', default='gaps stops signals')
    parser.add_argument('--busy', default=' '.join(BUSY.values()))
    parser.add_argument('--moments', type=float, nargs='*', default=MOMENTS)
    options = parser.parse_args()
    busy = {what: kind for what, kind in BUSY.items() if not kind or kind in options.busy.split()}
    print(heading())
    print(f'bringup: {NODES}; {RATE:.0f} Hz, {len(JOINTS)} joints')
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Processes(folder) as processes, Client('benchmark', processes) as client:
            started(processes, client)
            for what, kind in busy.items():
                if 'gaps' in options.what and kind != 'ramp':
                    gaps(client, what, kind, LENGTH)
            for what, kind in busy.items():
                if 'stops' in options.what:
                    stops(client, what, kind, options.moments)
        if 'signals' in options.what:
            for what, kind in busy.items():
                signals(folder, what, kind, options.moments)


if __name__ == '__main__':
    main()
