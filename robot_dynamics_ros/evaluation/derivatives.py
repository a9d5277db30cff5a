"""How torques and accelerations change with the state.

Derivatives come as an array (..., 3, nv, nv): for one state, ``by_q, by_qd, by_qdd = ...`` takes it apart. Column k
belongs to velocity k. By q means along the motion of a unit of that velocity, a step of ``integrate``; where joints
have one degree of freedom each, q is as long as qd and that is the ordinary derivative.
"""

import numpy as np

from robot_dynamics_ros.evaluation.evaluator import Answering


class Derivatives(Answering):
    """The derivatives of a robot's dynamics."""

    def inverse_dynamics_derivatives(self, q, qd, qdd, wrenches=None, out=None) -> np.ndarray:
        """Return the derivatives (..., 3, nv, nv) of ``inverse_dynamics`` by q, qd and qdd; the last: ``mass_matrix``.

        In N m (N) per unit of q, qd, qdd. ``wrenches`` in their links' frames, in which they stay as they are.
        Singh, Russell & Wensing 2022.
        """
        name = 'inverse_dynamics_derivatives'
        if wrenches is None:
            return self._answer(self._single.inverse_dynamics_derivatives, name, self._load, out, q, qd, qdd)
        return self._answer_with(name, out, wrenches, q=q, qd=qd, qdd=qdd)

    def forward_dynamics_derivatives(self, q, qd, tau, wrenches=None, out=None) -> np.ndarray:
        """Return the derivatives (..., 3, nv, nv) of ``forward_dynamics`` by q, qd and tau; the last: M^-1.

        In rad/s^2 (m/s^2) per unit of q, qd, tau. ``wrenches`` in their links' frames, in which they stay as they are.
        Raises ModelError where a joint has no inertia to move. Carpentier & Mansard 2018.
        """
        name = 'forward_dynamics_derivatives'
        if wrenches is None:
            return self._answer(self._single.forward_dynamics_derivatives, name, self._load, out, q, qd, tau)
        return self._answer_with(name, out, wrenches, q=q, qd=qd, tau=tau)
