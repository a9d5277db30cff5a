"""No exception of a callback ends a process, and a clock that goes back is noticed, simulated or not."""

import time

from support.nodes import graph as ros

import pytest
import rclpy
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock
from std_msgs.msg import String
from std_srvs.srv import Trigger

from robot_dynamics_ros.nodes.inputs import clock_watch
from robot_dynamics_ros.nodes.inputs.clock_reader import ClockReader
from robot_dynamics_ros.nodes.inputs.pipeline_clock import PipelineClock
from robot_dynamics_ros.nodes.lifecycle.base_node import BaseNode
from robot_dynamics_ros.nodes.lifecycle.lifecycle_task import LifecycleTask

SECOND = 1_000_000_000


class Report(LifecycleTask):
    """A task that may fail to report."""

    silence, fault = '', None

    def report(self):
        if self.fault:
            raise self.fault
        return {'field': 'value'}


class Watched(BaseNode):
    """A node that notes when its clock went back."""

    def __init__(self, **options):
        super().__init__('watched', **options)
        self.set_backs, self.statuses = [], []

    def make_task(self):
        return Report()

    def _on_clock_set_back(self, before, after):
        super()._on_clock_set_back(before, after)
        self.set_backs.append((before, after))

    def on_configure(self, state):
        result = super().on_configure(state)
        self.diagnostics.publisher.publish = lambda array: self.statuses.extend(array.status)
        return result


@pytest.fixture
def node(request):
    rclpy.init(args=ros.AUBO_I5)
    made = Watched(namespace='/guards', **getattr(request, 'param', {}))
    made.executor_here = SingleThreadedExecutor()
    made.executor_here.add_node(made)
    made.start()
    yield made
    made.fall_silent()
    made.destroy_node()
    rclpy.try_shutdown()


def spin_until(node, condition, what):
    for _ in range(1000):
        if condition():
            return
        node.executor_here.spin_once(timeout_sec=0.02)
    raise AssertionError(what)


def fail(*_):
    raise RuntimeError('a wheel came off')


def test_a_report_that_fails_is_logged_and_the_node_stays_active(node):
    node.task.fault = RuntimeError('dictionary changed size during iteration')
    spin_until(node, lambda: node.statuses, 'diagnostics')
    (status,) = node.statuses
    assert status.level == DiagnosticStatus.ERROR
    assert status.message == "diagnostics failed: RuntimeError('dictionary changed size during iteration')"
    assert node.active and node.crash == ''
    assert {value.key for value in status.values} == {'model', 'model digest', 'joints', 'activations'}
    node.task.fault = None
    spin_until(node, lambda: len(node.statuses) > 1, 'diagnostics again')
    assert (node.statuses[-1].level, node.statuses[-1].message) == (DiagnosticStatus.OK, 'publishing')
    assert node.statuses[-1].values[-1].value == 'value'


def test_no_timer_ends_the_process(node):
    timer = node.create_timer(0.001, fail)
    spin_until(node, lambda: node.crash, 'a crash')
    assert node.crash == "internal error: RuntimeError('a wheel came off')"
    node.destroy_timer(timer)


def test_no_subscription_ends_the_process(node):
    node.create_subscription(String, 'text', fail, 10)
    publisher = node.create_publisher(String, 'text', 10)
    spin_until(node, lambda: publisher.publish(String()) or node.crash, 'a crash')
    assert 'a wheel came off' in node.crash


def test_no_service_ends_the_process(node):
    node.create_service(Trigger, 'service', fail)
    client = node.create_client(Trigger, 'service')
    assert client.wait_for_service(10.0)
    future = client.call_async(Trigger.Request())
    spin_until(node, future.done, 'a response')
    assert not future.result().success and node.crash == ''


def test_a_callback_still_gets_the_information_about_its_message(node):
    received = []
    node.create_subscription(String, 'text', lambda message, info: received.append((message, info)), 10)
    publisher = node.create_publisher(String, 'text', 10)
    spin_until(node, lambda: publisher.publish(String(data='hello')) or received, 'a message')
    message, info = received[0]
    assert message.data == 'hello' and info['received_timestamp'] > 0


SIMULATED = {'parameter_overrides': [Parameter('use_sim_time', value=True)]}


def send(node, publisher, seconds):
    """Set the clock; it shows the time before the thread that set it has reported a time that went back."""
    publisher.publish(Clock(clock=Time(sec=seconds)))
    spin_until(node, lambda: node.get_clock().now().nanoseconds == seconds * SECOND, f'{seconds} s')


@pytest.mark.parametrize('node', [SIMULATED], indirect=True)
def test_a_simulated_clock_that_goes_back_is_reported_once(node):
    publisher = node.create_publisher(Clock, '/clock', 10)
    spin_until(node, publisher.get_subscription_count, 'a subscription of the clock')
    for seconds in (10, 11, 500):
        send(node, publisher, seconds)
    assert node.set_backs == []
    send(node, publisher, 3)
    spin_until(node, lambda: node.set_backs, 'a report')
    assert node.set_backs == [(500 * SECOND, 3 * SECOND)]
    send(node, publisher, 4)
    send(node, publisher, 0)
    spin_until(node, lambda: node.set_backs[1:], 'another report')
    assert node.set_backs[1:] == [(4 * SECOND, 0)]
    node.diagnostics.on_timer()
    assert len(node.set_backs) == 2


@pytest.mark.parametrize('node', [SIMULATED], indirect=True)
def test_a_simulated_clock_advances_while_the_executor_is_busy(node):
    publisher = node.create_publisher(Clock, '/clock', 10)
    spin_until(node, publisher.get_subscription_count, 'a subscription of the clock')
    deadline = time.monotonic() + 20.0
    for seconds in (10, 11, 3):
        while node.get_clock().now().nanoseconds != seconds * SECOND:
            assert time.monotonic() < deadline, f'{seconds} s'
            publisher.publish(Clock(clock=Time(sec=seconds)))
            time.sleep(0.01)  # nobody spins the node
    while not node.set_backs:
        assert time.monotonic() < deadline, 'a report'
        time.sleep(0.01)
    assert node.set_backs == [(11 * SECOND, 3 * SECOND)]


def test_the_hot_path_reads_a_simulated_clock_before_its_thread_does(monkeypatch):
    monkeypatch.setattr(ClockReader, 'start', lambda *_: None)
    rclpy.init()
    node = Watched(namespace='/guards', **SIMULATED)
    clock, publisher = PipelineClock(node), node.create_publisher(Clock, '/clock', 10)
    deadline = time.monotonic() + 20.0
    while clock.now() != 10 * SECOND:
        assert time.monotonic() < deadline, f'{clock.now()} ns'
        publisher.publish(Clock(clock=Time(sec=10)))
        time.sleep(0.01)
    assert clock.simulated
    node.destroy_node()
    rclpy.try_shutdown()


@pytest.mark.parametrize('node', [SIMULATED], indirect=True)
def test_a_fault_there_ends_no_process(node):
    node.clock_watch._set_back = node.guarded(fail)
    publisher = node.create_publisher(Clock, '/clock', 10)
    spin_until(node, publisher.get_subscription_count, 'a subscription of the clock')
    send(node, publisher, 10)
    send(node, publisher, 3)
    spin_until(node, lambda: 'a wheel came off' in node.crash, 'the fault')


def test_simulated_time_that_begins_is_a_clock_that_goes_back(node):
    (result,) = node.set_parameters([Parameter('use_sim_time', value=True)])
    assert not result.successful and result.reason.startswith('use_sim_time: the node is configured')
    assert node.set_backs == [] and not node.get_clock().ros_time_is_active
    node.trigger_deactivate()
    node.trigger_cleanup()
    before = node.get_clock().now().nanoseconds
    node.set_parameters([Parameter('use_sim_time', value=True)])
    ((then, now),) = node.set_backs
    assert before <= then and now == 0
    node.set_parameters([Parameter('use_sim_time', value=False)])
    assert not node.get_clock().ros_time_is_active


def test_a_simulated_clock_that_is_being_set_is_reported_once_by_the_first_reader():
    clock, told = SetClock(), []
    clock.ros_time_is_active = True
    node = type('Node', (), {'get_clock': lambda self: clock})()
    watch = clock_watch.ClockWatch(node, lambda *times: told.append(times))
    clock.nanoseconds = 500 * SECOND  # went on since the last look
    watch._before_jump()
    clock.nanoseconds = 200 * SECOND
    watch.look()  # of another thread
    assert told == [(500 * SECOND, 200 * SECOND)]
    watch._after_jump(None)
    watch.look()
    assert len(told) == 1
    clock.nanoseconds -= 1  # other than a system clock, whatever the step
    watch.look()
    assert told[1:] == [(200 * SECOND, 200 * SECOND - 1)]


class SetClock:
    """A ROS clock that follows the system clock, which is set by hand."""

    ros_time_is_active = False
    nanoseconds = 1_000 * SECOND

    def now(self):
        return self

    def create_jump_callback(self, *_, **__):
        return None


def test_a_system_clock_that_is_set_back_is_noticed_and_one_that_is_slewed_is_not(monkeypatch):
    clock, told, steady = SetClock(), [], [0]
    monkeypatch.setattr(clock_watch.time, 'monotonic_ns', lambda: steady[0])
    node = type('Node', (), {'get_clock': lambda self: clock})()
    watch = clock_watch.ClockWatch(node, lambda *times: told.append(times))

    def second(change):
        steady[0] += SECOND
        clock.nanoseconds += change
        watch.look()

    for change in (SECOND, SECOND - clock_watch.STEP_NS + 1, 3 * SECOND):
        second(change)
    assert told == []
    second(-100 * SECOND)
    after = clock.nanoseconds
    assert told == [(after + 101 * SECOND, after)]
    second(SECOND // 2)
    assert told[1:] == [(after + SECOND, after + SECOND // 2)]
    # one that a jump has told is not told again
    watch._before_jump()
    clock.nanoseconds -= 50 * SECOND
    watch._after_jump(None)
    second(SECOND)
    assert told[2:] == [(clock.nanoseconds + 49 * SECOND, clock.nanoseconds - SECOND)]
