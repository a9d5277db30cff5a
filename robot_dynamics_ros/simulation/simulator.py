"""Simulation of a robot: time integration of its forward dynamics from a start state."""

import warnings

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros import validation
from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.robot.described_robot import ALIGNED, evaluator_of
from robot_dynamics_ros.robot.loop_rank import independent_constraints, units_of_constraints
from robot_dynamics_ros.robot.shared_parameters import Wrenches
from robot_dynamics_ros.simulation.compiled_motion import compiled_motion, is_compiled
from robot_dynamics_ros.simulation.elastic_joints import ElasticJoints
from robot_dynamics_ros.simulation.elastic_motion import ElasticMotion, motor_torque, wrenches_of_tree
from robot_dynamics_ros.simulation.simulation_result import SimulationResult
from robot_dynamics_ros.simulation.simulation_setup import Setup
from robot_dynamics_ros.simulation.step_arrays import Plan, Stops
from robot_dynamics_ros.simulation.stepwise_motion import stepwise_motion
from robot_dynamics_ros.simulation.torque_inputs import Torque, torque_input

NODES_AND_WEIGHTS = {
    'euler': ((0.0,), (1.0,)),
    'semi_implicit': ((0.0,), (1.0,)),
    'rk4': ((0.0, 0.5, 0.5, 1.0), (1 / 6, 1 / 3, 1 / 3, 1 / 6)),
}
"""Explicit Runge-Kutta methods of fixed step: each stage begins from the derivative of the stage before."""
METHODS = (*NODES_AND_WEIGHTS, 'adaptive')
LIMITS = ('stop', 'bounce')
OPEN = 1e-6
"""rad, or relative to the robot's characteristic length. Largest error of closed loops at the start, and largest rate
per s, also relative to velocities."""
WHOLE = 1e-6
"""Allowed difference of a number of steps from an integer, relative."""


def simulate(
    robot: Robot | ElasticJoints,
    q0: ArrayLike,
    qd0: ArrayLike,
    torque: Torque | None = None,
    duration: float = 1.0,
    step: float = 1e-3,
    method: str = 'rk4',
    *,
    every: int = 1,
    wrenches: Wrenches | None = None,
    reference_frame: str = ALIGNED,
    friction: bool = False,
    limits: str | None = None,
    restitution: float = 0.5,
    tolerance: float = 1e-9,
    threads: int | None = None,
    projection: bool = True,
) -> SimulationResult:
    """Motion of a robot from a start state: the integral of qdd = forward_dynamics(q, qd, tau - friction).

    Parameters
    ----------
    robot : Robot or ElasticJoints
        With the payload and gravity of the motion. With ``ElasticJoints``, ``q0`` and ``qd0`` are those of the links.
    q0 : array_like, (..., nq)
        Start positions, rad (prismatic joints: m). Leading axes are a batch of start states.
    qd0 : array_like, (..., nv)
        Start velocities, rad/s or m/s.
    torque : array_like, callable or Law, optional
        Applied joint torques, N m (prismatic joints: N). An array (nv,) is constant; (..., steps, nv) has a row for
        each step, held during the step; (..., 1, nv) is constant and different for each start state. A function
        ``torque(t, q, qd)`` of time (s), positions (..., nq) and velocities (..., nv) is called for each stage of a
        step; for ``'adaptive'`` with the positions (nq,) and velocities (nv,) of one start state at a time. A control
        law (``control.law.Law``) computes a torque for the state at the beginning of each step. Of ``ElasticJoints``,
        a function is called as ``torque(t, motor_q, motor_qd, q, qd)``, and a law gets the motors. Default: none.
    duration : float
        Simulated time, s, a multiple of ``step``.
    step : float
        Time step, s; for ``'adaptive'`` the interval of the samples.
    method : str
        ``'euler'``: explicit Euler method, order 1. ``'semi_implicit'``: positions move at the velocity after the step,
        order 1, and the energy of an oscillation stays bounded. ``'rk4'``: classical Runge-Kutta method, order 4.
        ``'adaptive'``: ``scipy.integrate.solve_ivp``, order 8, steps chosen for ``tolerance``; needs SciPy.
    every : int
        Number of steps between two samples of the result, a divisor of the number of steps.
    wrenches : dict or array_like, optional
        Constant external wrenches, as for ``Robot.forward_dynamics``.
    reference_frame : str
        In which the wrenches are constant.
    friction : bool
        Whether the joint friction of ``robot.friction`` acts, load-dependent friction by the transmitted torque.
    limits : str, optional
        What happens at position limits: ``'stop'`` or ``'bounce'``. The impulse also changes the velocities of other
        joints. A position beyond its limit is set to the limit, an error of the order of ``step``. Default: ignored.
    restitution : float
        Velocity after a bounce divided by that before, 0 to 1.
    tolerance : float
        Of ``'adaptive'``: bound of the error of a step, relative to each coordinate and in SI units.
    threads : int, optional
        Number of cores for a batch. Default: all.
    projection : bool
        Of a robot with closed loops: whether they are closed again after each step, for ``'adaptive'`` in each sample.
        Positions change by a Newton step (``'adaptive'``: by ``Robot.close_loops``), then velocities, both by the least
        change in the metric of the mass matrix. The start has to be closed to 1e-6 (rad, m; rates also relative to the
        largest velocity), see ``Robot.close_loops``. With projection, fixed steps do without the gain of
        ``Robot.with_loops``. Without projection, and between samples of ``'adaptive'``, this gain alone keeps the loops
        closed.

    Returns
    -------
    SimulationResult
        Samples at 0, every * step, ..., duration; an ``ElasticMotion`` for ``ElasticJoints``.

    Raises
    ------
    ArgumentError
        For a wrong argument, which is named, for a start whose loops are open, for friction that exceeds any
        transmitted torque, and for a state that is not finite, with its time.
    ModelError
        For a joint without inertia.
    LoopError
        For ``'adaptive'`` with a tolerance so large that a sample cannot be closed.
    DynamicsError
        For ``'adaptive'`` without SciPy.

    Warns
    -----
    UserWarning
        Where closing the loops changes velocities by more than 1e-3 in one step, as at a singular position, where a
        mechanism may change its branch and lose energy. ``SimulationResult.findings`` names these positions.

    References
    ----------
    Featherstone & Orin 2000, section 2. Munthe-Kaas 1999: Runge-Kutta steps of free, planar and spherical joints.
    """
    if isinstance(robot, ElasticJoints):
        _check_positive('step', step)
        validation.choice('method', method, METHODS)
        x0, v0 = robot.start(q0, qd0)
        robot.check_step(q0, step, method)
        motion = simulate(
            robot.moving(friction),
            x0,
            v0,
            motor_torque(robot, torque),
            duration,
            step,
            method,
            every=every,
            wrenches=wrenches_of_tree(robot, wrenches),
            reference_frame=reference_frame,
            friction=bool(friction) or bool(robot.damping.any()),
            limits=limits,
            restitution=restitution,
            tolerance=tolerance,
            threads=threads,
        )
        return ElasticMotion.of(robot, motion)
    (q, qd), batch = validation.states({'q0': robot.nq, 'qd0': robot.nv}, q0=q0, qd0=qd0)
    for name, rows in (('q0', q), ('qd0', qd)):
        validation.check_finite(name, rows.reshape(*batch, rows.shape[-1]))
    start, model = q.reshape(*batch, robot.nq), robot.model
    validation.check_quaternions('q0', start, model.arrays.quaternions)
    validation.check_angles('q0', start, model.arrays.angles, model.joint_of_coordinate)
    validation.choice('method', method, METHODS)
    for name, value in (('duration', duration), ('step', step), ('tolerance', tolerance)):
        _check_positive(name, value)
    stops = _stops(robot, q, limits, restitution, method)
    loops, has_loops = robot.model.loops, robot.model.arrays.constraints > 0
    if friction:
        _check_friction(robot)
    steps = _number_of_steps(duration, step)
    if not _is_count(every) or steps % every:
        raise ArgumentError(f'every: expected a divisor of {steps} steps, got {every!r:.80}')
    if threads is not None and not _is_count(threads):
        raise ArgumentError(f'threads: expected a number of cores, at least 1, got {threads!r:.80}')
    validation.choice('reference_frame', reference_frame, validation.REFERENCE_FRAMES)
    # a function computes torques for the states of one call
    states = () if method == 'adaptive' and callable(torque) else batch
    h = float(duration / steps)
    tau = torque_input(robot, torque, states, steps, h)
    nodes, weights = NODES_AND_WEIGHTS.get(method, ((0.0,), (1.0,)))
    plan = Plan(
        h=h,
        nodes=np.array(nodes),
        weights=np.array(weights),
        semi_implicit=method == 'semi_implicit',
        elementary=_is_elementary(robot),
        friction=bool(friction),
        work=torque is not None or bool(friction),
        limits=limits is not None,
        projection=has_loops and bool(projection),
        steps=steps,
        every=int(every),
    )
    if plan.projection:
        _check_closed(robot, 'q0', q, robot.loop_errors(q), 1.0)
        _check_closed(robot, 'qd0', q, robot.loop_rates(q, qd), max(1.0, np.abs(qd).max(initial=0.0)))
    elif has_loops and limits is not None:
        raise ArgumentError('projection: required with position limits, at which impulses have to keep loops closed')
    # fixed steps are projected: without the gain, forward dynamics is that of closed loops
    moved = robot.with_loops(loops.all, 0.0, loops.tolerance) if plan.projection and method != 'adaptive' else robot
    jumps = np.zeros((2, len(q)))
    setup = Setup(moved, plan, tau, stops, q, qd, _rows_of(wrenches, batch), reference_frame, jumps)
    # names what is wrong with wrenches, and a joint without inertia
    robot.forward_dynamics(q, qd, np.zeros(robot.nv), setup.wrenches, reference_frame=reference_frame)
    if not len(q):
        samples = setup.samples()
    elif method == 'adaptive':
        try:
            from robot_dynamics_ros.simulation.adaptive_steps import adaptive_motion  # noqa: PLC0415
        except ModuleNotFoundError as error:
            raise DynamicsError(
                f"method: 'adaptive' needs {error.name}, which is not installed: pip install scipy"
            ) from error

        samples = adaptive_motion(setup, tolerance)
    else:
        samples = compiled_motion(setup, threads) if is_compiled(setup) else stepwise_motion(setup)
    t = plan.h * plan.every * np.arange(steps // every + 1)
    in_order = (np.moveaxis(array, 0, 1) for array in samples)
    q, qd, work = (array.reshape(*batch, *array.shape[1:]) for array in in_order)
    jump, jump_step = jumps.reshape(2, *batch)
    result = SimulationResult(robot, t, q, qd, work, jump, plan.h * jump_step)
    if result.jump_findings:
        first, *others = result.jump_findings
        more = f'; the same in {len(others)} other start states, see SimulationResult.findings' if others else ''
        warnings.warn(f'simulation: {first.where}: {first.message}{more}', stacklevel=2)
    return result


def _check_positive(name: str, value) -> None:
    """Raise ArgumentError unless a value is a positive number."""
    if not isinstance(value, int | float | np.floating | np.integer) or not 0.0 < value < np.inf:
        raise ArgumentError(f'{name}: expected a positive number, got {value!r:.80}')


def _is_count(value) -> bool:
    """Return whether a value is an integer from 1 on."""
    return isinstance(value, int | np.integer) and bool(value >= 1)


def _number_of_steps(duration: float, step: float) -> int:
    """Return the number of steps; ArgumentError unless it is an integer."""
    steps = round(duration / step)
    if steps < 1 or abs(steps * step - duration) > WHOLE * duration:
        raise ArgumentError(f'duration: expected a multiple of the step of {step:g} s, got {duration:g} s')
    return steps


def _is_elementary(robot: Robot) -> bool:
    """Return whether a step of every joint is a difference of its coordinates."""
    arrays = robot.model.arrays
    return not arrays.quaternions and not (arrays.slides == 2).any()


def _stops(robot: Robot, q: np.ndarray, limits: str | None, restitution: float, method: str) -> Stops:
    """Return the joints with position limits; ArgumentError for a start (count, nq) beyond them."""
    none = np.zeros(0, np.int64)
    if limits is None:
        return Stops(none, none, np.zeros(0), np.zeros(0), 0.0)
    validation.choice('limits', limits, LIMITS)
    if method == 'adaptive':
        raise ArgumentError(f'limits: {limits!r} needs a fixed step; choose a method of {", ".join(NODES_AND_WEIGHTS)}')
    if limits == 'bounce' and not (isinstance(restitution, int | float | np.floating) and 0.0 <= restitution <= 1.0):
        raise ArgumentError(f'restitution: expected a number from 0 to 1, got {restitution!r:.80}')
    arrays, coordinates, velocities = robot.model.arrays, [], []
    for i in range(1, arrays.n + 1):
        if arrays.first[i + 1] - arrays.first[i] == 1:
            coordinate = int(arrays.angle[i] if arrays.angle[i] >= 0 else arrays.slide[i])
            lower, upper = robot.limits.lower[coordinate], robot.limits.upper[coordinate]
            if lower > -np.inf or upper < np.inf:  # not NaN: unknown
                coordinates.append(coordinate)
                velocities.append(int(arrays.first[i]) - 1)
    lower, upper = (np.array(limit[coordinates], float) for limit in (robot.limits.lower, robot.limits.upper))
    beyond = np.argwhere((q[:, coordinates] < lower) | (q[:, coordinates] > upper))
    if len(beyond):
        b, j = beyond[0]
        joint = robot.model.joint_of_velocity(velocities[j])
        raise ArgumentError(
            f'q0: joint {joint!r} is at {q[b, coordinates[j]]:g}, outside its limits of {lower[j]:g} to {upper[j]:g}'
        )
    indices = np.array(coordinates, np.int64), np.array(velocities, np.int64)
    lower, upper = np.where(np.isnan(lower), -np.inf, lower), np.where(np.isnan(upper), np.inf, upper)
    return Stops(*indices, lower, upper, float(restitution) if limits == 'bounce' else 0.0)


def _check_closed(robot: Robot, name: str, q: np.ndarray, errors: np.ndarray, factor: float) -> None:
    """Raise ArgumentError naming the loop that is open by the largest one of errors (count, m), or moves open.

    A constraint that depends on others may be open by the tolerance of the loops.
    """
    most = factor * OPEN * np.broadcast_to(units_of_constraints(robot.model), errors.shape)
    if (np.abs(errors) <= most).all():
        return
    dependent = most * max(1.0, robot.loops.tolerance / OPEN)
    most = np.where(independent_constraints(evaluator_of(robot), q), most, dependent)
    excess = np.abs(errors) / most
    b, k = np.unravel_index(np.argmax(excess), excess.shape)
    if excess[b, k] > 1.0:
        state = f' of start state {b}' if len(errors) > 1 else ''
        what, unit = ('is open by', 'rad, m') if name == 'q0' else ('opens at a rate of', 'rad/s, m/s')
        raise ArgumentError(
            f'{name}: {robot.model.loops.constraint_names[k]}{state} {what} {abs(errors[b, k]):.3g} ({unit}); '
            f'expected up to {most[b, k]:g}, see Robot.close_loops'
        )


def _check_friction(robot: Robot) -> None:
    """Raise ArgumentError for coupled motors, and for a gear whose load-dependent friction locks it."""
    if robot.model.motor_coupling:
        joint = robot.model.joint_of_velocity(robot.model.motor_coupling[0][0])
        raise ArgumentError(
            f'friction: the motor of joint {joint!r} is coupled with other joints, which is not simulated'
        )
    locked = np.flatnonzero(robot.friction.load >= 1.0)
    if len(locked):
        joint = robot.model.joint_of_velocity(int(locked[0]))
        load = robot.friction.load[locked[0]]
        raise ArgumentError(
            f'friction: joint {joint!r} cannot move, its friction grows by {load:g} per transmitted torque'
        )


def _rows_of(wrenches, batch: tuple[int, ...]):
    """Return wrenches with one axis of states: {link: (count, 6)} or (count, links, 6)."""
    if wrenches is None or (isinstance(wrenches, dict) and not wrenches):
        return None
    if isinstance(wrenches, dict):
        return {link: _flat(f'wrenches[{link!r}]', value, batch, 1) for link, value in wrenches.items()}
    return _flat('wrenches', wrenches, batch, 2)


def _flat(name: str, value, batch: tuple[int, ...], axes: int) -> np.ndarray:
    """Return numbers (..., shape of ``axes`` axes) for each state of a batch, as rows."""
    array = validation.numbers(name, value)
    own = array.shape[array.ndim - axes :]
    try:
        return np.broadcast_to(array, (*batch, *own)).reshape(-1, *own)
    except ValueError:
        raise ArgumentError(f'{name}: shape {array.shape} does not broadcast to {(*batch, *own)}') from None
