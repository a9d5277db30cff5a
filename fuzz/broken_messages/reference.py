"""Expected feedforward torque along a controller's reference: an independent, simple implementation."""

from typing import NamedTuple

from support import graph

import numpy as np

from broken_messages.bytes import understood
from broken_messages.nodes import REFERENCE
from broken_messages.oracle import ROBOT, read_state
from broken_messages.rules import ANSWERED, RIGHT, TOLD, Findings
from broken_messages.torques import Torques

AGE_LIMIT, LAG = REFERENCE['reference_age_limit'], 1.0 / (2.0 * np.pi * REFERENCE['reference_cutoff'])
ROOM = 1.5
"""Of the velocity limit."""
LARGEST = 1e3
"""Largest numbers that are compared; beyond, rounding errors of the two implementations differ too much."""


class Reference:
    """The reference of one node."""

    def __init__(self, findings: Findings, node, kind, torques: Torques):
        """Look at what ``node`` makes of messages of type ``kind``; its ``torques`` know what the arm carries."""
        self._check, self._node, self._kind, self._torques = findings.check, node, kind, torques
        self.begin()

    def begin(self) -> None:
        """Reset to no sample."""
        self._newest: Sample | None = None
        self._count = 0
        self._undecided = False

    def message(self, data: bytes) -> None:
        """Check whether a message was accepted, and apply it."""
        message = understood(data, self._kind)
        if message is None:
            return
        sample = _sample(message)
        refused = self._node.refused if 'jumped' not in self._node.refused else ''
        self._check(TOLD, (sample is None) is bool(refused), f'{message} was {refused or "not refused"}')
        if sample is not None:
            self._take(sample)

    def motion(self, stamp: int) -> tuple | None:
        """Return q, qd, qdd (n each) at a stamp, None where there is none."""
        newest = self._newest
        if newest is None or self._undecided or self._count < 4 - len(newest.rows):
            return None
        t = (stamp - newest.stamp) * 1e-9
        if abs(t) > AGE_LIMIT:
            return None
        q, qd, qdd = newest.rows[0], self._qd, self._qdd
        return q + t * (qd + 0.5 * t * qdd), qd + t * qdd, qdd

    def state(self, data: bytes, sent) -> None:
        """Check the torque of a state, ``sent`` or None."""
        read, load = read_state(data), self._torques.load
        motion = self.motion(read.stamp) if read is not None else None
        self._check(RIGHT, sent is None or motion is not None, f'{sent} without a reference')
        if motion is None or not load.moderate or not np.abs(motion).max() < LARGEST:
            return
        if sent is None:
            silence = self._node.reason
            # what else a state may be refused for, the other rules know
            self._check(ANSWERED, not (read.good and 'reference' in silence), f'{silence}, but {motion} was due')
            return
        friction = ROBOT.friction_torque(motion[1])
        right = load.answers(read.stamp, lambda robot: robot.inverse_dynamics(*motion))
        self._torques.compare(sent.torque, [rigid + friction for rigid in right], 1e-6)

    def _take(self, sample: 'Sample') -> None:
        """Compute the motion at a sample from the earlier samples of its run."""
        last, stated = self._newest, len(sample.rows) - 1
        step = (sample.stamp - last.stamp) * 1e-9 if last else 0.0
        follows = 0.0 < step <= AGE_LIMIT and not self._jumps(sample, step)
        if not follows or self._undecided or stated != len(last.rows) - 1:
            self._count, self._smooth = 0, {'factor': np.zeros(1)}
        self._count += 1
        self._newest = sample
        # a factor of 0 is one that nobody has set where the arm moves; one sample does not tell
        self._undecided = sample.factor == 0.0 and stated > 0 and not follows
        moves = (sample.rows[0] != (last.rows[0] if last else 0.0)).any()
        factor = 1.0 if sample.factor == 0.0 and moves else sample.factor
        if stated:
            qd = self._qd = factor * sample.rows[1]
        if self._count > 1:
            factor_rate = self._smoothed('factor', (sample.factor - last.factor) / step, step)
            if not stated:
                qd = (sample.rows[0] - last.rows[0]) / step
                self._qd = self._smoothed('velocity', qd, step)
        if stated == 2:
            change = factor_rate * sample.rows[1] if self._count > 1 else 0.0
            self._qdd = factor * factor * sample.rows[2] + change
        elif self._count > 2 - stated:
            between = step if stated else 0.5 * (step + self._step)
            self._qdd = self._smoothed('acceleration', (qd - self._rough) / between, step)
        if self._count > 1 or stated:
            self._rough = qd
        self._step = step

    def _jumps(self, sample: 'Sample', step: float) -> bool:
        """Return whether a joint has moved faster than its limit allows, with room for stamps that jitter."""
        reach = ROOM * ROBOT.limits.velocity * step
        return bool((np.abs(sample.rows[0] - self._newest.rows[0]) > reach).any())

    def _smoothed(self, name: str, value, step: float):
        """Return the low-pass filtered value; the filter starts at the first value."""
        before = self._smooth.get(name)
        self._smooth[name] = value if before is None else (LAG * before + step * value) / (LAG + step)
        return self._smooth[name]


class Sample(NamedTuple):
    """Contents of a message: rows q, dq/ds and d2q/ds2 as far as present."""

    stamp: int
    rows: list[np.ndarray]
    factor: float


def _sample(message) -> Sample | None:
    """Return the contents of a message for the robot's joints, None if it is invalid."""
    names, point = list(message.joint_names), message.reference
    if len(set(names)) < len(names) or not set(ROBOT.joint_names) <= set(names):
        return None
    lists = [point.positions, point.velocities, point.accelerations]
    if any(len(values) not in (0, len(names)) for values in lists) or not len(point.positions):
        return None
    if len(point.accelerations) and not len(point.velocities):
        return None
    factor = getattr(message, 'speed_scaling_factor', 1.0)  # releases before had none
    if not (np.isfinite(factor) and factor >= 0.0):
        return None
    places = [names.index(name) for name in ROBOT.joint_names]
    rows = [np.array(values)[places] for values in lists if len(values)]
    if not all(np.isfinite(row).all() for row in rows):
        return None
    return Sample(graph.nanoseconds(message.header.stamp), rows, factor)
