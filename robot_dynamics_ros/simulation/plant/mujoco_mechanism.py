"""A mechanism with closed loops as a plant: MuJoCo's dynamics, in the coordinates of the actuated joints.

Equality constraints of MuJoCo are soft: a regularisation R of at least 1e-4 of their effect lets them yield, and their
accelerations J qacc lack dJ/dt qvel. A step here makes R smaller, asks for J qacc = J qacc_0 with the accelerations
qacc_0 of the motion in which no actuated joint accelerates, and integrates the actuated joints alone. All others follow
by ``ClosedMechanism``, so the loops are closed after each step as far as its Newton steps close them.

Springs and dampers of closures act as forces that are applied to the joints. A planar point, which MuJoCo lacks, is its
point without the constraint along z of frame A.
"""

import mujoco
import numpy as np

from robot_dynamics_ros.control.arm.following.closed_mechanism import ClosedMechanism
from robot_dynamics_ros.control.arm.following.loop_solutions import Solution
from robot_dynamics_ros.errors import UnstableError
from robot_dynamics_ros.model.joint_types import Joint
from robot_dynamics_ros.model.model import Model

STIFFER = 1e-8
"""Regularisation of the constraints, relative to MuJoCo's.

Accelerations differ in proportion to it from ``DrivenRobot.forward_dynamics``: by up to 6e-8 of the largest one, seven
mechanisms in 50 states each; 1e-12 leaves 6e-12 (2026-11-30).
"""
TOLERANCE = 1e-15
"""Of MuJoCo's solver, which ends within 3 steps: with its default of 1e-8 it leaves 1e-5 of an acceleration."""
EQUALITY = mujoco.mjtConstraint.mjCNSTR_EQUALITY
FARTHEST = 0.5
"""rad, m: a step of an actuated joint beyond it is a motion that diverges."""
ISLANDS = getattr(mujoco.mjtDisableBit, 'mjDSBL_ISLAND', 0)
"""Of MuJoCo from 3.4 on, which copies the constraints of each island before they are changed here."""


class MujocoMechanism:
    """Positions, velocities and steps of a plant with closed loops, by those of the m actuated joints.

    Parameters
    ----------
    model, data : mujoco.MjModel, mujoco.MjData
        The plant, see ``mujoco_plant``; its solver is set.
    tree : Model
        The joints of the plant.
    mechanism : ClosedMechanism
        How its joints follow.
    start : Solution
        Position after ``reset``.

    Attributes
    ----------
    solution : Solution
        Where the loops were closed last.
    """

    def __init__(
        self, model: mujoco.MjModel, data: mujoco.MjData, tree: Model, mechanism: ClosedMechanism, start: Solution
    ):
        model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
        model.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
        model.opt.tolerance = TOLERANCE
        model.opt.disableflags |= ISLANDS
        self._model, self._data, self._following = model, data, mechanism
        coordinates, velocities = [], []
        self._free: list[tuple[Joint, slice, slice]] = []  # with its coordinates and velocities in MuJoCo
        q = v = 0
        for joint in tree.joints:
            place = model.joint(joint.name)
            at_q, at_v = int(place.qposadr[0]), int(place.dofadr[0])
            of_q, of_v = ORDERS.get(joint.kind, ((0,), (0,)))
            coordinates += [(at_q + k, q + i) for k, i in enumerate(of_q)]
            velocities += [(at_v + k, v + i) for k, i in enumerate(of_v)]
            if joint.kind == 'free':
                self._free.append((joint, slice(at_q, at_q + 7), slice(at_v, at_v + 6)))
            q, v = q + len(of_q), v + len(of_v)
        self._to_q, self._from_q = np.array(coordinates, np.intp).T
        self._to_v, self._from_v = np.array(velocities, np.intp).T
        actuated = [model.joint(name) for name in mechanism.joint_names]
        self._q = np.array([joint.qposadr[0] for joint in actuated])
        self._v = np.array([joint.dofadr[0] for joint in actuated])
        self._MG = np.zeros((len(self._v), model.nv))
        whole = mechanism.mechanism
        sites = [model.site(f'loop {it.name} a 0') for it in whole.model.loops.closures if it.kind == 'planar_point']
        self._planar = [(it.id, int(np.flatnonzero(model.eq_obj1id == it.id)[0])) for it in sites]
        self._springs = (whole, whole.with_loops([])) if len(whole.model.arrays.sprung) else None
        self._start = start
        self.reset()

    def reset(self) -> None:
        """Put the plant at its start position, at zero velocity."""
        self._place(self._start, np.zeros(len(self._v)))

    def stop(self) -> None:
        """Put the plant at rest where its loops were closed last."""
        self._place(self.solution, np.zeros(len(self._v)))

    def step(self) -> None:
        """Simulate one step of MuJoCo.

        LoopError or SingularError names a loop that does not close afterwards, UnstableError a joint that is too fast;
        the plant stays where it is.
        """
        model, data = self._model, self._data
        mujoco.mj_step1(model, data)
        loops, friction = slice(0, data.ne), slice(data.ne, data.ne + data.nf)
        self._leave_z_free()
        data.efc_aref[loops] = data.efc_J.reshape(-1, model.nv)[loops] @ self._drift
        # Coulomb friction stops a joint within the step, as far as it can
        data.efc_aref[friction] = -data.efc_vel[friction] / model.opt.timestep
        data.efc_R[: friction.stop] *= STIFFER
        data.efc_D[: friction.stop] /= STIFFER
        applied = data.qfrc_applied.copy()
        data.qfrc_applied += self._spring
        mujoco.mj_fwdAcceleration(model, data)
        data.qfrc_applied[:] = applied
        mujoco.mj_fwdConstraint(model, data)
        data.qacc_warmstart[:] = data.qacc
        ydd = data.qacc[self._v]
        if model.dof_damping.any():
            # (M_y + h D_y) ydd' = M_y ydd, the implicit step of MuJoCo
            for column, product in zip(self._G.T, self._MG, strict=True):
                mujoco.mj_mulM(model, data, product, np.ascontiguousarray(column))
            D = model.opt.timestep * self._G.T @ (model.dof_damping[:, None] * self._G)
            ydd = ydd - np.linalg.solve(self._MG @ self._G + D, D @ ydd)
        yd = data.qvel[self._v] + model.opt.timestep * ydd
        change = model.opt.timestep * yd
        if not np.abs(change).max() <= FARTHEST:
            name = self._following.joint_names[int(np.argmax(np.abs(change)))]
            raise UnstableError(f'joint {name!r} would move by more than {FARTHEST:g} rad or m in a step')
        *_, found = self._following.way(self.solution, data.qpos[self._q] + change)
        self._place(found, yd)
        data.time += model.opt.timestep

    def _leave_z_free(self) -> None:
        """Turn the rows of planar points, which are along the axes of the base, into frame A, and drop that along z."""
        data, J = self._data, self._data.efc_J.reshape(-1, self._model.nv)
        for site, equality in self._planar:
            rows = np.flatnonzero((data.efc_type == EQUALITY) & (data.efc_id == equality))
            J[rows] = np.diag([1.0, 1.0, 0.0]) @ data.site_xmat[site].reshape(3, 3).T @ J[rows]

    def _place(self, found: Solution, yd: np.ndarray) -> None:
        """Write the state of all joints at a solution, for velocities of the actuated ones (m; rad/s, m/s)."""
        model, data = self._model, self._data
        motion = self._following.moving([found], (), yd)
        data.qpos[self._to_q] = found.q[self._from_q]
        rates = np.empty((model.nv, len(yd) + 2))
        rates[self._to_v] = np.column_stack([np.asarray(motion.qd), np.asarray(motion.qdd), found.G])[self._from_v]
        for joint, q, v in self._free:
            _place_free(joint, data.qpos[q], rates[v])
        data.qvel[:], self._drift, self._G = rates[:, 0], rates[:, 1].copy(), rates[:, 2:].copy()
        self._spring = np.zeros(model.nv)
        if self._springs is not None:
            # those of joints are MuJoCo's own
            whole, of_joints = (it.spring_torque(found.q, np.asarray(motion.qd)) for it in self._springs)
            self._spring[self._to_v] = (whole - of_joints)[self._from_v]
        self.solution = found


ORDERS = {'spherical': ((3, 0, 1, 2), (0, 1, 2)), 'free': ((0, 1, 2, 6, 3, 4, 5), (3, 4, 5, 0, 1, 2))}
"""Our coordinates and velocities of a joint in MuJoCo's order: quaternions begin with w, rates with linear ones."""


def _place_free(joint: Joint, qpos: np.ndarray, rates: np.ndarray) -> None:
    """Write a free joint in MuJoCo's terms: its pose in the base, and linear velocities in the axes of the base.

    The columns of ``rates`` (6, 2 + m) are velocities, accelerations and others, linear part first, in the link's axes.
    """
    placed, R = np.empty(4), np.empty(9)
    mujoco.mju_mat2Quat(placed, np.ascontiguousarray(joint.rotation).ravel())
    turned = qpos[3:].copy()
    mujoco.mju_mulQuat(qpos[3:], placed, turned)
    qpos[:3] = joint.origin + joint.rotation @ qpos[:3]
    mujoco.mju_quat2Mat(R, qpos[3:])
    # (R v)' = R (v' + w x v)
    rates[:3, 1] += np.cross(rates[3:, 0], rates[:3, 0])
    rates[:3] = R.reshape(3, 3) @ rates[:3]
