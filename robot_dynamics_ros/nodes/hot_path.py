"""The way from a message on the wire to its answer, without an executor: one wait set, kept, on a thread of its own.

rclpy's executors make a wait set anew for every message, which costs more than everything else together (330 us of CPU
a message against 110, measured on 2026-11-20). The node's other entities stay with the executor.
"""

import gc
import sys
import threading
import time

from rclpy.callback_groups import CallbackGroup
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.subscription import Subscription

from robot_dynamics_ros.nodes import realtime

FOREVER = -1
PAUSE = 5_000_000
"""ns between two calls of ``on_pause``."""
PATIENCE = 1e-4
"""s that a thread waits for the interpreter before it asks the one that has it to let go; Python's own is 5 ms."""


class NoExecutor(CallbackGroup):
    """The callback group of what no executor shall touch."""

    def can_execute(self, entity) -> bool:
        """Return that no executor may."""
        return False

    def beginning_execution(self, entity) -> bool:
        """Return that no executor may."""
        return False

    def ending_execution(self, entity) -> None:
        """Do nothing: nothing was begun."""


class HotPath:
    """Takes messages of raw subscriptions as they come and calls each one's callback, while it runs.

    The subscriptions belong to a ``NoExecutor`` group. Their callbacks take bytes and raise nothing.
    """

    _running = 0  # in this process
    _patience = 0.0  # of the interpreter before the first of them

    def __init__(self, node, group: NoExecutor, subscriptions: list[Subscription], on_pause=None, on_stop=None):
        """Serve ``subscriptions`` of ``node``; the thread is made by ``start``.

        ``on_pause`` is called every ``PAUSE``, whatever messages come; ``on_stop`` once when the thread is asked to
        stop. Neither raises anything.
        """
        self._context = node.context
        self._logger = node.get_logger()
        self._node = node
        self._wake = node.create_guard_condition(None, group)
        self._subscriptions = subscriptions
        self._on_pause, self._on_stop = on_pause, on_stop
        self._thread: threading.Thread | None = None
        self._stopping = False

    def start(self, schedule: realtime.Schedule) -> None:
        """Begin to take messages, what came before is forgotten.

        While one runs, the garbage collector leaves alone what exists, and no thread keeps the interpreter for long.
        """
        for subscription in self._subscriptions:
            while subscription.handle.take_message(None, True) is not None:
                pass
        if not HotPath._running:
            gc.collect()
            gc.freeze()
            HotPath._patience = sys.getswitchinterval()
            sys.setswitchinterval(PATIENCE)
        HotPath._running += 1
        self._stopping = False
        self._thread = threading.Thread(target=self._run, args=(schedule,), name='hot path', daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Take nothing more; a message that is being handled is finished first."""
        if self._thread is None:
            return
        self._stopping = True
        self._wake.trigger()
        self._thread.join()
        self._thread = None
        HotPath._running -= 1
        if not HotPath._running:
            gc.unfreeze()
            sys.setswitchinterval(HotPath._patience)

    def destroy(self) -> None:
        """Stop, and give back what ``start`` needs."""
        self.stop()
        self._node.destroy_guard_condition(self._wake)

    def _run(self, schedule: realtime.Schedule) -> None:
        """Wait, take, handle, until asked to stop."""
        for refusal in realtime.apply(schedule):
            self._logger.warning(refusal)
        pairs = [(subscription.handle, subscription.callback) for subscription in self._subscriptions]
        wake = self._wake.handle
        on_pause, due = self._on_pause, time.monotonic_ns() + PAUSE
        longest = FOREVER
        try:
            # a process that is asked to stop at once has no context any more
            wait_set = _rclpy.WaitSet(len(pairs), 1, 0, 0, 0, 0, self._context.handle)
            while not self._stopping:
                wait_set.clear_entities()
                wait_set.add_guard_condition(wake)
                for subscription, _ in pairs:
                    wait_set.add_subscription(subscription)
                if on_pause is not None:
                    longest = max(0, due - time.monotonic_ns())
                wait_set.wait(longest)
                for subscription, callback in pairs:
                    taken = subscription.take_message(None, True)
                    if taken is not None and not self._stopping:
                        callback(taken[0])
                if on_pause is not None and time.monotonic_ns() >= due and not self._stopping:
                    on_pause()
                    due = time.monotonic_ns() + PAUSE
            if self._on_stop is not None:
                self._on_stop()
        except _rclpy.RCLError as error:
            if self._context.ok():
                self._logger.error(f'joint states are no longer taken: {error}')
