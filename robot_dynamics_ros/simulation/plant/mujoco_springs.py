"""Springs of elastic joints in MuJoCo: deflections at rest, and the step that the stiffest mode needs."""

import mujoco
import numpy as np

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.simulation.elastic_joints import ElasticJoints

ACCURATE = 0.5
"""Largest product of MuJoCo's step and the frequency (rad/s) of the stiffest mode at the start.

It is unstable from 2 on. Damping does not count: MuJoCo integrates it implicitly.
"""
MOST_STEPS = 50
"""Of MuJoCo in a period."""
ROUNDS = 50
"""Of the search for the deflections under the weight of the links: each divides the error by stiffness / slope of g."""


class MujocoSprings:
    """The springs of a plant of ``ElasticJoints.tree`` and its state."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, elastic: ElasticJoints):
        """Store model, state and springs."""
        springs = [model.joint(name) for name in elastic.spring_names]
        self._q, self._v = [int(it.qposadr[0]) for it in springs], [int(it.dofadr[0]) for it in springs]
        self._model, self._data, self._elastic = model, data, elastic

    def relax(self) -> None:
        """Set the deflections to those under the weight of the links at rest."""
        for _ in range(ROUNDS):
            mujoco.mj_forward(self._model, self._data)
            self._data.qpos[self._q] = -self._data.qfrc_bias[self._v] / self._elastic.stiffness

    def shorten_step(self, period: float) -> int:
        """Shorten MuJoCo's step for the stiffest mode at this position; return the number of steps in a period (s)."""
        mujoco.mj_forward(self._model, self._data)
        M_inv = np.zeros((self._model.nv, self._model.nv))
        mujoco.mj_solveM(self._model, self._data, M_inv, np.eye(self._model.nv))
        rate, joint = self._elastic.stiffest_mode(M_inv[None, self._v][..., self._v])
        steps = int(np.ceil(period * rate / ACCURATE))
        if steps > MOST_STEPS:
            raise ArgumentError(
                f'elastic joints: the stiffest mode, {rate / (2.0 * np.pi):.4g} Hz at joint {joint!r}, needs steps of '
                f'at most {ACCURATE / rate:.2g} s, more than {MOST_STEPS} in {period:g} s; lower its stiffness'
            )
        self._model.opt.timestep = period / steps
        return steps
