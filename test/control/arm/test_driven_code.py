"""Functions of driven joints in exported C: gravity, inverse dynamics and the whole torque have the bits of Python."""

import ctypes
from dataclasses import replace

from support.controllers.controllers_core import run
from support.controllers.driven_joints import FINGERS, robot_of
from support.robots.random_trees import BASE, random_joints

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.arm.driven_code import write_driven_c
from robot_dynamics_ros.control.arm.driven_robot import in_driven_joints
from robot_dynamics_ros.model.model import Model

FRICTION = {'viscous': 3.0, 'coulomb': 2.0, 'offset': 0.3, 'load': 0.1, 'stribeck': 0.5, 'quadratic': 0.2}
CALLS = """#include "{prefix}_dynamics.h"

bool gravity(const double *y, const {prefix}_inputs *inputs, double *tau)
{{
    {memory}
    return {prefix}_driven_gravity_torque(y, inputs, {given}tau);
}}

bool rigid(const double *y, const double *yd, const double *ydd, const {prefix}_inputs *inputs, double *tau)
{{
    {memory}
    return {prefix}_driven_inverse_dynamics(y, yd, ydd, inputs, {given}tau);
}}

bool whole(const double *y, const double *yd, const double *ydd, const {prefix}_inputs *inputs, double *tau)
{{
    {memory}
    return {prefix}_driven_torque(y, yd, ydd, inputs, {given}tau);
}}
"""


def sprung() -> Robot:
    joints = [replace(it, stiffness=20.0 + k, rest=0.1 * k) for k, it in enumerate(random_joints(seed=4, count=4))]
    return Robot(Model.of('sprung', BASE, joints))


def four_bar() -> Robot:
    return robot_of('four-bar with a spring')


ROBOTS = {'fingers': lambda: robot_of(FINGERS), 'sprung': sprung, 'sprung four-bar': four_bar}


@pytest.mark.compiled
@pytest.mark.parametrize('name', ROBOTS)
def test_exported_functions_have_the_bits_of_python(name, tmp_path):
    robot = in_driven_joints(ROBOTS[name]().with_friction(**FRICTION))
    source = next(path for path in write_driven_c(robot, tmp_path) if path.suffix == '.c')
    prefix, has_memory = source.name.removesuffix('_dynamics.c'), robot.mechanism is not None
    memory = f'{prefix}_memory memory = {prefix}_initial_memory;' if has_memory else ''
    (tmp_path / 'calls.c').write_text(
        CALLS.format(prefix=prefix, memory=memory, given='&memory, ' if has_memory else '')
    )
    options = '-std=c99', '-O1', '-ffp-contract=off', '-shared', '-fPIC', '-Wall', '-Wextra', '-Werror'
    run('gcc', *options, source, tmp_path / 'calls.c', '-o', tmp_path / 'calls.so', '-lm')
    calls = ctypes.CDLL(str(tmp_path / 'calls.so'))
    inputs, random = robot.robot.runtime_inputs, np.random.default_rng(3)

    def called(function: str, *states) -> np.ndarray:
        vectors = [np.ascontiguousarray(it) for it in (*states, inputs, np.empty(robot.nv))]
        exported = getattr(calls, function)
        exported.restype = ctypes.c_bool
        assert exported(*(it.ctypes.data_as(ctypes.c_void_p) for it in vectors))
        return vectors[-1]

    for y, yd, ydd in random.uniform(-0.05, 0.05, (5, 3, robot.nv)):
        y += robot.neutral()
        np.testing.assert_array_equal(called('gravity', y), robot.gravity_torque(y))
        np.testing.assert_array_equal(called('rigid', y, yd, ydd), robot.inverse_dynamics(y, yd, ydd))
        np.testing.assert_array_equal(called('whole', y, yd, ydd), robot.torque(y, yd, ydd))
    assert abs(robot.friction_along(y)(yd, ydd)).max() > 0.1, 'friction is part of the whole torque'
    assert has_memory == (robot.passive_friction is not None), 'that of joints without a motor, too'
    if has_memory or name == 'sprung':
        assert abs(robot.following.spring_torque(robot.following.motion(y))).max() > 0.0
    exported = calls.whole
    vectors = [np.full(robot.nv, 1e200) if k == 1 else np.zeros(robot.nv) for k in range(3)]
    assert not exported(*(it.ctypes.data_as(ctypes.c_void_p) for it in (*vectors, inputs, np.empty(robot.nv))))
