"""Simulated arm in MuJoCo: a robot with joint friction and, optionally, errors of mass and friction."""

from collections.abc import Sequence

import mujoco
import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.arm.following.closed_mechanism import ClosedMechanism
from robot_dynamics_ros.errors import LoopError, ModelError, SingularError, UnstableError
from robot_dynamics_ros.model.closed_loops.loop_types import Coupling, LoopClosure
from robot_dynamics_ros.model.joint_types import KINDS, Joint
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.simulation.elastic_joints import ElasticJoints
from robot_dynamics_ros.simulation.plant.applied_wrench import AppliedWrench
from robot_dynamics_ros.simulation.plant.motor_pd import MotorPd
from robot_dynamics_ros.simulation.plant.mujoco_mechanism import MujocoMechanism
from robot_dynamics_ros.simulation.plant.mujoco_plant import mujoco_plant
from robot_dynamics_ros.simulation.plant.mujoco_springs import MujocoSprings
from robot_dynamics_ros.simulation.plant.surfaces import Surfaces


class MujocoArm:
    """An arm with one torque input per joint, or per actuated joint of a mechanism, and a fixed step.

    While ``brakes`` is set, as it is at the start, the arm stands still. Motors of the MIT type add their PD about
    ``position_command`` (n, rad or m) to ``torque``; closed brakes set that to the position of the arm, torque to 0.
    ``wrench`` is what a hand applies; closed brakes end it. ``passive_joint_names`` are the other joints of a
    mechanism, but for those of several coordinates.
    """

    def __init__(
        self,
        robot: Robot | DrivenRobot,
        period: float,
        start,
        mass_error=0.0,
        friction_error=0.0,
        motors: MotorPd | None = None,
        elastic: ElasticJoints | None = None,
        surfaces: Surfaces | None = None,
        frame: str = '',
    ):
        """Make the plant of ``robot``, with its inertias, rotor inertias, friction, springs and gravity.

        ``period`` (s) is the step; ``start`` (n, rad or m) the position after ``reset``. Masses and inertias are those
        of ``robot`` times 1 + ``mass_error``, friction times 1 + ``friction_error``. The plant has viscous, Coulomb and
        constant friction, springs and reflected rotor inertia, but no Stribeck, quadratic or load-dependent friction,
        no coupling of motors and no gyroscopic torque of rotors. Mimic joints of a ``DrivenRobot`` follow by soft
        constraints; the loops of a mechanism are closed after each step, see ``MujocoMechanism``. ``motors`` is the PD
        of motors of the MIT type, None for others. The joints of ``elastic``, made of ``robot``, have springs: then
        positions, velocities, torques and friction are those of motors, and MuJoCo's step is shorter where the stiffest
        mode needs that. A frame of the arm touches ``surfaces``. ``wrench`` acts at the origin of the link or
        ``frame``, '': ``end_link``. Raises ModelError naming a joint or loop that MuJoCo lacks, UnknownNameError a
        frame that is none, ArgumentError for a wrong start, one behind a surface, and springs that need more than
        ``mujoco_springs.MOST_STEPS`` a period; LoopError or SingularError for a start out of reach.
        """
        tree = robot.robot if isinstance(robot, DrivenRobot) else robot
        loops, mechanism = _loops_of(robot)
        frame = frame or tree.end_link
        model = mujoco_plant(tree.model if elastic is None else elastic.tree.model, loops, surfaces, frame)
        joints = [model.joint(name) for name in robot.joint_names]
        self._q = np.array([joint.qposadr[0] for joint in joints])
        self._v = np.array([joint.dofadr[0] for joint in joints])
        self.passive_joint_names = mechanism.followers if mechanism else ()
        passive = [model.joint(name) for name in self.passive_joint_names]
        self._passive_q = np.array([joint.qposadr[0] for joint in passive], np.intp)
        self._passive_v = np.array([joint.dofadr[0] for joint in passive], np.intp)
        start = validation.finite('start', start, (robot.nq,))
        if mechanism:
            *_, closed = mechanism.way(mechanism.at_home, start)
            self._start = closed.q
        else:
            self._start = (robot.positions(start) if isinstance(robot, DrivenRobot) else start).copy()
        v = np.concatenate([_velocities(model, joint) for joint in tree.model.joints])
        model.opt.timestep, self._steps, self._springs = period, 1, None
        # friction makes the equations stiff; the implicit integrator is stable at 1 kHz
        model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        model.opt.gravity[:] = robot.gravity
        if surfaces is None:
            model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
        else:
            surfaces.check_start(tree.link_pose(self._start, surfaces.frame)[:3, 3])
        model.body_mass *= 1.0 + mass_error
        model.body_inertia *= 1.0 + mass_error
        model.dof_damping[v] *= 1.0 + friction_error
        model.dof_frictionloss[v] *= 1.0 + friction_error
        self._motors = motors
        if motors is not None:
            # as MuJoCo's spring and damper of a joint, beside the spring of the description
            springs = np.array([joint.id for joint in joints])
            force = model.jnt_stiffness[springs] * model.qpos_spring[self._q]
            model.jnt_stiffness[springs] += motors.stiffness
            model.dof_damping[self._v] += motors.damping
            stiffness = np.maximum(model.jnt_stiffness[springs], np.finfo(float).tiny)
            self._rest, self._share = force / stiffness, motors.stiffness / stiffness
        self._model, self._data = model, mujoco.MjData(model)
        self._warned, self._before = self._data.warning.number, self._data.qpos.copy()
        mujoco.mj_setConst(self._model, self._data)  # subtree masses follow the changed ones
        self._mechanism: MujocoMechanism | None = None
        if mechanism:
            self._mechanism = MujocoMechanism(model, self._data, tree.model, mechanism, closed)
        else:
            self._moved = np.array([model.joint(name).qposadr[0] for name in tree.joint_names])
        if elastic is not None:
            self._springs = MujocoSprings(model, self._data, elastic)
            self._data.qpos[self._moved] = self._start
            self._steps = self._springs.shorten_step(period)
        self._names = robot.joint_names
        self._applied, self._own = self._data.qfrc_applied, np.zeros(model.nv)  # MuJoCo's memory; without the wrench
        self._drag = np.zeros(model.nv)
        self._drag[v] = tree.friction.offset * (1.0 + friction_error)
        self.wrench = AppliedWrench(model, self._data, frame, period)
        self.period = period
        self.brakes = True
        self.torque = np.zeros(robot.nv)
        self.position_command = start.copy()
        self.reset()

    def reset(self) -> None:
        """Reset the arm to its start position, at zero velocity and torque, with brakes set."""
        if self._mechanism is None:
            self._data.qpos[self._moved] = self._start
        else:
            self._mechanism.reset()
        self.close_brakes()

    def close_brakes(self) -> None:
        """Stop the arm, its links at rest on their springs; commands from before do not act when the brakes open."""
        if self._mechanism is None:
            self._data.qvel[:] = 0.0
        else:
            self._mechanism.stop()
        if self._springs is not None:
            self._springs.relax()
        self.torque[:] = 0.0
        self.wrench.end()
        self.position_command[:] = self.position
        self.brakes = True

    def step(self, count: int = 1) -> None:
        """Simulate ``count`` periods under ``torque`` (n, N m), or none while ``brakes`` is set.

        If the motion diverges, brakes close where the arm was before, and UnstableError names the largest torque. If a
        mechanism cannot go on, brakes close there, and LoopError or SingularError names the loop.
        """
        if self.brakes:
            return
        if self._motors is not None:
            self._model.qpos_spring[self._q] = self._rest + self._share * self.position_command
        self._own[:] = -self._drag
        self._own[self._v] += self.torque
        self._before[:] = self._data.qpos
        closed = None if self._mechanism is None else self._mechanism.solution
        handler = mujoco.get_mju_user_warning()
        mujoco.set_mju_user_warning(_not_printed)
        pushed = min(count, self.wrench.steps_left)
        try:
            for _ in range(pushed):
                self._applied[:] = self._own
                self.wrench.add_to(self._applied)
                self._advance(1)
            self._applied[:] = self._own
            self._advance(count - pushed)
            diverges = bool(self._warned.any())
        except UnstableError:
            diverges = True
        except (LoopError, SingularError):
            self.close_brakes()
            raise
        finally:
            mujoco.set_mju_user_warning(handler)
        if diverges:
            k = np.argmax(np.abs(self.torque))
            torque = f'{self.torque[k]:.4g} at joint {self._names[k]!r}'
            if pushed:
                torque += f', applied force {np.linalg.norm(self.wrench.in_force[3:]):.4g} N'
            mujoco.mj_resetData(self._model, self._data)
            self._data.qpos[:] = self._before
            if self._mechanism is not None and closed is not None:
                self._mechanism.solution = closed
            self.close_brakes()
            raise UnstableError(f'the motion of the arm diverges, its brakes are closed; largest torque {torque}')

    def _advance(self, count: int) -> None:
        """Simulate ``count`` periods under the applied forces."""
        if self._mechanism is None:
            mujoco.mj_step(self._model, self._data, count * self._steps)
        else:
            for _ in range(count):
                self._mechanism.step()

    @property
    def motor_torque(self) -> np.ndarray:
        """Torques (n,) of the motors in N m, their PD included."""
        if self._motors is None:
            return self.torque.copy()
        return self.torque + self._motors.torque(self.position_command, self.position, self.velocity)

    @property
    def contact_force(self) -> np.ndarray:
        """Force (3,) with which surfaces push the arm, in N and axes of the base."""
        force, found = np.zeros(3), np.zeros(6)
        for k, contact in enumerate(self._data.contact):
            mujoco.mj_contactForce(self._model, self._data, k, found)
            # rows of the contact's frame: the normal of the surface and two tangents
            force += np.reshape(contact.frame, (3, 3)).T @ found[:3]
        return force

    @property
    def position(self) -> np.ndarray:
        """Joint positions (n,) in rad or m."""
        return self._data.qpos[self._q]

    @property
    def velocity(self) -> np.ndarray:
        """Joint velocities (n,) in rad/s or m/s."""
        return self._data.qvel[self._v]

    @property
    def passive_position(self) -> np.ndarray:
        """Positions of ``passive_joint_names`` in rad or m."""
        return self._data.qpos[self._passive_q]

    @property
    def passive_velocity(self) -> np.ndarray:
        """Velocities of ``passive_joint_names`` in rad/s or m/s."""
        return self._data.qvel[self._passive_v]


def _loops_of(robot: Robot | DrivenRobot) -> tuple[Sequence[LoopClosure | Coupling], ClosedMechanism | None]:
    """Return the loops of a robot, and how the joints of a mechanism follow; ModelError for what only that can have."""
    if isinstance(robot, DrivenRobot) and isinstance(robot.following, ClosedMechanism):
        return robot.following.mechanism.loops.all, robot.following
    for joint in robot.model.joints:
        if KINDS[joint.kind].coordinates > 1:
            raise ModelError(
                f'joint {joint.name!r} is {joint.kind}: expected one coordinate, or closed loops around it'
            )
    return (robot.couplings if isinstance(robot, DrivenRobot) else ()), None


def _velocities(model: mujoco.MjModel, joint: Joint) -> np.ndarray:
    """Return the indices of a joint's velocities in MuJoCo."""
    return int(model.joint(joint.name).dofadr[0]) + np.arange(len(KINDS[joint.kind].velocities))


def _not_printed(text: str) -> None:
    """Print no warning of MuJoCo, and write none to a file: an exception says what has happened."""
