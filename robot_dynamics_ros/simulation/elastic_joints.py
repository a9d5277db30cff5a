"""Elastic joints: a motor moves its link through a spring and a damper, as gears of arms do (Spong 1987).

Link side   M(q) q'' + c(q, q') + g(q) = K (theta - q) + D (theta' - q')
Motor side  B theta'' + K (theta - q) + D (theta' - q') = tau - friction(theta')

B is the rotor inertia, reflected to the joint, and no part of M. With deflections delta = q - theta these are the
equations of a robot that has two joints in series for each one: the motor, with rotor inertia and friction, then a
joint with spring and damper that moves the link. So time steps, batches and compiled code are those of any robot.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros import validation
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.model.joint_types import Joint
from robot_dynamics_ros.model.model import WITH_SPRING, Model
from robot_dynamics_ros.robot import Robot

STABLE = {'semi_implicit': 0.8, 'rk4': 2.6}
"""Largest product of step and eigenvalue, by method, at which all vibrations decay, whatever their damping.

The region of stability of the Runge-Kutta method contains a half-disc of this radius. The semi-implicit method allows
for 2 without damping and for 0.83, the least, with critical damping.
"""
POSITIONS = 64
"""Largest number of start positions, and number of random ones, at which the stiffest mode is computed."""


class ElasticJoints:
    """A robot whose n motors move its links through springs and dampers: a plant of ``simulate`` and ``MujocoArm``.

    Parameters
    ----------
    robot : Robot
        With n joints of one degree of freedom, each with a rotor inertia, and without springs and closed loops.
    stiffness : float or array_like, (n,)
        K, N m/rad (prismatic joints: N/m), above 0.
    damping : float or array_like, (n,)
        D, N m s/rad (prismatic joints: N s/m), at least 0.

    Attributes
    ----------
    tree : Robot
        The robot of 2 n joints, motor and spring of each joint in turn, with the positions theta_1, delta_1, theta_2,
        ... Motors have the names, limits and friction of the joints, springs the names ``spring_names``.

    Raises
    ------
    ArgumentError
        Naming a joint without rotor inertia, with a spring of its own or with several degrees of freedom; for closed
        loops, and for a stiffness or damping out of range.

    References
    ----------
    Spong 1987, "Modeling and Control of Elastic Joint Robots", ASME Journal of Dynamic Systems, Measurement, and
    Control 109. He neglects gyroscopic torques of rotors; here they act where the robot has a ``rotor_spin``.
    """

    def __init__(self, robot: Robot, stiffness: ArrayLike, damping: ArrayLike = 0.0):
        if not isinstance(robot, Robot) or robot.loops.all:
            raise ArgumentError(f'elastic joints: {robot.name} has closed loops or mimic joints, which need rigid ones')
        for joint in robot.model.joints:
            where = f'elastic joints: joint {joint.name!r}'
            if joint.kind not in WITH_SPRING:
                raise ArgumentError(f'{where} is {joint.kind}; expected one degree of freedom')
            if joint.stiffness != 0.0:
                raise ArgumentError(f'{where} has a spring of its own')
            if not joint.rotor > 0.0:
                raise ArgumentError(f'{where} has no rotor inertia, which its motor needs: Robot.with_rotor_inertia')
        self.robot = robot
        self.stiffness: np.ndarray = validation.of_each_joint(
            'stiffness', np.atleast_1d(stiffness), robot.nv, zero=False
        )
        self.damping: np.ndarray = validation.of_each_joint('damping', np.atleast_1d(damping), robot.nv, zero=True)
        self.spring_names: tuple[str, ...] = tuple(f'{name}_spring' for name in robot.joint_names)
        self.tree: Robot = self._tree()

    def _tree(self) -> Robot:
        """Return the robot of motors and springs."""
        model, joints = self.robot.model, []
        springs = zip(self.spring_names, self.stiffness.tolist(), self.damping.tolist(), strict=True)
        for joint, (name, stiffness, damping) in zip(model.joints, springs, strict=True):
            rotor, place = f'{joint.link}_rotor', (np.eye(3), np.zeros(3))
            body = Joint(name, joint.link, rotor, joint.kind, joint.axis, *place, joint.inertia, pitch=joint.pitch)
            joints.append(replace(joint, link=rotor, inertia=np.zeros(10)))
            joints.append(replace(body, stiffness=stiffness, viscous=damping))
        base, *links = model.link_names
        frames = {
            name: it._replace(link=2 * it.link) for name, it in model.frames.items() if name not in (base, *links)
        }
        tree = Robot(Model.of(model.name, base, joints, frames), self.robot.gravity)
        return tree.compiled() if self.robot.is_compiled else tree

    def moving(self, friction: bool) -> Robot:
        """Return ``tree`` with or without the friction of the motors."""
        if friction:
            return self.tree
        dampers = interleaved(np.zeros_like(self.damping), self.damping)
        return self.tree.with_friction(viscous=dampers, coulomb=0.0, offset=0.0, stribeck=0.0, load=0.0)

    def start(self, q: ArrayLike, qd: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return the state (..., 2 n) of ``tree`` for one of the links (..., n): motors at the links' velocities.

        The springs carry the weight of the links.
        """
        (q, qd), batch = validation.states({'q0': self.robot.nq, 'qd0': self.robot.nv}, q0=q, qd0=qd)
        q, qd = q.reshape(*batch, self.robot.nq), qd.reshape(*batch, self.robot.nv)
        validation.check_finite('q0', q)
        deflection = -self.robot.gravity_torque(q) / self.stiffness
        return interleaved(q - deflection, deflection), interleaved(qd, np.zeros_like(qd))

    def sides(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return positions or velocities of motors and of links, (..., n) each, for those of ``tree`` (..., 2 n)."""
        return numbers[..., ::2].copy(), numbers[..., ::2] + numbers[..., 1::2]

    def check_step(self, q: ArrayLike, step: float, method: str) -> None:
        """Raise ArgumentError for a step (s) too long for the stiffest mode, naming joint, frequency and longest step.

        M depends on the position: the mode is the stiffest one at start positions q (..., n) and random ones.
        """
        if method == 'adaptive':
            return
        if method not in STABLE:
            raise ArgumentError(f'method: {method!r} adds energy to vibrations of elastic joints; choose rk4')
        q, generator = np.reshape(q, (-1, self.robot.nq)), np.random.default_rng(0)
        positions = [*q[:: 1 + len(q) // POSITIONS], *(self.robot.random(generator) for _ in range(POSITIONS))]
        M_inv = self.tree.mass_matrix_inverse(interleaved(positions, np.zeros_like(positions)))
        rate, joint = self.stiffest_mode(M_inv[:, 1::2, 1::2], self.damping)
        if rate * step > STABLE[method]:
            raise ArgumentError(
                f'step: {step:g} s is too long for the stiffest mode, {rate / (2.0 * np.pi):.4g} Hz at joint '
                f'{joint!r}; expected up to {STABLE[method] / rate:.3g} s with {method}'
            )

    def stiffest_mode(self, inverse_masses: np.ndarray, damping: np.ndarray | float = 0.0) -> tuple[float, str]:
        """Return the largest eigenvalue (1/s, absolute) and the joint whose spring has most of the mode's energy.

        ``inverse_masses`` (count, n, n) are M^-1 + B^-1 in some positions, ``damping`` (n) is D. The deflections obey
        delta'' = -(M^-1 + B^-1) (K delta + D delta').
        """
        n, zero = self.robot.nv, np.zeros_like(inverse_masses)
        system = np.block([[zero, zero + np.eye(n)], [-inverse_masses * self.stiffness, -inverse_masses * damping]])
        values, vectors = np.linalg.eig(system)
        position, mode = np.unravel_index(np.argmax(np.abs(values)), values.shape)
        energy = self.stiffness * np.abs(vectors[position, :n, mode]) ** 2
        return float(np.abs(values[position, mode])), self.robot.joint_names[int(np.argmax(energy))]


def interleaved(motors, springs) -> np.ndarray:
    """Return numbers of motors and springs, (..., n) each, in the order of ``ElasticJoints.tree`` (..., 2 n)."""
    both = np.stack([motors, springs], -1)
    return both.reshape(*both.shape[:-2], 2 * both.shape[-2])
