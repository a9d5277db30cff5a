"""Nodes as processes of their own, started and stopped without launch_ros, and a client that steers them."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import rclpy
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.srv import SetParameters
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter

from robot_dynamics_ros.errors import DynamicsError

START_TIMEOUT = 180.0
"""Time in which a node is active, s: one that has never run here compiles everything, and others may run beside it."""
STOP_TIMEOUT = 5.0
"""Time that a process has to stop, s."""
MOST_UNANSWERED = 10
"""Requests after which a client is made anew: one that knew a killed node may not hear the next of its name."""


class ProcessError(DynamicsError, RuntimeError):
    """A node process that ended, or did not answer in time; the text ends with the last lines of its log."""


class NoAnswerError(ProcessError, TimeoutError):
    """Nothing came within the time that it may take."""


class Processes:
    """Node processes of this package; leaving the ``with`` block stops every one of them."""

    def __init__(self, log_folder: Path):
        """Write each node's output to ``log_folder``/<node>.log."""
        self._folder = log_folder
        self._running: dict[str, subprocess.Popen] = {}

    def __enter__(self):
        """Return itself."""
        return self

    def __exit__(self, *exception):
        """Stop all processes."""
        self.stop()

    def start(self, node: str, *arguments: str) -> None:
        """Start ``robot_dynamics_ros.nodes.<node>`` with ROS arguments."""
        with self._log(node).open('wb') as log:
            self._running[node] = subprocess.Popen(
                [sys.executable, '-m', f'robot_dynamics_ros.nodes.{node}', '--ros-args', *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def check(self) -> None:
        """Raise ProcessError if one of the processes has ended."""
        for node, process in self._running.items():
            if process.poll() is not None:
                raise ProcessError(f'{node} ended with status {process.returncode}; {self.last_lines(node)}')

    def last_lines(self, node: str, count: int = 5) -> str:
        """Return the end of a node's log."""
        lines = self._log(node).read_text(errors='replace').splitlines()
        return f'the end of {self._log(node)}:\n' + '\n'.join(lines[-count:])

    def stop(self) -> None:
        """Ask all processes to stop as Ctrl-C does; kill those that don't."""
        for process in self._running.values():
            process.send_signal(signal.SIGINT)
        deadline = time.monotonic() + STOP_TIMEOUT
        for process in self._running.values():
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._running.clear()

    def _log(self, node: str) -> Path:
        """Return where a node's output goes."""
        return self._folder / f'{node}.log'


class Client:
    """A node of our own in this process, spun while something is waited for."""

    def __init__(self, name: str, processes: Processes):
        """Join the graph as node ``name``; while waiting, look after ``processes``."""
        rclpy.init()
        self.node = rclpy.create_node(name)
        self._processes = processes
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)
        self._clients: dict = {}

    def __enter__(self):
        """Return itself."""
        return self

    def __exit__(self, *exception):
        """Leave the graph."""
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.try_shutdown()

    def spin_while_waiting(self, condition, timeout: float) -> bool:
        """Spin until ``condition()`` holds or ``timeout`` s are over; return whether it holds."""
        deadline = time.monotonic() + timeout
        looked_after = time.monotonic()
        while not condition():
            now = time.monotonic()
            if now > deadline:
                return False
            if now > looked_after + 0.5:
                self._processes.check()
                looked_after = now
            self._executor.spin_once(timeout_sec=0.05)
        return True

    def spin_until(self, condition, timeout: float, what: str) -> None:
        """Spin until ``condition()`` holds; ProcessError after ``timeout`` s, or when a process has ended."""
        if not self.spin_while_waiting(condition, timeout):
            raise NoAnswerError(f'{what}: nothing within {timeout:.0f} s')

    def call(self, service_type, name: str, request, timeout: float = 30.0):
        """Return the response of a service; ProcessError after ``timeout`` s."""
        # kept: a client that has just joined the graph may miss the answer to its first request
        if name not in self._clients:
            self._clients[name] = self.node.create_client(service_type, name)
        client = self._clients[name]
        self.spin_until(client.service_is_ready, timeout, f'the server of {name}')
        future = client.call_async(request)
        self.spin_until(future.done, timeout, f'an answer of {name}')
        return future.result()

    def wait_until_active(self, node: str) -> None:
        """Wait until a lifecycle node is active; ProcessError with its log's end where it could not be configured."""
        deadline = time.monotonic() + START_TIMEOUT
        service, unanswered = f'{node}/get_state', 0
        while True:
            try:
                state = self.call(GetState, service, GetState.Request(), timeout=1.0).current_state
                if state.id == State.PRIMARY_STATE_ACTIVE:
                    return
                # a node answers only after it has tried to start itself
                raise ProcessError(f'{node} is {state.label}; {self._processes.last_lines(node)}')
            except NoAnswerError:
                if time.monotonic() > deadline:
                    raise
                unanswered += 1
                if unanswered % MOST_UNANSWERED == 0:
                    self.node.destroy_client(self._clients.pop(service))

    def change_state(self, node: str, *transitions: int) -> None:
        """Take a lifecycle node through transitions (``lifecycle_msgs/Transition`` ids)."""
        for transition in transitions:
            request = ChangeState.Request(transition=Transition(id=transition))
            if not self.call(ChangeState, f'{node}/change_state', request, START_TIMEOUT).success:
                raise ProcessError(f'{node}: transition {transition} failed; {self._processes.last_lines(node)}')

    def set_parameter(self, node: str, name: str, value) -> None:
        """Set one parameter of another node."""
        request = SetParameters.Request(parameters=[Parameter(name, value=value).to_parameter_msg()])
        (result,) = self.call(SetParameters, f'{node}/set_parameters', request).results
        if not result.successful:
            raise ProcessError(f'{node}: parameter {name}: {result.reason}')
