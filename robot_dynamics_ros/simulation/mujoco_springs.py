"""Springs of elastic joints in MuJoCo: each joint is two of a body, the motor and then the spring."""

import mujoco
import numpy as np

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.simulation.elastic_joints import ElasticJoints

ACCURATE = 0.5
"""Largest product of MuJoCo's step and the eigenvalue of the stiffest mode at the start; from 2 on it is unstable."""
MOST_STEPS = 50
"""Of MuJoCo in a period."""
ROUNDS, AT_REST = 100, 1e-12
"""Of the search for the deflections (rad or m) under the weight of the links."""


def model_with_springs(text: str, elastic: ElasticJoints) -> mujoco.MjModel:
    """Return MuJoCo's model of a URDF whose joints are motors, each with a spring behind it in the same body."""
    spec = mujoco.MjSpec.from_string(text)
    robot = elastic.robot
    motors = dict(
        zip(robot.joint_names, zip(elastic.spring_names, robot.rotor_inertia.tolist(), strict=True), strict=True)
    )
    for body in spec.bodies:
        for joint in list(body.joints):
            if joint.name in motors:
                spring, joint.armature = motors[joint.name]  # without it the mass matrix would be singular
                body.add_joint(name=spring, type=joint.type, axis=joint.axis, pos=joint.pos)
    model = spec.compile()
    for name, stiffness, damping in zip(elastic.spring_names, elastic.stiffness, elastic.damping, strict=True):
        added = model.joint(name)
        model.jnt_stiffness[added.id], model.dof_damping[added.dofadr[0]] = stiffness, damping
    return model


class MujocoSprings:
    """The springs of a model of ``model_with_springs`` and its state."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, elastic: ElasticJoints):
        """Store model, state and springs."""
        springs = [model.joint(name) for name in elastic.spring_names]
        self._q = np.array([spring.qposadr[0] for spring in springs])
        self._v = np.array([spring.dofadr[0] for spring in springs])
        self._model, self._data, self._elastic = model, data, elastic

    def relax(self) -> None:
        """Set the deflections to those under the weight of the links at rest."""
        for _ in range(ROUNDS):
            mujoco.mj_forward(self._model, self._data)
            before = self._data.qpos[self._q]
            deflection = -self._data.qfrc_bias[self._v] / self._elastic.stiffness
            self._data.qpos[self._q] = deflection
            if np.abs(deflection - before).max() < AT_REST:
                break

    def shorten_step(self, period: float) -> int:
        """Shorten MuJoCo's step to what the stiffest mode needs at this position; return the number in a period (s)."""
        self.relax()
        M_inv, unit = np.zeros((self._model.nv, self._model.nv)), np.eye(self._model.nv)
        mujoco.mj_solveM(self._model, self._data, M_inv, unit)
        rate, joint = self._elastic.stiffest_mode(M_inv[None, self._v[:, None], self._v])
        steps = int(np.ceil(period * rate / ACCURATE))
        if steps > MOST_STEPS:
            raise ArgumentError(
                f'elastic joints: the stiffest mode, {rate / (2.0 * np.pi):.4g} Hz at joint {joint!r}, needs steps up to '
                f'{ACCURATE / rate:.2g} s, and a period of {period:g} s has at most {MOST_STEPS}; lower the stiffness'
            )
        self._model.opt.timestep = period / steps
        return steps
