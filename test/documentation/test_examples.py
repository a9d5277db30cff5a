"""Every example runs, ends, and prints what Pinocchio finds too."""

import os
import re
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

from support.matrices import matrix
from support.project import pip_alone
from support.robots.facade_robots import expected, robot_of, twin

import numpy as np
import pytest

import robot_dynamics_ros

FOLDER = Path(__file__).resolve().parents[2] / 'examples'
EXAMPLES = sorted(FOLDER.glob('*.py'))
JOINTS = robot_of('aubo_i5').joint_names


def torques(q, qd, qdd, payload=None):
    """Return Pinocchio's inverse dynamics of the AUBO-i5 for states (count, 6)."""
    t = twin('aubo_i5', tuple(robot_of('aubo_i5').gravity))
    model = t.model.copy()
    if payload:
        mass, com = payload
        model.inertias[6] += t.pin.Inertia(mass, np.array(com), np.zeros((3, 3)))
    data = model.createData()
    return np.array([t.pin.rnea(model, data, *state).copy() for state in zip(q, qd, qdd, strict=True)])


def torques_of_a_motion():
    """Return what ends each joint's line: its largest torque, friction included, and its effort limit."""
    start, end = np.radians([[0, -45, 0, 0, 0, 0], [65, -55, -35, 15, 10, 5]])
    s = np.poly1d([6.0, -15.0, 10.0, 0.0, 0.0, 0.0])
    part, duration = np.linspace(0.0, 1.0, 401), 2.0
    q, qd, qdd = (np.outer(s.deriv(k)(part), end - start) / duration**k for k in range(3))
    tau = torques(start + q, qd, qdd, payload=(3.0, (0.0, 0.0, 0.05)))
    friction = [expected('aubo_i5', 'friction_torque', [velocity]) for velocity in qd]
    limits = 133, 133, 133, 13.5, 13.5, 13.5  # N m, rated
    return [
        f'{joint} .*{torque:10.2f}{limit:10.2f}'
        for joint, torque, limit in zip(JOINTS, np.abs(tau + friction).max(axis=0), limits, strict=True)
    ]


def torques_of_random_states():
    """Return each joint's line with its largest torque, and the line that compares."""
    da = pytest.importorskip('dask.array', reason='the engine of this example, dask, is not installed')
    random = da.random.default_rng(0)
    states = [random.normal(size=(200_000, 6), chunks=(50_000, 6)).compute(scheduler='sync') for _ in range(3)]
    rows = np.abs(robot_of('aubo_i5').inverse_dynamics(*states)).argmax(axis=0)
    largest = np.abs(torques(*(state[rows] for state in states))).max(axis=0)
    lines = [f'{joint:20}{torque:10.2f} N m' for joint, torque in zip(JOINTS, largest, strict=True)]
    return [*lines, 'the first 1000 are bit for bit those of this process: True']


def torques_that_hold():
    """Return each joint's line with the torque of gravity at the goal, and what the loop says about itself."""
    for program in ('cmake', 'c++'):
        if not shutil.which(program):
            pytest.skip(f'this example builds a program, and {program} is missing')
    goal, rest = [[0.4, -0.7, 0.9, 0.2, 1.1, 0.3]], np.zeros((1, 6))
    (tau,) = torques(np.array(goal), rest, rest, payload=(1.5, (0.03, 0.0, 0.05)))
    shown = ['-?0.00' if abs(torque) < 0.005 else f'{torque:.2f}' for torque in tau]
    assert shown.count('-?0.00') <= 1
    return [
        *(f'{joint} +{text} N m' for joint, text in zip(JOINTS, shown, strict=True)),
        'largest position error below 1e-6 rad: yes',
        'a position that is NaN is refused: yes',
        '3000 updates, 0 allocations',
    ]


def torques_of_a_payload():
    """Return each joint's line with its torque before and after 2 kg are gripped."""
    motion = [0.3, -0.6, 0.9, 0.2, 1.1, 0.4], [0.5] * 6, [1.0] * 6
    t = twin('aubo_i5', tuple(robot_of('aubo_i5').gravity))
    model = t.model.copy()
    before = t.pin.rnea(model, model.createData(), *map(np.array, motion)).copy()
    model.inertias[6] += t.pin.Inertia(2.0, np.array([0.0, 0.0, 0.06]), np.diag([3e-3, 3e-3, 1e-3]))
    after = t.pin.rnea(model, model.createData(), *map(np.array, motion)).copy()
    rows = zip(JOINTS, before, after, strict=True)
    return [
        *(f'{joint:18}{a:10.3f}{b:10.3f} .*' for joint, a, b in rows),
        'after release the torques have the bits of before: True',
    ]


def torques_on_floor_and_wall():
    """Return each joint's line with its gravity torques, and what becomes of the arm that they hold."""
    q = np.array([0.3, -0.6, 0.9, 0.2, 1.1, 0.4])
    torques = []
    for gravity in ((0.0, 0.0, -9.81), (9.81, 0.0, 0.0), (0.0, 0.0, 9.81)):
        t = twin('aubo_i5', gravity)
        model = t.model.copy()
        model.inertias[6] += t.pin.Inertia(1.0, np.array([0.0, 0.0, 0.05]), np.zeros((3, 3)))
        torques.append(t.pin.computeGeneralizedGravity(model, model.createData(), q).copy())
    shown = [''.join(f'{torque:10.3f}' for torque in row) for row in np.round(np.array(torques).T, 3) + 0.0]
    return [
        *(f'{joint:18}{text}' for joint, text in zip(JOINTS, shown, strict=True)),
        'with 1.0 kg the arm moves by 0.0000 rad in 1 s',
        'with 1.5 kg the arm moves by 0.[0-9]*[1-9][0-9]* rad in 1 s',
    ]


def errors_of_two_laws():
    """Return the lines of both laws: computed torque leaves no error, PD one of several degrees."""
    return [
        r'pd +largest error in degrees: +[1-9][0-9.]+, at the end [1-9][0-9.]+',
        'computed_torque .* at the end 0.0000[0-9]+',
    ]


def energies():
    """Return a line of each method: explicit Euler gains energy, RK4 at 1 ms keeps it."""
    return [
        'euler +step 1e-03 s: energy changes by [0-9.]+e-0[0-2] .*',
        'semi_implicit .*',
        'rk4 +step 1e-02 s: .* by [0-9.]+e-0[5-7] .*',
        'rk4 +step 1e-03 s: .* by [0-9.]+e-(09|1[0-9]) .*',
    ]


def errors_on_springs():
    """Return the lines of three laws: the slow part grows threefold in a tenth of a second, the composite one settles.

    From the motors it leaves the deflection of the springs under the weight, by Pinocchio, and up to a tenth more: the
    motors yield, too.
    """
    t = twin('aubo_i5', tuple(robot_of('aubo_i5').gravity))
    model = t.model.copy()
    model.inertias[6] += t.pin.Inertia(3.0, np.zeros(3), 3.0 / 6.0 * 0.15**2 * np.eye(3))
    weight = t.pin.computeGeneralizedGravity(model, model.createData(), np.radians([65.0, -55, -35, 15, 10, 5]))
    sag = 1e3 * np.abs(weight / [2e4, 2e4, 2e4, 6e3, 6e3, 6e3]).max()
    return [
        r'slow_part +0[.][0-9]+ .* [0-9]{2}[.][0-9]+ [0-9]{3}[.][0-9]+',
        r'composite +([01][.][0-9]+ ){14}0[.]1[0-9]',
        rf'from_motors .* ({"|".join(f"{error:.2f}" for error in np.arange(sag, 1.1 * sag, 0.01))})',
    ]


def agreeing_formulations():
    """Return a line of each formulation."""
    return [f'{name} .* True' for name in ('newton_euler', 'screws', 'stacked', 'spatial', 'operators')]


def optimised_motion():
    """Return that the gradient is right, and a smaller cost."""
    return [
        'gradient against differences: within 1e-4: True',
        r'cost of the straight motion +1619\.9 .*',
        r'cost of the best motion +36[45]\.[0-9] .*',
    ]


def optimal_swing():
    """Return that the torques are those of the robot, and that two joints reach their limits."""
    pytest.importorskip('casadi', reason='the solver of this example, casadi, is not installed')
    return [
        'torques against those of the robot with the payload: within 1e-6 N m: True',
        r'largest torques as part of the limits: 0[.]24 1[.]00 0[.]50 0[.]84 1[.]00 0[.]00',
        r'cost 2388[.][0-9] N\^2 m\^2 s after [0-9]{1,2} iterations',
    ]


def held_positions():
    """Return the share of positions that the arm holds, by Pinocchio for a part of them."""
    robot = robot_of('aubo_i5')
    t = twin('aubo_i5', tuple(robot.gravity))
    model = t.model.copy()
    model.inertias[6] += t.pin.Inertia(5.0, np.array([0.0, 0.0, 0.1]), np.zeros((3, 3)))
    data = model.createData()
    q = np.random.default_rng(0).uniform(robot.limits.lower, robot.limits.upper, (200_000, 6))[:5000]
    torques = np.array([t.pin.computeGeneralizedGravity(model, data, position).copy() for position in q])
    assert np.all(np.abs(torques) <= robot.limits.effort)
    return ['positions held within the limits: 100.0 %']


def closed_mechanism(*lines):
    """Return lines of a mechanism; each checks its accelerations against MuJoCo's matrices."""
    return lambda: [r'accelerations by the matrices of MuJoCo: within 1e-9: True', *lines]


def held_arm():
    """Return the torques that hold the arm of the example, by Pinocchio."""
    pin = pytest.importorskip('pinocchio')
    (urdf,) = re.findall(r'URDF = """\s(.*?)"""', (FOLDER / '16_own_arm.py').read_text(encoding='utf-8'), re.DOTALL)
    model = pin.buildModelFromXML(urdf)
    held = pin.computeGeneralizedGravity(model, model.createData(), np.zeros(2))
    return [
        f'torques that hold it stretched out, N m: {held[0]:.3f} {held[1]:.3f}',
        'as by statics: True',
        'with 1 kg on the tool, as part of the limits: 0.43 0.29',
        'without torque it falls and swings; after 10 s of friction the tool is at -0.70 m',
    ]


def identified_arm():
    """Return a line of each joint, whose residual is the noise of 0.2 N m, and the ratio of friction, 1.3."""
    return [
        *(rf'{joint} +[0-9.]+ +0[.](19|20|21)[0-9]' for joint in JOINTS),
        'viscous friction over that of the description:( 1[.][23][0-9]){6}',
        'residuals are within 10 % of the noise: True',
    ]


WANTED = {
    '01_torques_of_a_motion': torques_of_a_motion,
    '02_payload_change': torques_of_a_payload,
    '03_gravity_compensation': torques_on_floor_and_wall,
    '04_computed_torque': errors_of_two_laws,
    '05_simulation_and_energy': energies,
    '06_formulations_compared': agreeing_formulations,
    '07_trajectory_optimisation': optimised_motion,
    '08_workspace_study': held_positions,
    '09_dask_cluster': torques_of_random_states,
    '10_control_loop_in_cpp': torques_that_hold,
    '11_four_bar': closed_mechanism(
        '3 rows, one of them without effect; mobility 1',
        'the loop stays closed within 1e-12 m: True',
        'the energy stays within 1e-8 of the largest kinetic energy: True',
    ),
    '12_delta_robot': closed_mechanism(
        '27 velocities, 18 rows, mobility 9',
        '.*acceleration left below 1e-9: True',
        'the platform stays level within 1e-5: True',
        'the loops stay closed within 1e-12 m: True',
        'the platform moved over 0[.][1-9].* m in x and 0[.][1-9].*',
    ),
    '13_stewart_platform': closed_mechanism(
        '24 velocities, 18 rows, mobility 6',
        'forces of the legs, N: 15[.]1 15[.]1 15[.]1 15[.]1 15[.]1 15[.]1',
        'lifted by 0[.]050 m; loops closed within 1e-12 m: True',
    ),
    '14_elastic_joints': errors_on_springs,
    '15_optimal_swing': optimal_swing,
    '16_own_arm': held_arm,
    '17_identification': identified_arm,
}


def output_of(path):
    """Return what a program prints in an environment without ROS 2.

    It has to succeed, and to leave no process of its group behind.
    """
    # the package that is tested here, not one that is installed beside it
    environment = os.environ | {'PYTHONPATH': str(Path(robot_dynamics_ros.__file__).parents[1])}
    with subprocess.Popen(
        pip_alone.command(path),
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=240)
            assert process.returncode == 0, output
            deadline = time.monotonic() + 30.0
            while left := running_in(process.pid):
                assert time.monotonic() < deadline, f'{path.name} left {left} behind'
                time.sleep(0.05)
        finally:
            if running_in(process.pid):
                os.killpg(process.pid, signal.SIGKILL)
    return output


def running_in(group):
    """Return the names of the processes in a group; zombies have ended, even if nobody asks for them."""
    names = []
    for path in Path('/proc').glob('[0-9]*/stat'):
        with suppress(FileNotFoundError, ProcessLookupError):  # ended meanwhile
            name, _, rest = path.read_text().rpartition(')')
            state, _, its_group = rest.split()[:3]
            if int(its_group) == group and state != 'Z':
                names.append(name)
    return names


def test_examples_are_numbered_in_reading_order():
    assert EXAMPLES
    assert [path.name.partition('_')[0] for path in EXAMPLES] == [f'{k + 1:02}' for k in range(len(EXAMPLES))]


def test_examples_are_short():
    assert [path.name for path in EXAMPLES if len(path.read_text(encoding='utf-8').splitlines()) >= 60] == []


LONG = 'dask', 'delta', 'stewart'
"""A cluster takes as long as five other examples; mechanisms do what that of the four-bar linkage does."""


@pytest.mark.parametrize(
    'path',
    matrix(EXAMPLES, [it for it in EXAMPLES if not any(word in it.stem for word in LONG)]),
    ids=lambda path: path.stem,
)
def test_an_example_prints_what_it_should(path):
    wanted = WANTED[path.stem]()
    output = output_of(path)
    for line in wanted:
        assert re.search(f'^{line}$', output, re.MULTILINE), output
