"""Functions of JAX: values and derivatives of robots, one state or batches, and what is refused."""

import sys
from itertools import product
from types import SimpleNamespace

from support.matrices import crossed, matrix
from support.robots.differentiated_robots import (
    DYNAMICS,
    FEW,
    ROBOTS,
    TOLERANCE,
    error,
    robot_named,
    vectors,
)
from support.robots.facade_robots import same_bits
from support.robots.mechanisms import four_bar
from support.robots.small_robots import general

import numpy as np
import pytest

from robot_dynamics_ros.errors import ArgumentError, ModelError, UnknownNameError
from robot_dynamics_ros.robot.export.differentiable import DERIVATIVES

jax = pytest.importorskip('jax', reason='jax is not installed')

from jax import numpy as jnp  # noqa: E402

from robot_dynamics_ros.robot.export import jax_export  # noqa: E402


@pytest.fixture(autouse=True)
def float64():
    """Arrays of JAX are of float64 in these tests alone."""
    jax.config.update('jax_enable_x64', True)
    yield
    jax.config.update('jax_enable_x64', False)


@pytest.mark.parametrize(('name', 'quantity', 'batch'), crossed(FEW, DERIVATIVES, [(), (5,), (2, 3), (0, 2)]), ids=str)
def test_values_have_the_bits_of_the_method(name, quantity, batch):
    robot = robot_named(name)
    function, states = robot.jax(quantity), vectors(robot, quantity, batch)
    expected = np.asarray(getattr(robot, quantity)(*states))
    for called in (function, jax.jit(function)):
        found = called(*states)
        assert found.dtype == np.float64 and found.shape == expected.shape
        assert same_bits(np.array(found), expected)
    if batch:
        assert same_bits(np.array(jax.vmap(function)(*states)), expected)


WAYS = [*product(DYNAMICS, ['jacfwd', 'jacrev'])]


# JAX compiles three functions for each
@pytest.mark.parametrize(
    ('name', 'way'), matrix(product(ROBOTS, WAYS), zip(['aubo_i5', *FEW], WAYS, strict=True)), ids=str
)
def test_derivatives_of_dynamics_are_exact(name, way):
    robot, quantity, jacobian = robot_named(name), way[0], getattr(jax, way[1])
    states = vectors(robot, quantity)
    of_all = jacobian(robot.jax(quantity), argnums=(0, 1, 2))
    expected = getattr(robot, f'{quantity}_derivatives')(*states)
    for called in (of_all, jax.jit(of_all)):
        assert error(np.stack(called(*map(jnp.asarray, states))), expected) < TOLERANCE
    states = vectors(robot, quantity, (4,))
    expected = getattr(robot, f'{quantity}_derivatives')(*states)
    assert error(np.stack(jax.jit(jax.vmap(of_all))(*states), 1), expected) < TOLERANCE


@pytest.mark.parametrize(('name', 'quantity'), crossed(FEW, [*DERIVATIVES, 'link_pose']))
def test_derivatives_are_those_of_casadi(name, quantity):
    casadi = pytest.importorskip('casadi', reason='casadi is not installed')
    robot = robot_named(name)
    frame = [robot.frame_names[-1]] if quantity == 'link_pose' else []
    theirs, states = robot.casadi(quantity, *frame), vectors(robot, quantity)
    symbols = theirs.sx_in()
    rows = casadi.vec(theirs(*symbols).T)
    function = robot.jax(quantity, *frame)
    found = jax.jacrev(function, argnums=tuple(range(len(states))))(*states)
    for ours, symbol in zip(found, symbols, strict=True):
        exact = casadi.Function('exact', symbols, [casadi.jacobian(rows, symbol)])(*states).full()
        assert error(ours, exact.reshape(ours.shape)) < TOLERANCE


@pytest.mark.parametrize(('name', 'quantity'), matrix(product(FEW, DYNAMICS), zip(FEW, DYNAMICS, strict=False)))
def test_gradients_of_batches_are_exact(name, quantity):
    robot, weights = robot_named(name), np.random.default_rng(1).normal(size=(2, 3, robot_named(name).nv))
    function, states = robot.jax(quantity), vectors(robot, quantity, (2, 3))
    derivatives = getattr(robot, f'{quantity}_derivatives')(*states)
    expected = np.einsum('abs,abksn->kabn', weights, derivatives)
    of_all = jax.grad(lambda *them: (weights * function(*them)).sum(), argnums=(0, 1, 2))
    for called in (of_all, jax.jit(of_all)):
        assert error(np.stack(called(*states)), expected) < TOLERANCE
    changes = np.random.default_rng(2).normal(size=(3, 2, 3, robot.nv))
    _, change = jax.jvp(function, tuple(states), tuple(changes))
    assert error(change, np.einsum('abksn,kabn->abs', derivatives, changes)) < TOLERANCE


def test_vectors_are_broadcast():
    robot = robot_named('aubo_i5')
    function, (q, qd, qdd) = robot.jax('inverse_dynamics'), np.random.default_rng(3).normal(size=(3, 4, 6))
    expected = robot.inverse_dynamics(q, qd[0], qdd[:2, None])
    assert same_bits(np.array(function(q, qd[0], qdd[:2, None])), expected)
    # of different axes, or of one vector alone
    assert same_bits(np.array(jax.vmap(function, (None, 0, 1))(q[0], qd, qdd.T)), robot.inverse_dynamics(q[0], qd, qdd))
    found = jax.grad(lambda qd: function(q, qd, qdd).sum())(qd[0])
    expected = robot.inverse_dynamics_derivatives(q, qd[0], qdd)[:, 1].sum((0, 1))
    assert error(found, expected) < TOLERANCE


def test_large_batches_under_jit():
    robot = robot_named('aubo_i5')
    states = vectors(robot, 'forward_dynamics', (30_000,))
    of_q = jax.jit(jax.grad(lambda *them: robot.jax('forward_dynamics')(*them).sum()))
    expected = robot.forward_dynamics_derivatives(*states)[:, 0].sum(1)
    assert error(of_q(*states), expected) < TOLERANCE


def test_a_robot_with_code_of_its_own_computes_the_same():
    robot = robot_named('seven_joints')
    states = vectors(robot, 'forward_dynamics', (3,))
    found = robot.compiled('forward_dynamics', 'forward_dynamics_derivatives').jax('forward_dynamics')
    assert (np.array(found(*states)) == robot.forward_dynamics(*states)).all()


def test_gravity_and_payload_are_those_of_the_robot():
    robot = robot_named('aubo_i5').with_gravity((3.0, -4.0, 5.0))
    q = np.linspace(0.1, 0.6, 6)
    expected = robot.inverse_dynamics_derivatives(q, np.zeros(6), np.zeros(6))[0]
    assert error(jax.jacrev(robot.jax('gravity_torque'))(q), expected) < TOLERANCE


def test_what_is_refused_is_named(monkeypatch):
    arm = robot_named('aubo_i5')
    with pytest.raises(ArgumentError, match=r'program: expected one of inverse_dynamics, .*link_pose, got .jacobian'):
        arm.jax('jacobian', 'ee_link')
    with pytest.raises(ArgumentError, match='link: link_pose is that of a frame'):
        arm.jax('link_pose')
    with pytest.raises(ArgumentError, match='link: mass_matrix is not that of a frame'):
        arm.jax('mass_matrix', 'ee_link')
    with pytest.raises(UnknownNameError, match='ee_lin'):
        arm.jax('link_pose', 'ee_lin')
    with pytest.raises(ModelError, match=r"gravity_torque: joint 'a' is planar"):
        general('planar').jax('gravity_torque')
    with pytest.raises(ModelError, match=r'forward_dynamics.*closed loops'):
        four_bar().robot.jax('forward_dynamics')
    monkeypatch.setitem(sys.modules, 'jax', None)
    monkeypatch.delitem(sys.modules, 'robot_dynamics_ros.robot.export.jax_export')
    with pytest.raises(ArgumentError, match='not installed: pip install jax'):
        arm.jax('mass_matrix')


def test_vectors_that_are_refused_are_named():
    function, q = robot_named('aubo_i5').jax('bias_torque'), np.zeros(6)
    not_finite = np.array([0.0, 0.0, np.nan, 0.0, 0.0, 0.0])
    with pytest.raises(ArgumentError, match=r'bias_torque: expected 2 vectors \(q, qd\), got 1'):
        function(q)
    with pytest.raises(ArgumentError, match=r'qd: expected shape \(..., 6\), got \(5,\)'):
        jax.jit(function)(q, q[:5])
    with pytest.raises(ArgumentError, match=r'batch shapes do not broadcast: q \(2, 6\), qd \(3, 6\)'):
        function(np.zeros((2, 6)), np.zeros((3, 6)))
    with pytest.raises(ArgumentError, match=r"qd: expected float64, got float32: .*'jax_enable_x64'.*astype"):
        function(q, jnp.zeros(6, 'float32'))
    with pytest.raises(ArgumentError, match=r'q\[2\]: nan is not finite'):
        function(not_finite, q)
    with pytest.raises(jax.errors.JaxRuntimeError, match=r'q\[2\]: nan is not finite'):
        jax.jit(function)(not_finite, q).block_until_ready()
    with pytest.raises(ArgumentError, match='bias_torque: second derivatives are not available'):
        jax.hessian(function)(q, q)
    on_gpu = SimpleNamespace(dtype=np.dtype(float), devices=lambda: [SimpleNamespace(platform='gpu')])
    with pytest.raises(ArgumentError, match=r"^q: is on .*jax.device_put\(q, jax.devices\('cpu'\)\[0\]\)"):
        jax_export.check('q', on_gpu)
    jax.config.update('jax_enable_x64', False)
    with pytest.raises(ArgumentError, match='q: expected float64, got float32'):
        function(q, q)
