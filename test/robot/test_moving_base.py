"""Robots on a base that moves: identities, the naive twin, and a base that is a free joint, ours and Pinocchio's."""

import dataclasses
from functools import cache
from types import SimpleNamespace

from support.robots import random_trees as trees
from support.twins import naive

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robot_dynamics_ros import Robot
from robot_dynamics_ros.algorithms.forward_method import articulated_bodies_pay
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.model.joint_types import Joint
from robot_dynamics_ros.model.model import Model

SEEDS = range(4001, 4016)
CASES = pytest.mark.parametrize('seed', SEEDS)
TOLERANCE = 1e-9  # of the largest magnitude in the quantity


@cache
def case(seed):
    """Return a tree of 1 to 15 joints on the generic kernels, a state with wrenches, and the motion of its base."""
    joints = trees.with_planar_about_z(trees.random_joints(seed, count=seed - 4000, general=0.5 * (seed % 2)))
    s, rng = trees.random_state(joints, seed), np.random.default_rng([seed, 2])
    return SimpleNamespace(
        joints=joints, s=s, robot=Robot(Model.of('random', trees.BASE, joints), s.gravity),
        orientation=Rotation.from_quat(rng.normal(size=4)), place=rng.normal(size=3),
        base={'base_velocity': rng.normal(scale=2.0, size=6), 'base_acceleration': rng.normal(scale=5.0, size=6)},
    )  # fmt: skip


def spatial_acceleration(c):
    """Return the base's spatial acceleration (6), as velocities of a free joint and the twin have it."""
    v_0, a_0 = c.base.values()
    return a_0 - np.concatenate([np.zeros(3), np.cross(v_0[:3], v_0[3:])])


@cache
def on_a_free_joint(seed):
    """Return the joints on a massless free joint in place of the base, and q, qd, qdd and f_ext of them all."""
    c = case(seed)
    platform = Joint('free', 'platform', trees.BASE, 'free', np.eye(3)[2], np.eye(3), np.zeros(3), np.zeros(10))
    moved = [dataclasses.replace(it, parent='platform') if it.parent == trees.BASE else it for it in c.joints]
    q = np.concatenate([c.place, c.orientation.as_quat(), c.s.q])
    qd = np.concatenate([c.base['base_velocity'], c.s.qd])
    qdd = np.concatenate([spatial_acceleration(c), c.s.qdd])
    return [platform, *moved], q, qd, qdd, np.vstack([np.zeros(6), c.s.f_ext])


def torques(c, **more):
    return c.robot.inverse_dynamics(c.s.q, c.s.qd, c.s.qdd, **more)


@CASES
def test_torques_and_accelerations_are_the_twins(seed):
    c = case(seed)
    v_0, a_0 = c.base['base_velocity'], spatial_acceleration(c)
    expected = naive.inverse_dynamics(c.joints, c.s.q, c.s.qd, c.s.qdd, c.s.gravity, c.s.f_ext, v_0, a_0)[0]
    assert trees.relative_error(torques(c, wrenches=c.s.f_ext, reference_frame='local', **c.base), expected) < TOLERANCE
    found = c.robot.forward_dynamics(c.s.q, c.s.qd, expected, c.s.f_ext, reference_frame='local', **c.base)
    assert trees.relative_error(found, c.s.qdd) < TOLERANCE


@CASES
def test_torques_are_those_on_a_free_joint(seed):
    """The base anywhere, turned any way: gravity is the same in the base's axes."""
    c = case(seed)
    joints, q, qd, qdd, f_ext = on_a_free_joint(seed)
    whole = Robot(Model.of('whole', trees.BASE, joints), c.orientation.apply(c.s.gravity))
    expected = whole.inverse_dynamics(q, qd, qdd, f_ext, reference_frame='local')[6:]
    assert trees.relative_error(torques(c, wrenches=c.s.f_ext, reference_frame='local', **c.base), expected) < TOLERANCE


@CASES
def test_torques_are_pinocchios(seed):
    pin = pytest.importorskip(
        'pinocchio', minversion='3.4', reason='the outside source, Pinocchio (package pin), is not installed'
    )
    c = case(seed)
    joints, q, qd, qdd, f_ext = on_a_free_joint(seed)
    model, links, order = trees.pinocchio_tree(joints)
    model.gravity.linear = c.orientation.apply(c.s.gravity)
    wrenches = pin.StdVec_Force()
    for wrench in f_ext[[0, *(links + 1)]]:
        wrenches.append(pin.Force(wrench[3:], wrench[:3]))
    pin_q = trees.pinocchio_positions(joints, links, q)
    tau = np.full(len(qd), np.nan)
    tau[order] = pin.rnea(model, model.createData(), pin_q, qd[order], qdd[order], wrenches)
    assert trees.relative_error(torques(c, wrenches=c.s.f_ext, reference_frame='local', **c.base), tau[6:]) < TOLERANCE


def test_both_algorithms_of_forward_dynamics_are_asked():
    assert {articulated_bodies_pay(case(seed).robot.model.arrays) for seed in SEEDS} == {True, False}


@CASES
def test_uniform_linear_velocity_is_not_felt(seed):
    c = case(seed)
    faster = c.base['base_velocity'] + [0.0, 0.0, 0.0, 7.0, -5.0, 3.0]
    assert (torques(c, **{**c.base, 'base_velocity': faster}) == torques(c, **c.base)).all()


@CASES
def test_linear_acceleration_is_gravity_the_other_way(seed):
    c = case(seed)
    a = c.base['base_acceleration'][3:]
    found = torques(c, base_acceleration=np.concatenate([np.zeros(3), a]))
    falling = c.robot.with_gravity(c.s.gravity - a)
    assert trees.relative_error(found, falling.inverse_dynamics(c.s.q, c.s.qd, c.s.qdd)) < TOLERANCE
    assert np.abs(found - torques(c)).max() > 1e-3


@CASES
def test_velocity_and_acceleration_default_to_zero(seed):
    c, still = case(seed), np.zeros(6)
    assert (torques(c, base_velocity=still) == torques(c)).all()
    assert (torques(c, base_acceleration=still) == torques(c)).all()
    for name, other in (('base_velocity', 'base_acceleration'), ('base_acceleration', 'base_velocity')):
        one = {name: c.base[name]}
        assert (torques(c, **one) == torques(c, **one, **{other: still})).all()


def test_batches_of_states_and_of_base_motions():
    c, rng = case(4007), np.random.default_rng(0)
    q, qd, x = (np.stack([one, one[::-1]])[:, None] for one in (c.s.q, c.s.qd, c.s.qdd))
    v_0, a_0 = rng.normal(size=(2, 3, 6))
    link = c.robot.link_names[-1]
    wrench = rng.normal(size=(3, 6))
    for method in (c.robot.inverse_dynamics, c.robot.forward_dynamics):
        out = np.empty((2, 3, c.robot.nv))
        acting = {
            'wrenches': {link: wrench},
            'reference_frame': 'world',
            'base_velocity': v_0,
            'base_acceleration': a_0,
        }
        assert method(q, qd, x, out=out, **acting) is out
        for i, j in np.ndindex(2, 3):
            acting = {'wrenches': {link: wrench[j]}, 'reference_frame': 'world'}
            acting |= {'base_velocity': v_0[j], 'base_acceleration': a_0[j]}
            assert (out[i, j] == method(q[i, 0], qd[i, 0], x[i, 0], **acting)).all()


WRONG = {
    'length': ({'base_velocity': np.zeros(3)}, 'base_velocity: expected shape (..., 6), got (3,)'),
    'text': ({'base_acceleration': 'up'}, "base_acceleration: expected real numbers, got 'up'"),
    'not felt, yet NaN': ({'base_velocity': [0, 0, 0, 0, np.nan, 0]}, 'base_velocity[4]: nan is not finite'),
    'inf': ({'base_acceleration': [[np.inf, 0, 0, 0, 0, 0]]}, 'base_acceleration[0, 0]: inf is not finite'),
    'batch': ({'base_acceleration': np.zeros((2, 6))}, 'base_velocity (6,), base_acceleration (2, 6)'),
}


@pytest.mark.parametrize('wrong', WRONG)
@pytest.mark.parametrize('method', ['inverse_dynamics', 'forward_dynamics'])
def test_a_wrong_motion_is_named(method, wrong):
    base, text = WRONG[wrong]
    robot, q = case(4006).robot, case(4006).robot.neutral()
    qd = np.zeros((3, robot.nv))
    with pytest.raises(ArgumentError) as error:
        getattr(robot, method)(q, qd, qd, **base)
    assert text in str(error.value)
