"""Motion of a robot with elastic joints: torques of its motors, and the motion of motors and links."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.control.law import Law, MeasuredState, Result
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.simulation.elastic_joints import ElasticJoints, interleaved
from robot_dynamics_ros.simulation.simulation_result import SimulationResult
from robot_dynamics_ros.simulation.torque_inputs import is_law


@dataclass(frozen=True, eq=False)
class ElasticMotion(SimulationResult):
    """Motion of a robot with elastic joints; ``q`` and ``qd`` are those of the links.

    Parameters
    ----------
    joints : ElasticJoints
        The simulated plant.
    motor_q : ndarray, (..., samples, n)
        Positions theta of the motors, rad (prismatic joints: m).
    motor_qd : ndarray, (..., samples, n)
        Their velocities, rad/s or m/s.
    """

    joints: ElasticJoints
    motor_q: np.ndarray
    motor_qd: np.ndarray

    @classmethod
    def of(cls, joints: ElasticJoints, motion: SimulationResult) -> 'ElasticMotion':
        """Return the motion of the links and motors for that of ``joints.tree``."""
        (motor_q, q), (motor_qd, qd) = joints.sides(motion.q), joints.sides(motion.qd)
        more = motion.work, motion.loop_jump, motion.loop_jump_time
        return cls(joints.robot, motion.t, q, qd, *more, joints, motor_q, motor_qd)

    @property
    def joint_torque(self) -> np.ndarray:
        """Torques of springs and dampers on the links, K (theta - q) + D (theta' - q'), (..., samples, n) N m."""
        stretch, rate = self.motor_q - self.q, self.motor_qd - self.qd
        return self.joints.stiffness * stretch + self.joints.damping * rate

    @cached_property
    def energy(self) -> np.ndarray:
        """Total energy of links, motors and springs, (..., samples) J."""
        deflection, rate = self.q - self.motor_q, self.qd - self.motor_qd
        state = interleaved(self.motor_q, deflection), interleaved(self.motor_qd, rate)
        return self.joints.tree.total_energy(*state) + 0.5 * np.sum(self.joints.stiffness * deflection**2, -1)


def motor_torque(joints: ElasticJoints, torque):
    """Return the torque of ``simulate`` for ``joints.tree`` that applies ``torque`` to the motors."""
    if torque is None:
        return None
    if is_law(torque):
        return _LawOfMotors(torque, joints.robot.nv)
    if not callable(torque):
        return _applied(joints, 'torque', torque)

    def of_tree(t: float, x: np.ndarray, v: np.ndarray) -> np.ndarray:
        (motor_q, q), (motor_qd, qd) = joints.sides(x), joints.sides(v)
        return _applied(joints, f'torque({t:g}, ...)', torque(t, motor_q, motor_qd, q, qd))

    return of_tree


def _applied(joints: ElasticJoints, name: str, torque) -> np.ndarray:
    """Return torques (..., n) of the motors as those of ``joints.tree``; ArgumentError for another last axis."""
    tau = validation.numbers(name, torque)
    if tau.shape[-1:] != (joints.robot.nv,):
        raise ArgumentError(f'{name}: expected {joints.robot.nv} torques a row, got shape {tau.shape}')
    validation.check_finite(name, tau)
    return interleaved(tau, np.zeros_like(tau))


def wrenches_of_tree(joints: ElasticJoints, wrenches):
    """Return the external wrenches of ``simulate`` for ``joints.tree``, none of them on rotors."""
    if wrenches is None or isinstance(wrenches, dict):
        return wrenches
    given, links = validation.numbers('wrenches', wrenches), len(joints.robot.link_names)
    if given.shape[-2:] != (links, 6):
        raise ArgumentError(f'wrenches: expected shape (..., {links}, 6), got {given.shape}')
    return np.insert(given, range(1, links), 0.0, axis=-2)


class _LawOfMotors:
    """A control law that measures the motors and whose torque acts on them."""

    def __init__(self, law: Law, n: int):
        """Store a law for ``n`` joints."""
        self._law, self._state, self._torque = law, MeasuredState(*np.zeros((2, n))), np.zeros(n)
        self.stop_following, self.set_back = law.stop_following, law.set_back

    def torque(self, state: MeasuredState, out: np.ndarray) -> Result:
        """Write the torques (2 n) for a state of ``ElasticJoints.tree``."""
        motors = self._state
        motors.q[:], motors.qd[:] = state.q[::2], state.qd[::2]
        vars(motors).update(vars(state) | {'q': motors.q, 'qd': motors.qd})
        result = self._law.torque(motors, self._torque)
        out[::2] = self._torque
        return result
