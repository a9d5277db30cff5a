"""Random robots and states from a seed, the same robots for Pinocchio, and one-line calls of the kernels.

A robot is a list of ``Joint``: the naive twins read the list, the kernels read what ``Model.of`` makes of it.
"""

import dataclasses
from typing import NamedTuple

from support.code.robots_code import loop_of
from support.twins.naive import SIZES, places, rotors, tangents

import numpy as np
from scipy.spatial.transform import Rotation

from robot_dynamics_ros.kernels import (
    aba,
    centroidal,
    crba,
    energy,
    energy_regressors,
    forward_derivatives,
    kinematics,
    poses,
    regressor,
    rnea,
    rnea_derivatives,
)
from robot_dynamics_ros.model.arrays import Workspace
from robot_dynamics_ros.model.inertial_parameters import central_parameters, ten_parameters
from robot_dynamics_ros.model.joint_types import Joint
from robot_dynamics_ros.model.model import Model

BASE = 'base'
GENERAL = ('helical', 'cylindrical', 'planar', 'spherical', 'free')
REACH = {
    'revolute': (np.pi,),
    'prismatic': (0.5,),
    'helical': (np.pi,),
    'cylindrical': (np.pi, 0.5),
    'planar': (0.5, 0.5, np.pi),
    'spherical': (1.0,) * 4,
    'free': (0.5,) * 3 + (1.0,) * 4,
}
"""How far each coordinate goes; quaternions are made unit ones."""


STEP = 1e-30
"""Of derivatives by complex step, whose error is of its square."""


class State(NamedTuple):
    """A random state of a robot with n joints, and what acts on it."""

    q: np.ndarray  # (nq,) rad, m
    qd: np.ndarray  # (nv,) rad/s, m/s
    qdd: np.ndarray  # (nv,) rad/s^2, m/s^2
    tau: np.ndarray  # (nv,) N m, N
    gravity: np.ndarray  # (3,) m/s^2      base frame
    f_ext: np.ndarray  # (n + 1, 6) N m, N  on each link (base first), link frame


def random_joints(seed, count=None, prismatic=0.3, chain=None, general=0.0) -> list[Joint]:
    """Return the joints of a random tree, parents first.

    ``count`` is the number of joints (None: drawn from 1 to 40), ``general`` the share of those that are neither
    revolute nor prismatic, ``prismatic`` the share of prismatic ones among the others, ``chain`` the chance that a
    joint continues at the link before it (1: a chain, 0: a bush, None: drawn).
    """
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 41)) if count is None else count
    chain = float(rng.choice([1.0, 0.8, 0.4, 0.0])) if chain is None else chain
    links = [BASE]
    joints = []
    for i in range(1, count + 1):
        parent = links[-1] if rng.random() < chain else links[int(rng.integers(len(links)))]
        joint = Joint(
            name=f'joint_{i}',
            link=f'link_{i}',
            parent=parent,
            kind='prismatic' if rng.random() < prismatic else 'revolute',
            axis=random_direction(rng),
            rotation=Rotation.from_quat(rng.normal(size=4)).as_matrix(),
            origin=rng.uniform(-0.4, 0.4, 3),
            inertia=random_body(rng),
            rotor=float(rng.uniform(0.05, 0.5)) if rng.random() < 0.5 else 0.0,
        )
        if general and rng.random() < general:
            kind = str(rng.choice(GENERAL))
            joint = dataclasses.replace(joint, kind=kind, pitch=float(rng.uniform(-0.3, 0.3)))
        joints.append(joint)
        links.append(joint.link)
    return joints


def random_direction(rng) -> np.ndarray:
    """Return a unit vector (3,)."""
    direction = rng.normal(size=3)
    return direction / np.linalg.norm(direction)


def random_body(rng) -> np.ndarray:
    """Return the ten parameters of a body that can exist: 0.1 to 10 kg, all second moments positive."""
    mass = 10.0 ** rng.uniform(-1.0, 1.0)
    second_moments = mass * rng.uniform(0.03, 0.2, 3) ** 2
    turned = Rotation.from_quat(rng.normal(size=4)).as_matrix()
    inertia = turned @ np.diag(second_moments.sum() - second_moments) @ turned.T
    return ten_parameters(mass, rng.uniform(-0.2, 0.2, 3), inertia)


def random_state(joints, seed) -> State:
    """Return a random state of the robot, with gravity from any side and a wrench on every link."""
    rng = np.random.default_rng([seed, 1])
    n, nv = len(joints), sum(SIZES[joint.kind][1] for joint in joints)
    reach = np.array([width for joint in joints for width in REACH[joint.kind]])
    q = reach * rng.uniform(-1.0, 1.0, len(reach))
    for of_q, _ in places(joints):
        if of_q.stop - of_q.start >= 4:  # a quaternion is the last of it
            q[of_q.stop - 4 : of_q.stop] /= np.linalg.norm(q[of_q.stop - 4 : of_q.stop])
    return State(
        q=q,
        qd=rng.uniform(-2.0, 2.0, nv),
        qdd=rng.uniform(-5.0, 5.0, nv),
        tau=rng.uniform(-20.0, 20.0, nv),
        gravity=9.81 * random_direction(rng),
        f_ext=rng.normal(scale=10.0, size=(n + 1, 6)),
    )


def on_a_lift(joints, axis) -> list[Joint]:
    """Return the same robot on a massless prismatic joint that moves it along ``axis`` (3, base frame)."""
    lift = Joint('lift_joint', 'lift', BASE, 'prismatic', axis, np.eye(3), np.zeros(3), np.zeros(10))
    moved = [dataclasses.replace(joint, parent='lift') if joint.parent == BASE else joint for joint in joints]
    return [lift, *moved]


def arrays_of(joints):
    """Return what the kernels read of the robot."""
    return Model.of('random', BASE, joints).arrays


def complex_steps(function, joints, *state):
    """Return the derivatives (3, nv, nv) of a function, given many states at once, by q, qd and a third vector."""
    nv = len(state[1])
    directions = (tangents(joints, state[0]).T, np.eye(nv), np.eye(nv))
    moved = [np.tile(x + 0j, (3, nv, 1)) for x in state]
    for place, units in enumerate(directions):
        moved[place][place] += 1j * STEP * units
    columns = function(*(states.reshape(3 * nv, -1) for states in moved)).imag / STEP
    return columns.reshape(3, nv, nv).swapaxes(1, 2)


def worst_error(D, expected) -> float:
    """Return the largest relative error of three matrices."""
    least = 1e-6 * max(np.abs(matrix).max() for matrix in expected)
    scales = [max(np.abs(matrix).max(), least) for matrix in expected]
    return max(np.abs(a - b).max() / scale for a, b, scale in zip(D, expected, scales, strict=True))


def relative_error(actual, expected) -> float:
    """Return the largest difference over the largest magnitude in ``expected`` (NaN where there is one)."""
    return float(np.max(np.abs(actual - expected)) / np.max(np.abs(expected)))


# One-line calls of the kernels, as batches of one state: these are compiled once and kept on disk, while each process
# would compile a kernel itself anew. Workspace and result hold NaN before a call: nothing old passes for a result.
# A complex state gets a complex workspace and a complex result, for derivatives by complex step.


def inverse_dynamics(model, q, qd, qdd, gravity, f_ext, return_work=False):
    """Return tau (nv,), of states (count, nv), by ``rnea``; and the workspace it leaves, if asked for."""
    work, tau, q, qd, qdd = _prepare(model, np.shape(qd), q, qd, qdd)
    states = (np.atleast_2d(part) for part in (q, qd, qdd))
    loop_of(rnea.rnea)(model, work, *states, gravity, f_ext[None], np.atleast_2d(tau))
    return (tau, work) if return_work else tau


def forward_dynamics(model, q, qd, tau, gravity, f_ext):
    """Return qdd (nv,), of states (count, nv), by ``aba``."""
    work, qdd, q, qd, tau = _prepare(model, np.shape(qd), q, qd, tau)
    states = (np.atleast_2d(part) for part in (q, qd, tau))
    loop_of(aba.aba)(model, work, *states, gravity, f_ext[None], np.atleast_2d(qdd))
    return qdd


def mass_matrix(model, q):
    """Return M (nv, nv) by ``crba``."""
    work, M, q = _prepare(model, (len(model.S) - 1,) * 2, q)
    loop_of(crba.crba)(model, work, q[None], M[None])
    return M


def whole_inertia(model, q):
    """Return the ten parameters of everything that moves, which ``centroidal_momentum_matrix`` leaves in row 0."""
    work, A, q = _prepare(model, (6, len(model.S) - 1), q)
    loop_of(centroidal.centroidal_momentum_matrix)(model, work, q[None], A[None])
    return work.I_c[0]


def link_poses(model, q):
    """Return T (n + 1, 4, 4) by ``link_poses``."""
    work, T, q = _prepare(model, (len(model.parent), 4, 4), q)
    loop_of(poses.link_poses)(model, work, q[None], T[None])
    return T


def point_velocity(model, q, qd, i, origin):
    """Return v (6,) by ``frame_velocity``, of a point of link ``i``."""
    work, v, q, qd = _prepare(model, (6,), q, qd)
    loop_of(kinematics.frame_velocity)(model, work, q[None], qd[None], i, np.eye(3), origin, 1, v[None])
    return v


def point_acceleration(model, q, qd, qdd, i, origin):
    """Return a (6,) by ``frame_acceleration``, of a point of link ``i``."""
    work, a, q, qd, qdd = _prepare(model, (6,), q, qd, qdd)
    loop_of(kinematics.frame_acceleration)(model, work, q[None], qd[None], qdd[None], i, np.eye(3), origin, 1, a[None])
    return a


def jacobian(model, q, i, origin):
    """Return J (6, nv) by ``jacobian``."""
    work, J, q = _prepare(model, (6, len(model.S) - 1), q)
    loop_of(kinematics.jacobian)(model, work, q[None], i, np.eye(3), origin, 1, J[None])
    return J


def center_of_mass(model, q):
    """Return c (3,) by ``center_of_mass``."""
    work, c, q = _prepare(model, (3,), q)
    loop_of(centroidal.center_of_mass)(model, work, q[None], c[None])
    return c


def centroidal_momentum_matrix(model, q):
    """Return A (6, nv) by ``centroidal_momentum_matrix``."""
    work, A, q = _prepare(model, (6, len(model.S) - 1), q)
    loop_of(centroidal.centroidal_momentum_matrix)(model, work, q[None], A[None])
    return A


def center_of_mass_jacobian(model, q):
    """Return J (3, nv) by ``center_of_mass_jacobian``."""
    work, J, q = _prepare(model, (3, len(model.S) - 1), q)
    loop_of(centroidal.center_of_mass_jacobian)(model, work, q[None], J[None])
    return J


def centroidal_momentum(model, q, qd):
    """Return h (6,) by ``centroidal_momentum``."""
    work, h, q, qd = _prepare(model, (6,), q, qd)
    loop_of(centroidal.centroidal_momentum)(model, work, q[None], qd[None], h[None])
    return h


def total_energy(model, q, qd, gravity):
    """Return the total energy by ``total_energy``."""
    work, E, q, qd = _prepare(model, (1,), q, qd)
    loop_of(energy.total_energy)(model, work, q[None], qd[None], gravity, E[None])
    return E[0]


def kinetic_energy(model, q, qd):
    """Return the kinetic energy by ``kinetic_energy``."""
    work, T, q, qd = _prepare(model, (1,), q, qd)
    loop_of(energy.kinetic_energy)(model, work, q[None], qd[None], T[None])
    return T[0]


def potential_energy(model, q, gravity):
    """Return the potential energy by ``potential_energy``."""
    work, V, q = _prepare(model, (1,), q)
    loop_of(energy.potential_energy)(model, work, q[None], gravity, V[None])
    return V[0]


def inverse_dynamics_derivatives(model, q, qd, qdd, gravity, f_ext):
    """Return D (3, nv, nv) by ``rnea_derivatives``."""
    work, D, q, qd, qdd = _prepare(model, (3, len(qd), len(qd)), q, qd, qdd)
    loop_of(rnea_derivatives.rnea_derivatives)(model, work, q[None], qd[None], qdd[None], gravity, f_ext[None], D[None])
    return D


def forward_dynamics_derivatives(model, q, qd, tau, gravity, f_ext):
    """Return D (3, nv, nv) by ``forward_derivatives``."""
    work, D, q, qd, tau = _prepare(model, (3, len(qd), len(qd)), q, qd, tau)
    loop_of(forward_derivatives.forward_derivatives)(
        model, work, q[None], qd[None], tau[None], gravity, f_ext[None], D[None]
    )
    return D


def torque_regressor(model, q, qd, qdd, gravity):
    """Return Y (n, 10 n) by ``torque_regressor``."""
    work, Y, q, qd, qdd = _prepare(model, (len(q), 10 * len(q)), q, qd, qdd)
    loop_of(regressor.torque_regressor)(model, work, q[None], qd[None], qdd[None], gravity, Y[None])
    return Y


def kinetic_energy_regressor(model, q, qd):
    """Return y (10 n) by ``kinetic_energy_regressor``."""
    work, y, q, qd = _prepare(model, (10 * len(q),), q, qd)
    loop_of(energy_regressors.kinetic_energy_regressor)(model, work, q[None], qd[None], y[None])
    return y


def potential_energy_regressor(model, q, gravity):
    """Return y (10 n) by ``potential_energy_regressor``."""
    work, y, q = _prepare(model, (10 * len(q),), q)
    loop_of(energy_regressors.potential_energy_regressor)(model, work, q[None], gravity, y[None])
    return y


def no_gravity():
    """Return a gravity of zero (3,)."""
    return np.zeros(3)


def no_wrenches(joints):
    """Return wrenches of zero (n + 1, 6)."""
    return np.zeros((len(joints) + 1, 6))


def nan_workspace(model, dtype=float) -> Workspace:
    """Return a workspace for the model's arrays that holds NaN everywhere."""
    work = Workspace.of(model, dtype)
    for array in work:
        array.fill(np.nan)
    return work


def _prepare(model, shape, *state):
    """Return workspace and result full of NaN, and the state as plain arrays, all of one number type."""
    dtype = np.result_type(float, *state)
    state = [np.ascontiguousarray(part, dtype) for part in state]
    return nan_workspace(model, dtype), np.full(shape, np.nan, dtype), *state


# Pinocchio


def with_planar_about_z(joints) -> list[Joint]:
    """Return the joints with every planar one about its link's z: Pinocchio has no others."""
    return [dataclasses.replace(it, axis=np.eye(3)[2]) if it.kind == 'planar' else it for it in joints]


def pinocchio_tree(joints):
    """Return the robot as a Pinocchio model, and whose entry stands there at each place: of joints, of qd.

    Joint k + 1 there is ``joints[order[k]]``: Pinocchio wants each subtree in one piece (depth first), a list of joints
    needs parents first only. A free joint's linear velocity comes first there. Planar joints need the axis z.
    """
    import pinocchio as pin  # noqa: PLC0415  (not everyone who draws a tree has it)

    model = pin.Model()
    number = {BASE: 0}
    order = []
    waiting = [k for k, joint in enumerate(joints) if joint.parent == BASE]
    while waiting:
        k = waiting.pop()
        joint = joints[k]
        moves = _pinocchio_joint(pin, joint)
        placement = pin.SE3(joint.rotation, joint.origin)
        number[joint.link] = model.addJoint(number[joint.parent], moves, placement, joint.name)
        body = pin.Inertia(*central_parameters(joint.inertia))
        model.appendBodyToJoint(number[joint.link], body, pin.SE3.Identity())
        order.append(k)
        waiting.extend(child for child, other in enumerate(joints) if other.parent == joint.link)
    velocities = []
    for k in order:
        own = np.arange(len(rotors(joints)))[places(joints)[k][1]]
        velocities.append(np.roll(own, 3) if joints[k].kind == 'free' else own)
    v_order = np.concatenate(velocities)
    model.armature = rotors(joints)[v_order]
    return model, np.array(order), v_order


def pinocchio_positions(joints, order, q):
    """Return q as Pinocchio has it: joints in ``order``, the angle of a planar one as cosine and sine."""
    parts = []
    for k in order:
        own = q[places(joints)[k][0]]
        parts.append([*own[:2], np.cos(own[2]), np.sin(own[2])] if joints[k].kind == 'planar' else own)
    return np.concatenate(parts)


def _pinocchio_joint(pin, joint):
    """Return Pinocchio's model of one joint."""
    if joint.kind == 'cylindrical':
        composite = pin.JointModelComposite(pin.JointModelRevoluteUnaligned(joint.axis), pin.SE3.Identity())
        composite.addJoint(pin.JointModelPrismaticUnaligned(joint.axis), pin.SE3.Identity())
        return composite
    if joint.kind == 'helical':
        return pin.JointModelHelicalUnaligned(joint.axis, joint.pitch)
    if joint.kind == 'planar':
        assert (joint.axis == [0.0, 0.0, 1.0]).all()
        return pin.JointModelPlanar()
    if joint.kind in ('spherical', 'free'):
        return pin.JointModelSpherical() if joint.kind == 'spherical' else pin.JointModelFreeFlyer()
    return getattr(pin, f'JointModel{joint.kind.capitalize()}Unaligned')(joint.axis)
