"""Closed loops in simulations: they stay closed, and the motion is that of the mechanism."""

import dataclasses
from types import SimpleNamespace

from support.code.bindings import of_binding, shared
from support.robots.simulated_robots import closed, floating, four_bar, rod, state_of, with_friction
from support.robots.small_robots import general
from support.rounding import bound

import mujoco
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from robot_dynamics_ros import Coupling, LoopClosure, Robot
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.model.joint_types import Joint
from robot_dynamics_ros.model.model import Model
from robot_dynamics_ros.model.rotations import from_rpy
from robot_dynamics_ros.simulation import simulate
from robot_dynamics_ros.simulation.position_limits import end_column

pytestmark = pytest.mark.compiled

BAR = four_bar()
START, SPEED = closed(BAR, [1.0, -0.5, 1.8], [2.0, 0.0, 0.0])
HELD = ('one', 'base', [0, 0, 0], rod(1.0)), ('two', 'one_link', [1.0, 0, 0], rod(0.5))
CRANK, Z = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])


def turning(name, parent, origin, inertia) -> Joint:
    """Return a revolute joint about z."""
    return Joint(name, f'{name}_link', parent, 'revolute', Z, np.eye(3), np.array(origin, float), inertia)


def placed(x: float) -> np.ndarray:
    """Return the pose of a frame on the x axis, turned about all axes."""
    pose = np.eye(4)
    pose[:3, :3] = from_rpy(0.3, -0.4, 0.5)
    pose[0, 3] = x
    return pose


@pytest.mark.parametrize('kind', ['point', 'planar_point', 'revolute'])
def test_ten_seconds_of_a_four_bar(kind):
    """Also with rows that say the same, in space."""
    robot = four_bar(kind)
    result = simulate(robot, START, SPEED, duration=10.0)
    assert result.loop_error.shape == result.loop_rate.shape == result.t.shape
    assert result.loop_error.max() < 1e-12
    assert result.loop_rate.max() < 1e-9
    assert abs(result.energy_drift).max() < 1e-8 * robot.kinetic_energy(result.q, result.qd).max()
    assert abs(result.qd).max() > 10.0
    # the gain alone
    free = simulate(robot, START, SPEED, duration=10.0, projection=False)
    assert 1e-11 < free.loop_error.max() < 1e-8
    assert (free.loop_error == abs(robot.loop_errors(free.q)).max(-1)).all()
    assert (free.loop_rate == abs(robot.loop_rates(free.q, free.qd)).max(-1)).all()


def test_a_motion_in_the_crank_angle_alone():
    """The twin has no multipliers: rates N of all angles per crank rate, N' (M qdd + h) = 0."""

    def rates(q):
        (crank, coupler, rocker) = q
        first, second = crank + coupler, rocker
        a, b, c = (
            length * np.array([-np.sin(angle), np.cos(angle)])
            for length, angle in ((0.3, crank), (0.7, first), (0.5, second))
        )
        turned, rocked = np.linalg.solve(np.stack([b, -c], 1), -a)
        return np.array([1.0, turned - 1.0, rocked])

    def derivative(t, y):
        q, s = y[:3], y[3]
        N = rates(q)
        small = 1e-5
        bend = (rates(q + small * N) - rates(q - small * N)) / (2.0 * small) * s * s
        M, h = BAR.mass_matrix(q), BAR.bias_torque(q, N * s)
        return np.append(N * s, -(N @ (M @ bend + h)) / (N @ M @ N))

    twin = solve_ivp(derivative, (0.0, 0.5), [*START, SPEED[0]], method='DOP853', rtol=1e-10, atol=1e-12)
    result = simulate(BAR, START, SPEED, duration=0.5)
    np.testing.assert_allclose(result.q[-1], twin.y[:3, -1], rtol=0, atol=1e-7)
    assert abs(result.q[-1] - START).max() > 1.0


def body_of_mujoco(name: str, length: float, place: float, inner='') -> str:
    """Return a rod on a hinge as MJCF; see ``rod``."""
    across = length**2 / 12.0
    return f"""<body name="{name}" pos="{place} 0 0"><joint name="{name}" axis="0 0 1"/>{inner}
        <inertial pos="{0.5 * length} 0 0" mass="1" diaginertia="{0.01 * across} {across} {across}"/></body>"""


def test_mujoco_agrees():
    """Its loop is a stiff spring and damper, with a time constant of 1 ms."""
    crank = body_of_mujoco('crank', 0.3, 0.0, body_of_mujoco('coupler', 0.7, 0.3))
    model = mujoco.MjModel.from_xml_string(f"""<mujoco><option gravity="0 -9.81 0" timestep="1e-4" integrator="RK4"/>
        <worldbody>{crank}{body_of_mujoco('rocker', 0.5, 0.8)}</worldbody><equality>
        <connect body1="rocker" body2="coupler" anchor="0 0 0" solref="0.001 1" solimp="0.9999 0.9999 0.001"/>
        </equality></mujoco>""")
    model.eq_data[0, :6] = 0.5, 0.0, 0.0, 0.7, 0.0, 0.0
    model.opt.tolerance = 1e-14
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = START, SPEED
    mujoco.mj_step(model, data, 3000)
    result = simulate(BAR, START, SPEED, duration=0.3)
    np.testing.assert_allclose(result.q[-1], data.qpos, rtol=0, atol=1e-8)
    np.testing.assert_allclose(result.qd[-1], data.qvel, rtol=0, atol=1e-7)
    assert abs(result.q[-1] - START).max() > 0.5


@pytest.mark.rounding
@pytest.mark.parametrize('kind', ['spherical', 'revolute'])
def test_a_closure_to_the_base_is_a_joint(kind):
    """A free body whose origin is held, or origin and z axis: the joint of that kind."""
    robot = general('free').with_gravity((1.0, -2.0, -9.0))
    link = robot.link_names[1]
    if kind == 'spherical':
        held, joint = robot.with_loops([LoopClosure('ball', None, np.eye(4), link)]), general('spherical')
        q, qd = state_of(joint)
        start = np.concatenate([np.zeros(3), q]), np.concatenate([qd, np.zeros(3)])
    else:
        held = robot.with_loops([LoopClosure('hinge', None, np.eye(4), link, kind='revolute')])
        body = robot.model.arrays.I[1]
        joint = Robot(Model.of('hinge', 'base', [turning('hinge', 'base', np.zeros(3), body)]))
        q, qd = np.array([0.6]), np.array([2.0])
        start = np.array([0, 0, 0, 0, 0, np.sin(0.3), np.cos(0.3)]), np.array([0, 0, 2.0, 0, 0, 0])
    joint = joint.with_gravity(robot.gravity)
    result, expected = simulate(held, *start), simulate(joint, q, qd)
    assert result.loop_error.max() < 1e-12 and result.loop_rate.max() < 1e-12
    assert abs(np.linalg.norm(result.q[:, 3:], axis=1) - 1.0).max() < bound(10, 4)
    poses = (it.link_pose(states.q, it.link_names[1]) for it, states in ((held, result), (joint, expected)))
    np.testing.assert_allclose(*poses, atol=1e-8)
    assert abs(result.q[-1] - result.q[0]).max() > 0.3


def test_a_parallelogram_is_a_pendulum():
    """Its upper rods turn alike, and its coupler moves on a circle without turning."""
    joints = [
        turning('left', 'base', [0, 0, 0], rod(0.4)),
        turning('right', 'base', [0.6, 0, 0], rod(0.4)),
        turning('low', 'left_link', [0.4, 0, 0], rod(0.6)),
    ]
    at_right, at_low = np.eye(4), np.eye(4)
    at_right[0, 3], at_low[0, 3] = 0.4, 0.6
    robot = Robot(Model.of('swing', 'base', joints)).with_gravity((0.0, -9.81, 0.0))
    robot = robot.with_loops([LoopClosure('end', 'right_link', at_right, 'low_link', at_low)])
    # two rods, and the coupler's mass of 1 kg at their ends
    inertia = 2.0 * robot.mass_matrix([0.0, 0.0, 0.0])[1, 1] + 0.4**2
    angle = -0.7
    result = simulate(robot, [angle, angle, -angle], [0.5, 0.5, -0.5], duration=2.0)
    pendulum = solve_ivp(
        lambda t, y: [y[1], -9.81 * (2.0 * 0.2 + 0.4) * np.cos(y[0]) / inertia],
        (0.0, 2.0),
        [angle, 0.5],
        method='DOP853',
        rtol=1e-12,
        atol=1e-12,
        t_eval=result.t[::100],
    )
    np.testing.assert_allclose(result.q[::100, 0], pendulum.y[0], atol=1e-9)
    np.testing.assert_allclose(result.q[:, 1:], result.q[:, :1] * [1.0, -1.0], atol=1e-12)


def test_gears_share_a_motor():
    """Two rods on parallel axes, the second one turned three times as fast the other way."""
    joints = [turning('slow', 'base', [0, 0, 0], rod(0.4)), turning('fast', 'base', [1, 0, 0], rod(0.2))]
    robot = Robot(Model.of('gears', 'base', joints)).with_gravity((0.0, 0.0, 0.0))
    robot = robot.with_loops([Coupling('fast', 'slow', (0.1, -3.0))])
    first, second = np.diag(robot.mass_matrix([0.0, 0.0]))
    result = simulate(robot, [0.0, 0.1], [0.0, 0.0], [2.0, 0.0])
    np.testing.assert_allclose(result.q[:, 0], result.t**2 / (first + 9.0 * second), atol=1e-12)
    np.testing.assert_allclose(result.q[:, 1], 0.1 - 3.0 * result.q[:, 0], atol=1e-14)
    assert abs(result.energy_drift).max() < 1e-12 * result.work[-1]


def two_arms(binding='generic') -> Robot:
    """Return an arm on a free body, whose end slides along a plane of the base."""
    robot = of_binding(floating('free', (0.0, 0.0, -9.81)), binding)
    pose = np.eye(4)
    pose[:3, 3] = 0.3, 0.0, 0.1
    return robot.with_loops([LoopClosure('slot', None, np.eye(4), 'arm', pose, 'planar_point')])


@pytest.mark.parametrize('method', ['semi_implicit', 'rk4'])
@pytest.mark.parametrize('make', [four_bar, two_arms])
def test_the_same_bits_by_every_way(make, method):
    robot = make()
    rng = np.random.default_rng(1)
    q, qd = np.array([robot.random(rng) for _ in range(20)]), rng.uniform(-1.0, 1.0, (20, robot.nv))
    if make is four_bar:
        q = START + rng.uniform(-0.1, 0.1, (20, 3))
    q, qd = robot.close_loops(q, qd)
    torque = rng.uniform(-1.0, 1.0, (20, 1, robot.nv))
    options = {'duration': 0.02, 'method': method, 'every': 5}
    generic = simulate(shared(robot), q, qd, torque, threads=1, **options)
    stepped = simulate(robot, q, qd, lambda t, q, qd: torque[:, 0], **options)
    alone = simulate(robot, q[19], qd[19], torque[19], **options)
    batch = simulate(robot.compiled(), q, qd, torque, threads=2, **options)
    for other in (batch, stepped):
        assert (other.q == generic.q).all() and (other.qd == generic.qd).all()
    assert (alone.q == generic.q[19]).all() and (alone.qd == generic.qd[19]).all()
    assert generic.loop_error.shape == (20, 5) and generic.loop_error.max() < 1e-12
    assert generic.loop_rate.max() < 1e-12


@pytest.mark.parametrize('held', [False, True])
def test_adaptive_steps_are_closed_at_samples(held):
    robot = two_arms()
    q, qd = robot.close_loops(*state_of(robot))
    torque = np.zeros(robot.nv)
    torque[-1] = 0.5
    rows = np.tile(torque, (4, 1)) if held else torque
    adaptive = simulate(robot, q, qd, rows, 0.4, 0.1, 'adaptive', tolerance=1e-10)
    fixed = simulate(robot, q, qd, torque, 0.4, every=100)
    np.testing.assert_allclose(adaptive.q, fixed.q, atol=1e-8)
    np.testing.assert_allclose(adaptive.qd, fixed.qd, atol=1e-7)
    assert adaptive.loop_error.max() < 1e-12 and adaptive.loop_rate.max() < 1e-12
    rough, left = (simulate(robot, q, qd, rows, 0.4, 0.1, 'adaptive', tolerance=1e-3, projection=it) for it in (1, 0))
    assert rough.loop_error.max() < 1e-12 and rough.loop_rate.max() < 1e-12
    assert left.loop_rate.max() > 1e-9


@pytest.mark.parametrize('function', [False, True])
def test_torque_and_friction_work_through_the_loop(function):
    robot = with_friction(BAR, load=0.0).with_loops(BAR.model.loops.closures)
    torque = np.array([3.0, 0.0, 0.0])
    result = simulate(robot, START, SPEED, (lambda t, q, qd: torque) if function else torque, 2.0, friction=True)
    assert abs(result.energy_drift).max() < 1e-5
    assert abs(result.work[-1]) > 1.0 and result.loop_error.max() < 1e-12


@pytest.mark.parametrize('function', [False, True])
def test_a_moment_on_a_link_is_a_torque_of_its_joint(function):
    """The axis of the rocker does not turn, so both are constant."""
    given = (lambda t, q, qd: np.zeros(3)) if function else None
    pushed = simulate(BAR, START, SPEED, given, 0.5, wrenches={'rocker': [0.0, 0.0, 2.0, 0.0, 0.0, 0.0]})
    driven = simulate(BAR, START, SPEED, [0.0, 0.0, 2.0], 0.5)
    np.testing.assert_allclose(pushed.q, driven.q, atol=1e-10)
    assert pushed.loop_error.max() < 1e-12
    assert abs(pushed.q[-1] - simulate(BAR, START, SPEED, duration=0.5).q[-1]).max() > 0.1


def limited(gravity=(0.0, -9.81, 0.0)) -> tuple:
    """Return a four-bar whose rocker has limits that its crank turns it to."""
    return four_bar(lower=START[2] - 0.1, upper=START[2] + 0.2).with_gravity(gravity)


@pytest.mark.parametrize('function', [False, True])
def test_a_stop_of_one_link_stops_the_mechanism(function):
    robot = limited()
    torque = np.array([20.0, 0.0, 0.0])
    given = (lambda t, q, qd: torque) if function else torque
    result = simulate(robot, START, SPEED, given, limits='stop')
    assert result.q[:, 2].max() <= robot.limits.upper[2] and result.q[:, 2].min() >= robot.limits.lower[2]
    assert (result.q[-1, 2] == robot.limits.lower[2]) or (result.q[-1, 2] == robot.limits.upper[2])
    assert abs(result.qd[-1]).max() < 1e-2
    assert result.loop_error.max() < 1e-12 and result.loop_rate.max() < 1e-9
    other = simulate(robot, START, SPEED, torque, limits='stop')
    assert (other.q == result.q).all() and (other.qd == result.qd).all()


def test_an_elastic_impact_keeps_the_energy():
    robot = limited(gravity=(0.0, 0.0, 0.0))
    result = simulate(robot, START, 3.0 * SPEED, limits='bounce', restitution=1.0, step=2e-4)
    assert (np.diff(np.sign(result.qd[:, 2])) != 0).sum() > 2
    assert abs(result.energy_drift).max() < 2e-2 * result.energy[0]
    assert result.loop_error.max() < 1e-12 and result.loop_rate.max() < 1e-9
    softer = simulate(robot, START, 3.0 * SPEED, limits='bounce', restitution=0.5, step=2e-4)
    assert softer.energy[-1] < 0.5 * result.energy[-1]


@pytest.mark.parametrize(
    'loop', [Coupling('one', None, (0.0,)), LoopClosure('weld', None, placed(0.7), 'one_link', placed(0.7), 'weld')]
)
def test_a_joint_that_loops_hold_has_no_impulse(loop):
    """It is at its limit, and moves outwards by rounding while the next joint bounces."""
    tree = Model.of('held', 'base', [turning(*it) for it in HELD])
    limits = tree.limits._replace(lower=np.array([0.0, -0.1]), upper=np.array([0.0, 0.1]))
    robot = Robot(dataclasses.replace(tree, limits=limits)).with_loops([loop])
    result = simulate(robot.with_gravity((0.0, 0.0, 0.0)), [0.0, 0.0], [0.0, 3.0], limits='bounce', restitution=1.0)
    assert abs(result.q[:, 0]).max() < 1e-15 and abs(result.qd[:, 0]).max() < 1e-12
    # with the first joint fixed, nothing slows the second one down
    np.testing.assert_allclose(abs(result.qd[:, 1]), 3.0, rtol=1e-12)
    assert (np.diff(np.sign(result.qd[:, 1])) != 0).sum() > 5


@pytest.mark.parametrize('left', [1e-14, -1e-16, 1e-3])
def test_rounding_of_mobility_is_none(left):
    """What is left of a joint's mobility by rounding would make impulses of any size."""
    x = SimpleNamespace(M_inv=np.array([2.0, 0.0, 0.5, 0.0]), u=np.array([-2.0 + left, -0.4]))
    end_column.py_func(x, 2, 0)
    np.testing.assert_allclose(x.M_inv, [left, 0.0, 0.1, 0.0] if left > 1e-4 else 0.0, atol=1e-15)


def test_a_start_with_open_loops_is_refused():
    with pytest.raises(ArgumentError, match=r"^q0: loop 'bar' is open by 0.0\d+ \(rad, m\).*close_loops"):
        simulate(BAR, START + 0.1 * CRANK, SPEED)
    with pytest.raises(ArgumentError, match=r"^qd0: loop 'bar' of start state 1 opens at a rate of \S+ \(rad/s, m/s\)"):
        simulate(BAR, START, [SPEED, CRANK])
    gears = Robot(Model.of('gear', 'base', [turning('one', 'base', [0, 0, 0], rod(1.0))]))
    with pytest.raises(ArgumentError, match=r"coupling of joint 'one' is open by 0\.5"):
        simulate(gears.with_loops([Coupling('one', None, (0.5,))]), [0.0], [0.0])
    # without projection the gain closes it
    result = simulate(BAR, START + 0.01 * CRANK, SPEED, projection=False)
    assert result.loop_error[0] > 1e-3 and result.loop_error[-1] < 1e-6
    with pytest.raises(ArgumentError, match=r'^projection: required with position limits'):
        simulate(limited(), START, SPEED, limits='stop', projection=False)


def test_a_robot_without_loops_has_no_errors():
    result = simulate(floating(), *state_of(floating()), duration=0.1)
    assert not result.loop_error.any() and result.loop_error.shape == result.loop_rate.shape == result.t.shape


def test_a_mechanism_that_diverges_names_the_time():
    with pytest.raises(ArgumentError, match='is not finite at'):
        simulate(BAR, START, 1e60 * SPEED, lambda t, q, qd: np.zeros(3), method='euler')
