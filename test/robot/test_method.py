"""The methods of forward dynamics: with each other, with inverse dynamics, and in all bindings."""

from functools import cache
from types import SimpleNamespace

from support.robots import random_trees as trees

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.algorithms.table import METHODS
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.model.model import Model

METHOD = pytest.mark.parametrize('method', METHODS)
TOLERANCE = 1e-9  # of the largest acceleration
SIZES = (1, 4, 9, 16)
SITUATIONS = ('alone', 'wrench', 'wrenches', 'several points', 'moving', 'moving, wrench', 'moving, wrenches')
SITUATION = pytest.mark.parametrize('situation', SITUATIONS)


@cache
def case(count):
    """Return a tree of ``count`` joints of all kinds, three states, and their wrenches and base motions."""
    joints = trees.random_joints(count, count=count, general=0.4)
    robot = Robot(Model.of('tree', trees.BASE, joints), (1.0, -3.0, -9.0))
    random = np.random.default_rng(count)
    q = np.array([robot.random(random) for _ in range(3)])
    qd, qdd = random.normal(size=(2, 3, robot.nv))
    return SimpleNamespace(
        robot=robot, q=q, qd=qd, qdd=qdd,
        wrenches=random.normal(scale=5.0, size=(3, count + 1, 6)), base=random.normal(size=(2, 3, 6)),
    )  # fmt: skip


def acting(c, situation, state=slice(None)):
    """Return the arguments of a situation for all states, or for one."""
    links, found = c.robot.link_names, {}
    some = {links[-1]: c.wrenches[state, 0], links[0]: c.wrenches[state, 1]}
    if 'wrenches' in situation:
        found['wrenches'] = c.wrenches[state]
    elif 'wrench' in situation:
        found['wrenches'] = {links[-1]: c.wrenches[state, 0]}
    elif 'points' in situation:
        found['wrenches'] = some
    if 'moving' in situation:
        found |= {'base_velocity': c.base[0, state], 'base_acceleration': c.base[1, state]}
    return found


@METHOD
@SITUATION
@pytest.mark.parametrize('count', SIZES)
def test_inverse_dynamics_of_the_accelerations_returns_the_torques(count, situation, method):
    c = case(count)
    more = acting(c, situation)
    tau = c.robot.inverse_dynamics(c.q, c.qd, c.qdd, **more)
    out = np.empty_like(c.qdd)
    assert c.robot.forward_dynamics(c.q, c.qd, tau, out=out, method=method, **more) is out
    assert np.abs(out - c.qdd).max() < TOLERANCE * np.abs(c.qdd).max()
    for k in range(3):
        one = c.robot.forward_dynamics(c.q[k], c.qd[k], tau[k], method=method, **acting(c, situation, k))
        assert (one == out[k]).all()


@METHOD
@SITUATION
def test_every_binding_gives_the_same_bits(situation, method):
    c = case(4)
    more = acting(c, situation)
    expected = c.robot.forward_dynamics(c.q, c.qd, c.qdd, method=method, **more)
    found = c.robot.compiled().forward_dynamics(c.q, c.qd, c.qdd, method=method, **more)
    assert (found == expected).all()


@SITUATION
@pytest.mark.parametrize(('count', 'method', 'other'), [(9, *METHODS), (16, *METHODS)])
def test_without_a_method_one_of_them_is_chosen(count, method, other, situation):
    joints = trees.random_joints(count, count=count, chain=1.0, general=0.0)
    robot, c = Robot(Model.of('chain', trees.BASE, joints)), case(count)
    chosen, left = (method, other) if count == 16 else (other, method)
    q, qd, tau = np.random.default_rng(count).normal(size=(3, 3, count))
    c = SimpleNamespace(robot=robot, wrenches=c.wrenches, base=c.base)
    more = acting(c, situation)
    found = robot.forward_dynamics(q, qd, tau, **more)
    assert (found == robot.forward_dynamics(q, qd, tau, method=chosen, **more)).all()
    assert (found != robot.forward_dynamics(q, qd, tau, method=left, **more)).any()


@pytest.mark.parametrize('wrong', ['crba', '', 'Articulated', 1, ['articulated'], ('mass_matrix',), True])
def test_an_unknown_method_is_named_with_those_there_are(wrong):
    c = case(4)
    with pytest.raises(ArgumentError) as error:
        c.robot.forward_dynamics(c.q, c.qd, c.qdd, method=wrong)
    assert str(error.value) == f'method: expected one of {", ".join(METHODS)}, got {wrong!r}'


@METHOD
def test_a_joint_without_inertia_is_named(method):
    joints = trees.random_joints(5, count=3, chain=1.0)
    joints[-1] = joints[-1].__class__(**{**vars(joints[-1]), 'inertia': np.zeros(10), 'rotor': 0.0})
    robot = Robot(Model.of('weightless', trees.BASE, joints))
    with pytest.raises(ModelError, match=rf"by {method.replace('_', ' ')}: joint 'joint_3' has no inertia"):
        robot.forward_dynamics(*np.ones((3, 3)), method=method)
