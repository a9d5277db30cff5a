"""A plant in MuJoCo: the same URDF, with joint friction, and on purpose not quite the model."""

from xml.etree.ElementTree import tostring

import mujoco
import numpy as np

from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.formats.untrusted_text import parsed
from robot_dynamics_ros.robot import Robot


class MujocoArm:
    """An arm with one torque input per joint, stepped at a fixed period.

    Brakes hold it still from the start on and whenever ``brakes`` is set, as those of a real arm do.
    """

    def __init__(self, urdf: str, robot: Robot, period: float, start, mass_error=0.0, friction_error=0.0):
        """Load ``urdf`` (text) as plant of ``robot``, which gives joint order, rotor inertia, friction and gravity.

        period s; start (n, rad) position after each ``reset``; every mass and inertia is (1 + mass_error), every
        friction figure (1 + friction_error) times the model's. Raises ModelError where MuJoCo can't load the URDF and
        ArgumentError for a start of wrong length. The plant has viscous, Coulomb and constant friction and reflected
        rotor inertia; Stribeck's part, load-dependent friction and rotor spin it has not.
        """
        try:
            model = mujoco.MjModel.from_xml_string(_bare(urdf))
        except (ValueError, RuntimeError) as error:
            raise ModelError(f'MuJoCo does not load this URDF: {error}') from None
        try:
            joints = [model.joint(name) for name in robot.joint_names]
        except KeyError as error:
            raise ModelError(f'the plant lacks a joint of {robot.name}: {error.args[0]}') from None
        self._q = np.array([joint.qposadr[0] for joint in joints])
        self._v = np.array([joint.dofadr[0] for joint in joints])
        self._start = np.array(start, float)
        if self._start.shape != (robot.nq,) or not np.isfinite(self._start).all():
            raise ArgumentError(f'start: expected {robot.nq} finite positions, got {start!r:.80}')
        model.opt.timestep = period
        # friction and rotor inertia are as stiff as the arm: the implicit integrator stays stable at 1 kHz
        model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        model.opt.gravity[:] = robot.gravity
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
        model.body_mass *= 1.0 + mass_error
        model.body_inertia *= 1.0 + mass_error
        model.dof_armature[self._v] = robot.rotor_inertia
        model.dof_damping[self._v] = robot.friction.viscous * (1.0 + friction_error)
        model.dof_frictionloss[self._v] = robot.friction.coulomb * (1.0 + friction_error)
        self._drag = robot.friction.offset * (1.0 + friction_error)
        self._model, self._data = model, mujoco.MjData(model)
        mujoco.mj_setConst(self._model, self._data)  # subtree masses follow the changed ones
        self.period = period
        self.brakes = True
        self.torque = np.zeros(robot.nv)
        self.reset()

    def reset(self) -> None:
        """Put the arm back to its start, at rest on its brakes, without torque."""
        self._data.qpos[self._q] = self._start
        self._data.qvel[:] = 0.0
        self.torque[:] = 0.0
        self.brakes = True

    def step(self, count: int = 1) -> None:
        """Go on by ``count`` periods under ``torque`` (n, N m); on the brakes the arm stands still meanwhile."""
        if self.brakes:
            self._data.qvel[:] = 0.0
            return
        self._data.qfrc_applied[self._v] = self.torque - self._drag
        mujoco.mj_step(self._model, self._data, count)

    @property
    def position(self) -> np.ndarray:
        """Joint positions (n,) in rad or m."""
        return self._data.qpos[self._q]

    @property
    def velocity(self) -> np.ndarray:
        """Joint velocities (n,) in rad/s or m/s."""
        return self._data.qvel[self._v]


def _bare(urdf: str) -> str:
    """Return a URDF without visuals and collision shapes, and without sizes that MuJoCo's extension asks for.

    Mesh files may not be here, and nothing is touched; memory would be allocated however much a size says.
    """
    robot = parsed(urdf)
    for link in robot.findall('link'):
        for tag in ('visual', 'collision'):
            for shape in link.findall(tag):
                link.remove(shape)
    for extension in robot.findall('mujoco'):
        for size in extension.findall('size'):
            extension.remove(size)
    return tostring(robot, encoding='unicode')
