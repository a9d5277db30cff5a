"""Functions of PyTorch: values and derivatives of robots, one state or batches, and what is refused."""

import math
import sys

from support.robots.differentiated_robots import (
    DYNAMICS,
    TOLERANCE,
    error,
    of_all_robots,
    of_few_robots,
    robot_named,
    vectors,
)
from support.robots.facade_robots import same_bits

import numpy as np
import pytest

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.robot.export.differentiable import DERIVATIVES, differentiable

torch = pytest.importorskip('torch', reason='torch is not installed')

from robot_dynamics_ros.robot.export import torch_export  # noqa: E402


def tensors(arrays):
    return [torch.tensor(array, requires_grad=True) for array in arrays]


@of_few_robots
@pytest.mark.parametrize('quantity', DERIVATIVES)
@pytest.mark.parametrize('batch', [(), (5,), (2, 3), (0, 2)], ids=str)
def test_values_have_the_bits_of_the_method(name, quantity, batch):
    robot = robot_named(name)
    function, states = robot.torch(quantity), vectors(robot, quantity, batch)
    expected = np.asarray(getattr(robot, quantity)(*states))
    found = function(*tensors(states)).detach().numpy()
    assert found.dtype == np.float64 and found.shape == expected.shape
    assert same_bits(found, expected)
    assert same_bits(function(*states).numpy(), expected)
    if batch:
        assert same_bits(torch.vmap(function)(*map(torch.tensor, states)).numpy(), expected)


@of_few_robots
@pytest.mark.parametrize('quantity', [*DERIVATIVES, 'link_pose'])
def test_derivatives_are_those_of_differences(name, quantity):
    robot = robot_named(name)
    frame = [robot.frame_names[-1]] if quantity == 'link_pose' else []
    states = tensors(vectors(robot, quantity, (2,)))
    assert torch.autograd.gradcheck(robot.torch(quantity, *frame), states, check_forward_ad=True, rtol=1e-5)


def test_backward_does_not_copy_the_derivatives():
    robot = robot_named('aubo_i5')
    result = robot.torch('inverse_dynamics')(*torch.ones(3, 100, 6, dtype=torch.float64, requires_grad=True).unbind())
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True) as executed:
        result.sum().backward()
    copies = [math.prod(event.input_shapes[0]) for event in executed.events() if event.name == 'aten::copy_']
    assert max(copies, default=0) < 100 * 3 * 6 * 6


@of_all_robots
@pytest.mark.parametrize('quantity', DYNAMICS)
def test_derivatives_of_dynamics_are_exact(name, quantity):
    robot = robot_named(name)
    function, states = robot.torch(quantity), vectors(robot, quantity)
    expected = getattr(robot, f'{quantity}_derivatives')(*states)
    found = torch.autograd.functional.jacobian(function, tuple(map(torch.tensor, states)))
    assert error(np.stack(found), expected) < TOLERANCE
    states = vectors(robot, quantity, (4,))
    expected = getattr(robot, f'{quantity}_derivatives')(*states)
    for jacobian in (torch.func.jacrev, torch.func.jacfwd):
        found = torch.vmap(jacobian(function, argnums=(0, 1, 2)))(*map(torch.tensor, states))
        assert error(np.stack(found, 1), expected) < TOLERANCE


@of_few_robots
@pytest.mark.parametrize('quantity', DYNAMICS)
def test_gradients_of_batches_are_exact(name, quantity):
    robot, weights = robot_named(name), np.random.default_rng(1).normal(size=(2, 3, robot_named(name).nv))
    function, states = robot.torch(quantity), vectors(robot, quantity, (2, 3))
    expected = np.einsum('abs,abksn->kabn', weights, getattr(robot, f'{quantity}_derivatives')(*states))
    inputs = tensors(states)
    (torch.tensor(weights) * function(*inputs)).sum().backward()
    assert error(np.stack([it.grad.numpy() for it in inputs]), expected) < TOLERANCE


def test_vectors_are_broadcast():
    robot = robot_named('aubo_i5')
    function, (q, qd, qdd) = robot.torch('inverse_dynamics'), np.random.default_rng(3).normal(size=(3, 4, 6))
    one = torch.tensor(qd[0], requires_grad=True)
    tau = function(q, one, qdd[:2, None])
    assert same_bits(tau.detach().numpy(), robot.inverse_dynamics(q, qd[0], qdd[:2, None]))
    tau.sum().backward()
    expected = robot.inverse_dynamics_derivatives(q, qd[0], qdd[:2, None])[..., 1, :, :].sum((0, 1, 2))
    assert error(one.grad, expected) < TOLERANCE
    # of different axes, or of one vector alone
    found = torch.vmap(function, (None, 0, 1))(*map(torch.tensor, (q[0], qd, qdd.T)))
    assert same_bits(found.numpy(), robot.inverse_dynamics(q[0], qd, qdd))


def test_a_mapped_axis_may_be_any():
    robot = robot_named('aubo_i5')
    quantity, (q,) = differentiable(robot._evaluator, 'gravity_torque', None), vectors(robot, 'gravity_torque', (4,))
    found = torch.vmap(lambda q: torch_export.Value.apply(quantity, q), 1)(torch.tensor(q.T))
    assert same_bits(found.numpy(), robot.gravity_torque(q))


def test_what_is_refused_is_named(monkeypatch):
    arm, q = robot_named('aubo_i5'), torch.zeros(6, dtype=torch.float64)
    with pytest.raises(ArgumentError, match=r'program: expected one of inverse_dynamics, .*link_pose, got .jacobian'):
        arm.torch('jacobian', 'ee_link')
    function = arm.torch('bias_torque')
    with pytest.raises(ArgumentError, match=r'qd: expected shape \(..., 6\), got \(5,\)'):
        function(q, q[:5])
    with pytest.raises(
        ArgumentError, match=r'qd: expected torch.float64, got torch.float32: convert it by .double\(\)'
    ):
        function(q, q.float())
    with pytest.raises(ArgumentError, match=r'qd: is on meta, .*: move it by .cpu\(\)'):
        function(q, q.to('meta'))
    with pytest.raises(ArgumentError, match=r'q\[2\]: nan is not finite'):
        function(torch.tensor([0.0, 0.0, np.nan, 0.0, 0.0, 0.0], dtype=torch.float64), q)
    q.requires_grad_()
    (gradient,) = torch.autograd.grad(function(q, q + 1.0).sum(), q, create_graph=True)
    with pytest.raises(ArgumentError, match='bias_torque: second derivatives are not available'):
        gradient.sum().backward()
    monkeypatch.setitem(sys.modules, 'torch', None)
    monkeypatch.delitem(sys.modules, 'robot_dynamics_ros.robot.export.torch_export')
    with pytest.raises(ArgumentError, match='not installed: pip install torch'):
        arm.torch('mass_matrix')
