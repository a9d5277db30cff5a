"""Torques, accelerations, mass matrix, energies."""

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.evaluation.evaluator import Answering, filled, written
from robot_dynamics_ros.kernels import batch


class Forces(Answering):
    """The dynamics of a robot.

    Wrenches act on the links, moment first (N m, N): a mapping from link names to (..., 6), or an array (..., n + 1, 6)
    in the order of ``link_names``. ``frame`` says how they are written; see ``motions``, where J is a Jacobian so seen:

        'local'                 in the axes of the link's frame, the moment about its origin
        'local_world_aligned'   in the axes of the base, the moment about the origin of the link's frame
        'world'                 in the axes of the base, the moment about the base's origin

    A wrench F that the robot exerts on its environment acts on the link as -F: tau = M qdd + c + g + J' F.

    The base moves with ``base_velocity`` and ``base_acceleration`` (..., 6; rad/s, m/s and per s), angular part first,
    of its origin against an inertial frame, in the base's axes; None is rest. The acceleration's linear part is the
    classical one, what an accelerometer at the origin reads plus gravity. Uniform linear velocity is not felt.

    With any of these the generic kernels answer. An arm whose base moves as forces make it is an arm on a free joint.
    """

    def inverse_dynamics(
        self, q, qd, qdd, wrenches=None, out=None, frame='local', base_velocity=None, base_acceleration=None
    ) -> np.ndarray:
        """Return the joint torques (..., nv) of a motion q, qd, qdd: rigid bodies and rotors, no friction.

        ``wrenches``, ``frame`` and the base's motion are explained above. Featherstone & Orin 2000, eq. 3 to 5.
        """
        if wrenches is None and base_velocity is None and base_acceleration is None:
            return self._answer(self._single.inverse_dynamics, 'inverse_dynamics', self._load, out, q, qd, qdd)
        base = base_velocity, base_acceleration
        return self._answer_with('inverse_dynamics', out, wrenches, frame, base, q=q, qd=qd, qdd=qdd)

    def forward_dynamics(
        self, q, qd, tau, wrenches=None, out=None, frame='local', base_velocity=None, base_acceleration=None
    ) -> np.ndarray:
        """Return the joint accelerations (..., nv) under the joint torques tau; friction is the caller's to subtract.

        ``wrenches``, ``frame`` and the base's motion as in ``inverse_dynamics``; a base that moves does so whatever the
        arm does. Raises ModelError where a joint has no inertia to move.
        By mass matrix for few joints (Featherstone & Orin 2000, section 4), else eq. 8 there.
        """
        if wrenches is None and base_velocity is None and base_acceleration is None:
            return self._answer(self._single.forward_dynamics, 'forward_dynamics', self._load, out, q, qd, tau)
        base = base_velocity, base_acceleration
        return self._answer_with('forward_dynamics', out, wrenches, frame, base, q=q, qd=qd, tau=tau)

    def mass_matrix(self, q, out=None) -> np.ndarray:
        """Return the joint-space mass matrix (..., nv, nv), rotors included. Featherstone & Orin 2000, eq. 7."""
        return self._answer(self._single.mass_matrix, 'mass_matrix', self._load, out, q)

    def mass_matrix_inverse(self, q, out=None) -> np.ndarray:
        """Return the inverse of ``mass_matrix`` (..., nv, nv), which isn't formed for it.

        Column k holds the accelerations that a torque of 1 at velocity k makes. Raises ModelError where a joint has no
        inertia to move. By articulated bodies: Rodriguez, Jain & Kreutz-Delgado 1991, RBDA table 7.1.
        """
        return self._answer(self._single.mass_matrix_inverse, 'mass_matrix_inverse', self._load, out, q)

    def gravity_torque(self, q, out=None) -> np.ndarray:
        """Return the torques (..., nv) that hold the arm at q against gravity."""
        return self._answer(self._single.gravity_torque, 'gravity_torque', self._load, out, q)

    def bias_torque(self, q, qd, out=None) -> np.ndarray:
        """Return the torques (..., nv) at zero acceleration: Coriolis, centrifugal and gravity."""
        return self._answer(self._single.bias_torque, 'bias_torque', self._load, out, q, qd)

    def coriolis_torque(self, q, qd, out=None) -> np.ndarray:
        """Return the Coriolis and centrifugal torques (..., nv)."""
        return self._answer(self._single.bias_torque, 'bias_torque', self._weightless, out, q, qd)

    def coriolis_matrix(self, q, qd, out=None) -> np.ndarray:
        """Return C (..., nv, nv) of Christoffel symbols: C qd is ``coriolis_torque`` and dM/dt - 2 C is skew.

        Raises ModelError where qd is not the time derivative of q: for planar, spherical and free joints.
        Siciliano et al. 2009, section 7.2.1.
        """
        if any(kind in ('planar', 'spherical', 'free') for kind in self._model.joint_kinds):
            raise ModelError(f'Coriolis matrix: qd of {self._model.name} is not the time derivative of q')
        (q, qd), shape = self._states(q=q, qd=qd)
        q, qd, units = q[:, None], qd[:, None], np.eye(self.nv)
        # c(u) = C(u) u is quadratic: column k of C(qd) is (c(qd + e_k) - c(qd - e_k)) / 4
        columns = 0.25 * (self.coriolis_torque(q, qd + units) - self.coriolis_torque(q, qd - units))
        return written(out, np.swapaxes(columns, -1, -2).reshape(*shape, self.nv, self.nv))

    def inertia_torque(self, q, qdd, out=None) -> np.ndarray:
        """Return the torques (..., nv) that accelerate the arm from rest without gravity: M(q) qdd."""
        return self._answer(
            self._single.inverse_dynamics, 'inverse_dynamics', self._weightless, out, q, self._rest, qdd
        )

    def friction_torque(self, qd, tau=None, out=None) -> np.ndarray:
        """Return the torques (..., nv) that overcome joint friction at qd; ``kernels.friction`` has the equation.

        ``tau`` (..., nv) are the torques that the joints transmit, ``inverse_dynamics`` for one: friction that grows
        with the load needs them, other friction does not. ArgumentError where they are needed and left out.
        """
        if tau is None:
            loaded = np.flatnonzero(self._model.friction.load)
            if len(loaded):
                joint = self._model.joint_of_velocity(int(loaded[0]))
                raise ArgumentError(
                    f'tau: needed, for the friction of joint {joint!r} grows with the torque it transmits'
                )
            (qd,), shape = self._states(qd=qd)
            tau = self._rest[None]
        else:
            (qd, tau), shape = self._states(qd=qd, tau=tau)
        given, torque = validation.result(out, (*shape, self.nv))
        batch.friction_torque_batch(self._model.friction, qd, tau, torque.reshape(qd.shape))
        return filled(given, torque)

    def kinetic_energy(self, q, qd, out=None) -> np.ndarray:
        """Return the kinetic energy (...) in J, rotors included."""
        return self._looped(batch.kinetic_energy_batch, (), out, q=q, qd=qd)

    def total_energy(self, q, qd, out=None) -> np.ndarray:
        """Return kinetic and potential energy together (...) in J."""
        return written(out, self.kinetic_energy(q, qd) + self.potential_energy(q))

    def potential_energy(self, q, out=None) -> np.ndarray:
        """Return the potential energy (...) in J; zero where all mass is at the base frame's origin."""
        return self._looped(batch.potential_energy_batch, (), out, self._gravity, q=q)
