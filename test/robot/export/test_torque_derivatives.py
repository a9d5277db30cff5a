"""Whole torque and acceleration in CasADi, JAX and PyTorch: values and derivatives of robots with all their terms."""

from functools import cache, partial

from support.matrices import matrix
from support.robots.differentiated_robots import TOLERANCE, error
from support.robots.facade_robots import same_bits
from support.robots.mechanisms import four_bar
from support.robots.robots_with_friction import FRICTION, coupled, expected_torque, identified, learnt, sprung

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.robot.export.differentiable import differentiable


def below_its_bound() -> Robot:
    """Return a robot with a residual that reaches neither its bound nor its largest velocity."""
    robot = identified().with_residual(None)
    residual = learnt(robot)
    return robot.with_residual(residual._replace(weights=0.01 * residual.weights, fastest=0.0 * residual.fastest + 9.0))


def coupled_with_load() -> Robot:
    return coupled().with_friction(**FRICTION)


ROBOTS = {it.__name__: it for it in (sprung, identified, below_its_bound, coupled, coupled_with_load)}
robot_named = cache(lambda name: ROBOTS[name]())
# coupled motors whose friction grows with the load have no acceleration of a torque
of_both = pytest.mark.parametrize(
    ('name', 'quantity'),
    [(name, 'torque') for name in ROBOTS] + [(name, 'acceleration') for name in ROBOTS if name != 'coupled_with_load'],
)


STEP = 1e-5


@pytest.fixture
def jax():
    """Return JAX, whose arrays are of float64 in a test."""
    library = pytest.importorskip('jax', reason='jax is not installed')
    library.config.update('jax_enable_x64', True)
    yield library
    library.config.update('jax_enable_x64', False)


def states_of(robot: Robot, quantity: str, *batch: int) -> np.ndarray:
    """Return q, qd, and qdd or a torque of such an acceleration (3, *batch, nv); the first state stands still."""
    states = np.random.default_rng(0).normal(size=(3, *batch, robot.nv))
    states[1].reshape(-1, robot.nv)[0] = 0.0
    if quantity == 'acceleration':
        states[2] = robot.torque(*states)
    return states


def derivatives_of(robot: Robot, quantity: str, states) -> np.ndarray:
    return differentiable(robot._evaluator, quantity, None).derivatives(*states)


@of_both
def test_derivatives_are_those_of_the_kernel_in_casadi(name, quantity):
    casadi = pytest.importorskip('casadi', reason='casadi is not installed')
    robot = robot_named(name)
    theirs, states = robot.casadi(quantity), states_of(robot, quantity, 8)
    symbols = theirs.sx_in()
    jacobian = casadi.Function('exact', symbols, [casadi.jacobian(theirs(*symbols), it) for it in symbols])
    values, found = getattr(robot, quantity)(*states), derivatives_of(robot, quantity, states)
    for k, state in enumerate(states.swapaxes(0, 1)):
        assert error(theirs(*state).full().ravel(), values[k]) < TOLERANCE
        assert error(found[k], np.stack([it.full() for it in jacobian(*state)])) < TOLERANCE


@of_both
def test_derivatives_are_those_of_differences(name, quantity):
    robot = robot_named(name)
    # what a residual adds to friction has no second derivative at zero velocity, where differences err
    states = states_of(robot, quantity, 5)[:, 1:]
    found, method = derivatives_of(robot, quantity, states), getattr(robot, quantity)

    def difference(k, step):
        """Return central differences (4, nv, nv) by the vector k, a row for each of its entries."""
        moved = [np.broadcast_to(it[:, None], (4, robot.nv, robot.nv)) for it in states]
        ends = [method(*moved[:k], moved[k] + sign * step * np.eye(robot.nv), *moved[k + 1 :]) for sign in (1, -1)]
        return (ends[0] - ends[1]) / (2.0 * step)

    for k in range(3):
        expected = (4.0 * difference(k, STEP / 2.0) - difference(k, STEP)) / 3.0
        assert error(found[:, k].swapaxes(-1, -2), expected) < 1e-7


@pytest.mark.parametrize('name', matrix(['sprung', 'identified', 'coupled_with_load'], ['coupled_with_load']))
def test_torques_are_differentiated_as_a_formula_in_jax(name, jax):
    robot = robot_named(name)
    states, function = states_of(robot, 'torque', 2, 3), robot.jax('torque')
    formula = partial(expected_torque, robot, inverse_dynamics=robot.jax('inverse_dynamics'), xp=jax.numpy)
    for called in (function, jax.jit(function), jax.vmap(function)):
        assert same_bits(np.array(called(*states)), robot.torque(*states))
    # backward through a batch whose first state stands still
    found, of_formula = (
        jax.jit(jax.value_and_grad(lambda *them, it=it: (it(*them) ** 2).sum(), argnums=(0, 1, 2)))(*states)
        for it in (function, formula)
    )
    assert error(found[0], of_formula[0]) < TOLERANCE
    assert error(np.stack(found[1]), np.stack(of_formula[1])) < TOLERANCE
    for jacobian in (jax.jacfwd, jax.jacrev):
        found = jax.vmap(jacobian(function, argnums=(0, 1, 2)))(*states[:, 0])
        assert error(np.stack(found, 1), derivatives_of(robot, 'torque', states[:, 0])) < TOLERANCE


@pytest.mark.parametrize('name', ['sprung', 'below_its_bound'])
def test_the_acceleration_of_the_torque_changes_as_the_acceleration_in_jax(name, jax):
    robot = robot_named(name)
    torque, acceleration = robot.jax('torque'), robot.jax('acceleration')
    states = tuple(states_of(robot, 'torque', 3))
    tau = np.asarray(torque(*states))
    assert same_bits(np.array(jax.jit(acceleration)(*states[:2], tau)), robot.acceleration(*states[:2], tau))
    of_all = jax.vmap(jax.jacrev(lambda q, qd, qdd: acceleration(q, qd, torque(q, qd, qdd)), argnums=(0, 1, 2)))
    expected = np.broadcast_to(np.eye(robot.nv), (3, robot.nv, robot.nv))
    scale = np.abs(derivatives_of(robot, 'acceleration', (*states[:2], tau))).max()
    for found, exact in zip(jax.jit(of_all)(*states), (0.0 * expected, 0.0 * expected, expected), strict=True):
        assert np.abs(found - exact).max() < 1e-12 * scale


@of_both
def test_both_are_functions_of_torch(name, quantity):
    torch = pytest.importorskip('torch', reason='torch is not installed')
    robot = robot_named(name)
    function, states = robot.torch(quantity), states_of(robot, quantity, 2, 3)
    tensors = [torch.tensor(it, requires_grad=True) for it in states]
    assert same_bits(function(*tensors).detach().numpy(), getattr(robot, quantity)(*states))
    weights = np.random.default_rng(1).normal(size=(2, 3, robot.nv))
    (torch.tensor(weights) * function(*tensors)).sum().backward()
    derivatives = derivatives_of(robot, quantity, states)
    expected = np.einsum('abs,abksn->kabn', weights, derivatives)
    assert error(np.stack([it.grad.numpy() for it in tensors]), expected) < TOLERANCE
    found = torch.vmap(torch.func.jacrev(function, argnums=(0, 1, 2)))(*map(torch.tensor, states[:, 0]))
    assert error(np.stack(found, 1), derivatives[0]) < TOLERANCE


def test_the_derivative_at_zero_velocity_and_load_is_that_of_the_formula():
    """Written by hand: viscous friction, the slope of the sign, and no derivative of abs(tau_t) at 0."""
    robot = Robot.named('aubo_i5').with_gravity((0.0, 0.0, 0.0)).with_friction(**FRICTION)
    zeros = np.zeros(6)
    by_q, by_qd, by_qdd = derivatives_of(robot, 'torque', (zeros, zeros, zeros))
    level = FRICTION['coulomb'] + FRICTION['stribeck']
    expected = (FRICTION['viscous'] + level / FRICTION['transition']) * np.eye(6)
    assert error(by_qd, expected) < TOLERANCE
    assert not by_q.any() and error(by_qdd, robot.mass_matrix(zeros)) < TOLERANCE
    of_acceleration = derivatives_of(robot, 'acceleration', (zeros, zeros, robot.torque(zeros, zeros, zeros)))
    assert error(of_acceleration[1], -robot.mass_matrix_inverse(zeros) @ expected) < TOLERANCE


def test_what_has_no_torque_or_acceleration_is_refused():
    with pytest.raises(ModelError, match=r'torque: .*closed loops'):
        differentiable(four_bar().robot._evaluator, 'torque', None)
    with pytest.raises(ModelError, match=r"acceleration: the motor of joint '.*' is coupled"):
        differentiable(robot_named('coupled_with_load')._evaluator, 'acceleration', None)
