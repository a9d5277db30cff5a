"""Services called as fast as they can respond do not delay the torques that it publishes.

``pytest -o log_cli=true --log-cli-level=INFO`` shows the figures.
"""

import gc
import logging
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from support.nodes import graph as ros
from support.nodes.request_flood import KINDS
from support.nodes.state_publisher import POSITION

import numpy as np
import pytest
from rclpy.impl.implementation_singleton import rclpy_implementation
from sensor_msgs.msg import JointState

from robot_dynamics_ros import Robot
from robot_dynamics_ros.messages.cdr import JointStateBuffer, stamp_of
from robot_dynamics_ros.nodes.process.raw_executor import NoExecutor

pytestmark = pytest.mark.timing

FIGURES = logging.getLogger(__name__)
NODE = 'gravity_compensation_node'
NAMES = list(Robot.named('aubo_i5').joint_names)
SLOWER = 3.0
"""Largest ratio of the p99 of a torque's round trip in a flood to the p99 in quiet.

Measured: 1.7 to 2.4, and 2 to 21 with Python's own switch interval (2026-11-23). The aim is 2, not reached everywhere.
"""
SHARE = 0.1
"""Of the answers that come in the same time without states, how many have to come in a flood: else it is none."""
TRIES = 12
"""Measurements at most."""
PAIRS, COUNT, PERIOD = 3, 200, 0.002
"""Quiet and flooded phases by turns, states in each, time from one to the next, s."""
TORQUES, MIDDLEWARE = 50, 20
"""Real-time priorities: of the threads that answer and measure, of the middleware's."""
FIRST = -20
"""Nice value of the main threads of two processes: the one that serves requests, and the one that sends them.

A real-time priority would not do. The server's main thread often holds the interpreter while torque threads, which have
a higher priority, wait for it. Each time one of them wakes up, the kernel moves the main thread to the other processor,
so that it hardly runs (traced on 2026-11-23).
"""


@contextmanager
def before_other_work(process: int, measures: bool):
    """Let other work hardly take a processor from a process; its main thread ``measures``, or serves and asks."""

    def schedule(policy, others, main, nice):
        for task in Path(f'/proc/{process}/task').iterdir():
            thread = int(task.name)
            if thread == process and not measures:
                os.setpriority(os.PRIO_PROCESS, thread, nice)
            elif os.sched_getscheduler(thread) != policy:  # the thread that answers has chosen for itself
                os.sched_setscheduler(thread, policy, os.sched_param(main if thread == process else others))

    schedule(os.SCHED_FIFO, MIDDLEWARE, TORQUES, FIRST)
    yield
    schedule(os.SCHED_OTHER, 0, 0, 0)


@pytest.fixture(scope='module')
def graph(tmp_path_factory):
    """A process of torques and services."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(TORQUES))
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        os.setpriority(os.PRIO_PROCESS, 0, FIRST)
        os.setpriority(os.PRIO_PROCESS, 0, 0)
    except PermissionError as error:
        pytest.skip(f'priorities, without which other work is measured: {error}')
    with ros.Graph(tmp_path_factory.mktemp('flood')) as running:
        running.processes.start('bringup', '-p', 'age_limit:=1.0', '-p', f'realtime_priority:={TORQUES}')
        for node in (NODE, 'dynamics_server'):
            running.client.wait_until_active(node)
        with before_other_work(running.pid('bringup'), False), before_other_work(os.getpid(), True):
            yield running


class Flood:
    """Requests of a process of its own, while it is told so."""

    def __init__(self, kind: str):
        command = [sys.executable, str(Path(ros.__file__).with_name('request_flood.py')), kind]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self):
        self.begin()
        assert self.end() == 0  # it has found the service
        return self

    def __exit__(self, *exception):
        self.process.kill()
        self.process.communicate()

    def begin(self):
        self.process.stdin.write(b'\n')
        self.process.stdin.flush()

    def end(self) -> int:
        """Return the number of answers when the last one has come."""
        self.begin()
        return int(self.process.stdout.readline())

    def without_states(self) -> int:
        """Return the number of answers in the time of a phase, if nobody sends states."""
        self.begin()
        time.sleep(COUNT * PERIOD)
        return self.end()


class Trips:
    """The time from a state to its torque, one state after the other."""

    def __init__(self, graph):
        self._publisher = graph.node.create_publisher(JointState, 'joint_states', 10)
        self._state = JointStateBuffer.of(JointState(name=NAMES, position=[POSITION] * len(NAMES)))
        self._write = self._state.writer()
        self._torques = graph.node.create_subscription(
            JointState, 'gravity_torque', lambda _: None, 10, callback_group=NoExecutor(), raw=True
        )
        self._wait_set = rclpy_implementation.WaitSet(1, 0, 0, 0, 0, 0, graph.node.context.handle)
        graph.repeat_until(lambda: self._trip(1.0), lambda: self._trip(1.0) < 1.0, 'a torque')

    def p99(self) -> float:
        """Return it for the states of one phase, s."""
        taken = []
        due = time.perf_counter()
        for _ in range(COUNT):
            due += PERIOD
            time.sleep(max(0.0, due - time.perf_counter()))
            taken.append(self._trip(ros.TIMEOUT))
        return float(np.quantile(taken, 0.99))

    def _trip(self, timeout: float) -> float:
        """Return how long a state's torque takes, at most ``timeout`` s."""
        stamp, begun = time.time_ns(), time.perf_counter()
        self._write(self._state.effort, stamp)
        self._publisher.publish(bytes(self._state))
        while (taken := time.perf_counter() - begun) < timeout:
            self._wait_set.clear_entities()
            self._wait_set.add_subscription(self._torques.handle)
            self._wait_set.wait(int((timeout - taken) * ros.SECOND))
            torque = self._torques.handle.take_message(JointState, True)
            if torque is not None and stamp_of(torque[0]) == stamp:
                return time.perf_counter() - begun
        return timeout


def slower(trips: Trips, flood: Flood) -> float:
    """Return how many times longer torques take in a flood, at p99; medians, for the machine itself pauses at times."""
    quiet, flooded, answers, possible = [], [], [], flood.without_states()
    for _ in range(PAIRS):
        quiet.append(trips.p99())
        flood.begin()
        flooded.append(trips.p99())
        answers.append(flood.end())
    assert min(answers) > SHARE * possible > 0.0
    ratio = np.median(flooded) / np.median(quiet)
    for what, times in (('quiet', quiet), ('flood', flooded)):
        FIGURES.info('%s: p99 %s us', what, np.round(1e6 * np.array(times)).tolist())
    FIGURES.info('flood / quiet: %.2f; answers in it: %s, without states: %d', ratio, answers, possible)
    return ratio


@pytest.mark.parametrize('kind', KINDS)
def test_in_a_flood_torques_come_within_three_times_the_time(graph, kind):
    """One of ``TRIES`` is enough: what else the machine does is not the node's."""
    trips, ratios = Trips(graph), []
    gc.freeze()
    with Flood(kind) as flood, before_other_work(flood.process.pid, False):
        while len(ratios) < TRIES and min(ratios, default=np.inf) > SLOWER:
            ratios.append(slower(trips, flood))
    gc.unfreeze()
    assert min(ratios) <= SLOWER, ratios
