"""A shared library that does not fit is refused, with culprit, expected and actual."""

import ctypes
import functools
import re
import shutil
from pathlib import Path

from support.controllers import controllers_frame_laws
from support.controllers.controllers_core import (
    INCLUDE,
    MOTION,
    Law,
    Terms,
    exported,
    folder,
    has_compilers,
    linked,
    run,
)
from support.robots.small_robots import mixed

import numpy as np
import pytest

from robot_dynamics_ros.codegen.c.library import library_source
from robot_dynamics_ros.robot.export.c_library_export import controller_library
from robot_dynamics_ros.tools.controller_package import ControllerPackage

pytestmark = pytest.mark.skipif(not has_compilers(), reason='no C and C++ compiler')
LIMITS = {'effort_limit': [50.0]}
JOINTS = ['turn', 'swing', 'slide']


@functools.cache
def right():
    """Return the library of three joints."""
    return exported(mixed(), 'three')


@functools.cache
def dynamics():
    """Return the compiled dynamics of that library."""
    target = folder() / 'three_dynamics.o'
    run('gcc', '-c', '-O1', '-fPIC', right().with_suffix('') / 'r_dynamics.c', '-o', target)
    return target


@functools.cache
def changed(pattern: str, replacement: str):
    """Return that library with something else in its source."""
    text, count = re.subn(pattern, replacement, library_source(controller_library(mixed())), count=1)
    assert count == 1
    target = folder() / f'changed {abs(hash((pattern, replacement)))}'
    target.mkdir()
    (target / 'changed.c').write_text(text)
    return linked(target / 'changed.so', '-I', right().with_suffix(''), target / 'changed.c', dynamics())


def test_a_library_of_the_same_model_is_loaded():
    law = Law(right(), JOINTS, digest=mixed().digest, **LIMITS)
    assert Terms(right()).names == ['gravity', 'coriolis', 'inertia', 'friction']
    law.activate()
    efforts, outcomes = law.updates([[[0.3, 0.2, 0.1], [0.0] * 3]])
    assert outcomes == ['gravity_only'] and efforts.any()


@pytest.mark.parametrize(
    ('pattern', 'replacement', 'said'),
    [
        (r'ROBOT_DYNAMICS_LIBRARY_VERSION,', '2u,', r'version: expected 12 \(export the robot again\), got 2'),
        (r'sizeof\(robot_dynamics_library\)', '8', r'size: expected \d+ \(.*\), got 8'),
        (r'= gravity_torque,', '= 0 ? gravity_torque : 0,', 'gravity_torque: expected a function, got nothing'),
        (r'= limit_rate,', '= 0 ? limit_rate : 0,', 'limit_rate: expected a function, got nothing'),
        (r'\.joint_names = \w+', '.joint_names = 0', 'joint_names: expected an array, got nothing'),
        (r'\.coordinates = \w+', '.coordinates = 4', 'coordinates, velocities: expected 3, one for each joint, got 4'),
        (r'\.last_link = "\w+"', '.last_link = "hub"', r'frame\[0\]: expected hub, got sledge'),
        (r'\.model_digest = "\w+"', '.model_digest = ""', 'model_digest: expected a name, got an empty text'),
        (
            r'(effort_limits\[3\] = \{)0\.0',
            r'\1-1.0',
            r'effort_limits\[0\]: expected a finite number, at least 0, got -',
        ),
        (r'0\.01, (?=0\.01)', '0.0, ', r'friction\[3\]\[0\]: expected a finite number above 0, got 0'),
        (
            r'#if .*__FMA__\)((?s:.)+?)!__builtin_cpu_supports\("fma"\)',
            r'#if 1\g<1>1',
            'robot_dynamics_exported_library: expected a library for this processor, got nothing',
        ),
        (r'-9\.81', '1e308 * 10.0', r'default_inputs\[2\]: expected a finite number, got inf'),
    ],
)
def test_a_wrong_one_is_refused_by_name(pattern, replacement, said):
    with pytest.raises(ValueError, match=f'LibraryError: .*changed.so: {said}'):
        Law(changed(pattern, replacement), JOINTS, **LIMITS)


def test_a_file_that_is_none(tmp_path):
    text = tmp_path / 'text.so'
    text.write_text('no library')
    (tmp_path / 'empty.c').write_text('int nothing;\n')
    other = linked(tmp_path / 'other.so', tmp_path / 'empty.c')
    for path, said in (
        (text, 'text.so: expected a shared library, got .*text.so'),
        (tmp_path / 'missing.so', 'missing.so: expected a shared library, got .*missing.so'),
        (tmp_path, 'expected a shared library'),
        (other, 'other.so: expected the function robot_dynamics_exported_library of export_controller'),
        ('library.so', "library: expected a path, got 'library.so'"),
    ):
        with pytest.raises(ValueError, match=f'LibraryError: .*{said}'):
            Law(path, JOINTS, **LIMITS)


@pytest.mark.parametrize(
    ('joints', 'said'),
    [
        (['swing', 'turn', 'slide'], r"joints\[0\]: expected 'turn' in the order of the library of r, got 'swing'"),
        (['turn', 'swing'], r"joints\[2\]: expected 'slide' .*, got nothing"),
        ([*JOINTS, 'more'], r"joints\[3\]: expected nothing more .*, got 'more'"),
    ],
)
def test_joints_in_another_order(joints, said):
    with pytest.raises(ValueError, match=f'LibraryError: {said}'):
        Law(right(), joints, **LIMITS)


def test_a_rehearsal_calls_both_functions_of_the_library_before_the_first_cycle():
    text, names = library_source(controller_library(mixed())), ('gravity_torque', 'inverse_dynamics')
    text = re.sub(r'(    return r_(gravity_torque|inverse_dynamics)\()', r'    ++\2_calls;\n\1', text)
    text = text.replace('static bool', f'int {names[0]}_calls = 0, {names[1]}_calls = 0;\nstatic bool', 1)
    target = folder() / 'counting'
    target.mkdir()
    (target / 'counting.c').write_text(text)
    library = linked(target / 'counting.so', '-I', right().with_suffix(''), target / 'counting.c', dynamics())
    calls = [ctypes.c_int.in_dll(ctypes.CDLL(str(library)), f'{it}_calls') for it in names]
    Law(library, JOINTS, **LIMITS)
    assert [it.value for it in calls] == [0, 0]
    Law(library, JOINTS, rehearses=True, **LIMITS)
    assert [it.value for it in calls] == [1, 1]


def test_a_library_of_another_model_is_refused():
    with pytest.raises(
        ValueError, match=r'LibraryError: model_digest: expected [0-9a-f]{16} of the library of r, got 12'
    ):
        Law(right(), JOINTS, digest='12', **LIMITS)


@pytest.mark.parametrize(
    ('settings', 'said'),
    [
        ({}, "joint 'turn': no effort limit is known; set the parameter effort_limit"),
        ({'effort_limit': [1.0, 2.0]}, r'effort_limit: expected one number >= 0 or 3, got \[1.0+, 2.0+\]'),
        ({'rate_limit': [-1.0]}, 'rate_limit: expected one number >= 0 or 3'),
        ({'rate_limit': [float('nan')]}, 'rate_limit: expected one number >= 0 or 3'),
        ({'preset': 'ur'}, "preset: expected one of sim, .*, got 'ur'"),
        ({'preset': 'monitor_only'}, "preset: expected one that accepts efforts, got 'monitor_only'"),
        ({'gravity_owner': 'me'}, "gravity_owner: expected one of node, robot, got 'me'"),
        ({'preset': 'franka', 'gravity_owner': 'node'}, 'gravity_owner node contradicts preset franka'),
        ({'preset': 'franka', 'compensation': ['gravity']}, 'compensation: gravity would be added twice: with preset'),
        (
            {'gravity_owner': 'robot', 'compensation': ['gravity']},
            'compensation: gravity would be added twice: with gravity_owner robot',
        ),
        ({'compensation': ['residual']}, "compensation: .*'residual', which feedforward_node has alone"),
        ({'compensation': ['inertia', 'inertia']}, "compensation: .* each once, got 'inertia'"),
        ({'ramp_time': 0.0}, 'ramp_time: expected 0.01'),
        ({'fade_in_time': -0.5}, 'fade_in_time'),
        ({'reference_timeout': float('nan')}, 'reference_timeout'),
        ({'update_rate': 0.0}, 'update_rate'),
        ({'stiffness': -1.0}, 'stiffness: expected one finite number >= 0 or 3'),
        ({'damping': float('nan')}, 'damping: expected one finite number >= 0 or 3'),
        ({'stiffness': 100.0}, "stiffness: joint 'turn': 100 N m/rad at 1000 Hz needs a damping above 0.05 .* got 0 "),
        ({'preset': 'motor_pd', 'damping': 1.0}, 'stiffness, damping: with preset motor_pd the PD of the motors'),
    ],
)
def test_a_wrong_parameter_is_named(settings, said):
    limits = {} if 'effort limit' in said else LIMITS
    with pytest.raises(ValueError, match=f'invalid_argument: {said}'):
        Law(right(), JOINTS, **{**limits, **settings})


def is_the_second(library) -> bool:
    """Return whether a shared library uses what is in it a second time, by the place of its joint names."""
    loaded = ctypes.CDLL(str(library))
    function = loaded.robot_dynamics_exported_library
    function.restype = ctypes.c_void_p
    names = ctypes.cast(function() + 56, ctypes.POINTER(ctypes.c_void_p))  # after 2 numbers, 4 texts, 4 numbers
    return names[0] != ctypes.addressof(ctypes.c_char.in_dll(loaded, 'r_joint_names'))


@pytest.mark.skipif(not shutil.which('cmake'), reason='cmake is missing')
def test_a_package_holds_code_for_two_processors_with_the_same_bits(tmp_path):
    robot, exported_one = controllers_frame_laws.kinds()['three'].robot, controllers_frame_laws.library('three')
    content = controllers_frame_laws.content('three')
    files = ControllerPackage('r_controllers', content, JOINTS, 'sim', 1000).files()
    shutil.copytree(exported_one.with_suffix(''), tmp_path / 'dynamics')
    robot.export_c(tmp_path / 'dynamics', content.programs)  # its CMakeLists.txt
    for name, text in (
        ('CMakeLists.txt', files['CMakeLists.txt']),
        ('ament_cmakeConfig.cmake', 'function(ament_package)\nendfunction()\n'),
        ('robot_dynamics_controllersConfig.cmake', f'set(robot_dynamics_controllers_INCLUDE_DIRS "{INCLUDE}")\n'),
    ):
        (tmp_path / name).write_text(text)
    run('cmake', '-S', tmp_path, '-B', tmp_path / 'build', f'-DCMAKE_PREFIX_PATH={tmp_path}')
    run('cmake', '--build', tmp_path / 'build')
    library, cpu = tmp_path / 'build' / 'libr_library.so', Path('/proc/cpuinfo')
    assert is_the_second(library) == (cpu.exists() and ' fma ' in cpu.read_text())
    random, efforts = np.random.default_rng(2), []
    states, references = random.normal(size=(1000, 2, 3)), random.normal(size=(1000, 4, 3))
    for path in (library, exported_one):
        law = Law(path, JOINTS, control_law='cartesian_impedance', **LIMITS)
        law.activate()
        efforts.append(law.updates(states, references, MOTION)[0].tobytes())
    assert efforts[0] == efforts[1]


@pytest.mark.parametrize('has_fma', [0, 1])
def test_the_processor_chooses_the_code(has_fma, tmp_path):
    source = tmp_path / 'second.c'
    source.write_text(
        'const void *robot_dynamics_exported_library_fma(void);\n'
        'const void *robot_dynamics_exported_library_fma(void) { return 0; }\n'
    )
    library = linked(
        tmp_path / 'both.so', '-DROBOT_DYNAMICS_LIBRARY_WITH_FMA', f'-D__builtin_cpu_supports(name)={has_fma}',
        '-I', right().with_suffix(''), right().with_suffix('') / 'r_library.c', dynamics(), source,
    )  # fmt: skip
    if has_fma:
        with pytest.raises(ValueError, match='expected a library for this processor, got nothing'):
            Law(library, JOINTS, **LIMITS)
    else:
        Law(library, JOINTS, **LIMITS)
