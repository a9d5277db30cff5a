"""A process that runs nodes until it is asked to stop.

SIGINT and SIGTERM never raise an exception: until ``run`` is called they end the process at once (``nodes/__init__``);
while nodes are being started a thread deactivates those that are active and ends the process, whatever the main thread
is compiling; afterwards the executor returns. The ROS context is valid until all nodes have stopped publishing, so that
a node can publish a last torque.
"""

import gc
import os
import signal
import sys
import threading
from contextlib import contextmanager

import rclpy
from rclpy.exceptions import ParameterException
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.lifecycle import LifecycleNode
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from rclpy.utilities import remove_ros_args

from robot_dynamics_ros.nodes.discovery import discover_at_once

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class _Stop:
    """Handles signals: ``asked`` becomes done; before ``spinning`` is called the process ends at once."""

    def __init__(self, nodes: list):
        """Install the handlers; ``nodes`` stop publishing before the process ends."""
        self.asked = Future()
        self._nodes = nodes
        self._lock = threading.Lock()
        self._spinning = False
        self._received, written = os.pipe()
        os.set_blocking(written, False)
        # The interpreter writes there whichever thread gets the signal and whatever the main thread is doing.
        signal.set_wakeup_fd(written, warn_on_full_buffer=False)
        for number in SIGNALS:
            signal.signal(number, lambda *_: None)
        threading.Thread(target=self._wait, name='signals', daemon=True).start()

    def spinning(self) -> None:
        """From now on the first signal lets the executor return, the second ends the process."""
        with self._lock:
            self._spinning = True

    def _wait(self) -> None:
        os.read(self._received, 1)
        with self._lock:
            if self._spinning:
                self.asked.set_result(None)
        if self.asked.done():
            os.read(self._received, 1)
        try:
            silence(self._nodes)
        finally:
            os._exit(0)


def silence(nodes: list) -> None:
    """Let all nodes with a lifecycle stop publishing for good, all at once: no ramp delays that of another node."""
    threads = [threading.Thread(target=node.end) for node in list(nodes) if isinstance(node, LifecycleNode)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@contextmanager
def _one_line(kind: type[Exception]):
    """End the process with one line at an exception of a ``kind`` that wrong ROS arguments raise."""
    try:
        yield
    except kind as error:
        sys.exit(' '.join(f'not started: {error}'.split()))


def arguments() -> list[str]:
    """Return the command line without ROS arguments; end the process where those are wrong."""
    with _one_line(RuntimeError):
        return remove_ros_args(sys.argv)[1:]


def run(*makers) -> None:
    """Make the nodes, start those with ``autostart``, and spin until SIGINT or SIGTERM.

    A maker, such as a node's class, returns a node, or None where there is none to run.
    """
    nodes: list = []
    stop = _Stop(nodes)
    discover_at_once()
    with _one_line(RuntimeError):
        rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    try:
        with _one_line(ParameterException):
            nodes.extend(node for node in (make() for make in makers) if node is not None)
        executor = SingleThreadedExecutor()
        for node in nodes:
            executor.add_node(node)
            if isinstance(node, LifecycleNode) and node.value('autostart'):
                node.start()
        stop.spinning()
        executor.spin_until_future_complete(stop.asked)
    except ExternalShutdownException:
        pass  # whatever shares the context has shut it down
    finally:
        silence(nodes)
        rclpy.try_shutdown()
        # the process ends; a last garbage collection would take 0.4 s (2026-11-20)
        gc.freeze()
