"""A thread that reads a controller's stream, checks each sample, and connects again by itself."""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing

import numpy as np

from robot_dynamics_ros.aubo import cbor
from robot_dynamics_ros.aubo.controller_clock import ControllerClock
from robot_dynamics_ros.aubo.sample import TIME, Recipe, Sample
from robot_dynamics_ros.aubo.stream import RtdeStream
from robot_dynamics_ros.errors import ArgumentError, ControllerError

RETRY = 0.5
"""s between two attempts to connect."""
CONNECT = 2.0
"""s for connecting and for the controller's first message."""
SETTLING_NS = 200_000_000
"""ns after connecting in which only the clocks are compared."""
LOOK = 0.1
"""s of waiting for samples before the time since the last one is compared with the timeout."""

LATE_NS = 1_000_000_000
"""ns for which all samples may be late by the controller's time."""
PERIODS = 3
"""Periods of the samples that the timeout has at least."""

NOT_STARTED = 'not listening'
NO_TIME = 'another one came with it, and without timestamp it is not known when each was taken'


class StreamListener:
    """Calls ``on_state(sample, stamp)`` for each valid sample and ``on_connection(recipe)`` before the first one.

    ``stamp`` is the time when the sample was taken, on the steady clock of this machine (ns). Both are called in the
    thread, and not any more when ``stop`` has returned. ``silence`` is why there is no state now, '' where there are;
    ``log(reason)`` gets each new reason once, ``failed(error)`` an unexpected exception, which ends the thread.

    A sample is rejected, and named in ``last_rejection``, if it is not complete and finite, if its time does not
    increase, or if it is older than ``timeout``. Without the controller's time only the newest sample of a read counts.
    The connection is made again after ``timeout`` without a valid sample, where the thread itself stood still for
    longer, where the controller's time jumps by more, or goes back, and where all samples are late for a second: its
    clock was set back while none came, or the network has become slow. ``timeout`` is at least ``PERIODS`` periods of
    the samples.
    """

    def __init__(
        self,
        address: tuple[str, int],
        joint_names: Sequence[str],
        torque_constants: np.ndarray | None,
        rate: float,
        timeout: float,
        on_state: Callable[[Sample, int], object],
        on_connection: Callable[[Recipe], object] = lambda recipe: None,
        log: Callable[[str], object] = lambda reason: None,
        failed: Callable[[Exception], object] = lambda error: None,
    ):
        """Listen to ``address`` (host, port); ``rate`` is in Hz, ``timeout`` in s. ArgumentError without cbor2."""
        cbor.library()  # not only once the thread is connected
        self._host, self._port = address
        self._joint_names, self._constants = joint_names, torque_constants
        self._rate, self._timeout = rate, max(timeout, PERIODS / rate)
        self._on_state, self._on_connection, self._log, self._failed = on_state, on_connection, log, failed
        self.clock = ControllerClock()
        self.silence = NOT_STARTED
        self.received = self.rejected = self.lost = self.connections = 0
        self.last_rejection = ''
        self.recipe: Recipe | None = None
        self._calling = threading.RLock()  # a callback that has begun ends before ``stop`` returns; one may call it
        self._stopped = threading.Event()
        self._stream: RtdeStream | None = None
        self._last = -1  # newest stamp of all connections

    def start(self) -> None:
        """Start the thread."""
        self.silence = f'connecting to {self._host}:{self._port}'
        self._stopped = threading.Event()
        threading.Thread(target=self._run, args=(self._stopped,), name='aubo stream', daemon=True).start()

    def stop(self) -> None:
        """Call nothing any more, and end the thread."""
        with self._calling:
            self._stopped.set()
        self.silence = NOT_STARTED
        stream = self._stream
        if stream is not None:
            stream.stop()

    def _run(self, stopped: threading.Event) -> None:
        while not stopped.is_set():
            try:
                with closing(RtdeStream(self._host, CONNECT, self._port)) as stream:
                    self._stream = stream
                    _Connection(self, stream, stopped).receive()
            except ControllerError as error:
                self._say(str(error), stopped)
            except Exception as error:
                if not stopped.is_set():
                    self._failed(error)
                return
            finally:
                self._stream = None
            stopped.wait(RETRY)

    def _say(self, reason: str, stopped: threading.Event) -> None:
        with self._calling:
            if stopped.is_set():
                return
            if reason != self.silence:
                self._log(reason)
            self.silence = reason


class _Connection:
    """One connection of a StreamListener, whose counts and callbacks it uses."""

    def __init__(self, listener: StreamListener, stream: RtdeStream, stopped: threading.Event):
        """Choose what to ask for, and ask."""
        self._listener, self._stream, self._stopped = listener, stream, stopped
        names = listener._joint_names
        self._recipe = Recipe(stream.outputs, names, listener._constants)
        self._sample = Sample(len(names))
        self._timeout = round(listener._timeout * 1e9)
        self._newest = self._period = -1  # ns of the controller
        self._begun = self._valid = self._read = self._arrival = time.monotonic_ns()
        listener.clock.reset()
        listener.connections += 1
        listener.recipe = self._recipe
        stream.subscribe(self._recipe.names, listener._rate)
        self._call(listener._on_connection, self._recipe)

    def receive(self) -> None:
        """Handle samples until the connection ends, which a ControllerError says."""
        while not self._stopped.is_set():
            samples = self._stream.read(LOOK)
            arrival = time.monotonic_ns()
            if arrival - self._read > self._timeout + round(LOOK * 1e9):
                raise ControllerError(
                    f'the node itself did not run for {(arrival - self._read) * 1e-9:.1f} s: connecting again'
                )
            self._read = arrival
            if TIME not in self._recipe.names and len(samples) > 1:
                self._reject(len(samples) - 1, NO_TIME)
                samples = samples[-1:]
            for values in samples:
                self._handle(values, arrival)
            if arrival - self._valid > self._timeout:
                rejected = self._listener.last_rejection
                why = f'; the last sample was rejected: {rejected}' if samples and rejected else ''
                raise ControllerError(f'no valid sample for {self._timeout * 1e-9:g} s: connecting again{why}')

    def _handle(self, values: list, arrival: int) -> None:
        """Use one sample, or reject it."""
        listener, sample = self._listener, self._sample
        try:
            self._recipe.read(values, sample)
            stamp = self._stamp(arrival)
            if stamp <= listener._last:
                raise ArgumentError('its stamp did not increase')
        except ControllerError:
            raise
        except Exception as error:  # ArgumentError, and what nobody thought of: no sample ends the thread
            self._reject(1, str(error) if isinstance(error, ArgumentError) else f'it cannot be read: {error!r:.100}')
            return
        listener.received += 1
        listener._last = stamp
        self._valid = arrival
        if arrival - self._begun > SETTLING_NS:
            self._call(listener._on_state, sample, stamp)

    def _reject(self, count: int, why: str) -> None:
        """Count samples that are not used."""
        self._listener.received += count
        self._listener.rejected += count
        self._listener.last_rejection = why

    def _stamp(self, arrival: int) -> int:
        """Return when the sample was taken (steady, ns); ArgumentError where it must not be used."""
        if TIME not in self._recipe.names:
            return arrival
        taken, before = round(self._sample.time * 1e9), self._newest
        if taken == before:
            raise ArgumentError("the controller's time does not increase")
        if before >= 0:
            jump = (taken - before) - (arrival - self._arrival)
            if taken < before or abs(jump) > self._timeout:
                raise ControllerError(f"the controller's time jumped by {jump * 1e-9:.1f} s: connecting again")
        self._newest, self._arrival = taken, arrival
        stamp = self._listener.clock.local(taken, arrival)
        if self._listener.clock.late_for > LATE_NS:
            raise ControllerError(
                f"by the controller's time all samples of a second came {(arrival - stamp) * 1e-9:.2f} s late: its "
                'clock was set back, or the network is slow: connecting again'
            )
        if before >= 0:
            step = taken - before
            if arrival - self._begun <= SETTLING_NS:
                self._period = step if self._period < 0 else min(step, self._period)
            elif self._period > 0:
                self._listener.lost += round(step / self._period) - 1
        if arrival - stamp > self._timeout:
            raise ArgumentError(f'it is older than {self._timeout * 1e-9:g} s')
        return stamp

    def _call(self, callback: Callable, *arguments) -> None:
        with self._listener._calling:
            if not self._stopped.is_set():
                if callback == self._listener._on_state:
                    self._listener.silence = ''
                callback(*arguments)
