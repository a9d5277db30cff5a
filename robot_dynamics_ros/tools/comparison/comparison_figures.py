"""Figures of the course for any robot: a motion, its torques with payloads, motion under torques, and step methods."""

from collections.abc import Callable, Sequence

import numpy as np

from robot_dynamics_ros.control.trajectories.motion_profiles import SampledMotion
from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.payload import Payload
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.simulation import simulate
from robot_dynamics_ros.tools.figures.figures import PALETTE, Axis, Curve, Figure, joint_curves

TIME = Axis('time', 's')
UNITS = {'revolute': ('rad', 'rad/s', 'rad/s²', 'N m'), 'prismatic': ('m', 'm/s', 'm/s²', 'N')}
"""Of position, velocity, acceleration and torque."""
SIMULATED = 2.0
"""Simulated time, s."""
STEP = 1e-3
"""Step of the simulated motions, s, unless another one is asked for."""
HELD = 0.1
"""Time during which a random torque is held, s."""
SHARE = 0.1
"""Largest random torque, as a share of the effort limit, or of 10 N m where it is unknown."""
FALL = 10.0
"""Time of the course's fall without torque, s."""
DEVIATION = 5.0
"""Standard deviation of the course's random torques, N m (N)."""
COST = 1600
"""Evaluations of forward dynamics for each simulated second, the same for all methods."""


def figures(
    robot: Robot,
    motion: SampledMotion,
    masses: Sequence[float],
    com,
    seed: int,
    say: Callable[[str], None],
    step: float = STEP,
) -> list[Figure]:
    """Return all figures; those whose simulation fails are left out, which ``say`` is told with the reason.

    ``masses`` (kg) are those of payloads with the centre ``com`` (3, m) on the last link, ``step`` (s) is that of the
    simulated motions.
    """
    say('motion and torques')
    found = [*_motion(robot, motion), *_torques(robot, motion, masses, com)]
    q0, none, drawn = motion.q[0], np.zeros(robot.nv), _random_torque(robot, seed, step)
    simulated: dict[str, Callable[[], list[Figure]]] = {
        'motion without torque': lambda: _simulated(robot, 'zero_torque', 'zero torque', q0, none, step),
        'motion under random torque': lambda: _simulated(robot, 'random_torque', 'random torque', q0, drawn, step),
        'fall of 10 s': lambda: _fall(robot, q0, seed, step),
        'Euler, RK4 and adaptive steps at equal cost': lambda: _methods(robot, q0),
    }
    for name, make in simulated.items():
        say(name)
        try:
            found += make()
        except DynamicsError as error:
            say(f'left out: {name}: {error}')
    return found


def _axes(robot: Robot) -> dict[str, Axis]:
    """Return the axes of positions, velocities, accelerations and torques, in the units of the robot's joint types."""
    found = [UNITS[kind] for kind in UNITS if kind in robot.model.joint_kinds]
    position, velocity, acceleration, torque = (' or '.join(units) for units in zip(*found, strict=True))
    return {
        'q': Axis('position', position),
        'qd': Axis('velocity', velocity),
        'qdd': Axis('acceleration', acceleration),
        'tau': Axis('force' if torque == 'N' else 'torque', torque),
    }


def _motion(robot: Robot, motion: SampledMotion) -> list[Figure]:
    """Return positions, velocities and accelerations of the motion."""
    axes = _axes(robot)
    return [
        Figure(name, title, TIME, axes[key], joint_curves(robot.joint_names, motion.t, rows))
        for name, title, key, rows in (
            ('position', 'Desired position', 'q', motion.q),
            ('velocity', 'Desired velocity', 'qd', motion.qd),
            ('acceleration', 'Desired acceleration', 'qdd', motion.qdd),
        )
    ]


def _torques(robot: Robot, motion: SampledMotion, masses: Sequence[float], com) -> list[Figure]:
    """Return the torques of the motion without and with each payload."""
    found = []
    for mass in (0.0, *masses):
        arm = robot.with_payload(Payload(mass, com), robot.link_names[-1]) if mass else robot
        tau = arm.inverse_dynamics(motion.q, motion.qd, motion.qdd)
        name = f'torque_{mass:g}_kg'.replace('.', '_').replace('+', '') if mass else 'torque'
        title = f'Torque of the motion with a payload of {mass:g} kg' if mass else 'Torque of the motion, no payload'
        found.append(Figure(name, title, TIME, _axes(robot)['tau'], joint_curves(robot.joint_names, motion.t, tau)))
    return found


def _random_torque(robot: Robot, seed: int, step: float) -> np.ndarray:
    """Return random torques around zero, a row for each step, (steps, n)."""
    steps, held = round(SIMULATED / step), max(1, round(HELD / step))
    limits = np.where(robot.limits.effort > 0.0, robot.limits.effort, 10.0)  # NaN and 0: unknown
    drawn = np.random.default_rng(seed).uniform(-SHARE, SHARE, (-(-steps // held), robot.nv)) * limits
    return np.repeat(drawn, held, axis=0)[:steps]


def _simulated(robot: Robot, name: str, title: str, q0, torque, step: float) -> list[Figure]:
    """Return accelerations and positions of the motion from rest at ``q0`` under a torque."""
    run = simulate(robot, q0, np.zeros(robot.nv), torque, SIMULATED, step, 'rk4', every=5)
    applied = torque if np.ndim(torque) == 1 else np.vstack([torque[::5], torque[-1:]])
    qdd = robot.forward_dynamics(run.q, run.qd, applied)
    axes, names = _axes(robot), robot.joint_names
    found = [
        Figure(f'{name}_acceleration', f'Acceleration at {title}', TIME, axes['qdd'], joint_curves(names, run.t, qdd)),
        Figure(f'{name}_position', f'Motion at {title}', TIME, axes['q'], joint_curves(names, run.t, run.q)),
    ]
    if np.ndim(torque) == 2:
        curves = joint_curves(names, run.t, applied)
        found.insert(0, Figure(name, f'{title.capitalize()}, held for {HELD:g} s', TIME, axes['tau'], curves))
    return found


def _fall(robot: Robot, q0, seed: int, step: float) -> list[Figure]:
    """Return accelerations along a fall from rest, without torque and with a random one at each sample."""
    rest = np.zeros(robot.nv)
    run = simulate(robot, q0, rest, None, FALL, step, 'rk4', every=20)
    torques = {'zero': rest, 'random': DEVIATION * np.random.default_rng(seed).normal(size=run.qd.shape)}
    axis, names = _axes(robot)['qdd'], robot.joint_names
    return [
        Figure(
            f'fall_{name}_torque',
            f'Acceleration along a fall, {name} torque',
            TIME,
            axis,
            joint_curves(names, run.t, robot.forward_dynamics(run.q, run.qd, tau)),
        )
        for name, tau in torques.items()
    ]


def _methods(robot: Robot, q0) -> list[Figure]:
    """Return position errors and energy errors over time of three methods at equal cost, against finer steps."""
    duration, every = 1.0, 0.02
    rest = np.zeros(robot.nv)
    try:
        exact = simulate(robot, q0, rest, duration=duration, step=every / 400, method='rk4', every=400)
        runs = {
            'explicit Euler': simulate(robot, q0, rest, None, duration, 1 / COST, 'euler', every=round(COST * every)),
            'RK4': simulate(robot, q0, rest, None, duration, 4 / COST, 'rk4', every=round(COST * every / 4)),
            'adaptive': _adaptive(robot, q0, duration, every),
        }
    except ArgumentError as error:  # no option changes the cost
        raise ArgumentError(
            f'a method leaves all numbers at {COST} evaluations of forward dynamics a second: light links or stiff'
            ' friction; --tip-link leaves out a gripper'
        ) from error
    position, energy = [], []
    scale = np.abs(exact.energy).max() or 1.0
    for colour, (name, run) in zip(PALETTE[-3:], runs.items(), strict=False):
        error = np.abs(run.q - exact.q).max(axis=1)
        position.append(Curve(name, colour, run.t[1:], np.maximum(error[1:], 1e-17)))
        energy.append(Curve(name, colour, run.t[1:], np.maximum(np.abs(run.energy_drift[1:]) / scale, 1e-17)))
    of_cost = f'{COST} evaluations of forward dynamics a second'
    unit = _axes(robot)['q'].unit
    return [
        Figure(
            'method_position_error', f'Position error at {of_cost}', TIME, Axis('largest error', unit, True), position
        ),
        Figure(
            'method_energy_error', f'Energy error at {of_cost}', TIME, Axis('error / largest energy', '', True), energy
        ),
    ]


def _adaptive(robot: Robot, q0, duration: float, every: float):
    """Return the motion by adaptive steps, of the smallest tolerance with at most ``COST`` evaluations a second."""
    best = None
    for tolerance in 10.0 ** np.arange(-4.0, -13.0, -1.0):
        evaluations = 0

        def none(t, q, qd):
            nonlocal evaluations
            evaluations += 1
            return np.zeros(robot.nv)

        run = simulate(robot, q0, np.zeros(robot.nv), none, duration, every, 'adaptive', tolerance=tolerance)
        if best is not None and evaluations > COST * duration:
            break
        best = run
    return best
