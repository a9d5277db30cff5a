"""Dynamics of a robot as its frames and its loops see it."""

from robot_dynamics_ros.evaluation import operational_space, results
from robot_dynamics_ros.evaluation.documented import documented
from robot_dynamics_ros.evaluation.dynamics import ALIGNED, Dynamics


@documented
class ConstrainedDynamics(Dynamics):
    """``Dynamics`` with the operational space of its frames.

    Arguments, shapes and errors are those of ``Dynamics``.
    """

    def operational_space_inertia(self, q, link: str, reference_frame=ALIGNED, out=None) -> results.FrameInertia:
        """Operational-space inertia (J M^-1 J')^-1 of a link's frame. Khatib 1987.

        Raises SingularError where the link cannot move in all six directions.
        """
        name = 'operational_space_inertia'
        return operational_space.evaluate(self._evaluator, name, self._load, out, link, reference_frame, q)

    def consistent_inverse(self, q, link: str, reference_frame=ALIGNED, out=None) -> results.ConsistentInverse:
        """Dynamically consistent inverse M^-1 J' (J M^-1 J')^-1 of J. Raises SingularError."""
        name = 'consistent_inverse'
        return operational_space.evaluate(self._evaluator, name, self._load, out, link, reference_frame, q)

    def operational_space_bias(self, q, qd, link: str, reference_frame=ALIGNED, out=None) -> results.Wrench:
        """Bias wrench Jbar' c - inertia dJ/dt qd, Jbar the ``consistent_inverse``. Raises SingularError."""
        name = 'operational_space_bias'
        return operational_space.evaluate(self._evaluator, name, self._weightless, out, link, reference_frame, q, qd)

    def operational_space_gravity(self, q, link: str, reference_frame=ALIGNED, out=None) -> results.Wrench:
        """Wrench Jbar' g of gravity, Jbar the ``consistent_inverse``. Raises SingularError."""
        name = 'operational_space_gravity'
        return operational_space.evaluate(self._evaluator, name, self._load, out, link, reference_frame, q)

    def loop_errors(self, q, out=None) -> results.Rows:
        """Errors e(q) of the rows of all closed loops, zero where they are closed. Featherstone & Orin 2000, eq. 16."""
        return self._evaluate('loop_errors', self._load, out, q)

    def loop_jacobian(self, q, out=None) -> results.LoopJacobian:
        """Jacobian J(q) of the loops: the errors have the rates J qd. Featherstone & Orin 2000, eq. 17."""
        return self._evaluate('loop_jacobian', self._load, out, q)

    def loop_rates(self, q, qd, out=None) -> results.Rows:
        """Rates J qd of the errors of the loops."""
        return self._evaluate('loop_rates', self._load, out, q, qd)

    def loop_accelerations(self, q, qd, qdd, out=None) -> results.Rows:
        """Accelerations J qdd + dJ/dt qd of the errors of the loops. Featherstone & Orin 2000, eq. 17."""
        return self._evaluate('loop_accelerations', self._load, out, q, qd, qdd)
