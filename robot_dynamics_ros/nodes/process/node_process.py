"""Runs nodes in a process until it is asked to end.

SIGINT and SIGTERM never raise an exception: until ``run`` is called they end the process at once (``nodes/__init__``).
Afterwards a thread deactivates all nodes, whatever the main thread is doing; then the executor returns and the process
ends. The ROS context is valid until all nodes have stopped publishing, so that a node can publish a last torque.

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

from robot_dynamics_ros.nodes.process import discovery, participant
from robot_dynamics_ros.nodes.process.transport_watch import advice, lost_ports

SIGNALS = (signal.SIGINT, signal.SIGTERM)
LOST = os.EX_TEMPFAIL
"""Status of a process that has lost a port; launch respawns it where it is asked to respawn."""
PERIOD = 1.0
"""s between two looks at the ports. A look from a timer of the executor would cost four times as much (2026-11-23)."""
PATIENCE = 1.0
"""s after the last torque in which an executor may finish what it does, before the process ends all the same."""


class _End(threading.Thread):
    """The thread that waits for a signal or a lost port.

    Then all nodes stop publishing, whatever the executor does, and ``asked`` becomes done. The executor, where it
    ``runs``, has ``PATIENCE`` to return, and the main thread ends the process; another signal ends it at once.
    """

    def __init__(self, nodes: list):
        """Install the handlers; ``nodes`` stop publishing before the process ends."""
        super().__init__(name='signals', daemon=True)
        self.asked = Future()
        self.lost: list[str] = []
        self.runs = False
        self._nodes = nodes
        self._received, written = os.pipe()
        os.set_blocking(written, False)
        # The interpreter writes there whichever thread gets the signal and whatever the main thread is doing.
        signal.set_wakeup_fd(written, warn_on_full_buffer=False)
        for number in SIGNALS:
            signal.signal(number, lambda *_: None)

    def run(self) -> None:
        """Wait for a signal or lost ports, silence the nodes, end the process where its main thread does not."""
        while not self.lost and not self._signalled(PERIOD):
            self.lost = lost_ports() if self.runs else []
        try:
            if self.lost:
                _report(self._nodes, advice(self.lost))
            silence(self._nodes)
        finally:
            has_executor = self.runs
            self.asked.set_result(None)
        if has_executor and not self._signalled(PATIENCE) and not self.runs:
            self._signalled()  # the main thread ends the process, unless another signal does
        os._exit(LOST if self.lost else 0)

    def _signalled(self, timeout: float | None = None) -> bool:
        """Wait for a signal, ``timeout`` s at most; return whether one has come."""
        came = bool(select.select([self._received], [], [], timeout)[0])
        return came and bool(os.read(self._received, 1))


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
    end = _End(nodes)
    end.start()
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
        end.runs = True
        executor.spin_until_future_complete(end.asked)
    except ExternalShutdownException:
        pass  # whatever shares the context has shut it down
    finally:
        end.runs = False
        if not end.asked.done():
            silence(nodes)
        rclpy.try_shutdown()
        # the process ends; a last garbage collection would take 0.4 s (2026-11-20)
        gc.freeze()
    if end.lost:
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
