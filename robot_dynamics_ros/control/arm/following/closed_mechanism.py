"""Joints of a mechanism with closed loops, such as a palletizer, that follow its actuated joints.

The positions of all joints are q = phi(y) with those of the actuated joints y (``loop_solutions``); qd = G yd and
qdd = G ydd + dG/dt yd (``kernels.closed_loops.driven_motion``). ``mechanism_states`` judges measured states.
"""

import math
from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from robot_dynamics_ros.control.arm.following.actuated_joints import sprung_joints
from robot_dynamics_ros.control.arm.following.assembly_modes import is_only_solution
from robot_dynamics_ros.control.arm.following.closing_way import NEAREST
from robot_dynamics_ros.control.arm.following.follower_reports import FollowerReports
from robot_dynamics_ros.control.arm.following.following_joints import Motion
from robot_dynamics_ros.control.arm.following.joint_jumps import JointJumps
from robot_dynamics_ros.control.arm.following.loop_check import WIDE_OPEN, stated_position
from robot_dynamics_ros.control.arm.following.loop_solutions import LoopSolutions, Solution
from robot_dynamics_ros.control.arm.following.mechanism_states import MechanismStates
from robot_dynamics_ros.control.joints.continuous_joints import TURN, nearest
from robot_dynamics_ros.control.joints.position_limits import PositionLimits
from robot_dynamics_ros.errors import ArgumentError, DynamicsError, LoopError, SingularError
from robot_dynamics_ros.model.closed_loops.loop_types import Coupling
from robot_dynamics_ros.model.digest import same_motion
from robot_dynamics_ros.robot import Robot

PARAMETER = 'loop_tolerance'


class ClosedMechanism(LoopSolutions):
    """How the joints of a mechanism follow its actuated ones, also measured ones: see ``FollowingJoints``.

    Parameters
    ----------
    robot, actuated
        Those of ``LoopSolutions``, whose errors are raised.
    tolerance : float
        Largest distance of a measured position of another joint from the one that closes the loops, rad or m.

    Attributes
    ----------
    coordinates : dict of str to ndarray of int
        Indices of the coordinates of each joint.
    has_springs : bool
        Whether joints or closures have springs or dampers.
    """

    def __init__(self, robot: Robot, actuated: Sequence[str], tolerance: float = math.inf):
        super().__init__(robot, actuated)
        self._tolerance, model, m = tolerance, robot.model, len(self.places)
        self.couplings: tuple[Coupling, ...] = ()
        self.stated: dict[str, float] = {}
        passive = self.followers
        names = np.array([model.joint_of_coordinate(k) for k in range(robot.nq)])
        self.coordinates = {str(name): np.flatnonzero(names == name) for name in names}
        self._follower_coordinates = np.array([self.coordinates[name][0] for name in passive], np.intp)
        kinds = dict(zip(model.joint_names, model.joint_kinds, strict=True))
        # a spring or a joint that follows them tells their turns apart
        counted = sprung_joints(robot) | {str(it.other) for it in robot.loops.couplings}
        turned = [kinds[name] == 'revolute' and name not in counted for name in passive]
        self._follower_turn = np.where(turned, TURN, 0.0)
        self.alone = self.arithmetic.turn > 0.0
        self.constant_G = np.zeros((robot.nv, m))
        self.constant_G[self.places, np.arange(m)] = 1.0
        self.has_springs = bool(len(model.arrays.sprung)) or model.arrays.has_springs
        of_followers = self._follower_coordinates, self._follower_turn, float(tolerance)
        self._unlimited = np.full(len(passive), -np.inf), np.full(len(passive), np.inf)
        self._reports = FollowerReports(passive, *of_followers, robot.nq)
        of = self.arithmetic
        self._states = MechanismStates(self, JointJumps(of.turn, of.exact, of.jump_unit, of.fastest))
        self.home = self.at_home.y

    def motion(self, y, yd=None, ydd=None) -> Motion:
        """Return the motion of all joints at y (..., m); LoopError or SingularError names a loop that does not close.

        Single positions begin their way where the arm was measured last, those of a batch also at the one before.
        """
        y = np.asarray(y, float)
        if y.ndim > 1:
            return self.moving([*self.along(y.reshape(-1, y.shape[-1]))], y.shape[:-1], yd, ydd)
        found = self._own_of_thread.last = self._at(y)
        return self._moved(found.q, found.G, yd, ydd)

    def matrix_rate(self, y, yd) -> np.ndarray:
        """Return dG/dt (..., nv, m), by the accelerations of the constraints for qd = G yd and each column of G."""
        return self.rate_of(self.motion(y, yd))

    def rate_of(self, motion: Motion) -> np.ndarray:
        """Return dG/dt (..., nv, m) of a motion."""
        q, zero = motion.q[..., None, :], np.zeros(self.mechanism.nv)
        columns, qd = np.swapaxes(motion.G, -1, -2), np.asarray(motion.qd)[..., None, :]
        # dJ/dt(qd) g = (B(qd + g) - B(qd - g)) / 4,  B(u) = dJ/dt(u) u
        ahead, behind = (self.held.loop_accelerations(q, qd + sign * columns, zero) for sign in (1.0, -1.0))
        # J dG/dt = -dJ/dt G
        found = self.held.driven_motion(q, self._zero, -0.25 * (ahead - behind))[..., self.constant_couplings + 1, :]
        return np.swapaxes(found, -1, -2)

    def spring_torque(self, motion: Motion) -> np.ndarray | None:
        """Return the torques (..., nv; N m, N) of springs and dampers, None where there are none."""
        if not self.has_springs:
            return None
        return self.mechanism.spring_torque(motion.q, np.zeros(self.mechanism.nv) if motion.qd is None else motion.qd)

    def begin(self) -> None:
        """Begin anew, as at an activation: the arm may have moved anywhere, and is in its assembly mode."""
        self._states.begin()
        self._reports.begin()

    def clock_set_back(self) -> None:
        """Measure the next state as one whose stamp says nothing of the time since the last."""
        self._states.clock_set_back()
        self._reports.clock_set_back()

    def continue_from(self, before: 'ClosedMechanism') -> None:
        """Go on from where ``before``, the same arm under another description, was measured last.

        With the same joints and loops the arm is where it was. With others it is on the straight way from the stated
        position (near), if loops are closed there near where it was. Else, and where other joints are actuated and
        ``begin`` follows, no state is accepted until the next activation, nor where ``before`` accepts none.
        """
        known, is_doubtful = self._continued(before)
        is_same = before.joint_names == self.joint_names
        is_doubtful = before._states.accepted and (is_doubtful or not is_same)
        is_doubtful |= not {*before._reports.all_off} <= {*self.followers}
        self._states.take_over(before._states, is_doubtful or bool(before._reports.all_off))
        self.measured = known or self.measured
        if is_same:
            self._reports.continue_from(before._reports)
            self._states.continue_from(before._states)
            if is_doubtful:
                self._states.refuse()

    def _continued(self, before: 'ClosedMechanism') -> tuple[Solution | None, bool]:
        """Return where the arm is that ``before`` saw last, None if that is not known, and whether it is in doubt."""
        q, near, straight = self._placed(before), None, None
        if q is not None:
            with suppress(DynamicsError):
                self._own_of_thread.change[self._rows] = q[self._coordinates]
                near = self._closed(q) if self._opening(q, before) <= WIDE_OPEN else None
            if same_motion(before.mechanism.model, self.mechanism.model):
                return near, near is None
        elif before.joint_names != self.joint_names:
            return None, False
        with suppress(LoopError, SingularError):
            straight = self.from_nearest((self.at_home,), before.measured.y if q is None else q[self._coordinates])
        if q is None:
            return straight, False
        if not (near and straight):
            return near or straight, True
        own = self._follower_coordinates
        off = np.abs(nearest(near.q[own] - straight.q[own], self._follower_turn))
        return near, bool((off > self._tolerance).any())

    def _opening(self, q: np.ndarray, before: 'ClosedMechanism') -> float:
        """Return how far the loops are open at q (nq; rad, m), but for couplings of joints that are new."""
        couplings = self.mechanism.loops.couplings
        errors = np.abs(self.mechanism.loop_errors(q))
        is_new = [it.joint not in before.coordinates for it in couplings]
        errors[len(errors) - len(couplings) :][is_new] = 0.0
        return float(errors.max())

    def _placed(self, before: 'ClosedMechanism') -> np.ndarray | None:
        """Return q (nq) where ``before`` saw its joints last; None where another position (near) is stated."""
        q, stated, stated_before = (
            self.at_home.q.copy(), stated_position(self.mechanism), stated_position(before.mechanism)
        )  # fmt: skip
        at = before._states.last or before.measured
        for name in self.coordinates.keys() & before.coordinates.keys():
            own, others = self.coordinates[name], before.coordinates[name]
            if len(own) != len(others) or np.abs(stated[own] - stated_before[others]).max() > WIDE_OPEN:
                return None
            q[own] = at.q[others]
        return q

    def report(self, positions: np.ndarray, stamp: int) -> None:
        """Compare ``positions`` of ``followers`` (rad, m; NaN: none) in a message of their own with the next states.

        The message has the time ``stamp`` (ns). Where a joint does not fit, ``measure`` refuses states until it is
        measured again, and fits.
        """
        self._reports.add(positions, stamp)

    def warnings(self) -> list[str]:
        """Return which joints of ``followers`` are reported too late."""
        return self._reports.warnings()

    def measure(
        self, y, positions, stamp: int, limits: PositionLimits | None = None, arrival: float = math.nan
    ) -> None:
        """Close the loops at measured positions y (m) of the time ``stamp`` (ns), and compare those of ``followers``.

        The state came at ``arrival``, see ``JointJumps.jumped``.
        LoopError names the loop that does not close, that would need actuated joints faster than they are, or with
        which measured ``positions`` (rad, m; NaN: not measured) disagree; SingularError likewise. ArgumentError names
        one of these beyond ``limits``. A joint that disagrees or is beyond is refused until it is measured again.
        """
        try:
            found = self._states.followed(y, stamp, arrival)
            if found.distance < NEAREST:
                raise SingularError(self.near_singular(found))
        except (LoopError, SingularError):
            # compared with the next state that is not refused
            self._reports.add(positions, stamp)
            raise
        within = (limits.lower, limits.upper) if limits else self._unlimited
        off = self._reports.off(found.q, stamp, positions, *within)
        if off >= 0:
            name, last, closed = self.followers[off], self._reports.last[off], found.q[self._follower_coordinates[off]]
            said = '' if positions[off] == positions[off] else ' by the last message that has it'
            if limits and (fault := limits.fault(off, float(last))):
                raise ArgumentError(f'{self.loop_of(name)}: {fault}{said}')
            raise LoopError(
                f'{self.loop_of(name)}: joint {name!r} is at {last:.4g} rad or m{said}, and the loop is closed with '
                f'{closed:.4g}: more than {PARAMETER} ({self._tolerance:g}) away'
            )
        measured = sum(position == position for position in positions.tolist())
        are_all = measured + len(self.places) == self.mechanism.nv
        self._states.accept(found, are_all and self._is_told(found, positions))
        self.measured = found

    def _is_told(self, found: Solution, positions: np.ndarray) -> bool:
        """Return whether measured ``positions`` that fit a solution fit no other one, where its mode is in doubt."""
        if not self._states.is_in_doubt:
            return False
        off = nearest(positions - found.q[self._follower_coordinates], self._follower_turn)
        return is_only_solution(self.mechanism, self.places, found.q, self._tolerance + np.abs(off))

    def moving(self, found: Sequence[Solution], shape: tuple[int, ...], yd=None, ydd=None) -> Motion:
        """Return the motion of all joints at solutions, a batch of ``shape``."""
        if not shape:
            return self._moved(found[0].q, found[0].G, yd, ydd)
        q = np.array([it.q for it in found]).reshape(*shape, self.mechanism.nq)
        G = np.array([it.G for it in found]).reshape(*shape, *self.measured.G.shape)
        return self._moved(q, G, yd, ydd)

    def _moved(self, q: np.ndarray, G: np.ndarray, yd, ydd) -> Motion:
        """Return the motion of all joints at q (..., nq), with G there."""
        if yd is None and ydd is None:
            return Motion(q, None, None, G)
        rates, accelerations = (self._of_constraints(it) for it in (yd, ydd))
        motion = self.held.driven_motion(q, rates, accelerations)
        qd = None if yd is None else motion[..., self.constant_couplings, :]
        return Motion(q, qd, motion[..., self.constant_couplings + 1, :], G)
