"""Dynamics quantities of a robot."""

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.algorithms.program import WRENCHES
from robot_dynamics_ros.algorithms.table import METHODS
from robot_dynamics_ros.codegen.specialised import Specialised
from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.evaluation import divide_and_conquer, results
from robot_dynamics_ros.evaluation.actuated_torques import actuated_torques
from robot_dynamics_ros.evaluation.documented import documented
from robot_dynamics_ros.evaluation.evaluator import Evaluator, written
from robot_dynamics_ros.evaluation.friction import friction_torque
from robot_dynamics_ros.model import base_parameters, configuration
from robot_dynamics_ros.model.model import GRAVITY, Model
from robot_dynamics_ros.payload import Payload, loaded

ALIGNED = 'local_world_aligned'
WITHOUT_CORIOLIS_MATRIX = ('planar', 'spherical', 'free')
"""Joint types where qd is not the time derivative of q."""


@documented
class Dynamics:
    """The dynamics quantities of one robot, for one state or for batches of states (..., nq or nv), which broadcast.

    Joint vectors are in the order of ``joint_names``, in SI units (rad, N m; m, N for prismatic joints); 6-vectors have
    their angular part first. ArgumentError names an argument of a wrong shape, or with NaN or inf.
    """

    def __init__(
        self,
        model: Model,
        gravity=GRAVITY,
        specialised: Specialised | None = None,
        threads: int | None = None,
        payloads: Mapping[str, Payload] | tuple[()] = (),
        adaptive: bool = True,
    ):
        """Store ``model`` with ``payloads`` on its frames under ``gravity`` (3, m/s^2, base frame).

        ``specialised`` is code for this robot, compiled at its first use or, if ``adaptive``, when that pays.
        ``threads`` is the number of cores for changed copies and pickles.
        """
        self._bare = model
        self._payloads = dict(payloads)
        self._model = loaded(model, self._payloads)
        self._gravity = validation.finite('gravity', gravity, (3,)).copy()
        self._code = specialised
        self._threads = threads
        self._adaptive = adaptive
        self._evaluator = Evaluator(self._model, self._gravity, specialised, adaptive)
        self._evaluate = self._evaluator.evaluate
        self._load, self._weightless = self._evaluator.load, self._evaluator.weightless
        self._zeros = np.zeros(self.nv)
        self._qd_is_derivative_of_q = not set(WITHOUT_CORIOLIS_MATRIX).intersection(model.joint_kinds)

    @cached_property
    def _divide_and_conquer(self) -> divide_and_conquer.DivideAndConquer:
        """Order and workspaces of forward dynamics by divide and conquer."""
        return divide_and_conquer.DivideAndConquer(self._model, self._threads)

    nq = property(lambda self: self._model.arrays.nq, doc='Number of position coordinates.')
    nv = property(lambda self: self._model.arrays.nv, doc='Number of velocities, accelerations and torques.')

    def inverse_dynamics(
        self,
        q,
        qd,
        qdd,
        wrenches=None,
        out=None,
        reference_frame=ALIGNED,
        base_velocity=None,
        base_acceleration=None,
        actuated=None,
    ) -> results.Torques:
        """Joint torques of a motion: tau = M qdd + c + g - J' F; rotors are included, friction and springs are not.

        Loops are open, unless joints are ``actuated``: then the least torques of these joints that produce the motion
        together with the forces of the loops. Raises ArgumentError where there are none, naming the joints or a loop.
        Featherstone & Orin 2000, eq. 3, 4, 7, 8.
        """
        if wrenches is None and actuated is None and base_velocity is None and base_acceleration is None:
            return self._evaluate('inverse_dynamics', self._load, out, q, qd, qdd)
        name, base = 'inverse_dynamics', (base_velocity, base_acceleration)
        if actuated is not None:
            tau = self.inverse_dynamics(q, qd, qdd, wrenches, None, reference_frame, *base)
            return written(out, actuated_torques(self._evaluator, q, qd, qdd, tau, actuated))
        if base_velocity is None and base_acceleration is None:
            return self._evaluate((name, None, reference_frame, WRENCHES), self._load, out, q, qd, qdd, wrenches)
        return self._on_moving_base(name, out, wrenches, reference_frame, base, q, qd, qdd)

    def forward_dynamics(
        self,
        q,
        qd,
        tau,
        wrenches=None,
        out=None,
        reference_frame=ALIGNED,
        base_velocity=None,
        base_acceleration=None,
        method=None,
    ) -> results.Accelerations:
        """Joint accelerations under joint torques: qdd = M^-1 (tau + tau_s - c - g + J' F); subtract friction from tau.

        tau_s is ``spring_torque``. Closed loops stay closed: their errors decay (``with_loops``). The motion of a
        moving base is prescribed; for a floating base use a free joint. Raises ModelError for a joint without inertia,
        by divide and conquer for a link without, and ArgumentError for an unknown ``method``. By mass matrix: Walker &
        Orin 1982, method 3; by articulated bodies: Featherstone & Orin 2000, eq. 12 to 14; by divide and conquer:
        Featherstone 1999; with closed loops: Featherstone & Orin 2000, eq. 15 to 21.
        """
        if wrenches is None and method is None and base_velocity is None and base_acceleration is None:
            return self._evaluate('forward_dynamics', self._load, out, q, qd, tau)
        name = 'forward_dynamics'
        if method is not None:
            method = validation.choice('method', method, [*METHODS, divide_and_conquer.METHOD])
            name = f'forward_dynamics_by_{method}'
        if method == divide_and_conquer.METHOD:
            base = base_velocity, base_acceleration
            by = self._divide_and_conquer
            return divide_and_conquer.evaluate(self._evaluator, by, out, wrenches, reference_frame, base, q, qd, tau)
        if base_velocity is None and base_acceleration is None:
            if wrenches is None:
                return self._evaluate(name, self._load, out, q, qd, tau)
            return self._evaluate((name, None, reference_frame, WRENCHES), self._load, out, q, qd, tau, wrenches)
        base = base_velocity, base_acceleration
        return self._on_moving_base(name, out, wrenches, reference_frame, base, q, qd, tau)

    def _on_moving_base(self, name: str, out, wrenches, reference_frame: str, base, *vectors) -> np.ndarray:
        """Return a quantity on a base of this velocity and acceleration (..., 6 each), zeros where it is None."""
        validation.choice('reference_frame', reference_frame, validation.REFERENCE_FRAMES)
        name = f'{name}_on_moving_base'
        vectors = *vectors, *(np.zeros(6) if motion is None else motion for motion in base)
        if wrenches is None:
            return self._evaluate(name, self._load, out, *vectors)
        return self._evaluate((name, None, reference_frame, WRENCHES), self._load, out, *vectors, wrenches)

    def mass_matrix(self, q, out=None) -> results.MassMatrix:
        """Joint-space mass matrix M(q), rotor inertia included. Featherstone & Orin 2000, eq. 9, 10."""
        return self._evaluate('mass_matrix', self._load, out, q)

    def mass_matrix_inverse(self, q, out=None) -> results.InverseMassMatrix:
        """Inverse M^-1(q) of the mass matrix, from articulated-body inertias without forming M.

        Raises ModelError for a joint without inertia. Rodriguez, Jain & Kreutz-Delgado 1991; RBDA table 7.1.
        """
        return self._evaluate('mass_matrix_inverse', self._load, out, q)

    def gravity_torque(self, q, out=None) -> results.Torques:
        """Joint torques g(q) = dV/dq that hold the robot against gravity; V is the potential energy."""
        return self._evaluate('gravity_torque', self._load, out, q)

    def bias_torque(self, q, qd, out=None) -> results.Torques:
        """Joint torques at zero acceleration: h = c(q, qd) + g(q)."""
        return self._evaluate('bias_torque', self._load, out, q, qd)

    def coriolis_torque(self, q, qd, out=None) -> results.Torques:
        """Coriolis and centrifugal torques c(q, qd) = h(q, qd) - g(q)."""
        return self._evaluate('bias_torque', self._weightless, out, q, qd)

    def coriolis_matrix(self, q, qd, out=None) -> results.CoriolisMatrix:
        """Matrix C of Christoffel symbols: C qd = c(q, qd), and dM/dt - 2 C is skew-symmetric.

        Raises ModelError for planar, spherical and free joints, where qd is not the time derivative of q. Siciliano et
        al. 2009, section 7.2.1.
        """
        if not self._qd_is_derivative_of_q:
            raise ModelError(f'Coriolis matrix: qd of {self._model.name} is not the time derivative of q')
        return self._evaluate('coriolis_matrix', self._load, out, q, qd)

    def inertia_torque(self, q, qdd, out=None) -> results.Torques:
        """Joint torques M(q) qdd of an acceleration."""
        return self._evaluate('inverse_dynamics', self._weightless, out, q, self._zeros, qdd)

    def friction_torque(self, qd, tau=None, out=None) -> results.Torques:
        """Joint torques that overcome friction: viscous qd + level sign(qd) + offset, with a smooth sign.

        level = coulomb + load abs(tau) + stribeck / (1 + (qd / stribeck_velocity)^2), where tau are the torques that
        the joints transmit. Raises ArgumentError if ``tau`` is omitted and a joint has load-dependent friction.
        """
        return friction_torque(self._evaluator, qd, tau, out)

    def spring_torque(self, q, qd, out=None) -> results.Torques:
        """Joint torques of springs: stiffness (rest - q) of joints, and springs and dampers of closures.

        They act in forward dynamics and simulations, and are no part of inverse dynamics.
        """
        return self._evaluate('spring_torque', self._load, out, q, qd)

    def kinetic_energy(self, q, qd, out=None) -> results.Energy:
        """Kinetic energy T = qd' M(q) qd / 2, rotors included."""
        return self._evaluate('kinetic_energy', self._load, out, q, qd)

    def potential_energy(self, q, out=None) -> results.Energy:
        """Potential energy V = -gravity . sum of m c; zero where all moving mass is at the base's origin."""
        return self._evaluate('potential_energy', self._load, out, q)

    def total_energy(self, q, qd, out=None) -> results.Energy:
        """Total energy T + V: kinetic plus potential energy."""
        return self._evaluate('total_energy', self._load, out, q, qd)

    def link_pose(self, q, link: str, out=None) -> results.Pose:
        """Pose T of a link's frame in the base frame: x_base = T x_link."""
        return self._evaluate(('link_pose', link, 'world'), self._load, out, q)

    def link_velocity(self, q, qd, link: str, reference_frame=ALIGNED, out=None) -> results.Velocity:
        """Velocity J(q) qd of a link's frame."""
        return self._evaluate(('link_velocity', link, reference_frame), self._load, out, q, qd)

    def link_acceleration(self, q, qd, qdd, link: str, reference_frame=ALIGNED, out=None) -> results.Acceleration:
        """Acceleration J qdd + dJ/dt qd of a link's frame: time derivative of ``link_velocity``, without gravity."""
        return self._evaluate(('link_acceleration', link, reference_frame), self._load, out, q, qd, qdd)

    def jacobian(self, q, link: str, reference_frame=ALIGNED, out=None) -> results.Jacobian:
        """Jacobian J(q) of a link's frame: ``link_velocity`` is J qd. Siciliano et al. 2009, section 3.1."""
        return self._evaluate(('jacobian', link, reference_frame), self._load, out, q)

    def jacobian_dot_qd(self, q, qd, link: str, reference_frame=ALIGNED, out=None) -> results.Acceleration:
        """Velocity-dependent acceleration dJ/dt qd: ``link_acceleration`` for qdd = 0."""
        return self.link_acceleration(q, qd, self._zeros, link, reference_frame, out)

    def center_of_mass(self, q, out=None) -> results.Point:
        """Centre of mass of all moving links: sum of m c / sum of m."""
        return self._evaluate('center_of_mass', self._load, out, q)

    def center_of_mass_jacobian(self, q, out=None) -> results.PointJacobian:
        """Jacobian J of the centre of mass, whose velocity is J qd."""
        return self._evaluate('center_of_mass_jacobian', self._load, out, q)

    def centroidal_momentum_matrix(self, q, out=None) -> results.MomentumMatrix:
        """Centroidal momentum matrix A(q): the momentum about the centre of mass is A qd, in the base's axes.

        Orin & Goswami 2008.
        """
        return self._evaluate('centroidal_momentum_matrix', self._load, out, q)

    def centroidal_momentum(self, q, qd, out=None) -> results.Momentum:
        """Momentum A(q) qd about the centre of mass, in the base's axes; ``rotor_spin`` is included."""
        return self._evaluate('centroidal_momentum', self._load, out, q, qd)

    def inverse_dynamics_derivatives(
        self, q, qd, qdd, wrenches=None, out=None, reference_frame=ALIGNED
    ) -> results.TorqueDerivatives:
        """Derivatives of ``inverse_dynamics`` with respect to q, qd and qdd; the last is M(q).

        Singh, Russell & Wensing 2022. Wrenches are constant in their reference frame.
        """
        if wrenches is None:
            return self._evaluate('inverse_dynamics_derivatives', self._load, out, q, qd, qdd)
        key = 'inverse_dynamics_derivatives', None, reference_frame, WRENCHES
        return self._evaluate(key, self._load, out, q, qd, qdd, wrenches)

    def forward_dynamics_derivatives(
        self, q, qd, tau, wrenches=None, out=None, reference_frame=ALIGNED
    ) -> results.AccelerationDerivatives:
        """Derivatives of ``forward_dynamics`` with respect to q, qd and tau; the last is M^-1(q).

        Carpentier & Mansard 2018. Wrenches are constant in their reference frame. Raises ModelError for a joint without
        inertia.
        """
        if wrenches is None:
            return self._evaluate('forward_dynamics_derivatives', self._load, out, q, qd, tau)
        key = 'forward_dynamics_derivatives', None, reference_frame, WRENCHES
        return self._evaluate(key, self._load, out, q, qd, tau, wrenches)

    def torque_regressor(self, q, qd, qdd, out=None) -> results.TorqueRegressor:
        """Regressor Y(q, qd, qdd): ``inverse_dynamics`` is Y ``inertial_parameters`` plus the torques of rotors.

        Y depends on geometry and gravity only. Siciliano et al. 2009, section 7.2.2.
        """
        return self._evaluate('torque_regressor', self._load, out, q, qd, qdd)

    def kinetic_energy_regressor(self, q, qd, out=None) -> results.EnergyRegressor:
        """Regressor y(q, qd): the kinetic energy is y ``inertial_parameters`` plus that of rotors."""
        return self._evaluate('kinetic_energy_regressor', self._load, out, q, qd)

    def potential_energy_regressor(self, q, out=None) -> results.EnergyRegressor:
        """Regressor y(q): the potential energy is y ``inertial_parameters``."""
        return self._evaluate('potential_energy_regressor', self._load, out, q)

    def base_parameters(self, tolerance: float = base_parameters.TOLERANCE) -> base_parameters.BaseParameters:
        """Base parameters: minimal identifiable combinations of ``inertial_parameters`` under this gravity.

        A description that rotates axes by 1.5708 needs a ``tolerance`` of 1e-4. Gautier & Khalil 1990.
        """
        return base_parameters.base_parameters(self._model.arrays, self._gravity, tolerance)

    def neutral(self) -> results.Position:
        """Position at which every joint's transform is the identity."""
        return configuration.neutral(self._model.arrays)

    def random(self, generator: np.random.Generator | None = None) -> results.Position:
        """Random position: uniform within the limits, or from -pi to pi without limits."""
        return configuration.random(self._model.arrays, self._model.limits, generator or np.random.default_rng())

    def integrate(self, q, step, out=None) -> results.Positions:
        """Position after a step from q; it is q + step if all joints have one degree of freedom."""
        (rows, steps), shape = self._evaluator.states(q=q, step=step)
        return written(out, configuration.integrate(self._model.arrays, rows, steps).reshape(*shape, self.nq))

    def difference(self, start, end, out=None) -> results.Steps:
        """Step for which integrate(start, step) is ``end``, with rotations of at most half a turn."""
        (one, other), shape = self._evaluator.states(start=start, end=end)
        return written(out, configuration.difference(self._model.arrays, one, other).reshape(*shape, self.nv))

    def motor_current(self, tau, out=None) -> results.Currents:
        """Motor currents tau / torque_constant; tau includes friction. ModelError names a joint without constant."""
        (tau,), shape = self._evaluator.states(tau=tau)
        return written(out, (tau / self._model.torque_constant()).reshape(*shape, self.nv))

    def torque_of_current(self, current, out=None) -> results.Torques:
        """Joint torques current * torque_constant, friction included. ModelError as ``motor_current``."""
        (current,), shape = self._evaluator.states(current=current)
        return written(out, (current * self._model.torque_constant()).reshape(*shape, self.nv))


def evaluator_of(robot: Dynamics) -> Evaluator:
    """Return the evaluator of a robot, for code that calls machine code for states in rows itself."""
    return robot._evaluator
