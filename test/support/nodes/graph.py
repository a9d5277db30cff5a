"""A ROS graph of real node processes for tests: a domain of its own, conditions with time-outs, nothing left running.

Import this module before anything that imports rclpy: the domain is set here.
"""

import os

from support.nodes import participants
from support.nodes.own_domain import DOMAIN
from support.nodes.started_processes import still_running

os.environ['ROS_DOMAIN_ID'] = str(DOMAIN)
os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'

import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from support.nodes.messages import SECOND, joint_state, nanoseconds, stamped, trajectory  # noqa: F401, as ros.trajectory

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from lifecycle_msgs.msg import State, Transition
from rcl_interfaces.srv import GetParameters
from rclpy.parameter import parameter_value_to_python
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

import robot_dynamics_ros
from robot_dynamics_interfaces.msg import TorqueInfo
from robot_dynamics_ros.nodes.process.discovery import use_profiles
from robot_dynamics_ros.tools.processes import START_TIMEOUT, Client, ProcessError, Processes

use_profiles()  # contexts that tests make, too

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
DAY = 86400.0
"""The largest age limit, s."""
TIMEOUT = 20.0
"""For whatever should happen at once, with room for a busy machine, s."""
TREE = Path(robot_dynamics_ros.__file__).resolve().parents[1]
"""The folder whose package these tests have imported; the node processes must import the same."""
STATED = {
    'model': 'aubo_i5',
    'stiffness': [300.0, 400.0, 300.0, 60.0, 60.0, 60.0],
    'damping': [30.0, 40.0, 30.0, 4.0, 4.0, 4.0],
    'state_rate': 500.0,
    'robot_ip': '127.0.0.1',
    'await_payload_gravity': 'false',
}
"""The arm of most tests, without a dynamics_server, and gains for it: no node has a default robot or gains."""
AUBO_I5 = [
    '--ros-args',
    *(word for name, value in STATED.items() for word in ('-p', f'{name}:={value}')),
    '-p',
    'external_torque_node:effort:=torque',  # without it dynamics_server does not listen to joint_states
]
"""The same as arguments, for nodes of this process, too."""


WITH_PERIOD = (
    'import runpy, sys; from robot_dynamics_ros.nodes.outputs import diagnostics; '
    'diagnostics.PERIOD = float(sys.argv.pop(1)); '
    'runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)'
)
"""Runs the module of a node with another period of its status."""


class ArmProcesses(Processes):
    """Node processes of the AUBO-i5, unless their arguments state another robot.

    They publish their status each ``diagnostics_period`` s: tests wait for hundreds of them.
    """

    diagnostics_period = 0.2

    def start(self, node: str, *arguments: str) -> None:
        """Start a node; of a parameter that is given twice the last one counts."""
        super().start(node, *AUBO_I5[1:], *arguments)

    def _program(self, module: str) -> list[str]:
        return ['-c', WITH_PERIOD, str(self.diagnostics_period), module]


class Graph:
    """Node processes and a client of theirs; leaving the ``with`` block stops them and looks whether they ended well.

    The working folder is that of the package which the tests imported meanwhile: ``python -m`` looks there first.
    """

    def __init__(self, folder: Path):
        """Write logs into ``folder``."""
        self.folder = folder
        self.processes = ArmProcesses(folder)
        self._publishers: dict = {}
        self._listeners: dict = {}
        self._latched: dict = {}
        self._barriers = 0

    def __enter__(self):
        """Join the graph."""
        self._left = Path.cwd(), os.environ.get('ROS_LOG_DIR')
        os.chdir(TREE)
        os.environ['ROS_LOG_DIR'] = str(self.folder / 'ros')
        check_same_tree()
        assert not (left := still_running()), f'an earlier test left processes running: {left}'
        participants.collect(0)
        self.client = Client('test_client', self.processes, AUBO_I5)
        self.node = self.client.node
        return self

    def __exit__(self, *exception):
        """Stop everything and look."""
        ended = [process for process in self.processes._running.values() if process.poll() is not None]
        popen = dict(self.processes._running)
        self.processes.stop()
        self.client.__exit__()
        folder, ros_log_dir = self._left
        os.chdir(folder)
        os.environ['ROS_LOG_DIR'] = ros_log_dir or ''
        if ros_log_dir is None:
            del os.environ['ROS_LOG_DIR']
        assert not (left := still_running()), f'processes are still running: {left}'
        if exception[0] is None:
            assert not ended, f'a node ended before it was asked to: {[process.args for process in ended]}'
            # one that had to be killed has another status
            statuses = {node: process.returncode for node, process in popen.items()}
            assert statuses == dict.fromkeys(popen, 0), f'expected all to end with status 0, got {statuses}'

    def start(self, *nodes: str, arguments=(), active=True) -> None:
        """Start nodes in processes of their own; wait until all are active, or until they answer at all."""
        for node in nodes:
            self.processes.start(node, *arguments)
        for node in nodes:
            if active:
                self.client.wait_until_active(node)
            else:
                self.state_of(node)

    def bring_up(self, *nodes: str, arguments=()) -> None:
        """Start nodes in one process, that of ``bringup``; wait until all are active."""
        self.processes.start('bringup', *arguments, '--', '--nodes', ' '.join(nodes))
        for node in nodes:
            self.client.wait_until_active(node)

    def pid(self, node: str) -> int:
        """Return the process id of a node."""
        return self.processes._running[node].pid

    def forget(self, node: str) -> subprocess.Popen:
        """Return a node's process, which the caller ends."""
        return self.processes._running.pop(node)

    def end(self, node: str, number: int = signal.SIGINT) -> int:
        """End a node's process by a signal; return its status."""
        process = self.forget(node)
        process.send_signal(number)
        self.until(lambda: process.poll() is not None, f'the end of {node}')
        return process.returncode

    def log(self, node: str) -> str:
        """Return what a node's process has written so far."""
        return (self.folder / f'{node}.log').read_text(errors='replace')

    def until(self, condition, what: str, timeout: float = TIMEOUT) -> None:
        """Spin until ``condition()`` holds."""
        self.client.spin_until(condition, timeout, what)

    def now(self) -> int:
        """Return the ROS time, ns."""
        return self.node.get_clock().now().nanoseconds

    def state_of(self, node: str) -> int:
        """Return the id of a node's lifecycle state."""
        return self.client.state_of(node).id

    def publish(self, topic: str, message) -> None:
        """Publish on ``topic``, once somebody listens."""
        if topic not in self._publishers:
            publisher = self.node.create_publisher(type(message), topic, 10)
            self._publishers[topic] = publisher
        publisher = self._publishers[topic]
        self.until(publisher.get_subscription_count, f'a subscriber of {topic}')
        publisher.publish(message)

    def send(self, topic: str, message) -> None:
        """Publish on ``topic``, whoever listens; other than ``publish`` it spins nothing, so a timer may call it."""
        if topic not in self._publishers:
            self._publishers[topic] = self.node.create_publisher(type(message), topic, 10)
        self._publishers[topic].publish(message)

    def tick(self, now: int) -> None:
        """Publish a simulated time, ns."""
        message = Clock()
        message.clock.sec, message.clock.nanosec = divmod(now, SECOND)
        self.send('/clock', message)

    @contextmanager
    def repeating(self, action, period: float = 0.01):
        """Do ``action()`` each ``period`` s while something is waited for."""
        timer = self.node.create_timer(period, action)
        try:
            yield
        finally:
            self.node.destroy_timer(timer)

    @contextmanager
    def record(self, message_type, topic: str, qos=1000):
        """Yield a list that grows by every message on ``topic``, of publishers to come too."""
        messages: list = []
        subscription = self.node.create_subscription(message_type, topic, messages.append, qos)
        try:
            yield messages
        finally:
            self.node.destroy_subscription(subscription)

    def listen(self, message_type, topic: str, depth: int = 1000) -> list:
        """Return a list that grows by every message on ``topic``; an empty one at each call.

        What lies in the middleware's queue then came before, and is dropped too: of two topics the executor may hear
        first what came last.
        """
        if topic not in self._listeners:
            messages: list = []
            subscription = self.node.create_subscription(message_type, topic, messages.append, depth)
            self._listeners[topic] = messages, subscription
        self.until(lambda: self.node.count_publishers(topic), f'a publisher of {topic}')
        messages, subscription = self._listeners[topic]
        with subscription.handle:
            while subscription.handle.take_message(subscription.msg_type, subscription.raw) is not None:
                pass
        messages.clear()
        return messages

    def hear_latched(self, message_type, topic: str) -> list:
        """Return a list that grows by every message on a transient local topic, beginning with the last one."""
        if topic not in self._latched:
            messages: list = []
            self.node.create_subscription(message_type, topic, messages.append, LATCHED)
            self._latched[topic] = messages
        self.until(lambda: self._latched[topic], f'a message on {topic}')
        return self._latched[topic]

    def terms(self, topic: str) -> list[str]:
        """Return the terms of a torque topic, as its info topic says."""
        return list(self.hear_latched(TorqueInfo, f'{topic}/info')[-1].terms)

    def say_latched(self, topic: str, message, qos=LATCHED) -> None:
        """Publish on a transient local topic, so that who joins later hears it, too."""
        if topic not in self._publishers:
            self._publishers[topic] = self.node.create_publisher(type(message), topic, qos)
        self.until(self._publishers[topic].get_subscription_count, f'a subscriber of {topic}')
        self._publishers[topic].publish(message)

    def repeat_until(self, action, condition, what: str, period: float = 1.0, timeout: float = TIMEOUT) -> None:
        """Do ``action()`` until ``condition()`` holds, again after each ``period`` s.

        Who has just appeared in the graph may not hear a first message yet, although the sender already sees it.
        """
        deadline = time.monotonic() + timeout
        while True:
            action()
            if self.client.spin_while_waiting(condition, period):
                return
            if time.monotonic() > deadline:
                raise AssertionError(f'{what}: nothing within {timeout:.0f} s')

    def answer(self, send, messages: list, stamp: int):
        """Return the first of ``messages`` that answers the state which ``send(stamp)`` sends."""

        def answers():
            return [message for message in messages if nanoseconds(message.header.stamp) == stamp]

        self.repeat_until(lambda: send(stamp), answers, f'an answer to {stamp}')
        return answers()[0]

    def first_answers(self, send, *heard: list) -> list:
        """Do ``send()`` until each of ``heard`` has a message; return the first of each.

        None is left over for the next call: each list grows by a message for each ``send()``, unless one is lost.
        """
        sent = []

        def counted():
            sent.append(None)
            send()

        self.repeat_until(counted, lambda: all(heard), 'a message on each topic')
        self.client.spin_while_waiting(lambda: all(len(messages) >= len(sent) for messages in heard), 0.5)
        return [messages[0] for messages in heard]

    def follow(self, node: str, message: JointTrajectory, receivers: int = 1) -> None:
        """Publish a trajectory and wait until ``receivers`` nodes in the process of ``node`` have received it.

        One that they refuse by name follows it: topics keep their order, and the log tells of the refusal.
        """
        self._barriers += 1
        barrier = JointTrajectory(joint_names=[f'barrier_{self._barriers}.'])
        barrier.points.append(JointTrajectoryPoint(positions=[0.0]))

        def send():
            for sent in (message, barrier):
                self.publish('joint_trajectory', sent)

        def received():
            return self.log(node).count(barrier.joint_names[0]) >= receivers

        self.repeat_until(send, received, f'a trajectory at {node}', 3.0, START_TIMEOUT)

    def diagnostics(self, node: str, condition=lambda status: True, since: int | None = None):
        """Return diagnostics of ``node`` from now on that fulfil ``condition``: level, message, and a dict, fields.

        ``since`` (ns) is now on the clock of ``node``, where that is simulated.
        """
        since, found = self.now() if since is None else since, []
        messages = self.listen(DiagnosticArray, '/diagnostics', 100)

        def look():
            # a condition may spin: what comes meanwhile is looked at later, after the time that is left
            taken, messages[:] = messages[:], []
            for message in taken:
                # older ones may still lie in the middleware's queue
                if nanoseconds(message.header.stamp) > since:
                    statuses = [Status(status) for status in message.status if status.name == f'/{node}']
                    found.extend(status for status in statuses if condition(status))
            return found

        self.until(look, f'diagnostics of {node}')
        return found[0]

    def silence(self, node: str, reason: str, send) -> None:
        """Wait until ``/diagnostics`` gives ``reason`` (a part of it) for the silence of ``node`` to ``send()``."""
        seen: list = []

        def matches(status):
            seen.append(status.message)
            if reason in status.message and status.level == DiagnosticStatus.WARN:
                return True
            send()
            return False

        send()
        try:
            self.diagnostics(node, matches)
        except ProcessError as error:
            raise AssertionError(f'{node}: no diagnostics with {reason!r}, but {sorted(set(seen))}') from error

    def tells(self, node: str, text: str, meanwhile=lambda: None) -> None:
        """Wait until ``/diagnostics`` of ``node`` have ``text`` in their message or in a field."""
        seen: list = []

        def matches(status):
            seen.append((status.message, *status.fields.values()))
            meanwhile()
            return any(text in part for part in seen[-1])

        try:
            self.diagnostics(node, matches)
        except ProcessError as error:
            told = sorted({line for lines in seen for line in lines if len(line) > 12})
            raise AssertionError(f'{node}: expected {text!r} on /diagnostics, got {told}') from error

    def be_heard(self, *nodes: str) -> None:
        """Wait until ``nodes`` have handled what other processes published before."""
        for _ in range(3):
            for node in nodes:
                self.state_of(node)

    def reactivate(self, *nodes: str) -> None:
        """Deactivate active nodes and activate them again."""
        for node in nodes:
            self.client.change_state(node, Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_ACTIVATE)

    def restart(self, node: str, **parameters) -> None:
        """Take an active node down to unconfigured and up again with other parameters."""
        down = {
            State.PRIMARY_STATE_ACTIVE: [Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_CLEANUP],
            State.PRIMARY_STATE_INACTIVE: [Transition.TRANSITION_CLEANUP],
            State.PRIMARY_STATE_UNCONFIGURED: [],
        }[self.state_of(node)]
        self.client.change_state(node, *down)
        for name, value in parameters.items():
            self.client.set_parameter(node, name, value)
        self.client.change_state(node, Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE)

    @contextmanager
    def parameters(self, node: str, **changed):
        """Run a node with changed parameters, and as it was afterwards."""
        request = GetParameters.Request(names=list(changed))
        values = self.client.call(GetParameters, f'{node}/get_parameters', request).values
        before = {name: parameter_value_to_python(value) for name, value in zip(changed, values, strict=True)}
        try:
            self.restart(node, **changed)
            yield
        finally:
            self.restart(node, **before)


class Status:
    """A DiagnosticStatus whose values can be looked up."""

    def __init__(self, status: DiagnosticStatus):
        self.level, self.message, self.name = status.level, status.message, status.name
        self.fields = {value.key: value.value for value in status.values}


@cache
def check_same_tree() -> None:
    """See, once a test process, that a node process started from here imports the package that the tests imported."""
    script = 'import importlib.util as u; print(u.find_spec("robot_dynamics_ros").origin)'
    # like -m, -c puts the working folder first
    found = subprocess.run([sys.executable, '-c', script], capture_output=True, text=True, check=True).stdout.strip()
    assert Path(found).resolve() == Path(robot_dynamics_ros.__file__).resolve()
