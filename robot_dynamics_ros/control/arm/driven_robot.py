"""A robot some joints of which follow others: dynamics in the coordinates of the driven joints alone.

Mimic joints follow their leaders (``mimic_joints``), the joints of a mechanism with closed loops its actuated joints
(``closed_mechanism``): q = phi(y), qd = G yd, qdd = G ydd + dG/dt yd. By virtual work tau_y = G' tau and M_y = G' M G
(Featherstone 2008, section 3.2): followers count with their mass. Springs of joints and closures count as gravity does.
"""

import math
import threading
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_dynamics_ros import validation
from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.control.arm.driven_matrices import (
    driven_jacobian,
    driven_mass_matrices,
    driven_mass_matrix_inverse,
)
from robot_dynamics_ros.control.arm.following.closed_mechanism import ClosedMechanism
from robot_dynamics_ros.control.arm.following.closing_way import driven_torque
from robot_dynamics_ros.control.arm.following.following_joints import FollowingJoints, Motion
from robot_dynamics_ros.control.arm.following.mimic_joints import MimicJoints
from robot_dynamics_ros.control.joints.joint_friction import (
    FRICTIONAL,
    own_friction_adder,
    passive_friction_adder,
)
from robot_dynamics_ros.control.joints.position_limits import limits_of
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.model.closed_loops.loop_types import Coupling
from robot_dynamics_ros.model.model import Finding, Friction, JointLimits, Model
from robot_dynamics_ros.payload import Payload
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.robot.described_robot import ALIGNED
from robot_dynamics_ros.robot.evaluator import check_unlocked


class _OfThread(threading.local):
    """Quantities of all joints that one thread computes for a single state."""

    def __init__(self, nv: int):
        self.torque, self.jacobian, self.mass_matrix = np.zeros(nv), np.zeros((6, nv)), np.zeros((nv, nv))


class DrivenRobot:
    """A robot in the coordinates of its m driven joints; the methods are those of ``Robot``.

    Parameters
    ----------
    robot : Robot
        The robot as a tree of joints, without closed loops.
    following : FollowingJoints
        How its other joints follow; robots under another payload or gravity share it.
    """

    def __init__(self, robot: Robot, following: FollowingJoints):
        self.robot: Robot = robot
        self.following: FollowingJoints = following
        places = following.places
        self.joint_names: tuple[str, ...] = tuple(robot.model.joint_of_velocity(k) for k in places)
        self.nv: int = len(places)
        self.nq: int = self.nv
        self._own_of_thread = own = _OfThread(robot.nv)
        m, n = self.nv, robot.nv
        rows = np.zeros((m, n))
        self._driven_torque = bound(driven_torque, then=(rows, own.torque, np.zeros(m)))
        self._driven_jacobian = bound(driven_jacobian, then=(rows, own.jacobian, np.zeros((6, m))))
        stacks = np.zeros((0, m, n)), np.zeros((0, n, n)), np.zeros((0, m, m))
        self._driven_mass_matrices = bound(driven_mass_matrices, np.zeros((n, m)), then=stacks)
        inverted = rows, own.mass_matrix, np.zeros((m, m))
        self._driven_inverse = bound(driven_mass_matrix_inverse, np.zeros((n, m)), then=inverted)
        self.limits: JointLimits = limits_of(robot.model, self.joint_names)
        self.friction: Friction = self._friction()
        self.passive_friction: np.ndarray | None = self._of_passive_joints()
        self._add_own = own_friction_adder(self, np.array(self.friction))
        passive = self.passive_friction
        self._add_passive = None if passive is None else passive_friction_adder(passive, self.nv)
        self.rotor_inertia: np.ndarray = (following.constant_G**2).T @ robot.rotor_inertia
        # a turn of a leader is no turn of its followers
        self.continuous_joints: np.ndarray = robot.continuous_joints[places] & following.alone

    @property
    def name(self) -> str:
        """Name of the robot."""
        return self.robot.name

    @property
    def mechanism(self) -> Robot | None:
        """With closed loops; None for mimic joints alone."""
        return self.following.mechanism

    @property
    def digest(self) -> str:
        """Hash of all joints, closed loops, and multipliers and offsets of mimic joints."""
        return (self.mechanism or self.robot.with_loops(self.couplings)).digest

    @property
    def model(self) -> Model:
        """Model of the tree of all joints."""
        return self.robot.model

    @property
    def gravity(self) -> np.ndarray:
        """Gravity in the base frame, (3,) m/s^2."""
        return self.robot.gravity

    @property
    def payloads(self) -> dict[str, Payload]:
        """Payloads by link or frame."""
        return self.robot.payloads

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings of the model check."""
        return self.robot.findings

    @property
    def link_names(self) -> tuple[str, ...]:
        """Base and links that the joints move, n + 1."""
        return self.robot.link_names

    @property
    def end_link(self) -> str:
        """The link with the fingers of a gripper, or the last one."""
        return self.robot.end_link

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Names of all frames."""
        return self.robot.frame_names

    @property
    def followers(self) -> tuple[str, ...]:
        """Joints whose position may be measured."""
        return self.following.followers

    @property
    def couplings(self) -> tuple[Coupling, ...]:
        """Those of mimic joints."""
        return self.following.couplings

    def with_gravity(self, gravity: ArrayLike) -> 'DrivenRobot':
        """Return this robot under another gravity (3, m/s^2)."""
        return DrivenRobot(self.robot.with_gravity(gravity), self.following)

    def with_payload(self, payload: Payload, link: str | None = None) -> 'DrivenRobot':
        """Return this robot with a payload on ``link``."""
        return DrivenRobot(self.robot.with_payload(payload, link), self.following)

    def with_friction(self, **terms: ArrayLike) -> 'DrivenRobot':
        """Return this robot with other friction ``terms`` of all its joints, as ``Robot.with_friction``."""
        return DrivenRobot(self.robot.with_friction(**terms), self.following)

    def prepare(self, *quantities: str) -> None:
        """Look up the code of quantities of the tree of joints now, as ``Robot.prepare`` does."""
        self.robot.prepare(*('mass_matrix' if it == 'mass_matrix_inverse' else it for it in quantities))

    def to_urdf(self) -> str:
        """Return the robot as URDF text, with <mimic>; ModelError for closed loops."""
        return (self.mechanism or self.robot.with_loops(self.couplings)).to_urdf()

    def neutral(self) -> np.ndarray:
        """Return a position of the driven joints, (m,): 0, or where loops are closed nearest to it."""
        return self.following.home.copy()

    def positions(self, y: ArrayLike) -> np.ndarray:
        """Return the positions of all joints (..., nq; rad, m) at those of the driven ones (..., m)."""
        return self.following.motion(y).q

    def gravity_torque(self, q: ArrayLike, out: NDArray[np.float64] | None = None) -> np.ndarray:
        """Return the torques (..., m; N m, N) that hold the robot at q (..., m) against gravity and springs."""
        motion = self.following.motion(q)
        return self._of(motion, self.robot.gravity_torque, motion.q, out=out, springs=True)

    def bias_torque(self, q: ArrayLike, qd: ArrayLike, out: NDArray[np.float64] | None = None) -> np.ndarray:
        """Return the bias torques (..., m) at q and qd, springs included."""
        motion = self.following.motion(q, qd)
        if motion.qdd is not None:
            return self._of(motion, self.robot.inverse_dynamics, *motion[:3], out=out, springs=True)
        return self._of(motion, self.robot.bias_torque, *motion[:2], out=out, springs=True)

    def coriolis_torque(self, q: ArrayLike, qd: ArrayLike, out: NDArray[np.float64] | None = None) -> np.ndarray:
        """Return the Coriolis and centrifugal torques (..., m) at q and qd."""
        motion = self.following.motion(q, qd)
        if motion.qdd is not None:
            tau = self.robot.coriolis_torque(*motion.known[:2]) + self.robot.inertia_torque(motion.q, motion.qdd)
            return _given(out, _reduced(motion, tau))
        return self._of(motion, self.robot.coriolis_torque, *motion[:2], out=out)

    def inertia_torque(self, q: ArrayLike, qdd: ArrayLike, out: NDArray[np.float64] | None = None) -> np.ndarray:
        """Return the inertia torques M_y qdd (..., m) at q."""
        motion = self.following.motion(q, None, qdd)
        return self._of(motion, self.robot.inertia_torque, motion.q, motion.qdd, out=out)

    def inverse_dynamics(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, out: NDArray[np.float64] | None = None
    ) -> np.ndarray:
        """Return the torques (..., m) of a motion, springs included, without friction."""
        motion = self.following.motion(q, qd, qdd)
        return self._of(motion, self.robot.inverse_dynamics, *motion[:3], out=out, springs=True)

    def torque_regressor(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, out: NDArray[np.float64] | None = None
    ) -> np.ndarray:
        """Return the regressor G' Y (..., m, 10 n) of the tree of all joints."""
        motion = self.following.motion(q, qd, qdd)
        return _given(out, _transposed(motion.G) @ self.robot.torque_regressor(*motion.known))

    def mass_matrix(self, q: ArrayLike, out: NDArray[np.float64] | None = None) -> np.ndarray:
        """Return M_y = G' M G (..., m, m) at q."""
        motion = self.following.motion(q)
        of_tree, rows, m, n = self.robot.mass_matrix(motion.q), _transposed(motion.G), self.nv, self.robot.nv
        if rows.ndim < of_tree.ndim:
            rows = np.broadcast_to(rows, (*of_tree.shape[:-2], m, n))
        rows, result = np.ascontiguousarray(rows), np.empty((*of_tree.shape[:-2], m, m))
        self._driven_mass_matrices(rows.reshape(-1, m, n), of_tree.reshape(-1, n, n), result.reshape(-1, m, m))
        return _given(out, result)

    def mass_matrix_inverse(self, q: ArrayLike, out: NDArray[np.float64] | None = None) -> np.ndarray:
        """Return the inverse of M_y (..., m, m) at q."""
        motion = self.following.motion(q)
        if motion.q.ndim > 1:
            return _given(out, np.linalg.inv(self.mass_matrix(q)))
        inverse = np.empty((self.nv, self.nv))
        of_tree = self.robot.mass_matrix(motion.q, out=self._own_of_thread.mass_matrix)
        self._driven_inverse(motion.G.T, of_tree, inverse)
        return _given(out, inverse)

    def coriolis_matrix(self, q: ArrayLike, qd: ArrayLike, out: NDArray[np.float64] | None = None) -> np.ndarray:
        """Return C_y = G' (C G + M dG/dt) (..., m, m) at q and qd: C_y qd = c, and C_y + C_y' is dM_y/dt."""
        motion, rate = self.following.motion(q, qd), self.following.matrix_rate(q, qd)
        CG = self.robot.coriolis_matrix(*motion.known[:2]) @ motion.G
        if rate is not None:
            CG = CG + self.robot.mass_matrix(motion.q) @ rate
        return _given(out, _transposed(motion.G) @ CG)

    def torque(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, out: NDArray[np.float64] | None = None) -> np.ndarray:
        """Return the torques (..., m) of the motors for a motion, friction included, as ``Robot.torque``.

        It is what nodes add up, so friction is that of ``friction_torque``.
        """
        torque = self.inverse_dynamics(q, qd, qdd)
        qd = np.ascontiguousarray(np.broadcast_to(np.asarray(qd, float), torque.shape))
        self._add_friction(self._rows(q), qd, torque, torque)
        return _given(out, torque)

    def acceleration(
        self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, out: NDArray[np.float64] | None = None
    ) -> np.ndarray:
        """Return the accelerations (..., m; rad/s^2, m/s^2) under torques tau of the motors: the inverse of ``torque``.

        ModelError where a gear is locked by its friction, or where coupled motors have friction that grows with the
        load.
        """
        check_unlocked(self.model, 'acceleration')
        tau, transition = np.asarray(tau, float), self.friction.transition
        ratio = self.friction.load * np.asarray(qd, float) / np.hypot(qd, transition)
        qd, unloaded, passive = _broadcast(qd, np.zeros(np.shape(q)), np.zeros(np.shape(q)))
        self._add_of_driven(qd, np.zeros(qd.shape), unloaded)
        self._add_of_passive(self._rows(q), qd, passive)
        left = tau - unloaded
        # gears transmit M qdd + h and the friction of joints without a motor
        transmitted = (left - ratio * np.abs(left)) / (1.0 - ratio * ratio)
        return self.forward_dynamics(q, qd, transmitted - passive, out=out)

    def forward_dynamics(
        self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, out: NDArray[np.float64] | None = None
    ) -> np.ndarray:
        """Return the accelerations (..., m; rad/s^2, m/s^2) under torques tau, springs included, without friction."""
        net = np.asarray(tau, float) - self.bias_torque(q, qd)
        return _given(out, np.linalg.solve(self.mass_matrix(q), net[..., None])[..., 0])

    def friction_torque(
        self, qd: ArrayLike, tau: ArrayLike | None = None, out: NDArray[np.float64] | None = None
    ) -> np.ndarray:
        """Return friction torques (..., m) at qd; tau are the torques without friction, zero by default.

        ArgumentError where joints that closed loops move have friction, which depends on positions.
        """
        if self.passive_friction is not None:
            raise ArgumentError(
                f'{self.name}: friction of joints without a motor depends on positions q: use friction_along(q)'
            )
        return self._friction_function(None)(qd, tau, out)

    def friction_along(self, q: ArrayLike) -> Callable[..., np.ndarray]:
        """Return the function of (qd, tau=None, out=None) of the friction torques (..., m) at positions q (..., m).

        They are those of driven joints, of what mimics them, and of those that closed loops move. The gears of the
        motors transmit that of the latter, beside the torques tau without friction. It grows with no load, for a joint
        without a motor transmits no torque.
        """
        return self._friction_function(self._rows(q))

    def jacobian(
        self, q: ArrayLike, link: str, reference_frame: str = ALIGNED, out: NDArray[np.float64] | None = None
    ) -> np.ndarray:
        """Return the Jacobian J G (..., 6, m) of a link at q."""
        motion = self.following.motion(q)
        if motion.q.ndim > 1:
            return _given(out, self.robot.jacobian(motion.q, link, reference_frame) @ motion.G)
        jacobian = np.empty((6, self.nv))
        of_tree = self.robot.jacobian(motion.q, link, reference_frame, out=self._own_of_thread.jacobian)
        self._driven_jacobian(motion.G.T, of_tree, jacobian)
        return _given(out, jacobian)

    def link_pose(self, q: ArrayLike, link: str, out: NDArray[np.float64] | None = None) -> np.ndarray:
        """Return the pose (..., 4, 4; m) of a link at q."""
        return self.robot.link_pose(self.positions(q), link, out=out)

    def _of(self, motion: Motion, quantity, *state, out, springs: bool = False) -> np.ndarray:
        """Return G' tau (..., m) of the ``quantity`` tau of all joints, less what ``springs`` of closures give."""
        single = all(it.ndim == 1 for it in state)
        tau = quantity(*state, out=self._own_of_thread.torque if single else None)
        of_springs = self.following.spring_torque(motion) if springs else None
        if of_springs is not None:
            tau -= of_springs
        if not single:
            return _given(out, _reduced(motion, tau))
        reduced = np.empty(self.nv)
        self._driven_torque(motion.G.T, tau, reduced)
        return _given(out, reduced)

    def _friction_function(self, rows: np.ndarray | None) -> Callable[..., np.ndarray]:
        """Return the function of (qd, tau=None, out=None) of friction torques, with those of ``_rows``."""

        def friction_torque(qd, tau=None, out=None) -> np.ndarray:
            zero = np.zeros(self.nv)
            vectors = {'qd': qd, 'tau': zero if tau is None else tau, 'q': zero if rows is None else rows[..., 0]}
            (qd, transmitted, _), batch = validation.states(dict.fromkeys(vectors, self.nv), **vectors)
            torque = np.zeros((*batch, self.nv))
            self._add_friction(rows, qd.reshape(torque.shape), np.array(transmitted).reshape(torque.shape), torque)
            return _given(out, torque)

        return friction_torque

    def _rows(self, q) -> np.ndarray | None:
        """Return G' (..., m, n) at q where friction depends on it, else None."""
        if self.passive_friction is None:
            return None
        return np.ascontiguousarray(_transposed(self.following.motion(q).G))

    def _add_friction(self, rows: np.ndarray | None, qd, transmitted, torque) -> None:
        """Add friction to torque (..., m), and that of joints without a motor to what is transmitted (..., m)."""
        self._add_of_passive(rows, qd, torque)
        if transmitted is not torque:
            self._add_of_passive(rows, qd, transmitted)
        self._add_of_driven(qd, transmitted, torque)

    def _add_of_driven(self, qd, transmitted, torque) -> None:
        """Add the friction of driven joints."""
        for state in np.ndindex(qd.shape[:-1]):
            self._add_own(qd[state], transmitted[state], torque[state])

    def _add_of_passive(self, rows: np.ndarray | None, qd, torque) -> None:
        """Add the friction of joints without a motor, with those of ``_rows``."""
        if rows is None or self._add_passive is None:
            return
        rows = np.broadcast_to(rows, (*qd.shape[:-1], *rows.shape[-2:]))
        for state in np.ndindex(qd.shape[:-1]):
            self._add_passive(rows[state], qd[state], torque[state])

    def _of_passive_joints(self) -> np.ndarray | None:
        """Return the friction (8, n) of the joints that closed loops move, zero for the others; None for none.

        They transmit no torque, so none grows with it.
        """
        if self.mechanism is None:
            return None
        friction = {field: column.copy() for field, column in self.robot.friction._asdict().items()}
        for field in FRICTIONAL:
            friction[field][self.following.places] = 0.0
        friction['load'][:] = 0.0
        return np.array([*friction.values()]) if any(friction[field].any() for field in FRICTIONAL) else None

    def _friction(self) -> Friction:
        """Return the friction of the driven joints, that of followers with a constant G included.

        A follower's viscous friction counts with the square of its multiplier, its quadratic friction with the cube of
        its magnitude, the other terms with its magnitude; velocities where friction changes are those of the leader.
        """
        given, G = self.robot.friction, self.following.constant_G
        columns = given._asdict()
        columns = {field: np.array(columns[field][self.following.places]) for field in Friction._fields}
        for i, k in zip(*np.nonzero(G), strict=True):
            if i != self.following.places[k]:
                slope = G[i, k]
                columns['viscous'][k] += slope * slope * given.viscous[i]
                columns['coulomb'][k] += abs(slope) * given.coulomb[i]
                columns['stribeck'][k] += abs(slope) * given.stribeck[i]
                columns['offset'][k] += slope * given.offset[i]
                columns['quadratic'][k] += abs(slope) ** 3 * given.quadratic[i]
        return Friction(**columns)


def following_mimics(
    tree: Robot, couplings: Sequence[Coupling], measured: Mapping[str, float] | None = None
) -> Robot | DrivenRobot:
    """Return a tree whose followers mimic others or are ``measured``; itself without followers and springs.

    Springs are those of a tree of joints of one coordinate each.
    """
    has_springs = tree.model.arrays.has_springs and tree.nq == tree.nv
    if not couplings and not has_springs:
        return tree
    return DrivenRobot(tree, MimicJoints(tree, couplings, measured))


def in_driven_joints(robot: Robot, tolerance: float = math.inf) -> Robot | DrivenRobot:
    """Return a robot in the coordinates of its driven joints, where joints follow others, close loops or have springs.

    ``tolerance`` (rad, m) is that of ``ClosedMechanism``. ModelError for closed loops of which nothing says which
    joints have a motor.
    """
    loops, tree = robot.loops, robot.with_loops([])
    following = [coupling.joint for coupling in loops.couplings]
    if loops.are_mimic_joints:
        return following_mimics(tree, loops.couplings)
    actuated = loops.actuated
    if not loops.closures and not actuated:
        actuated = tuple(name for name in robot.joint_names if name not in following)
    if not actuated:
        raise ModelError(
            f'{robot.name}: it has closed loops ({loops.constraint_names[0]}), and nothing says which of its joints '
            f'have a motor: state actuated with its loops; its joints are {", ".join(robot.joint_names)}'
        )
    return DrivenRobot(tree, ClosedMechanism(robot, actuated, tolerance))


def _reduced(motion: Motion, tau: np.ndarray) -> np.ndarray:
    """Return G' tau (..., m)."""
    return tau @ motion.G if motion.G.ndim == 2 else (tau[..., None, :] @ motion.G)[..., 0, :]


def _broadcast(*vectors) -> tuple[np.ndarray, ...]:
    """Return contiguous copies of vectors (..., m) of one shape."""
    return tuple(np.array(it, float, order='C') for it in np.broadcast_arrays(*vectors))


def _transposed(G: np.ndarray) -> np.ndarray:
    return np.swapaxes(G, -1, -2)


def _given(out, result) -> np.ndarray:
    """Return ``result``, in ``out`` if that is given."""
    if out is None:
        return result
    out[...] = result
    return out
