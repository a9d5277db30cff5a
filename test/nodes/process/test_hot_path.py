"""The hot path: a thread of its own beside the executors, and the settings of the process while it runs."""

import gc
import os
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path

from support.nodes.graph import DOMAIN  # chosen before rclpy is used

import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.nodes.process import hot_path, realtime
from robot_dynamics_ros.nodes.process.hot_path import PATIENCE, HotPath
from robot_dynamics_ros.nodes.process.raw_executor import PAUSE_NS, NoExecutor
from robot_dynamics_ros.nodes.process.realtime import Schedule

pytestmark = pytest.mark.plain

USUAL = Schedule(0, (), False)


@pytest.fixture
def node():
    assert os.environ['ROS_DOMAIN_ID'] == str(DOMAIN)
    rclpy.init()
    made = rclpy.create_node('hot_path_test')
    yield made
    made.destroy_node()
    rclpy.try_shutdown()


class Wire:
    """A topic within a node, its messages taken by a hot path."""

    def __init__(self, node, topic='topic', on_pause=None, on_stop=None, failed=None):
        self.taken: list = []
        self.threads: set = set()
        group = NoExecutor()
        self.subscription = node.create_subscription(JointState, topic, self.take, 10, callback_group=group, raw=True)
        self.publisher = node.create_publisher(JointState, topic, 10)
        self.hot_path = HotPath(node, group, [self.subscription], on_pause, on_stop, failed)
        self.until(lambda: self.publisher.get_subscription_count() == 1)

    def take(self, data, info):
        self.threads.add(threading.current_thread().name)
        self.taken.append(*deserialize_message(data, JointState).name)

    def send(self, name: str):
        self.publisher.publish(JointState(name=[name]))

    @staticmethod
    def until(condition):
        deadline = time.monotonic() + 10.0
        while not condition():
            assert time.monotonic() < deadline
            time.sleep(0.001)


def test_each_message_is_handled_on_a_thread_of_its_own(node):
    wire = Wire(node)
    wire.hot_path.start(USUAL)
    for k in range(20):
        wire.send(f'{k}')
        wire.until(lambda k=k: len(wire.taken) == k + 1)
    assert wire.taken == [f'{k}' for k in range(20)]
    assert wire.threads == {'hot path'}
    wire.hot_path.destroy()


def test_no_executor_is_involved(node):
    wire = Wire(node)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    wire.send('while it does not run')
    for _ in range(5):
        executor.spin_once(timeout_sec=0.02)
    assert wire.taken == []
    # not even looked at: a message wakes no executor
    assert not wire.subscription.callback_group.can_execute(wire.subscription)
    executor.shutdown()
    wire.hot_path.destroy()


def test_stopped_it_handles_nothing_and_started_again_it_drops_what_was_received_between(node):
    wire = Wire(node)
    wire.hot_path.start(USUAL)
    wire.send('one')
    wire.until(lambda: len(wire.taken) == 1)
    wire.hot_path.stop()
    assert 'hot path' not in {thread.name for thread in threading.enumerate()}
    wire.send('between')
    time.sleep(0.1)
    assert len(wire.taken) == 1
    wire.hot_path.start(USUAL)
    wire.send('two')
    wire.until(lambda: len(wire.taken) == 2)
    assert wire.taken == ['one', 'two']
    wire.hot_path.destroy()
    wire.hot_path.stop()  # again: no harm


def test_stopped_while_its_thread_is_being_started_it_is_not_running_afterwards(node, monkeypatch):
    """A process that ends stops the nodes from a thread of its own, whatever they are doing."""
    wire = Wire(node)
    stopped: list = []
    stopping = threading.Thread(target=lambda: stopped.append(wire.hot_path.stop()))

    class Slow(threading.Thread):
        def start(self):
            stopping.start()
            stopping.join(timeout=0.2)  # had it not waited, it would have met a thread that is not started
            super().start()

    with monkeypatch.context() as patched:
        patched.setattr('robot_dynamics_ros.nodes.process.raw_executor.threading.Thread', Slow)
        wire.hot_path.start(USUAL)
    stopping.join(timeout=10.0)
    assert stopped == [True]
    assert 'hot path' not in {thread.name for thread in threading.enumerate()}
    wire.hot_path.destroy()


def test_a_pause_callback_is_called_while_it_runs_and_messages_continue(node):
    pauses, threads = [], set()

    def on_pause():
        pauses.append(time.monotonic_ns())
        threads.add(threading.current_thread().name)

    wire = Wire(node, on_pause=on_pause)
    wire.hot_path.start(USUAL)
    wire.until(lambda: len(pauses) > 5)
    wire.send('one')
    wire.until(lambda: wire.taken == ['one'])
    known = len(pauses)
    wire.until(lambda: len(pauses) > known)
    wire.hot_path.destroy()
    assert threads == {'hot path'}
    waited = min(later - earlier for earlier, later in pairwise(pauses))
    assert waited > 0.9 * PAUSE_NS, 'it looked again'
    # the thread has ended: nobody is left to ask
    assert 'hot path' not in {thread.name for thread in threading.enumerate()}


def test_a_pause_callback_is_called_whatever_the_messages(node):
    """Messages that follow one another without end, as those of another topic, keep nothing from being asked."""
    pauses: list = []
    wire = Wire(node, on_pause=lambda: pauses.append(len(wire.taken)))
    take, wire.subscription.callback = wire.subscription.callback, lambda *taken: (take(*taken), wire.send('next'))
    wire.hot_path.start(USUAL)
    wire.send('first')
    wire.until(lambda: len(pauses) > 20)
    wire.hot_path.destroy()
    assert len(wire.taken) > 20
    assert len(set(pauses)) > 10  # messages came between them
    assert len(pauses) < len(wire.taken)  # not after each message


def test_the_last_word_is_on_its_own_thread_once_and_before_stop_returns(node):
    said: list = []
    wire = Wire(node, on_stop=lambda: said.append((threading.current_thread().name, len(wire.taken))))
    for k in range(1, 3):
        wire.hot_path.start(USUAL)
        wire.send('one')
        wire.until(lambda k=k: len(wire.taken) == k)
        wire.hot_path.stop()
        assert said[k - 1 :] == [('hot path', k)]
    wire.hot_path.destroy()
    assert len(said) == 2


@pytest.fixture
def used_collector(monkeypatch):
    """Nodes of this process use its garbage collector; nothing is frozen at first, whatever an earlier test left."""
    monkeypatch.setattr(hot_path, 'gc', gc)
    monkeypatch.setattr(hot_path.InterpreterSettings, '_applied', 0)
    gc.unfreeze()
    yield
    gc.collect()
    gc.freeze()


@pytest.mark.compiled
@pytest.mark.usefixtures('used_collector')
def test_while_one_runs_garbage_is_frozen_and_the_interpreter_lock_released_early(node):
    before = 0.004
    sys.setswitchinterval(before)  # whatever an earlier test left
    first, second = Wire(node, 'first'), Wire(node, 'second')
    assert gc.get_freeze_count() == 0
    first.hot_path.start(USUAL)
    second.hot_path.start(USUAL)
    assert gc.get_freeze_count() > 1000
    assert sys.getswitchinterval() == pytest.approx(PATIENCE)
    first.hot_path.destroy()
    assert gc.get_freeze_count() > 1000
    second.hot_path.destroy()
    assert gc.get_freeze_count() == 0
    assert sys.getswitchinterval() == pytest.approx(before)
    sys.setswitchinterval(0.005)  # Python's own


def on_a_thread(schedule):
    """Return what ``realtime.apply`` says on a thread of its own, and that thread's scheduling afterwards."""
    found = []

    def run():
        found.append(realtime.apply(schedule))
        found.append(
            (os.sched_getscheduler(threading.get_native_id()), os.sched_getaffinity(threading.get_native_id()))
        )

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return found


def locked_memory() -> str:
    return next(line for line in Path('/proc/self/status').read_text().splitlines() if line.startswith('VmLck'))


def test_the_usual_schedule_asks_for_nothing():
    before = locked_memory()
    assert on_a_thread(USUAL) == [[], (os.sched_getscheduler(0), os.sched_getaffinity(0))]
    assert locked_memory() == before


def test_what_the_system_refuses_is_reported_by_name():
    (refused, (policy, cores)) = on_a_thread(Schedule(1000, (4000,), False))
    assert [line.split(':')[0] for line in refused] == ['realtime_priority 1000', 'cores [4000]']
    assert policy == os.sched_getscheduler(0) and cores == os.sched_getaffinity(0)


def test_a_core_can_be_chosen():
    core = max(os.sched_getaffinity(0))
    assert on_a_thread(Schedule(0, (core,), False)) == [[], (os.sched_getscheduler(0), {core})]


def test_a_priority_holds_for_the_thread_or_is_refused_by_name():
    before = os.sched_getscheduler(0)
    (refused, (policy, _)) = on_a_thread(Schedule(1, (), False))
    assert os.sched_getscheduler(threading.main_thread().native_id) == before  # Python's others keep theirs
    if refused:
        assert refused[0].startswith('realtime_priority 1: ') and policy == before
        assert 'Operation not permitted' in refused[0]
    else:
        assert policy == os.SCHED_FIFO


@pytest.mark.parametrize('number', [-2, 65536, 1099511627776])
def test_a_number_of_no_core_is_refused_by_the_name_of_the_parameter(number):
    with pytest.raises(ArgumentError, match=f'^cores: expected CPU cores, .* got {number}$'):
        realtime.cores_of([0, number])
    assert realtime.cores_of([-1]) == () and realtime.cores_of([0, 65535]) == (0, 65535)


def test_a_core_beyond_every_number_of_the_system_is_reported_and_ends_no_thread():
    (refused, _) = on_a_thread(Schedule(0, (1099511627776,), False))
    assert [line.split(':')[0] for line in refused] == ['cores [1099511627776]']


def test_a_thread_that_dies_for_whatever_reason_says_so_and_sends_what_comes_last(node, monkeypatch):
    error, told = MemoryError('no stack'), []

    def die(schedule):
        raise error

    monkeypatch.setattr(realtime, 'apply', die)
    wire = Wire(node, on_stop=lambda: told.append('stop'), failed=told.append)
    wire.hot_path.start(USUAL)
    wire.until(lambda: len(told) == 2)
    assert told == [error, 'stop']
    assert wire.hot_path.stop()
    monkeypatch.undo()

    def take(data, info=None):
        raise error

    told.clear()
    wire.subscription.callback = take
    wire.hot_path.start(USUAL)
    wire.send('one')
    wire.until(lambda: len(told) == 2)
    assert told == [error, 'stop']
    wire.hot_path.destroy()
