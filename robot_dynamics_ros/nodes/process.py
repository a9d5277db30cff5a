"""Runs nodes in a process until it is asked to stop.

SIGINT and SIGTERM never raise an exception: until ``run`` is called they end the process at once (``nodes/__init__``);
while nodes are being started a thread deactivates those that are active and ends the process, whatever the main thread
is compiling; afterwards the executor returns. The ROS context is valid until all nodes have stopped publishing, so that
a node can publish a last torque.

A process that has lost a port of its DDS transport ends by itself, with ``LOST``: only a new one receives messages.
"""

import gc
import os
import select
import signal
import sys
import threading

import rclpy
from rclpy.exceptions import ParameterException
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.lifecycle import LifecycleNode
from rclpy.task import Future
from rclpy.utilities import get_default_context, remove_ros_args

from robot_dynamics_ros.nodes import discovery, participant
from robot_dynamics_ros.nodes.transport_watch import advice, lost_ports

SIGNALS = (signal.SIGINT, signal.SIGTERM)
LOST = os.EX_TEMPFAIL
"""Status of a process that has lost a port; launch respawns it where it is asked to respawn."""
PERIOD = 1.0
"""s between two looks at the ports. A look from a timer of the executor would cost four times as much (2026-11-23)."""


class _Stop:
    """Handles signals and ``lost`` ports: ``asked`` becomes done; before ``spinning`` a signal ends the process."""

    def __init__(self, nodes: list):
        """Install the handlers; ``nodes`` stop publishing before the process ends."""
        self.asked = Future()
        self.lost: list[str] = []
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
        """From now on a lost port or the first signal lets the executor return, the next signal ends the process."""
        with self._lock:
            self._spinning = True
        self._look()

    def _look(self) -> None:
        with self._lock:
            if self._spinning and not self.asked.done():
                self.lost = lost_ports()
                if self.lost:
                    self.asked.set_result(None)

    def _wait(self) -> None:
        while not select.select([self._received], [], [], PERIOD)[0]:
            self._look()
        os.read(self._received, 1)
        with self._lock:
            if self._spinning and not self.asked.done():
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


def arguments() -> list[str]:
    """Return the command line without ROS arguments; end the process where those are wrong."""
    with participant.one_line(RuntimeError):
        return remove_ros_args(sys.argv)[1:]


def run(*makers) -> None:
    """Make the nodes, start those with ``autostart``, and spin until SIGINT or SIGTERM.

    A maker, such as a node's class, returns a node, or None where there is none to run.
    """
    nodes: list = []
    stop = _Stop(nodes)
    participant.create()
    gc.freeze()  # modules stay: collections need not look at their objects
    gc.enable()
    try:
        with participant.one_line(ParameterException):
            nodes.extend(node for node in (make() for make in makers) if node is not None)
        participant.hand_over()
        _warn_near_the_limit(nodes)
        executor = SingleThreadedExecutor()
        for node in nodes:
            executor.add_node(node)
            if isinstance(node, LifecycleNode) and node.value('autostart') and not lost_ports():
                node.start()
        stop.spinning()
        executor.spin_until_future_complete(stop.asked)
        if stop.lost:
            _report(nodes, advice(stop.lost))
    except ExternalShutdownException:
        pass  # whatever shares the context has shut it down
    finally:
        silence(nodes)
        rclpy.try_shutdown()
        # the process ends; a last garbage collection would take 0.4 s (2026-11-20)
        gc.freeze()
    if stop.lost:
        sys.exit(LOST)


def _warn_near_the_limit(nodes: list) -> None:
    """Log, once for the process, that others may not discover it."""
    text = discovery.warning(discovery.process_number(get_default_context().get_domain_id()))
    for node in nodes[:1] if text else []:
        node.get_logger().warning(text)


def _report(nodes: list, reason: str) -> None:
    """Let the nodes report an error for which the process ends."""
    for node in nodes:
        node.get_logger().fatal(reason)
        if isinstance(node, LifecycleNode) and node.diagnostics is not None:
            node.diagnostics.publish_error(reason)
