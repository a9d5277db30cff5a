"""A robot whose mimic joints follow their leaders: dynamics in the coordinates of the driven joints alone.

The positions of all joints are q = G y + c with those of the driven joints y; G and c, of the multipliers and offsets,
are constant. So qd = G yd, qdd = G ydd, and by virtual work tau_y = G' tau and M_y = G' M G (Featherstone 2008, section
3.2): followers count with their mass, and the torque of a leader includes multiplier times that of each follower.
Where positions of followers are measured, c is what they differ from G y. A joint that is locked where it is measured
follows no other joint.
"""

from collections.abc import Iterable, Mapping

import numpy as np

from robot_dynamics_ros.control.joints.position_limits import PositionLimits
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.model.closed_loops.loop_types import Coupling
from robot_dynamics_ros.model.model import Friction, JointLimits
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.robot.described_robot import ALIGNED


class DrivenRobot:
    """A robot with mimic joints, reduced to its m driven joints; the methods are those of ``Robot``.

    One thread at a time computes single states.

    Parameters
    ----------
    robot : Robot
        The robot as a tree of n joints, each of one coordinate, without closed loops.
    couplings : iterable of Coupling
        One for each follower, with a polynomial of degree one or zero.
    measured : iterable of str, optional
        Followers whose position has to be measured; their couplings are constant.
    offset : ndarray, (n,), optional
        Array of c, which ``measure`` writes; robots under another payload or gravity share it. Default: a new one.

    Raises
    ------
    ModelError
        For a coupling of a higher degree, followers that follow each other, or no driven joint, naming a joint.
    """

    def __init__(
        self,
        robot: Robot,
        couplings: Iterable[Coupling],
        measured: Iterable[str] = (),
        offset: np.ndarray | None = None,
    ):
        self.robot, self.couplings, self.measured = robot, tuple(couplings), tuple(measured)
        names = robot.joint_names
        if robot.model.motor_coupling and self.couplings:
            motor = robot.model.joint_of_velocity(robot.model.motor_coupling[0][0])
            raise ModelError(
                f'{robot.name}: the motor of joint {motor!r} is coupled; mimic joints beside it are not supported'
            )
        leader, slope, nominal, anchor = _resolved(names, self.couplings)
        followers = {coupling.joint for coupling in self.couplings}
        self._places = np.array([i for i, name in enumerate(names) if name not in followers], np.intp)
        if not len(self._places):
            raise ModelError(f'{robot.name}: every joint follows another one')
        self.followers = tuple(name for name in names if name in followers)
        self.joint_names = tuple(names[i] for i in self._places)
        self.nv = self.nq = len(self._places)
        order = {int(place): k for k, place in enumerate(self._places)}
        self._leader = np.array([order.get(i, 0) for i in leader], np.intp)  # a constant one has slope 0
        self._slope, self._nominal = np.array(slope), tuple(nominal)
        self._offset = np.array(nominal) if offset is None else offset
        # index of the follower's position, of the joint, of the constant joint that it follows, and by which multiplier
        of_followers = [(k, names.index(name), *anchor[names.index(name)]) for k, name in enumerate(self.followers)]
        self._following = sorted(of_followers, key=lambda it: it[1] != it[2])  # a constant joint before those behind it
        self._G = np.zeros((robot.nv, self.nv))
        self._G[np.arange(robot.nv), self._leader] = self._slope
        self._state, self._torque = np.zeros((3, robot.nv)), np.zeros(robot.nv)
        self.limits = JointLimits(*(column[self._places] for column in robot.limits))
        self.friction = self._friction()
        # a turn of a leader is no turn of its followers
        alone = (self._G != 0.0).sum(axis=0) == 1
        self.continuous_joints = robot.continuous_joints[self._places] & alone
        self.rotor_inertia = (self._G**2).T @ robot.rotor_inertia

    name = property(lambda self: self.robot.name, doc='Name of the robot.')
    digest = property(lambda self: self.robot.digest, doc='Hash of the tree of joints, as that of ``Robot``.')
    model = property(lambda self: self.robot.model, doc='Model of the tree of all joints.')
    gravity = property(lambda self: self.robot.gravity, doc='Gravity in the base frame, (3,) m/s^2.')
    payloads = property(lambda self: self.robot.payloads, doc='Payloads by link or frame.')
    findings = property(lambda self: self.robot.findings, doc='Findings of the model check.')
    link_names = property(lambda self: self.robot.link_names, doc='Base and links that the joints move, n + 1.')
    frame_names = property(lambda self: self.robot.frame_names, doc='Names of all frames.')

    def with_gravity(self, gravity) -> 'DrivenRobot':
        """Return this robot under another gravity (3, m/s^2)."""
        return DrivenRobot(self.robot.with_gravity(gravity), self.couplings, self.measured, self._offset)

    def with_payload(self, payload, link: str | None = None) -> 'DrivenRobot':
        """Return this robot with a payload on ``link``."""
        return DrivenRobot(self.robot.with_payload(payload, link), self.couplings, self.measured, self._offset)

    def prepare(self, *quantities: str) -> None:
        """Look up the code of quantities of the tree of joints now, as ``Robot.prepare`` does."""
        self.robot.prepare(*quantities)

    def to_urdf(self) -> str:
        """Return the robot as URDF text, with <mimic>."""
        return self.robot.with_loops(self.couplings).to_urdf()

    def neutral(self) -> np.ndarray:
        """Return the position 0 of the driven joints, (m,)."""
        return np.zeros(self.nq)

    def positions(self, y) -> np.ndarray:
        """Return the positions of all joints (..., n; rad, m) at those of the driven ones (..., m)."""
        return self._full(0, y, self._offset)

    def check(self, positions, limits: PositionLimits | None = None) -> None:
        """Check measured positions of the followers (rad, m; NaN: as they mimic) before ``measure`` uses them.

        Raises ArgumentError where that of a joint that has to be measured is NaN, and for one beyond ``limits``, those
        of all joints.
        """
        for k, i, constant, _ in self._following:
            position = float(positions[k])
            if position != position:
                if i == constant and self.followers[k] in self.measured:
                    raise ArgumentError(
                        f"joint {self.followers[k]!r} is missing or not finite; locked_joints says 'measured' for it"
                    )
            elif limits is not None and (fault := limits.fault(i, position)):
                raise ArgumentError(fault)

    def measure(self, y, positions) -> None:
        """Use measured positions of the followers (rad, m) at those of the driven joints y (m); NaN: as they mimic."""
        for k, i, constant, multiplier in self._following:
            position = positions[k]
            if position == position:
                self._offset[i] = position - self._slope[i] * y[self._leader[i]]
            else:
                moved = self._offset[constant] - self._nominal[constant] if i != constant else 0.0
                self._offset[i] = self._nominal[i] + multiplier * moved

    def gravity_torque(self, q, out=None) -> np.ndarray:
        """Return the gravity torques (..., m; N m, N) at q (..., m)."""
        return self._reduced(self.robot.gravity_torque, self.positions(q), out=out)

    def bias_torque(self, q, qd, out=None) -> np.ndarray:
        """Return the bias torques (..., m) at q and qd."""
        return self._reduced(self.robot.bias_torque, self.positions(q), self._full(1, qd), out=out)

    def coriolis_torque(self, q, qd, out=None) -> np.ndarray:
        """Return the Coriolis and centrifugal torques (..., m) at q and qd."""
        return self._reduced(self.robot.coriolis_torque, self.positions(q), self._full(1, qd), out=out)

    def inertia_torque(self, q, qdd, out=None) -> np.ndarray:
        """Return the inertia torques M qdd (..., m) at q."""
        return self._reduced(self.robot.inertia_torque, self.positions(q), self._full(2, qdd), out=out)

    def inverse_dynamics(self, q, qd, qdd, out=None) -> np.ndarray:
        """Return the torques (..., m) of a motion, without friction."""
        state = self.positions(q), self._full(1, qd), self._full(2, qdd)
        return self._reduced(self.robot.inverse_dynamics, *state, out=out)

    def torque_regressor(self, q, qd, qdd, out=None) -> np.ndarray:
        """Return the regressor G' Y (..., m, 10 n) of the tree of all joints."""
        Y = self.robot.torque_regressor(self.positions(q), self._full(1, qd), self._full(2, qdd))
        return _given(out, self._G.T @ Y)

    def mass_matrix(self, q, out=None) -> np.ndarray:
        """Return M_y = G' M G (..., m, m) at q."""
        return _given(out, self._G.T @ self.robot.mass_matrix(self.positions(q)) @ self._G)

    def mass_matrix_inverse(self, q, out=None) -> np.ndarray:
        """Return the inverse of M_y (..., m, m) at q."""
        return _given(out, np.linalg.inv(self.mass_matrix(q)))

    def coriolis_matrix(self, q, qd, out=None) -> np.ndarray:
        """Return C_y = G' C G (..., m, m) at q and qd: C_y qd = c, and the derivative of M_y is C_y + C_y'."""
        C = self.robot.coriolis_matrix(self.positions(q), self._full(1, qd))
        return _given(out, self._G.T @ C @ self._G)

    def forward_dynamics(self, q, qd, tau, out=None) -> np.ndarray:
        """Return the accelerations (..., m; rad/s^2, m/s^2) of the driven joints under their torques tau."""
        load = np.asarray(tau, float) - self.bias_torque(q, qd)
        return _given(out, np.linalg.solve(self.mass_matrix(q), load[..., None])[..., 0])

    def friction_torque(self, qd, tau=None, out=None) -> np.ndarray:
        """Return friction torques (..., m) at qd; tau are the transmitted torques, zero by default."""
        qd = np.asarray(qd, float)
        transmitted = np.zeros((*qd.shape[:-1], self.robot.nv))
        transmitted[..., self._places] = 0.0 if tau is None else tau
        return _given(out, self.robot.friction_torque(qd[..., self._leader] * self._slope, transmitted) @ self._G)

    def jacobian(self, q, link: str, reference_frame=ALIGNED, out=None) -> np.ndarray:
        """Return the Jacobian J G (..., 6, m) of a link at q."""
        return _given(out, self.robot.jacobian(self.positions(q), link, reference_frame) @ self._G)

    def link_pose(self, q, link: str, out=None) -> np.ndarray:
        """Return the pose (..., 4, 4; m) of a link at q."""
        return self.robot.link_pose(self.positions(q), link, out=out)

    def _full(self, buffer: int, y, offset=0.0) -> np.ndarray:
        """Return G y + offset (..., n), in a buffer for a single state."""
        y = np.asarray(y, float)
        if y.ndim > 1:
            return y[..., self._leader] * self._slope + offset
        full = np.take(y, self._leader, out=self._state[buffer], mode='clip')
        full *= self._slope
        full += offset
        return full

    def _reduced(self, quantity, *state, out) -> np.ndarray:
        """Return G' tau (..., m) of the ``quantity`` tau of all joints."""
        single = state[0].ndim == 1
        tau = quantity(*state, out=self._torque if single else None)
        if single and out is not None:
            return np.dot(tau, self._G, out=out)
        return _given(out, tau @ self._G)

    def _friction(self) -> Friction:
        """Return the friction of the driven joints, that of followers included.

        A follower's viscous friction counts with the square of its multiplier, its quadratic friction with the cube of
        its magnitude, the other terms with its magnitude; velocities where friction changes are those of the leader.
        """
        given = self.robot.friction
        columns = given._asdict()
        columns = {field: np.array(columns[field][self._places]) for field in Friction._fields}
        for i, name in enumerate(self.robot.joint_names):
            if name in self.followers:
                k, slope = self._leader[i], self._slope[i]
                columns['viscous'][k] += slope * slope * given.viscous[i]
                columns['coulomb'][k] += abs(slope) * given.coulomb[i]
                columns['stribeck'][k] += abs(slope) * given.stribeck[i]
                columns['offset'][k] += slope * given.offset[i]
                columns['quadratic'][k] += abs(slope) ** 3 * given.quadratic[i]
        return Friction(**columns)


def with_followers(couplings: Iterable[Coupling], positions: Mapping[str, float]) -> dict[str, float]:
    """Return positions of locked joints (rad, m) with those of their followers; a locked follower keeps its own."""
    locked, left = dict(positions), [it for it in couplings if it.joint not in positions]
    while led := [it for it in left if it.other is None or it.other in locked]:
        for it in led:
            x = 0.0 if it.other is None else locked[it.other]
            locked[it.joint] = float(np.polynomial.polynomial.polyval(x, it.polynomial))
        left = [it for it in left if it.joint not in locked]
    return locked


def _given(out, result) -> np.ndarray:
    """Return ``result``, in ``out`` if that is given."""
    if out is None:
        return result
    out[...] = result
    return out


def _resolved(names, couplings: Iterable[Coupling]) -> tuple[list[int], list[float], list[float], list]:
    """Return for each joint its place, multiplier and offset relative to a joint that does not follow (-1: none).

    Last for each joint the constant one that it follows, itself where there is none, and by which multiplier.
    """
    by_joint = {coupling.joint: coupling for coupling in couplings}
    leaders, slopes, offsets, anchors = [], [], [], []
    for i, name in enumerate(names):
        joint: str | None = name
        slope, offset, passed, anchor = 1.0, 0.0, {name}, (i, 0.0)
        while joint in by_joint:
            c0, c1, *higher = (*by_joint[joint].polynomial, 0.0)
            if any(higher):
                raise ModelError(f'coupling of joint {joint!r}: it is not linear; lock the joint')
            if by_joint[joint].other is None:
                anchor = names.index(joint), slope
            # q = slope (c0 + c1 q_other) + offset
            offset, slope, joint = offset + slope * c0, slope * c1, by_joint[joint].other
            if joint in passed:
                raise ModelError(f'joint {name!r}: it mimics itself, by {joint!r}')
            passed.add(str(joint))
        leaders.append(-1 if joint is None else names.index(joint))
        slopes.append(0.0 if joint is None else slope)
        offsets.append(offset)
        anchors.append(anchor)
    return leaders, slopes, offsets, anchors
