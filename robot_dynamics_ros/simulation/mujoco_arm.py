"""Simulated arm in MuJoCo: the same URDF with joint friction and, optionally, errors of mass and friction."""

from xml.etree.ElementTree import Element, tostring

import mujoco
import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.control.driven_robot import DrivenRobot
from robot_dynamics_ros.errors import ModelError, UnstableError
from robot_dynamics_ros.formats.untrusted_text import parsed
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.simulation.elastic_joints import ElasticJoints
from robot_dynamics_ros.simulation.motor_pd import MotorPd
from robot_dynamics_ros.simulation.mujoco_springs import MujocoSprings, model_with_springs

ROUNDING = 1e-12
"""Of inertias, relative to the largest principal moment: MuJoCo allows for none."""


class MujocoArm:
    """An arm with one torque input per joint and a fixed step.

    While ``brakes`` is set, as it is at the start, the arm stands still. Motors of the MIT type add their PD about
    ``position_command`` (n, rad or m) to ``torque``; closed brakes set that to the position of the arm, torque to 0.
    """

    def __init__(
        self,
        urdf: str,
        robot: Robot | DrivenRobot,
        period: float,
        start,
        mass_error=0.0,
        friction_error=0.0,
        motors: MotorPd | None = None,
        elastic: ElasticJoints | None = None,
    ):
        """Load ``urdf`` (text), with the joint order, rotor inertia, friction and gravity of ``robot``.

        ``period`` (s) is the step; ``start`` (n, rad or m) the position after ``reset``. Masses and inertias are those
        of the URDF times 1 + ``mass_error``, friction that of ``robot`` times 1 + ``friction_error``. The plant has
        viscous, Coulomb and constant friction, springs and reflected rotor inertia, but no Stribeck, quadratic or
        load-dependent friction, no coupling of motors and no gyroscopic torque of rotors. Followers of a
        ``DrivenRobot`` follow by constraints, which MuJoCo makes of <mimic>. ``motors`` is the PD of motors of the MIT
        type, None for others. The joints of ``elastic``, made of ``robot``, have springs: then positions, velocities,
        torques and friction are those of motors, and
        MuJoCo's step is shorter where the stiffest mode needs that. Raises ModelError if MuJoCo can't load the URDF,
        ArgumentError for a wrong start and for springs that need more than ``mujoco_springs.MOST_STEPS`` a period.
        """
        try:
            text = _bare(urdf)
            model = mujoco.MjModel.from_xml_string(text) if elastic is None else model_with_springs(text, elastic)
        except (ValueError, RuntimeError) as error:
            raise ModelError(f'MuJoCo does not load this URDF: {error}') from None
        tree = robot.robot if isinstance(robot, DrivenRobot) else robot
        try:
            joints, moved = ([model.joint(name) for name in it.joint_names] for it in (robot, tree))
        except KeyError as error:
            raise ModelError(f'MuJoCo finds no joint of {robot.name} in this URDF: {error.args[0]}') from None
        self._q = np.array([joint.qposadr[0] for joint in joints])
        self._v = np.array([joint.dofadr[0] for joint in joints])
        places = [tree.joint_names.index(name) for name in robot.joint_names]
        self._moved = np.array([joint.qposadr[0] for joint in moved])
        start = validation.finite('start', start, (robot.nq,))
        self._start = (robot.positions(start) if isinstance(robot, DrivenRobot) else start).copy()
        v, places = (
            np.array([joint.dofadr[0] for joint in moved]),
            [tree.joint_names.index(it) for it in robot.joint_names],
        )
        model.opt.timestep, self._steps, self._springs = period, 1, None
        # friction makes the equations stiff; the implicit integrator is stable at 1 kHz
        model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        model.opt.gravity[:] = robot.gravity
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
        model.body_mass *= 1.0 + mass_error
        model.body_inertia *= 1.0 + mass_error
        model.dof_armature[v] = tree.rotor_inertia
        model.dof_damping[v] = tree.friction.viscous * (1.0 + friction_error)
        model.dof_frictionloss[v] = tree.friction.coulomb * (1.0 + friction_error)
        for joint, described in zip(moved, tree.model.joints, strict=True):
            model.jnt_stiffness[joint.id], model.qpos_spring[joint.qposadr[0]] = described.stiffness, described.rest
        self._motors = motors
        if motors is not None:
            # as MuJoCo's spring and damper of a joint, beside the spring of the description
            springs = np.array([joint.id for joint in joints])
            force = model.jnt_stiffness[springs] * model.qpos_spring[self._q]
            model.jnt_stiffness[springs] += motors.stiffness
            model.dof_damping[self._v] += motors.damping
            stiffness = np.maximum(model.jnt_stiffness[springs], np.finfo(float).tiny)
            self._rest, self._share = force / stiffness, motors.stiffness / stiffness
        self._drag = tree.friction.offset[places] * (1.0 + friction_error)
        self._model, self._data = model, mujoco.MjData(model)
        self._warned, self._before = self._data.warning.number, self._data.qpos.copy()
        mujoco.mj_setConst(self._model, self._data)  # subtree masses follow the changed ones
        if elastic is not None:
            self._springs = MujocoSprings(model, self._data, elastic)
            self._data.qpos[self._moved] = self._start
            self._steps = self._springs.shorten_step(period)
        self._names = robot.joint_names
        self.period = period
        self.brakes = True
        self.torque = np.zeros(robot.nv)
        self.position_command = start.copy()
        self.reset()

    def reset(self) -> None:
        """Reset the arm to its start position, at zero velocity and torque, with brakes set."""
        self._data.qpos[self._moved] = self._start
        self.close_brakes()

    def close_brakes(self) -> None:
        """Stop the arm, its links at rest on their springs; commands from before do not act when the brakes open."""
        self._data.qvel[:] = 0.0
        if self._springs is not None:
            self._springs.relax()
        self.torque[:] = 0.0
        self.position_command[:] = self.position
        self.brakes = True

    def step(self, count: int = 1) -> None:
        """Simulate ``count`` periods under ``torque`` (n, N m), or none while ``brakes`` is set.

        If the motion diverges, brakes close where the arm was before, and UnstableError names the largest torque.
        """
        if self.brakes:
            return
        if self._motors is not None:
            self._model.qpos_spring[self._q] = self._rest + self._share * self.position_command
        self._data.qfrc_applied[self._v] = self.torque - self._drag
        self._before[:] = self._data.qpos
        mujoco.mj_step(self._model, self._data, count * self._steps)
        if self._warned.any():
            k = np.argmax(np.abs(self.torque))
            torque = f'{self.torque[k]:.4g} at joint {self._names[k]!r}'
            mujoco.mj_resetData(self._model, self._data)
            self._data.qpos[:] = self._before
            self.close_brakes()
            raise UnstableError(f'the motion of the arm diverges, its brakes are closed; largest torque {torque}')

    @property
    def motor_torque(self) -> np.ndarray:
        """Torques (n,) of the motors in N m, their PD included."""
        if self._motors is None:
            return self.torque.copy()
        return self.torque + self._motors.torque(self.position_command, self.position, self.velocity)

    @property
    def position(self) -> np.ndarray:
        """Joint positions (n,) in rad or m."""
        return self._data.qpos[self._q]

    @property
    def velocity(self) -> np.ndarray:
        """Joint velocities (n,) in rad/s or m/s."""
        return self._data.qvel[self._v]


def _bare(urdf: str) -> str:
    """Return a URDF without shapes, without the inertia of its root, and without the sizes of MuJoCo's extension.

    Inertias that break the triangle inequality by rounding, as flat bodies may, keep it. Mesh files may be missing, and
    contacts are disabled. The root does not move, and MuJoCo refuses a physically inconsistent inertia. A size in the
    text could make it allocate any amount of memory.
    """
    robot = parsed(urdf)
    children = {child.get('link') for child in robot.iterfind('joint/child')}
    for root in (link for link in robot.findall('link') if link.get('name') not in children):
        for inertial in root.findall('inertial'):
            root.remove(inertial)
    for link in robot.findall('link'):
        for tag in ('visual', 'collision'):
            for shape in link.findall(tag):
                link.remove(shape)
    for inertia in robot.iterfind('link/inertial/inertia'):
        _make_positive(inertia)
    for extension in robot.findall('mujoco'):
        for size in extension.findall('size'):
            extension.remove(size)
    return tostring(robot, encoding='unicode')


def _make_positive(inertia: Element) -> None:
    """Let an <inertia> keep the triangle inequality, by a change of its diagonal of at most twice ``ROUNDING``."""
    try:
        I = {key: float(inertia.get(key, 0.0)) for key in ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')}
    except ValueError:
        return  # MuJoCo names what is no number
    a, b, c = np.linalg.eigvalsh(
        [[I['ixx'], I['ixy'], I['ixz']], [I['ixy'], I['iyy'], I['iyz']], [I['ixz'], I['iyz'], I['izz']]]
    )
    if abs(a + b - c) <= ROUNDING * c:
        for key in ('ixx', 'iyy', 'izz'):
            inertia.set(key, repr(float(I[key] + 2.0 * ROUNDING * c)))
