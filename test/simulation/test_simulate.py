"""Time integration: orders of convergence, conserved quantities, closed forms, and the same bits by all ways."""

import time

from support.code.bindings import of_binding, shared
from support.robots import random_trees as trees
from support.robots.simulated_robots import floating, limited, state_of, with_friction
from support.robots.small_robots import general, one
from support.rounding import bound

import mujoco
import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.law import TORQUE
from robot_dynamics_ros.formats.library import named_urdf
from robot_dynamics_ros.model.configuration import derivative
from robot_dynamics_ros.simulation import simulate

AUBO = Robot.named('aubo_i5')
START = np.array([0.3, 0.8, -1.2, 0.5, 0.9, -0.4])
REST = np.zeros(6)
ORDERS = {'euler': 1, 'semi_implicit': 1, 'rk4': 4}


def slope(robot, q, qd, method, steps, **more):
    """Return the order of convergence of the final state, from three step sizes against a fine one."""
    fine = min(8 * steps[-1], 2048)
    exact = simulate(robot, q, qd, duration=0.2, step=0.2 / fine, every=fine, **more)
    errors = []
    for count in steps:
        last = simulate(robot, q, qd, duration=0.2, step=0.2 / count, every=count, method=method, **more)
        errors.append(max(abs(last.q[-1] - exact.q[-1]).max(), abs(last.qd[-1] - exact.qd[-1]).max()))
    return np.polyfit(np.log(steps), -np.log(errors), 1)[0]


@pytest.mark.compiled
@pytest.mark.parametrize('method', ORDERS)
def test_order_of_convergence(method):
    steps = (64, 128, 256) if method == 'rk4' else (1024, 2048, 4096)
    order = slope(AUBO, START, 0.5 * np.ones(6), method, steps)
    assert order == pytest.approx(ORDERS[method], rel=0.05)


@pytest.mark.compiled
@pytest.mark.parametrize('kind', ['free', 'spherical', 'planar'])
def test_order_of_convergence_on_the_manifold(kind):
    robot = floating(kind, (1.0, -3.0, 5.0))
    assert slope(robot, *state_of(robot), 'rk4', (8, 16, 32)) == pytest.approx(4.0, rel=0.05)


@pytest.mark.compiled
def test_energy_of_ten_seconds_of_free_fall():
    result = simulate(AUBO, START, REST, duration=10.0)
    assert result.t[-1] == 10.0 and result.q.shape == result.qd.shape == (10001, 6)
    assert abs(result.qd).max() > 1.0  # it falls
    assert abs(result.energy_drift).max() < 1e-6 * AUBO.kinetic_energy(result.q, result.qd).max()
    assert (result.energy == AUBO.total_energy(result.q, result.qd)).all()


@pytest.mark.compiled
def test_a_step_in_compiled_code_takes_less_than_half_of_one_with_a_torque_from_python():
    """It takes about a tenth; other work on the machine delays some rounds, on the clock of the thread as well."""
    robot = AUBO.compiled()
    times: dict = {'compiled': [], 'from Python': []}
    for _ in range(20):
        for way, torque in (('compiled', REST), ('from Python', lambda t, q, qd: REST)):
            began = time.thread_time()
            simulate(robot, START, REST, torque, duration=0.1)
            times[way].append(time.thread_time() - began)
    assert min(times['compiled']) < 0.5 * min(times['from Python'])


@pytest.mark.compiled
def test_runge_kutta_of_mujoco_agrees():
    model = mujoco.MjModel.from_xml_path(str(named_urdf('aubo_i5')))
    model.opt.timestep, model.opt.integrator = 1e-3, mujoco.mjtIntegrator.mjINT_RK4
    model.opt.gravity[:] = AUBO.gravity
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    model.dof_armature[:] = AUBO.rotor_inertia
    model.dof_damping[:] = model.dof_frictionloss[:] = 0.0
    data = mujoco.MjData(model)
    torque = np.array([3.0, -2.0, 1.5, 0.5, -0.3, 0.1])
    data.qpos[:], data.qfrc_applied[:] = START, torque
    mujoco.mj_step(model, data, 1000)
    result = simulate(AUBO, START, REST, torque)
    assert abs(result.q[-1] - data.qpos).max() < 1e-6
    assert abs(result.qd[-1] - data.qvel).max() < 1e-6
    assert abs(result.q[-1] - START).max() > 0.3


@pytest.mark.rounding
@pytest.mark.compiled
def test_a_body_in_free_fall_follows_the_closed_form():
    """Its centre of mass on a parabola, momentum about it constant, its quaternion of length 1."""
    robot = general('free').with_gravity((1.0, -2.0, -9.0))
    q, qd = state_of(robot)
    result = simulate(robot, q, qd, duration=2.0, step=2e-3, every=100)
    t = result.t[:, None]
    velocity = robot.center_of_mass_jacobian(q) @ qd
    parabola = robot.center_of_mass(q) + velocity * t + 0.5 * t**2 * robot.gravity
    np.testing.assert_allclose(robot.center_of_mass(result.q), parabola, atol=1e-9)
    assert abs(result.momentum_drift).max() < 1e-10 * abs(result.momentum).max()
    assert abs(np.linalg.norm(result.q[:, 3:], axis=1) - 1.0).max() < bound(10, 4)
    assert abs(result.momentum[-1] - result.momentum[0]).max() > 1.0


@pytest.mark.compiled
@pytest.mark.parametrize('method', ['rk4', 'adaptive'])
def test_momentum_and_energy_of_a_floating_robot(method):
    """Inner torques change the energy by their work, and no momentum."""
    robot = floating()
    torque = np.array([0, 0, 0, 0, 0, 0, 0.5])
    result = simulate(robot, *state_of(robot), torque, every=50, method=method, tolerance=1e-11)
    assert abs(result.momentum_drift).max() < 1e-9
    assert abs(result.energy_drift).max() < 1e-8
    assert abs(result.work[-1]) > 0.1


@pytest.mark.rounding
def test_a_body_that_spins_about_its_axis_turns_by_the_exponential():
    """At constant velocity a step is exact, however long it is."""
    robot = general('spherical').with_gravity((0.0, 0.0, 0.0))
    result = simulate(robot, [0, 0, 0, 1], [0.0, 0.0, 3.0], duration=2.0, step=0.25, method='euler')
    angle = 0.5 * 3.0 * result.t
    expected = np.stack([0 * angle, 0 * angle, np.sin(angle), np.cos(angle)], 1)
    assert abs(result.q - expected).max() < bound(10, len(result.t))


@pytest.mark.compiled
def test_energy_changes_by_the_work_of_torque_and_friction():
    robot = with_friction(one('continuous'))
    result = simulate(robot, [0.4], [3.0], [1.0], duration=1.0, friction=True)
    assert abs(result.energy_drift).max() < 1e-8
    # power = (tau - friction) qd, friction by the torque that the joint transmits
    qdd = np.gradient(result.qd[:, 0], result.t, edge_order=2)[5:-5, None]
    q, qd = result.q[5:-5], result.qd[5:-5]
    transmitted = robot.inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(transmitted + robot.friction_torque(qd, transmitted), 1.0, atol=2e-3)
    assert result.work[-1] < -0.5


@pytest.mark.parametrize('method', [*ORDERS, 'adaptive'])
@pytest.mark.parametrize('friction', [False, True])
def test_a_function_gives_what_an_array_gives(method, friction):
    """Rows of an array are held; adaptive steps agree to their tolerance, the others to the bit in compiled code."""
    robot = with_friction(one('continuous'))
    rows = np.random.default_rng(0).uniform(-2.0, 2.0, (20, 1))
    options = {'duration': 0.2, 'step': 0.01, 'method': method, 'friction': friction}
    result = simulate(robot, [0.4], [3.0], rows, **options)

    class Held:
        """A law that plays the rows."""

        def torque(self, state, out):
            out[:] = rows[round(state.stamp * 1e-9 / 0.01)]
            return TORQUE

        def stop_following(self): ...

        def set_back(self, now): ...

    other = simulate(robot, [0.4], [3.0], Held(), **options)
    assert (result.q == other.q).all() and (result.qd == other.qd).all() and (result.work == other.work).all()
    constant = simulate(robot, [0.4], [3.0], rows[0], **options)
    function = simulate(robot, [0.4], [3.0], lambda t, q, qd: rows[0], **options)
    assert (constant.q == function.q).all() and (constant.qd == function.qd).all()
    assert not (constant.q == result.q).all()


@pytest.mark.compiled
@pytest.mark.parametrize('method', ORDERS)
@pytest.mark.parametrize('robot', [AUBO, floating('free', (0, 0, -9.81))], ids=['elementary', 'manifold'])
def test_the_same_bits_by_every_way(robot, method):
    """Compiled loop, steps from Python, generic and specialised code, one state and a batch on one or two cores."""
    rng = np.random.default_rng(1)
    q = np.array([robot.random(rng) for _ in range(70)])
    qd = rng.uniform(-1.0, 1.0, (70, robot.nv))
    torque = rng.uniform(-1.0, 1.0, (70, 1, robot.nv))
    options = {'duration': 0.02, 'method': method, 'every': 5}
    generic = simulate(shared(robot), q, qd, torque, threads=1, **options)
    batch = simulate(robot.compiled(), q, qd, torque, threads=2, **options)
    stepped = simulate(robot, q, qd, lambda t, q, qd: torque[:, 0], **options)
    alone = simulate(robot, q[69], qd[69], torque[69], **options)
    for other in (batch, stepped):
        assert (other.q == generic.q).all() and (other.qd == generic.qd).all()
    assert (alone.q == generic.q[69]).all() and (alone.qd == generic.qd[69]).all()
    assert generic.q.shape == (70, 5, robot.nq) and generic.energy.shape == (70, 5)


@pytest.mark.compiled
@pytest.mark.parametrize('frame', ['local', 'local_world_aligned'])
def test_a_wrench_at_the_tip(frame):
    """A constant force does work along its path; a force in the link's axes turns with it."""
    robot = one('continuous').with_gravity((0.0, 0.0, 0.0))
    wrench = np.array([0.0, 0.0, 0.5, 0.0, 0.0, 0.0])
    options = {'wrenches': {'arm': wrench}, 'reference_frame': frame, 'duration': 0.5}
    result = simulate(robot, [0.0], [0.0], **options)
    stepped = simulate(robot, [0.0], [0.0], lambda t, q, qd: np.zeros(1), **options)
    inertia = robot.mass_matrix([0.0])[0, 0]
    np.testing.assert_allclose(result.q[:, 0], 0.25 * result.t**2 / inertia, atol=1e-12)
    assert (result.q == stepped.q).all()
    # of both links of a robot, by an array
    links = np.zeros((2, 6))
    links[1] = wrench
    array = simulate(robot, [[0.0], [0.1]], [0.0], **{**options, 'wrenches': links})
    np.testing.assert_allclose(array.q[0], result.q, atol=1e-13)


@pytest.mark.compiled
def test_joints_stop_at_their_limits():
    robot = limited()
    result = simulate(robot, [0.0, 0.0], [3.0, 1.0], [20.0, 20.0], limits='stop', duration=2.0)
    assert result.q.max() == 0.5
    np.testing.assert_allclose(result.q[-1], 0.5, atol=1e-4)
    assert abs(result.qd[-1]).max() < 0.1
    assert simulate(robot, [0.0, 0.0], [3.0, 1.0], [20.0, 20.0], duration=2.0).q.max() > 1.0


@pytest.mark.compiled
@pytest.mark.parametrize('binding', ['generic', 'own'])
def test_joints_bounce_at_their_limits(binding):
    """Elastic impacts keep the kinetic energy though other joints change their velocities; half of it otherwise."""
    robot = of_binding(limited().with_gravity((0.0, 0.0, 0.0)), binding)
    options = {'limits': 'bounce', 'step': 2e-4, 'duration': 0.5}
    result = simulate(robot, [0.2, 0.1], [3.0, -1.0], restitution=1.0, **options)
    assert result.q[:, 0].max() == 0.5 and (result.qd[:, 0] < -1.0).any()
    assert abs(result.energy_drift).max() < 1e-2 * result.energy[0]
    softer = simulate(robot, [0.2, 0.1], [3.0, -1.0], restitution=0.5, **options)
    assert softer.energy[-1] < 0.9 * result.energy[-1]
    stepped = simulate(robot, [0.2, 0.1], [3.0, -1.0], lambda t, q, qd: np.zeros(2), restitution=0.5, **options)
    assert (stepped.q == softer.q).all()


@pytest.mark.compiled
def test_adaptive_steps_agree_with_fixed_ones():
    robot = floating('free', (0.0, 0.0, -9.81))
    q, qd = state_of(robot)
    q, qd = np.array([q, q]), np.array([qd, 0.5 * qd])

    def torque(t, q, qd):
        return np.sin(3.0 * t) - 0.1 * qd

    adaptive = simulate(robot, q, qd, torque, duration=0.5, step=0.1, method='adaptive', tolerance=1e-11)
    fixed = simulate(robot, q, qd, torque, duration=0.5, step=1e-3, every=100)
    np.testing.assert_allclose(adaptive.q, fixed.q, atol=1e-9)
    np.testing.assert_allclose(adaptive.qd, fixed.qd, atol=1e-8)
    np.testing.assert_allclose(adaptive.work, fixed.work, atol=1e-8)


@pytest.mark.parametrize('kind', trees.GENERAL)
def test_rates_of_positions(kind):
    """By differences of positions after small steps."""
    robot = general(kind)
    q, qd = state_of(robot)
    h = 1e-6
    difference = (robot.integrate(q, h * qd) - robot.integrate(q, -h * qd)) / (2 * h)
    np.testing.assert_allclose(derivative(robot.model.arrays, q, qd), difference, atol=1e-9)


@pytest.mark.parametrize('kind', trees.GENERAL)
def test_a_step_of_positions_is_that_of_integrate(kind):
    """``position_after`` is compiled, ``Robot.integrate`` is NumPy; without forces qd is constant in a step."""
    robot = general(kind).with_gravity((0.0, 0.0, 0.0))
    q, qd = state_of(robot)
    step = 0.1
    result = simulate(robot, q, qd, duration=step, step=step, method='euler')
    np.testing.assert_allclose(result.q[-1], robot.integrate(q, step * qd), atol=1e-13)
    # of order 4 and of order 8
    fourth, adaptive = (
        simulate(robot, q, qd, duration=0.02, step=0.02, method=method) for method in ('rk4', 'adaptive')
    )
    np.testing.assert_allclose(fourth.q[-1], adaptive.q[-1], atol=1e-7)
    np.testing.assert_allclose(fourth.qd[-1], adaptive.qd[-1], atol=1e-6)
