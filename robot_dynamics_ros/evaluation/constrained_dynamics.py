"""Operational-space dynamics of frames, and dynamics of closed loops."""

import warnings

from robot_dynamics_ros.evaluation import closed_loops, operational_space, results
from robot_dynamics_ros.evaluation.documented import Links, documented
from robot_dynamics_ros.evaluation.dynamics import ALIGNED, Dynamics
from robot_dynamics_ros.evaluation.evaluator import written


@documented
class ConstrainedDynamics(Dynamics):
    """``Dynamics`` with the operational space of frames, and with closed loops (``with_loops``).

    Arguments, shapes and errors are those of ``Dynamics``.
    """

    def operational_space_inertia(self, q, link: Links, reference_frame=ALIGNED, out=None) -> results.FrameInertia:
        """Operational-space inertia (J M^-1 J')^-1 of F frames. Khatib 1987.

        Raises SingularError where the links cannot move in all directions, six for each, independently of each other.
        """
        name = 'operational_space_inertia'
        return operational_space.evaluate(self._evaluator, name, self._load, out, link, reference_frame, q)

    def operational_space_inertia_inverse(
        self, q, link: Links, reference_frame=ALIGNED, out=None
    ) -> results.InverseFrameInertia:
        """Inverse J M^-1 J' of the operational-space inertia of F frames, which exists also where that is singular.

        Multiplied by wrenches on the frames it is the change of the frames' accelerations. The cost is linear in the
        number of joints. Rodriguez, Jain & Kreutz-Delgado 1991.
        """
        return operational_space.inertia_inverse(self._evaluator, self._load, out, link, reference_frame, q)

    def consistent_inverse(self, q, link: Links, reference_frame=ALIGNED, out=None) -> results.ConsistentInverse:
        """Dynamically consistent inverse Jbar = M^-1 J' (J M^-1 J')^-1 of J of F frames. Raises SingularError."""
        name = 'consistent_inverse'
        return operational_space.evaluate(self._evaluator, name, self._load, out, link, reference_frame, q)

    def nullspace_projector(self, q, link: Links, reference_frame=ALIGNED, out=None) -> results.TorqueProjector:
        """Dynamically consistent projector 1 - J' Jbar' of joint torques, Jbar the ``consistent_inverse`` of F frames.

        Projected torques do not accelerate the frames: J M^-1 (1 - J' Jbar') = 0. Khatib 1987, 1995. Raises
        SingularError.
        """
        return operational_space.nullspace_projector(self._evaluator, self._load, out, link, reference_frame, q)

    def operational_space_bias(self, q, qd, link: Links, reference_frame=ALIGNED, out=None) -> results.FrameWrench:
        """Bias wrench Jbar' c - inertia dJ/dt qd, Jbar the ``consistent_inverse``. Raises SingularError."""
        name = 'operational_space_bias'
        return operational_space.evaluate(self._evaluator, name, self._weightless, out, link, reference_frame, q, qd)

    def operational_space_gravity(self, q, link: Links, reference_frame=ALIGNED, out=None) -> results.FrameWrench:
        """Wrench Jbar' g of gravity, Jbar the ``consistent_inverse``. Raises SingularError."""
        name = 'operational_space_gravity'
        return operational_space.evaluate(self._evaluator, name, self._load, out, link, reference_frame, q)

    def loop_errors(self, q, out=None) -> results.Residuals:
        """Residuals e(q) of the loop constraints, zero where loops are closed. Featherstone & Orin 2000, eq. 16."""
        return self._evaluate('loop_errors', self._load, out, q)

    def loop_jacobian(self, q, out=None) -> results.LoopJacobian:
        """Jacobian J(q) of the constraints: the residuals have the rates J qd. Featherstone & Orin 2000, eq. 17."""
        return self._evaluate('loop_jacobian', self._load, out, q)

    def loop_rates(self, q, qd, out=None) -> results.Residuals:
        """Rates J qd of the residuals."""
        return self._evaluate('loop_rates', self._load, out, q, qd)

    def loop_accelerations(self, q, qd, qdd, out=None) -> results.Residuals:
        """Accelerations J qdd + dJ/dt qd of the residuals. Featherstone & Orin 2000, eq. 17."""
        return self._evaluate('loop_accelerations', self._load, out, q, qd, qdd)

    def mobility(self, q) -> results.Mobility:
        """Number of independent velocities (...) at q: nv minus the rank of the constraint Jacobian.

        It changes where the mechanism passes a singular position. Constraints are independent by the rank test of
        ``forward_dynamics``, with the tolerance of ``with_loops``. Raises ModelError for a joint without inertia.
        """
        return closed_loops.mobility(self._evaluator, q)

    def close_loops(self, q, qd=None) -> closed_loops.ClosedState:
        """Positions with closed loops near q, and velocities near qd that keep them closed: (q, qd), both new.

        Newton's method with the steps of least kinetic energy; velocities are projected as by ``impact``. Raises
        LoopError naming a loop that stays open, for instance because the links are too short. Constraints that depend
        on others may stay open by the tolerance of ``with_loops``, in rad or relative to the robot's largest distance
        of joints.
        """
        return closed_loops.close_loops(self._evaluator, q, qd)

    def impact(self, q, qd, out=None) -> results.Velocities:
        """Velocities after an impact that stops the rates of the loops: of all such velocities the nearest to ``qd``.

        qd - M^-1 J' (J M^-1 J')^-1 J qd: no other impulse acts, and no kinetic energy is gained.
        """
        return closed_loops.impact(self._evaluator, q, qd, out)

    def constraint_forces(self, q, qd, tau, out=None) -> results.LoopForces:
        """Multipliers lambda of the constraints under joint torques: M qdd + c + g = tau + tau_a + J' lambda.

        Where constraints depend on each other, those of least norm. Closures act on B in the axes of A, at the origin
        of B. Featherstone & Orin 2000, eq. 19 to 21.
        """
        return written(out, closed_loops.constraint_forces(self._evaluator, q, qd, tau))

    def closure_torque(self, q, torques, out=None) -> results.Torques:
        """Joint torques tau_a of motors in closing joints, to be added to tau. Featherstone & Orin 2000, eq. 19.

        ``torques`` act on B about the z axis of A, with their reaction on A.
        """
        return closed_loops.closure_torque(self._evaluator, q, torques, out)

    def closing_torque(self, q, torques, out=None) -> results.Torques:
        """Joint torques of motors in closing joints: the former name of ``closure_torque``."""
        warnings.warn('closing_torque is deprecated: call closure_torque', DeprecationWarning, stacklevel=2)
        return self.closure_torque(q, torques, out)
