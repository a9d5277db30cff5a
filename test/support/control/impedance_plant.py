"""An arm in MuJoCo that a Cartesian impedance holds."""

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from robot_dynamics_ros.simulation.plant.mujoco_plant import mujoco_plant


class ImpedancePlant:
    """An arm without friction in MuJoCo that a law holds at ``held``, at first where it is, at 1 kHz."""

    def __init__(self, arm, law, q):
        self.model = mujoco_plant(arm.model)
        self.model.opt.timestep, self.model.opt.gravity[:] = 1e-3, arm.gravity
        self.model.dof_damping[:] = self.model.dof_frictionloss[:] = 0.0
        self.model.jnt_limited[:] = 0
        self.data, self._arm, self._law, self.held = mujoco.MjData(self.model), arm, law, q.copy()
        self.data.qpos[:] = q

    def step(self, wrench=np.zeros(6)):  # noqa: B008
        """Let 1 ms pass, with a wrench (6; moment first) on the last link in the axes of the base."""
        out = np.empty(self._arm.nv)
        q = np.array(self.data.qpos)
        self._law.torque(q, np.array(self.data.qvel), self.held, out)
        self.data.qfrc_applied[:] = out + self._arm.jacobian(q, self._arm.link_names[-1]).T @ wrench
        mujoco.mj_step(self.model, self.data)

    def error(self):
        """Return rotation and translation (6) of the last link from where it is held."""
        T, T_d = (self._arm.link_pose(np.array(it), self._arm.link_names[-1]) for it in (self.data.qpos, self.held))
        turn = Rotation.from_matrix(T[:3, :3] @ T_d[:3, :3].T).as_rotvec()
        return np.concatenate([turn, T[:3, 3] - T_d[:3, 3]])

    def twist(self):
        """Return the velocity of the last link (6; rotation first)."""
        return self._arm.jacobian(np.array(self.data.qpos), self._arm.link_names[-1]) @ np.array(self.data.qvel)
