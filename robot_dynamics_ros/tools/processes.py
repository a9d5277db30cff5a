"""Starts and stops nodes as processes without launch_ros, and a client for their services and parameters."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import rclpy
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.srv import SetParameters
from rclpy.exceptions import InvalidHandle
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.parameter import Parameter

from robot_dynamics_ros.errors import DynamicsError
from robot_dynamics_ros.nodes.process.discovery import use_profiles

START_TIMEOUT = 180.0
"""Time until a node is active, s, with room for a busy machine where other nodes start meanwhile."""
STOP_TIMEOUT = 20.0
"""Time for a process to stop, s; a busy machine delays the last torques of its nodes."""
REPEAT = 0.2
"""Time after which a request for a node's state is repeated, s; a response to any of them counts."""
PATIENCE = 15.0
"""Time without a service after which another participant looks for it, s: seldom, one never discovers it."""


class ProcessError(DynamicsError, RuntimeError):
    """A node process that ended or failed; the text may end with the last lines of its log."""


class NoAnswerError(ProcessError, TimeoutError):
    """A condition that did not become true before its timeout."""


class Processes:
    """Node processes of this package; leaving the ``with`` block stops all of them."""

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
            program = self._program(f'robot_dynamics_ros.nodes.executables.{node}')
            self._running[node] = subprocess.Popen(
                [sys.executable, *program, '--ros-args', *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def _program(self, module: str) -> list[str]:
        """Return the arguments by which Python runs the module of a node."""
        return ['-m', module]

    def check(self) -> None:
        """Raise ProcessError if one of the processes has ended."""
        for node, process in self._running.items():
            if process.poll() is not None:
                raise ProcessError(f'{node} ended with status {process.returncode}; {self.last_lines(node)}')

    def last_lines(self, node: str, count: int = 5) -> str:
        """Return the end of a node's log; of all logs where the node runs in the process of another name."""
        logs = [self._log(name) for name in ([node] if self._log(node).is_file() else self._running)]
        ends = ('\n'.join(log.read_text(errors='replace').splitlines()[-count:]) for log in logs)
        return '\n'.join(f'the end of {log}:\n{end}' for log, end in zip(logs, ends, strict=True))

    def stop(self) -> None:
        """Send SIGINT to all processes; kill those that do not stop within ``STOP_TIMEOUT``."""
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
        """Return the log file of a node."""
        return self._folder / f'{node}.log'


class Client:
    """A node in this process, spun while it waits for a condition."""

    def __init__(self, name: str, processes: Processes, arguments: list[str] | None = None):
        """Create node ``name``; while it waits, it raises ProcessError if one of ``processes`` ends.

        ``arguments`` are ROS arguments of all nodes of this process; None: those of its command line.
        """
        use_profiles()
        rclpy.init(args=arguments)
        self._arguments = arguments
        self.node = rclpy.create_node(name, start_parameter_services=False)  # nobody sets its parameters
        self._processes = processes
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)
        self._asking, self._clients = self.node, {}  # who sends requests, and its clients

    def __enter__(self):
        """Return itself."""
        return self

    def __exit__(self, *exception):
        """Destroy the node."""
        self._executor.shutdown()
        self._leave()
        self.node.destroy_node()
        rclpy.try_shutdown()

    def spin_while_waiting(self, condition, timeout: float) -> bool:
        """Spin until ``condition()`` is true, at most ``timeout`` s; return whether it is.

        ExternalShutdownException after a shutdown of rclpy, as by SIGINT.
        """
        checked = time.monotonic()
        deadline = checked + timeout
        while not condition():
            now = time.monotonic()
            if now > deadline:
                return False
            if now > checked + 0.5:
                self._processes.check()
                checked = now
            try:
                self._executor.spin_once(timeout_sec=0.05)
            except (InvalidHandle, _rclpy.RCLError):
                if rclpy.ok():
                    raise
                raise ExternalShutdownException from None  # between two of its steps
        return True

    def spin_until(self, condition, timeout: float, what: str) -> None:
        """Spin until ``condition()`` is true; ProcessError with ``what`` after ``timeout`` s, or if a process ends."""
        if not self.spin_while_waiting(condition, timeout):
            raise NoAnswerError(f'{what}: none within {timeout:.0f} s')

    def call(self, service_type, name: str, request, timeout: float = 30.0):
        """Return the response of a service; ProcessError after ``timeout`` s."""
        client = self._client(service_type, name)
        self.spin_until(client.service_is_ready, timeout, f'server of {name}')
        future = client.call_async(request)
        self.spin_until(future.done, timeout, f'response of {name}')
        return future.result()

    def _client(self, service_type, name: str):
        """Return the client of a service, always the same: a new one may miss the response to its first request."""
        if name not in self._clients:
            self._clients[name] = self._asking.create_client(service_type, name)
        return self._clients[name]

    def _join_anew(self) -> None:
        """Send requests as another participant of the graph from now on."""
        self._leave()
        context = rclpy.Context()
        context.init(args=self._arguments)
        self._asking = rclpy.create_node(f'{self.node.get_name()}_anew', context=context)
        self._executor.add_node(self._asking)

    def _leave(self) -> None:
        """Destroy the clients of services, and the participant that was made for them."""
        while self._clients:
            self._asking.destroy_client(self._clients.popitem()[1])
        if self._asking is not self.node:
            self._executor.remove_node(self._asking)
            self._asking.destroy_node()
            self._asking.context.try_shutdown()

    def wait_until_active(self, node: str) -> None:
        """Wait until a lifecycle node is active; ProcessError with the end of its log if it fails to configure."""
        state = self.state_of(node)
        # a node responds only after it has tried to configure and activate itself
        if state.id != State.PRIMARY_STATE_ACTIVE:
            raise ProcessError(f'{node} is {state.label}; {self._processes.last_lines(node)}')

    def state_of(self, node: str) -> State:
        """Return the state of a lifecycle node that may still be starting."""
        service, requests = f'{node}/get_state', []
        joined = time.monotonic()
        deadline = joined + START_TIMEOUT

        def responses() -> list:
            return [request.result() for request in requests if request.done()]

        # the first requests may get no response: they come before the node, or before it discovers this client
        while not responses():
            self._processes.check()
            now = time.monotonic()
            if now > deadline:
                tried = f'{len(requests)} requests in {START_TIMEOUT:.0f} s'
                raise NoAnswerError(f'response of {service}: none to {tried}; {self._processes.last_lines(node)}')
            if now > joined + PATIENCE:
                self._join_anew()
                joined = now
            client = self._client(GetState, service)
            if self.spin_while_waiting(client.service_is_ready, REPEAT):
                requests.append(client.call_async(GetState.Request()))
                self.spin_while_waiting(responses, REPEAT)
        return responses()[0].current_state

    def change_state(self, node: str, *transitions: int) -> None:
        """Request transitions of a lifecycle node (``lifecycle_msgs/Transition`` ids); ProcessError if one fails."""
        for transition in transitions:
            request = ChangeState.Request(transition=Transition(id=transition))
            if not self.call(ChangeState, f'{node}/change_state', request, START_TIMEOUT).success:
                raise ProcessError(f'{node}: transition {transition} failed; {self._processes.last_lines(node)}')

    def set_parameter(self, node: str, name: str, value) -> None:
        """Set a parameter of another node; ProcessError if it rejects the value."""
        request = SetParameters.Request(parameters=[Parameter(name, value=value).to_parameter_msg()])
        (result,) = self.call(SetParameters, f'{node}/set_parameters', request).results
        if not result.successful:
            raise ProcessError(f'{node} rejected {value!r} for parameter {name}: {result.reason}')
