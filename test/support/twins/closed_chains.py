"""Textbook twins of robots with closed loops, in NumPy: errors of the rows, and two ways of forward dynamics.

Featherstone & Orin 2000, section 3.4. Errors are those of the records ``LoopClosure`` and ``Coupling`` by the naive
twin's poses. The ways of forward dynamics read mass matrix, bias torques, Jacobian and accelerations of the rows.
"""

import dataclasses

from support.robots import random_trees as trees
from support.rounding import bound
from support.twins import naive

import numpy as np
from scipy.spatial.transform import Rotation

from robot_dynamics_ros import Coupling, LoopClosure, Robot
from robot_dynamics_ros.model.model import Model

RANK = 1e-9
"""Singular values of unit rows that are smaller than this, relative to the largest, are rounding."""
SMALLEST = 1e-3 * RANK
"""The same of the system of accelerations and multipliers."""


# Errors


def errors(joints, loops, q) -> np.ndarray:
    """Return the errors (m,) of all rows of closures and couplings, in their order."""
    poses = dict(zip([trees.BASE, *(joint.link for joint in joints)], naive.link_poses(joints, q), strict=True))
    rows = []
    for loop in loops:
        if isinstance(loop, LoopClosure):
            A = poses[loop.link_a or trees.BASE] @ loop.pose_a
            B = poses[loop.link_b or trees.BASE] @ loop.pose_b
            rows += _closure_errors(loop.kind, np.linalg.inv(A) @ B)
    place = {joint.name: of_q.start for joint, (of_q, _) in zip(joints, naive.places(joints), strict=True)}
    for loop in loops:
        if isinstance(loop, Coupling):
            other = 0.0 if loop.other is None else q[place[loop.other]]
            rows.append(q[place[loop.joint]] - np.polynomial.Polynomial(loop.polynomial)(other))
    return np.array(rows)


def _closure_errors(kind, B) -> list[float]:
    """Return errors of a closure from the pose of B in A: chords of angles along axes, and differences in m."""
    turn, z = Rotation.from_matrix(B[:3, :3]).as_rotvec(), B[:3, 2]
    angle = np.linalg.norm(turn)
    chord = 2.0 * np.sin(0.5 * angle) * turn / angle if angle else turn
    tilt = np.arctan2(np.hypot(z[0], z[1]), z[2])
    across = np.array([-z[1], z[0]]) * (2.0 * np.sin(0.5 * tilt) / np.sin(tilt) if tilt else 1.0)
    return {
        'point': [*B[:3, 3]],
        'planar_point': [*B[:2, 3]],
        'weld': [*chord, *B[:3, 3]],
        'revolute': [*across, *B[:3, 3]],
    }[kind]


# Forward dynamics


def equations(robot: Robot, q, qd, tau):
    """Return M, J, the torques that accelerate and what J qdd has to be (Featherstone & Orin 2000, eq. 17 and 19)."""
    zeros, gain = np.zeros(robot.nv), robot.model.loops.gain
    target = -robot.loop_accelerations(q, qd, zeros)
    target -= 2.0 * gain * robot.loop_rates(q, qd) + gain**2 * robot.loop_errors(q)
    return robot.mass_matrix(q), robot.loop_jacobian(q), tau - robot.bias_torque(q, qd), target


def by_kkt(robot: Robot, q, qd, tau) -> np.ndarray:
    """Return qdd (nv,) of one linear system for accelerations and multipliers (eq. 20), redundant rows included."""
    M, J, torques, target = equations(robot, q, qd, tau)
    matrix, size, length = _kkt(M, J)
    known = np.concatenate([size * torques, target / length])
    return size * np.linalg.lstsq(matrix, known, rcond=SMALLEST)[0][: len(M)]


def rounding(robot: Robot, q, qd, tau) -> float:
    """Return the largest error of accelerations by rounding: by the condition of the system of ``by_kkt``.

    The scale is the largest acceleration with or without loops: the loops' forces cancel what they prevent. The loops
    themselves ask for gain^2 times their errors, differences of positions: what rounding leaves of these is another
    error for each row, of which the ways use different ones where rows are redundant.
    """
    M, J, torques, _ = equations(robot, q, qd, tau)
    sizes = np.linalg.svd(_kkt(M, J)[0], compute_uv=False)
    condition = sizes[0] / sizes[sizes > SMALLEST * sizes[0]][-1]
    free, held = np.linalg.solve(M, torques), robot.forward_dynamics(q, qd, tau)
    positions = max(1.0, np.abs(robot.model.arrays.r0).max(), np.abs(q).max())
    scale = max(np.abs(free).max(), np.abs(held).max(), robot.model.loops.gain**2 * positions)
    return bound(4, len(M) + len(J), condition, scale)


def _kkt(M, J):
    """Return the matrix of eq. 20 with rows and columns of equal size, so that rank is a matter of rounding.

    And the factors of its columns and the lengths of its rows J.
    """
    size = 1.0 / np.sqrt(np.diag(M))
    M, J = size[:, None] * M * size, J * size
    length = row_lengths(J)
    J = J / length[:, None]
    return np.block([[M, -J.T], [J, np.zeros((len(J),) * 2)]]), size, length


def by_elimination(robot: Robot, q, qd, tau) -> np.ndarray:
    """Return qdd (nv,) by a basis of the motions that keep the loops closed, its size found by a rank test (eq. 22)."""
    M, J, torques, target = equations(robot, q, qd, tau)
    length = row_lengths(J)
    left, sizes, right = np.linalg.svd(J / length[:, None])
    rank = int((sizes > RANK * sizes.max(initial=0.0)).sum())
    # qdd = N y + g with J g = target, J N = 0
    g = right[:rank].T @ (left[:, :rank].T @ (target / length) / sizes[:rank])
    N = right[rank:].T
    return g + N @ np.linalg.solve(N.T @ M @ N, N.T @ (torques - M @ g))


def row_lengths(J) -> np.ndarray:
    """Return the lengths (m,) of rows by which they become unit ones; rows of rounding keep theirs."""
    length = np.linalg.norm(J, axis=1)
    return np.where(length > 1e-12 * length.max(initial=1e-300), length, 1.0)


# Random trees with closures


def random_closed_tree(seed, share: float = 0.4, apart: float = 0.0):
    """Return joints, loops and a state of a random tree with random loops, with about ``share`` nv rows.

    The loops are closed at the state's q, or ``apart`` by that many m and rad.
    """
    rng = np.random.default_rng([seed, 17])
    joints = trees.random_joints(seed, count=int(rng.integers(4, 15)), general=0.5 * (seed % 2))
    # spin of rotors behind gears of 10 to 100
    joints = [
        dataclasses.replace(it, spin=it.rotor / float(rng.choice([-1, 1]) * rng.uniform(10.0, 100.0)))
        if it.kind == 'revolute'
        else it
        for it in joints
    ]
    state = trees.random_state(joints, seed)
    links = [trees.BASE, *(joint.link for joint in joints)]
    poses = naive.link_poses(joints, state.q)
    sizes, rows, loops = {'point': 3, 'weld': 6, 'revolute': 5, 'planar_point': 2}, 0, []
    while rows < share * len(state.qd):
        a, b = rng.choice(len(links), 2, replace=False)
        kind = str(rng.choice(list(sizes)))
        pose_a = _random_pose(rng)
        B = poses[a] @ pose_a @ _pose(rng.uniform(-apart, apart, 3), rng.uniform(-apart, apart, 3))
        pose_b = np.linalg.inv(poses[b]) @ B
        forces = rng.uniform(0.5, 5.0, 3) * [1, 1, 0.5] if kind == 'revolute' and rng.random() < 0.7 else np.zeros(3)
        name = f'loop {len(loops)}'
        loops.append(LoopClosure(name, links[a], pose_a, links[b], pose_b, kind, *forces.tolist()))
        rows += sizes[kind]
    single = [(joint.name, of_q.start) for joint, (of_q, _) in zip(joints, naive.places(joints), strict=True)
              if of_q.stop - of_q.start == 1]  # fmt: skip
    if len(single) > 1:
        (joint, at), (other, its) = (single[k] for k in rng.choice(len(single), 2, replace=False))
        slopes = rng.uniform(-0.5, 0.5, int(rng.integers(1, 5)))
        shape = np.polynomial.Polynomial([0.0, *slopes])
        constant = state.q[at] - shape(state.q[its]) + apart * rng.uniform(-1.0, 1.0)
        loops.append(Coupling(joint, other, (float(constant), *slopes.tolist())))
    return joints, loops, state


def robot_of(joints, loops, gravity=(0.0, 0.0, -9.81), gain: float = 20.0) -> Robot:
    """Return a robot of joints and loops with generic kernels."""
    tree = Robot(Model.of('random', trees.BASE, joints), gravity)
    return tree.with_loops(loops, gain)


def _pose(origin, turn) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = Rotation.from_rotvec(turn).as_matrix(), origin
    return T


def _random_pose(rng) -> np.ndarray:
    return _pose(rng.uniform(-0.3, 0.3, 3), rng.uniform(-2.0, 2.0, 3))


# Numerical derivatives

STENCIL = {1: 0.8, 2: -0.2, 3: 4.0 / 105.0, 4: -1.0 / 280.0}
"""Central differences of order 8 of a first derivative."""
STENCIL_OF_SECOND = {0: -205.0 / 72.0, 1: 1.6, 2: -0.2, 3: 8.0 / 315.0, 4: -1.0 / 560.0}


def derivatives_along(function, robot: Robot, q, qd, qdd, step: float = 0.02):
    """Return the first and second time derivative of a function of q (..., nq) on the motion q, qd, qdd."""
    times = step * np.arange(-4.0, 5.0)[:, None]
    values = function(robot.integrate(q, times * qd + 0.5 * times**2 * qdd))
    first = sum(c * (values[4 + k] - values[4 - k]) for k, c in STENCIL.items())
    second = sum(c * (values[4 + k] + values[4 - k]) for k, c in STENCIL_OF_SECOND.items() if k)
    return first / step, (second + STENCIL_OF_SECOND[0] * values[4]) / step**2


def by_velocities(function, robot: Robot, q, step: float = 0.02) -> np.ndarray:
    """Return the derivative (..., nv) of a function of q (..., nq) by a motion of each velocity."""
    none = np.zeros(robot.nv)
    return np.stack([derivatives_along(function, robot, q, unit, none, step)[0] for unit in np.eye(robot.nv)], -1)


def angle_of_closure(robot: Robot, closure: LoopClosure, q) -> np.ndarray:
    """Return the angles (...) of B against A about the z axis of a closed closure at q (..., nq), without jumps."""
    R_A = robot.link_pose(q, closure.link_a)[..., :3, :3] @ closure.pose_a[:3, :3]
    x = robot.link_pose(q, closure.link_b)[..., :3, :3] @ closure.pose_b[:3, 0]
    x, y, _ = np.moveaxis((np.swapaxes(R_A, -1, -2) @ x[..., None])[..., 0], -1, 0)
    return np.unwrap(np.arctan2(y, x)) if x.ndim else np.arctan2(y, x)


def spring_torques(robot: Robot, q, qd) -> np.ndarray:
    """Return tau_a (nv,) of springs and dampers: what they exert times the derivative of their angle (eq. 19)."""
    tau = np.zeros(robot.nv)
    for closure in robot.model.loops.closures:
        if closure.stiffness or closure.damping:
            slope = by_velocities(lambda at, of=closure: angle_of_closure(robot, of, at), robot, q)
            angle = angle_of_closure(robot, closure, q)
            tau += (closure.stiffness * (closure.rest - angle) - closure.damping * (slope @ qd)) * slope
    return tau
