"""Joints that count where joint states measured them last, such as the fingers of a gripper.

Their positions come with the states of the arm or in messages of their own, at another rate. Until the first report a
joint counts as where it was stated; where reports end it stays where it was reported last, which makes no step of the
torque, and a gripper whose driver has ended usually stays, too.
"""

from collections.abc import Iterable

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.arm.following.mimic_joints import with_followers
from robot_dynamics_ros.control.joints.position_limits import PositionLimits
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.kinds import Integers, Vector
from robot_dynamics_ros.model.closed_loops.loop_types import Coupling

REPORT_LIMIT = 1.0
"""Time without a report after which the diagnostics name the joint, and over which it moves to the next report, s.

Drivers of grippers report at 10 Hz and more; in this time a finger opens or closes.
"""
LIMIT_NS = round(REPORT_LIMIT * 1e9)


@compiled(given='present')
def _first_named(anchor: Integers, present: Integers) -> int:
    """Return the first joint that is measured, or follows such a one, and is in a message (present, m), -1 for none."""
    for k in range(anchor.shape[0]):
        if anchor[k] >= 0 and present[k] != 0:
            return k
    return -1


@compiled(given='present measured')
def _first_wrong(anchor: Integers, lower: Vector, upper: Vector, present: Integers, measured: Vector) -> int:
    """Return the first joint in a message (present, m) whose position (measured, m) is wrong, -1 for none.

    It is outside of lower and upper (m), or the joint does not follow another one and its position is not finite.
    """
    for k in range(anchor.shape[0]):
        if anchor[k] >= 0 and present[k] != 0:
            if measured[k] == measured[k]:
                if not (lower[k] <= measured[k] <= upper[k] and abs(measured[k]) < np.inf):
                    return k
            elif anchor[k] == k:
                return k
    return -1


@compiled(given='measured stamp alone')
def _report(
    anchor: Integers, multiplier: Vector, nominal: Vector,
    target: Vector, remaining: Integers, heard: Integers, known: Integers,
    measured: Vector, stamp: int, alone: bool,
) -> bool:  # fmt: skip
    """Use measured positions (m; NaN: none) of a message of time ``stamp`` (ns); return whether there is a newer one.

    Writes target (m), the time in which the joint moves there (remaining, m, ns), heard = stamp and known = 1 (m). A
    joint moves over LIMIT_NS after a silence, and over the time between two reports where messages have no joint of the
    arm (``alone``); else at once. A report older than the last one is not used.
    """
    found = False
    for k in range(anchor.shape[0]):
        at = anchor[k]
        if at < 0:
            continue
        if measured[k] == measured[k]:
            place = measured[k]
        elif measured[at] == measured[at]:
            place = nominal[k] + multiplier[k] * (measured[at] - nominal[at])
        else:
            continue
        gap = stamp - heard[k]
        if gap < 0:
            continue
        if gap > LIMIT_NS:
            remaining[k] = LIMIT_NS
        elif alone:
            remaining[k] = max(remaining[k], gap)
        target[k], heard[k], known[k] = place, stamp, 1
        found = True
    return found


@compiled(given='measured stamp')
def _count(
    anchor: Integers, target: Vector, counted: Vector, remaining: Integers, clock: Integers, positions: Vector,
    measured: Vector, stamp: int,
) -> None:  # fmt: skip
    """Move counted (m) towards target (m) up to ``stamp`` (ns), and write positions (m): counted, or else measured.

    Writes clock = (stamp, 1, stamp of the first state), and what remains of the motion (remaining, m, ns). No time
    remains at the first state (clock[0] = 0): no torque has depended on a position yet.
    """
    elapsed = max(stamp - clock[0], 0)
    if clock[1] == 0:
        clock[2] = stamp
    clock[0], clock[1] = stamp, 1
    for k in range(anchor.shape[0]):
        if anchor[k] < 0:
            positions[k] = measured[k]
            continue
        if elapsed >= remaining[k]:
            counted[k], remaining[k] = target[k], 0
        else:
            counted[k] += (target[k] - counted[k]) * (elapsed / remaining[k])
            remaining[k] -= elapsed
        positions[k] = counted[k]


class MeasuredJoints:
    """Positions of the followers of an arm of which some, ``names``, are measured and have a stated position.

    Joints that follow these follow where they count, unless a report has their own positions.

    Parameters
    ----------
    driven : DrivenRobot
        The arm; ``driven.following.stated`` states the positions (rad, m).
    limits : PositionLimits, optional
        Of the followers. Default: none.

    Attributes
    ----------
    names : tuple of str
        Joints that are measured and have a stated position.
    positions : ndarray, (m,)
        Where the followers of the arm count, by the last ``count`` (rad, m; NaN: as they mimic).
    refused : str
        Why the last report in a message without joints of the arm was refused, '' where it was not.
    """

    def __init__(self, driven: DrivenRobot, limits: PositionLimits | None = None):
        followers, size = driven.followers, len(driven.followers)
        self.names = tuple(it for it in followers if not np.isnan(driven.following.stated.get(it, np.nan)))
        self._followers, self._limits, self.refused = followers, limits, ''
        leaders = {it: _leader(driven.couplings, it) for it in followers}
        anchor = [followers.index(leaders[it][0]) if leaders[it][0] in self.names else -1 for it in followers]
        self._anchor = np.array(anchor, np.int64)
        multiplier = np.array([leaders[it][1] for it in followers])
        places = with_followers(driven.couplings, {})
        nominal = np.array([places.get(it, np.nan) for it in followers])
        self._target, self._counted = nominal.copy(), nominal.copy()
        self._remaining, self._heard, self._known = np.zeros((3, size), np.int64)
        self._clock = np.zeros(3, np.int64)  # stamps of the last state and of the first one, between whether one came
        self.positions = np.full(size, np.nan)
        lower, upper = np.full(size, -np.inf), np.full(size, np.inf)
        if limits is not None:
            lower, upper = limits.lower, limits.upper
        nothing = np.full(size, np.nan)
        self._first_named = bound(_first_named, self._anchor, then=(np.zeros(size, np.int64),))
        self._first_wrong = bound(_first_wrong, self._anchor, lower, upper, then=(np.zeros(size, np.int64), nothing))
        of_report = self._target, self._remaining, self._heard, self._known
        self._report = bound(_report, self._anchor, multiplier, nominal, *of_report, then=(nothing, 0, False))
        of_count = self._target, self._counted, self._remaining, self._clock, self.positions
        self._count = bound(_count, self._anchor, *of_count, then=(nothing, 0))
        self.begin()

    def begin(self) -> None:
        """Begin where joints were reported last, without a motion: no torque depends on them, as at an activation."""
        self._clock.fill(0)

    def clock_set_back(self) -> None:
        """Accept reports with earlier stamps."""
        self._heard.fill(0)
        self._clock[2] = 0

    def go_on(self, stamp: int) -> None:
        """Move to the first report over ``REPORT_LIMIT``: torques depended on the last state, of ``stamp`` (ns)."""
        self._clock[:] = stamp, 1, stamp

    def continue_from(self, before: 'MeasuredJoints') -> None:
        """Count joints where ``before``, those of another description of the arm, does, and move on from there."""
        self._clock[:] = before._clock
        for k, name in enumerate(self._followers):
            at = before._followers.index(name) if name in before._followers else -1
            if self._anchor[k] < 0 or at < 0 or before._anchor[at] < 0:
                continue
            self._counted[k] = before._counted[at]
            if before._known[at]:
                self._target[k], self._known[k] = before._target[at], 1
                self._heard[k], self._remaining[k] = before._heard[at], before._remaining[at]
            elif self._clock[1]:
                self._remaining[k] = LIMIT_NS

    def named(self, present: np.ndarray) -> str:
        """Return one of the joints that count where they are measured and that a message names, '' for none.

        ``present`` is that of ``fault``.
        """
        k = self._first_named(present)
        return '' if k < 0 else self._followers[k]

    def fault(self, present: np.ndarray, measured: np.ndarray) -> str:
        """Return why positions of followers in a message are wrong, '' where they are not.

        ``present`` (m, int) is not 0 for each joint that is in the message, ``measured`` (m, rad or m) its position.
        """
        k = self._first_wrong(present, measured)
        if k < 0:
            return ''
        name, position = self._followers[k], float(measured[k])
        if self._limits is None or not np.isfinite(position):
            return f'joint {name!r}: position is missing or not finite'
        return self._limits.fault(k, position)

    def report(self, measured: np.ndarray, stamp: int, alone: bool) -> bool:
        """Use positions of followers (m, rad or m; NaN: none) that ``fault`` accepts; return whether one is newer.

        ``stamp`` is that of the message, ns; ``alone``: the message has no joints of the arm.
        """
        return self._report(measured, stamp, alone)

    def count(self, measured: np.ndarray, stamp: int) -> np.ndarray:
        """Return ``positions`` for the state of the arm of ``stamp`` (ns), whose followers are ``measured`` (m)."""
        self._count(measured, stamp)
        return self.positions

    def warnings(self) -> list[str]:
        """Return which joints are not reported and where they count, and why a report was refused."""
        found = [f'report refused: {self.refused}'] if self.refused else []
        newest, has_states, first = self._clock.tolist()
        for k, name in enumerate(self._followers):
            if self._anchor[k] != k or not has_states:
                continue
            place = f'at {self._target[k]:.4g} rad or m'
            if not self._known[k] and newest - first > LIMIT_NS:
                found.append(
                    f'joint {name!r} is not in joint_states: it counts as where locked_joints states it, {place}; have '
                    'its driver publish it there'
                )
            elif self._known[k] and newest - self._heard[k] > LIMIT_NS:
                found.append(
                    f'joint {name!r} is not in joint_states any more: it counts as where it was last, {place}; see '
                    'that its driver runs'
                )
        return found


def _leader(couplings: Iterable[Coupling], joint: str) -> tuple[str, float]:
    """Return the last joint of those that ``joint`` follows one after the other, and by which multiplier."""
    by_joint, multiplier = {it.joint: it for it in couplings}, 1.0
    while (coupling := by_joint.get(joint)) is not None and coupling.other is not None:
        multiplier *= (*coupling.polynomial, 0.0)[1]
        joint = coupling.other
    return joint, multiplier
