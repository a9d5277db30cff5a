"""What aubo_node makes of a controller's samples: how many are lost, how late states are, how wrong their stamps.

The controller runs in a process of its own, so that neither the node nor who receives the states delays it.
"""

import multiprocessing
import time
from bisect import bisect_right
from collections import defaultdict
from typing import NamedTuple

from support.aubo.aubo_controller import Arm, AuboController, Sent

import numpy as np
from sensor_msgs.msg import JointState

from robot_dynamics_ros.messages.stamps import nanoseconds


class Received(NamedTuple):
    """A state that was received: when, its stamp (both steady time, ns), and where the arm is (n, rad).

    The system's clock may be set meanwhile, and then ROS time is; the steady clock is one for all processes.
    """

    at: int
    stamp: int
    position: tuple

    @classmethod
    def of(cls, message: JointState) -> 'Received':
        """Return what has just been received."""
        at, apart = time.monotonic_ns(), 100_000
        for _ in range(10):  # until nothing interrupts the look at both clocks
            steady, now, after = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
            if after - steady < apart:
                break
        return cls(at, nanoseconds(message.header.stamp) - now + steady, tuple(message.position))


class Figures(NamedTuple):
    """Of the samples between the first and the last one received: how many were sent and lost, and of the others the
    time from sending to receiving and the error of the stamp (k, ms).
    """

    sent: int
    lost: int
    latency: np.ndarray
    stamp_error: np.ndarray


def figures(sent: list[Sent], received: list[Received]) -> Figures:
    """Find the sample of each state: the last one sent before with the same position."""
    places = defaultdict(list)
    for k, sample in enumerate(sent):
        places[sample.position].append(k)

    def place(state: Received) -> int:
        candidates = places[state.position]
        return candidates[bisect_right(candidates, state.at, key=lambda k: sent[k].sent) - 1]

    found = [place(state) for state in received]
    pairs = [(state, sent[k]) for state, k in zip(received, found, strict=True)]
    return Figures(
        sent=found[-1] - found[0] + 1,
        lost=found[-1] - found[0] + 1 - len(set(found)),
        latency=1e-6 * np.array([state.at - sample.sent for state, sample in pairs]),
        stamp_error=1e-6 * np.array([state.stamp - sample.taken for state, sample in pairs]),
    )


class ControllerProcess:
    """An AuboController in a process of its own, with the ports ``rtde_port`` and ``rpc_port``."""

    def __init__(self, drift: float = 0.0):
        """Start it; ``drift`` is by how much its clock is fast."""
        ours, theirs = multiprocessing.Pipe()
        self._pipe = ours
        self._process = multiprocessing.get_context('spawn').Process(target=_serve, args=(theirs, drift), daemon=True)
        self._process.start()
        self.rtde_port, self.rpc_port = ours.recv()

    def ask(self, what: str):
        """Do ``stop``, ``start`` or ``sent``, which returns the samples since the last question."""
        self._pipe.send(what)
        return self._pipe.recv()

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()


def _serve(pipe, drift: float) -> None:
    """Run a controller, and do what comes through ``pipe``."""
    with AuboController(Arm(), drift=drift) as controller:
        pipe.send((controller.rtde_port, controller.rpc_port))
        while True:
            what = pipe.recv()
            if what == 'sent':
                sent, controller.sent = controller.sent, []
                pipe.send([tuple(sample) for sample in sent])
            else:
                getattr(controller, what)()
                pipe.send(None)
