"""Functions of CasADi: values and derivatives of ten robots, payload and gravity as inputs, and what is refused."""

import sys
from functools import cache
from itertools import cycle, product

from support.matrices import crossed, matrix
from support.robots import random_trees as trees
from support.robots.facade_robots import robot_of
from support.robots.mechanisms import four_bar
from support.robots.small_robots import general, joint, link, mixed, one, robot, seven_joints

import numpy as np
import pytest

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.algorithms.table import ALGORITHMS, OF_A_FRAME, OPERATIONAL_SPACE
from robot_dynamics_ros.errors import ArgumentError, ModelError, UnknownNameError
from robot_dynamics_ros.model.model import Model

casadi = pytest.importorskip('casadi', reason='casadi is not installed')

TOLERANCE = 1e-12
"""Of the largest number of a result."""
GRAVITY = np.array([1.0, -2.0, -9.0])


def tree(seed, count, of_several_axes):
    joints = trees.with_planar_about_z(trees.random_joints(seed, count=count, general=of_several_axes))
    return Robot(Model.of('random', trees.BASE, joints), GRAVITY)


ROBOTS = {
    'aubo_i5': lambda: Robot.named('aubo_i5'),
    'aubo_i5_lecture': lambda: Robot.named('aubo_i5_lecture'),
    'seven_joints': seven_joints,
    'mixed': mixed,
    'tree': lambda: robot_of('tree'),
    'tree_of_8': lambda: tree(11, 8, 0.0),
    'tree_of_15': lambda: tree(12, 15, 0.0),
    'planar': lambda: general('planar', turned=True),
    'free': lambda: general('free', turned=True),
    'tree_of_several_axes': lambda: tree(13, 7, 0.6),
}
robot_named = cache(lambda name: ROBOTS[name]())
OF_SEVERAL_AXES = ('planar', 'free', 'tree_of_several_axes')
PARTS = ('coriolis_torque', 'inertia_torque', 'friction_torque', 'integrate')
QUANTITIES = [*(name for name, algorithm in ALGORITHMS.items() if not algorithm.of_loops), *PARTS]
FEW = [*zip(cycle(ROBOTS), QUANTITIES, strict=False), *product(['tree_of_several_axes'], QUANTITIES)]
"""Each quantity of a tree with all kinds of joints, and of one other robot."""


def vectors(robot, function, seed=0):
    """Return random inputs of a function by their names."""
    random = np.random.default_rng(seed)
    lengths = {name: function.numel_in(k) for k, name in enumerate(function.name_in())}
    return {name: robot.random(random) if name == 'q' else random.normal(size=it) for name, it in lengths.items()}


def called(function, inputs):
    return function(*inputs.values()).full()


def farthest_frame(robot):
    """Return a frame that moves, on a fixed joint where there is one; of these the farthest from its link's origin."""
    frames = {name: frame for name, frame in robot.model.frames.items() if frame.link > 0}
    return max(frames, key=lambda name: np.linalg.norm(frames[name].origin))


def error(found, expected):
    """Return the largest difference, relative to the largest number, or to 0.01 where all of them vanish."""
    return np.abs(found - np.reshape(expected, found.shape)).max() / max(np.abs(expected).max(), 0.01)


@pytest.mark.parametrize(('name', 'quantity'), matrix(product(ROBOTS, QUANTITIES), FEW))
def test_values_are_those_of_the_kernels(name, quantity):
    robot = robot_named(name)
    if quantity == 'coriolis_matrix' and name in OF_SEVERAL_AXES:
        with pytest.raises(ModelError, match='not the time derivative'):
            robot.casadi(quantity)
        return
    function = robot.casadi(quantity)
    inputs = vectors(robot, function)
    if hasattr(robot, quantity):
        expected = getattr(robot, quantity)(*inputs.values())
    else:
        expected = robot._evaluator.result(quantity, *inputs.values())
    assert function.name() == quantity and function.name_out() == ['result']
    assert error(called(function, inputs), expected) < TOLERANCE


@pytest.mark.parametrize(('name', 'reference_frame'), crossed(ROBOTS, ['local_world_aligned', 'local', 'world']))
def test_quantities_of_a_frame_are_those_of_the_kernels(name, reference_frame):
    robot = robot_named(name)
    frame = robot.frame_names[-1]
    for quantity in (*OF_A_FRAME, 'jacobian_dot_qd'):
        function = robot.casadi(quantity, frame, reference_frame)
        inputs = vectors(robot, function)
        more = {} if quantity == 'link_pose' else {'reference_frame': reference_frame}
        expected = getattr(robot, quantity)(*inputs.values(), link=frame, **more)
        assert error(called(function, inputs), expected) < TOLERANCE, quantity


@pytest.mark.parametrize('name', ['aubo_i5', 'seven_joints', 'free'])
@pytest.mark.parametrize('quantity', OPERATIONAL_SPACE)
def test_operational_space_is_that_of_the_kernels(name, quantity):
    robot = robot_named(name)
    function = robot.casadi(quantity, robot.frame_names[-1])
    inputs = vectors(robot, function, seed=3)
    expected = getattr(robot, quantity)(*inputs.values(), link=robot.frame_names[-1])
    assert error(called(function, inputs), expected) < TOLERANCE


def derivatives(robot, quantity, *more):
    """Return the derivatives (size, n) of a quantity by each of its vectors at random ones, and these.

    Those by positions are by a step on the manifold, whose columns belong to velocities.
    """
    function, integrate = robot.casadi(quantity, *more), robot.casadi('integrate')
    symbols = {name: casadi.SX.sym(name, function.numel_in(k)) for k, name in enumerate(function.name_in())}
    step = casadi.SX.sym('step', robot.nv)
    moved = {**symbols, 'q': integrate(symbols['q'], step)}
    result = casadi.vec(function(*moved.values()).T)  # row by row
    columns = [casadi.jacobian(result, step if name == 'q' else symbol) for name, symbol in symbols.items()]
    exact = casadi.Function('derivatives', [*symbols.values(), step], columns, {'cse': True})
    inputs = vectors(robot, function)
    found = exact(*inputs.values(), np.zeros(robot.nv))
    return [it.full() for it in (found if isinstance(found, tuple) else (found,))], [*inputs.values()]


@pytest.mark.parametrize(('name', 'quantity'), crossed(ROBOTS, ['inverse_dynamics', 'forward_dynamics']))
def test_first_derivatives_of_dynamics_are_exact(name, quantity):
    robot = robot_named(name)
    found, inputs = derivatives(robot, quantity)
    expected = getattr(robot, f'{quantity}_derivatives')(*inputs)
    assert error(np.stack(found), expected) < TOLERANCE


@pytest.mark.parametrize('name', ROBOTS)
def test_first_derivatives_of_energy_and_kinematics_are_exact(name):
    robot = robot_named(name)
    frame = robot.frame_names[-1]
    (of_potential,), (q,) = derivatives(robot, 'potential_energy')
    assert error(of_potential[0], robot.gravity_torque(q)) < TOLERANCE
    (_, of_kinetic), (q, qd) = derivatives(robot, 'kinetic_energy')
    assert error(of_kinetic[0], robot.mass_matrix(q) @ qd) < TOLERANCE
    (of_center,), (q,) = derivatives(robot, 'center_of_mass')
    assert error(of_center, robot.center_of_mass_jacobian(q)) < TOLERANCE
    (_, of_velocity), (q, _) = derivatives(robot, 'link_velocity', frame)
    assert error(of_velocity, robot.jacobian(q, frame)) < TOLERANCE
    (of_pose,), (q,) = derivatives(robot, 'link_pose', frame)
    assert error(of_pose.reshape(4, 4, -1)[:3, 3], robot.jacobian(q, frame)[3:]) < TOLERANCE


@pytest.mark.parametrize(
    ('name', 'quantity'), crossed(ROBOTS, ['inverse_dynamics', 'forward_dynamics', 'mass_matrix', 'total_energy'])
)
def test_payload_and_gravity_are_inputs(name, quantity):
    robot = robot_named(name)
    payload = Payload(1.5, (0.1, -0.2, 0.3), np.diag([0.02, 0.03, 0.04]))
    gravity, frame = (3.0, -4.0, 5.0), farthest_frame(robot)
    function = robot.casadi(quantity, inputs=('gravity', 'payload'), payload_link=frame)
    assert function.name_in()[-2:] == ['gravity', 'payload']
    inputs = vectors(robot, function)
    inputs |= {'gravity': gravity, 'payload': payload.ten_parameters}
    found, states = called(function, inputs), [*inputs.values()][:-2]
    changed = robot.with_payload(payload, frame).with_gravity(gravity)
    assert error(found, getattr(changed, quantity)(*states)) < TOLERANCE
    assert error(found, getattr(robot, quantity)(*states)) > 1e-4
    # the robot's own
    inputs |= {'gravity': robot.gravity, 'payload': np.zeros(10)}
    assert error(called(function, inputs), getattr(robot, quantity)(*states)) < TOLERANCE


def test_each_parameter_is_an_input_alone():
    robot, q = robot_named('aubo_i5'), np.linspace(0.1, 0.6, 6)
    function = robot.casadi('gravity_torque', inputs=['gravity'])
    assert function.name_in() == ['q', 'gravity']
    assert error(function(q, GRAVITY).full(), robot.with_gravity(GRAVITY).gravity_torque(q)) < TOLERANCE
    function, payload = robot.casadi('gravity_torque', inputs=['payload']), Payload(2.0, (0.0, 0.1, 0.2))
    expected = robot.with_payload(payload).gravity_torque(q)
    assert error(function(q, payload.ten_parameters).full(), expected) < TOLERANCE
    # gravity has no effect on what is computed without it
    function, qd = robot.casadi('coriolis_torque', inputs=['gravity']), np.linspace(-1.0, 1.0, 6)
    assert error(function(q, qd, GRAVITY).full(), robot.coriolis_torque(q, qd)) < TOLERANCE


def test_an_input_that_a_call_leaves_out_makes_the_result_nan():
    function, q = robot_named('aubo_i5').casadi('gravity_torque', inputs=['gravity']), np.linspace(0.1, 0.6, 6)
    assert np.isnan(function(q=q)['result'].full()[1:]).all()
    assert (function(q=q, gravity=GRAVITY)['result'].full() == function(q, GRAVITY).full()).all()


def test_payloads_of_the_robot_are_constants_beside_the_parameter():
    payload, q = Payload(2.0, (0.0, 0.1, 0.2)), np.linspace(0.1, 0.6, 6)
    robot = robot_named('aubo_i5').with_payload(payload)
    assert error(robot.casadi('gravity_torque')(q).full(), robot.gravity_torque(q)) < TOLERANCE
    function = robot.casadi('gravity_torque', inputs=['payload'])
    twice = robot.with_payload(payload).gravity_torque(q)
    assert error(function(q, payload.ten_parameters).full(), twice) < TOLERANCE


def test_functions_are_short():
    robot = robot_named('aubo_i5')
    most = {'inverse_dynamics': 640, 'forward_dynamics': 1150, 'mass_matrix': 480}  # 613, 1097, 453 by CasADi 3.8
    assert [name for name, count in most.items() if robot.casadi(name).n_instructions() > count] == []


def test_what_is_refused_is_named(monkeypatch):
    arm = robot_named('aubo_i5')
    with pytest.raises(ArgumentError, match=r'program: expected one of inverse_dynamics.*got .difference'):
        arm.casadi('difference')
    with pytest.raises(ArgumentError, match=r'program: expected one of link_pose.*got .mass_matrix'):
        arm.casadi('mass_matrix', 'ee_link')
    with pytest.raises(ArgumentError, match=r'program: expected .*got .jacobian'):
        arm.casadi('jacobian')
    with pytest.raises(ArgumentError, match=r'reference_frame: expected'):
        arm.casadi('jacobian', 'ee_link', 'tool')
    with pytest.raises(ArgumentError, match=r'inputs: expected one of gravity, payload, got .wrench'):
        arm.casadi('mass_matrix', inputs=['wrench'])
    with pytest.raises(UnknownNameError, match='ee_lin'):
        arm.casadi('jacobian', 'ee_lin')
    with pytest.raises(UnknownNameError, match='ee_lin'):
        arm.casadi('mass_matrix', inputs=['payload'], payload_link='ee_lin')
    with pytest.raises(ArgumentError, match='payload_link: required'):
        robot_named('tree').casadi('mass_matrix', inputs=['payload'])
    with pytest.raises(ModelError, match='loop_jacobian for CasADi: aubo_i5 has no closed loops'):
        arm.casadi('loop_jacobian')
    with pytest.raises(ModelError, match=r'forward_dynamics for CasADi: .*closed loops'):
        four_bar().robot.casadi('forward_dynamics')
    with pytest.raises(ModelError, match='no joint of r moves'):
        robot(link('base')).casadi('mass_matrix')
    weightless = robot(link('base'), link('arm'), joint('a', 'base', 'arm'))
    with pytest.raises(ModelError, match="joint 'a' has no inertia"):
        weightless.casadi('forward_dynamics')
    with pytest.raises(ModelError, match='center of mass: no moving link of r has a mass'):
        weightless.casadi('center_of_mass')
    with pytest.raises(ModelError, match='operational space inertia: not finite at any position of r'):
        one().casadi('operational_space_inertia', 'arm')
    monkeypatch.setitem(sys.modules, 'casadi', None)
    monkeypatch.delitem(sys.modules, 'robot_dynamics_ros.robot.export.casadi_export')
    monkeypatch.delitem(sys.modules, 'robot_dynamics_ros.codegen.casadi_function')
    with pytest.raises(ArgumentError, match='not installed: pip install casadi'):
        arm.casadi('mass_matrix')
