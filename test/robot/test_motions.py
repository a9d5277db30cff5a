"""Velocities and accelerations of frames in each reference frame; robots with all joint types."""

import dataclasses
from functools import cache
from itertools import product

from support.code.bindings import of_binding
from support.matrices import matrix
from support.robots import random_trees as trees
from support.robots.facade_robots import MERGED, OF_A_LINK, ROBOT, assert_close, of_a_link, robot_of, twin

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ArgumentError, UnknownNameError
from robot_dynamics_ros.model.joint_types import KINDS
from robot_dynamics_ros.model.model import Model
from robot_dynamics_ros.validation import REFERENCE_FRAMES as FRAMES

pytestmark = pytest.mark.plain

STEP = 1e-6  # s


def drawn(name, seed=0):
    return np.random.default_rng(seed).uniform(-2.0, 2.0, (3, robot_of(name).nv))


@ROBOT
@pytest.mark.parametrize('frame', FRAMES)
@pytest.mark.parametrize('method', [method for method in OF_A_LINK if method != 'link_pose'])
def test_each_view_is_pinocchios(name, method, frame):
    robot, (q, qd, qdd) = robot_of(name), drawn(name)
    given = {'jacobian': (q,), 'link_velocity': (q, qd), 'jacobian_dot_qd': (q, qd)}.get(method, (q, qd, qdd))
    t = twin(name, tuple(robot.gravity))
    back = np.argsort(t.order)
    wanted = of_a_link(t, method, q[back], qd[back], qdd[back], t.model.getFrameId(MERGED[name]), frame)
    assert_close(getattr(robot, method)(*given, MERGED[name], frame), wanted)


@ROBOT
@pytest.mark.parametrize('frame', FRAMES)
def test_accelerations_are_derivatives_of_velocities(name, frame):
    robot, (q, qd, qdd), link = robot_of(name), drawn(name, 1), MERGED[name]

    def velocity(t):
        return robot.link_velocity(q + t * qd + 0.5 * t * t * qdd, qd + t * qdd, link, frame)

    a = robot.link_acceleration(q, qd, qdd, link, frame)
    assert (velocity(STEP) - velocity(-STEP)) / (2.0 * STEP) == pytest.approx(a, rel=1e-6, abs=1e-6)
    J, dot = robot.jacobian(q, link, frame), robot.jacobian_dot_qd(q, qd, link, frame)
    assert_close(J @ qdd + dot, a)
    assert_close(J @ qd, velocity(0.0))


def test_another_view_or_link_is_refused_by_name():
    robot, q = robot_of('tree'), np.zeros(3)
    with pytest.raises(
        ArgumentError, match=r"^reference_frame: expected one of world, local_world_aligned, local, got 'base'$"
    ):
        robot.jacobian(q, 'tool', 'base')
    with pytest.raises(UnknownNameError, match="no link 'hand'"):
        robot.link_velocity(q, q, 'hand')


# Robots with joints of several degrees of freedom

# no robot has all kinds: compiling code for so many velocities takes minutes
KINDS_OF = {
    'arm': ('spherical', 'cylindrical', 'helical'),
    'vehicle': ('planar', 'prismatic'),
    'flyer': ('free', 'revolute'),
}


def joints_of(name):
    kinds = KINDS_OF[name]
    drawn = trees.random_joints(11, count=len(kinds), chain=0.7)
    return [dataclasses.replace(joint, kind=kind, pitch=0.1) for joint, kind in zip(drawn, kinds, strict=True)]


@cache
def general(name, binding):
    return of_binding(Robot(Model.of(name, trees.BASE, joints_of(name)), (1.0, -2.0, -9.0)), binding)


BINDING = pytest.mark.parametrize('binding', ['generic', 'own'])
GENERAL = pytest.mark.parametrize('name', KINDS_OF)
BOTH = list(product(KINDS_OF, ['generic', 'own']))
LARGE = [('flyer', 'own')]
"""What takes long to compile; free joints are compiled for documentation/test_conventions_joints.py, too."""


def state(name):
    return trees.random_state(joints_of(name), 3)


@pytest.mark.compiled
def test_every_kind_of_joint_is_there():
    assert {kind for kinds in KINDS_OF.values() for kind in kinds} == set(KINDS)
    robot = general('arm', 'own')
    assert robot.is_compiled
    assert (len(robot.joint_names), robot.nq, robot.nv) == (3, 4 + 2 + 1, 3 + 2 + 1)


@pytest.mark.parametrize(('name', 'binding'), matrix(BOTH, few=[pair for pair in BOTH if pair not in LARGE]))
def test_dynamics_are_the_kernels(name, binding):
    joints = joints_of(name)
    robot, s, arrays = general(name, binding), state(name), trees.arrays_of(joints)
    no_wrench = trees.no_wrenches(joints)
    tau = trees.inverse_dynamics(arrays, s.q, s.qd, s.qdd, robot.gravity, no_wrench)
    assert_close(robot.inverse_dynamics(s.q, s.qd, s.qdd), tau)
    assert_close(robot.mass_matrix(s.q), trees.mass_matrix(arrays, s.q))
    assert_close(robot.forward_dynamics(s.q, s.qd, tau), s.qdd)
    assert_close(robot.bias_torque(s.q, s.qd) + robot.mass_matrix(s.q) @ s.qdd, tau)
    assert_close(robot.gravity_torque(s.q) + robot.coriolis_torque(s.q, s.qd), robot.bias_torque(s.q, s.qd))
    with_wrenches = robot.inverse_dynamics(s.q, s.qd, s.qdd, wrenches=s.f_ext, reference_frame='local')
    assert_close(with_wrenches, trees.inverse_dynamics(arrays, s.q, s.qd, s.qdd, robot.gravity, s.f_ext))


@GENERAL
def test_torques_are_linear_in_the_inertial_parameters(name):
    robot, s = general(name, 'generic'), state(name)
    Y = robot.torque_regressor(s.q, s.qd, s.qdd)
    rotors = robot.rotor_inertia * s.qdd
    assert_close(Y @ robot.inertial_parameters + rotors, robot.inverse_dynamics(s.q, s.qd, s.qdd))


@pytest.mark.compiled
@pytest.mark.parametrize('name', matrix(KINDS_OF, few=['arm', 'vehicle']))
def test_both_bindings_yield_the_same_bits_in_batches_too(name):
    generic, specialised = general(name, 'generic'), general(name, 'own')
    random = np.random.default_rng(0)
    q = np.array([generic.random(random) for _ in range(37)])
    qd, qdd = random.normal(size=(2, 37, generic.nv))
    for method, given in {
        'inverse_dynamics': (q, qd, qdd),
        'forward_dynamics': (q, qd, qdd),
        'mass_matrix': (q,),
        'gravity_torque': (q,),
        'bias_torque': (q, qd),
    }.items():
        assert (getattr(specialised, method)(*given) == getattr(generic, method)(*given)).all()


@BINDING
def test_a_quaternion_that_is_none_is_refused_by_its_place(binding):
    robot, s = general('arm', binding), state('arm')
    q = np.array([s.q, s.q])
    place = int(robot._model.arrays.quaternion[1])
    q[1, place : place + 4] *= 1.0001
    with pytest.raises(ArgumentError, match=rf'^q\[1, {place}:{place + 4}\]: expected a quaternion of length 1, got'):
        robot.inverse_dynamics(q, s.qd, s.qdd)
    with pytest.raises(ArgumentError, match=rf'^start\[{place}:{place + 4}\]: expected a quaternion'):
        robot.difference(q[1], s.q)
    q[1, place] = np.nan
    with pytest.raises(ArgumentError, match=rf'^q\[1, {place}\]: nan is not finite'):
        robot.mass_matrix(q)


@GENERAL
def test_steps_between_positions(name):
    robot, s = general(name, 'generic'), state(name)
    end = robot.integrate(s.q, s.qd)
    assert_close(robot.difference(s.q, end), s.qd)
    assert_close(robot.integrate(robot.neutral(), np.zeros(robot.nv)), robot.neutral())
    for link in robot.link_names:
        after, before = (robot.link_pose(robot.integrate(s.q, t * s.qd), link)[:3, 3] for t in (STEP, -STEP))
        v = robot.link_velocity(s.q, s.qd, link, 'local_world_aligned')[3:]
        assert (after - before) / (2.0 * STEP) == pytest.approx(v, abs=1e-6)


def test_a_random_position_is_drawn_from_the_generator_passed():
    robot = general('flyer', 'generic')
    one, two, other = (robot.random(np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert (one == two).all() and (one != other).any() and (robot.random() != robot.random()).any()
