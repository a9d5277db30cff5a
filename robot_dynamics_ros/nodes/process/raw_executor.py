"""Takes serialized messages in a separate thread with one persistent wait set.

rclpy's executors create a wait set for every message, which costs more than everything else together (330 us of CPU
a message against 110, measured on 2026-11-20). The node's other entities stay with its executor.
"""

import threading
import time
from collections.abc import Callable

from rclpy.callback_groups import CallbackGroup
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.qos import DurabilityPolicy
from rclpy.subscription import Subscription

FOREVER = -1
PAUSE_NS = 5_000_000
"""ns between two calls of ``on_pause``."""


def is_transient_local(subscription: Subscription) -> bool:
    """Return whether a subscription gets what was published before it was created."""
    return subscription.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL


class NoExecutor(CallbackGroup):
    """The callback group of entities that no executor of rclpy handles."""

    def can_execute(self, entity) -> bool:
        """Return that no executor may."""
        return False

    def beginning_execution(self, entity) -> bool:
        """Return that no executor may."""
        return False

    def ending_execution(self, entity) -> None:
        """Do nothing: nothing was begun."""


class RawExecutor:
    """Takes messages of raw subscriptions as they come and calls each one's callback, while it runs.

    The subscriptions belong to a ``NoExecutor`` group. Their callbacks take bytes and what rclpy knows of the message
    (a dict), and raise nothing. Messages are taken in the order of the subscriptions and handled in the reverse order:
    where one of two messages was sent before the other, its subscription comes later.
    """

    name = 'raw executor'
    """Of the thread."""

    def __init__(
        self,
        node,
        group: NoExecutor,
        subscriptions: list[Subscription],
        on_pause: Callable[[], object] | None = None,
        on_stop: Callable[[], object] | None = None,
        failed: Callable[[Exception], object] | None = None,
    ):
        """Serve ``subscriptions`` of ``node``; the thread is made by ``start``.

        In that thread ``on_pause`` is called every ``PAUSE_NS``, whatever messages come, and ``on_stop`` last. Neither
        raises anything. ``failed(error)`` is called, before ``on_stop``, where the thread ends by an exception.
        """
        self._context = node.context
        self._logger = node.get_logger()
        self._node = node
        self._wake = node.create_guard_condition(None, group)
        self._subscriptions = subscriptions
        self._on_pause, self._on_stop, self._failed = on_pause, on_stop, failed
        self._thread: threading.Thread | None = None
        self._starting_or_stopping = threading.Lock()  # a process that ends stops what is being started
        self._stopping = False

    def start(self) -> None:
        """Start the thread; messages that came before are handled first."""
        with self._starting_or_stopping:
            self._stopping = False
            self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)
            self._thread.start()

    def stop(self) -> bool:
        """Stop the thread after the message that is being handled; return whether it was running."""
        with self._starting_or_stopping:
            if self._thread is None:
                return False
            self._stopping = True
            self._wake.trigger()
            self._thread.join()
            self._thread = None
            return True

    def destroy(self) -> None:
        """Stop the thread and destroy the guard condition."""
        self.stop()
        self._node.destroy_guard_condition(self._wake)

    def drop(self) -> None:
        """Drop the messages that have come, but those on transient local topics; the thread does not run."""
        for subscription in self._subscriptions:
            while not is_transient_local(subscription) and subscription.handle.take_message(None, True) is not None:
                pass

    def _pairs(self) -> list:
        """Return handle and callback of each subscription."""
        return [(subscription.handle, subscription.callback) for subscription in self._subscriptions]

    def _take(self, pairs: list) -> None:
        """Take a message of each subscription that has one, and handle them."""
        messages = []
        for subscription, callback in pairs:
            taken = subscription.take_message(None, True)
            if taken is not None:
                messages.append((callback, taken))
        while messages and not self._stopping:
            callback, taken = messages.pop()
            callback(*taken)

    def _run(self) -> None:
        """Serve until asked to stop; an exception that ends the thread is told, whatever it is."""
        try:
            self._begin()
            self._serve()
        except Exception as error:
            if not self._context.ok():
                return  # a process that is stopped at once has no context any more
            self._logger.error(f'messages are no longer taken, the thread {self.name!r} has ended: {error!r}')
            if self._failed is not None:
                self._failed(error)
        if self._on_stop is not None:
            self._on_stop()

    def _begin(self) -> None:
        """Do what comes first in the thread: here nothing."""

    def _serve(self) -> None:
        """Wait, take, handle, until asked to stop."""
        pairs = self._pairs()
        wake = self._wake.handle
        on_pause, due = self._on_pause, time.monotonic_ns() + PAUSE_NS
        longest = FOREVER
        wait_set = _rclpy.WaitSet(len(pairs), 1, 0, 0, 0, 0, self._context.handle)
        while not self._stopping:
            wait_set.clear_entities()
            wait_set.add_guard_condition(wake)
            for subscription, _ in pairs:
                wait_set.add_subscription(subscription)
            if on_pause is not None:
                longest = max(0, due - time.monotonic_ns())
            wait_set.wait(longest)
            self._take(pairs)
            if on_pause is not None and time.monotonic_ns() >= due and not self._stopping:
                on_pause()
                due = time.monotonic_ns() + PAUSE_NS
