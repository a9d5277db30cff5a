"""Exported C: the bits of the specialised binding with each compiler, clean under sanitizers, whatever names are."""

import ctypes
import functools
import itertools
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

from support.code.bindings import shared
from support.matrices import matrix
from support.robots import random_trees as trees
from support.robots.facade_robots import robot_of
from support.robots.mechanisms import four_bar, gears
from support.robots.small_robots import general

import numpy as np
import pytest
from llvmlite.binding import get_host_cpu_features, llvm_version_info

from robot_dynamics_ros import Coupling, LoopClosure, Payload, Robot
from robot_dynamics_ros.algorithms.program import program_of
from robot_dynamics_ros.algorithms.table import ALGORITHMS
from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.model.joint_types import LARGEST_ANGLE, Joint
from robot_dynamics_ros.model.model import Model

STRICT = ('-std=c99', '-trigraphs', '-Wall', '-Wextra', '-Wpedantic', '-Wconversion', '-Werror')
OPTIMISED = ('-O1', '-ffp-contract=off')
SANITIZED = ('-g', '-fsanitize=address,undefined', '-fno-sanitize-recover=all')
SPECIALISED = [name for name, algorithm in ALGORITHMS.items() if hasattr(Robot, name) and not algorithm.of_loops]
OF_A_LINK = [
    ('link_pose', 'ee_link'),
    ('link_velocity', 'ee_link', 'world'),
    ('link_acceleration', 'foreArm_Link', 'local'),
    ('jacobian', 'ee_link'),
    ('jacobian', 'wrist1_Link', 'local'),
]
FUNCTIONS = ['link_pose_ee_link', 'link_velocity_ee_link_world', 'link_acceleration_foreArm_Link_local']
FUNCTIONS += ['jacobian_ee_link_local_world_aligned', 'jacobian_wrist1_Link_local']
STATES = 40

compilers = pytest.mark.parametrize(
    'compiler',
    [
        pytest.param(name, marks=pytest.mark.skipif(not shutil.which(name), reason=f'the compiler {name} is missing'))
        for name in ('gcc', 'clang')
    ],
)


def run(*command) -> str:
    """Return what a command prints; it has to succeed."""
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    text = done.stdout.decode(errors='replace')
    assert done.returncode == 0, text
    return text


def library(compiler: str, folder: Path, source: Path, *options) -> ctypes.CDLL:
    """Return the library of an exported source file."""
    path = folder / f'{compiler}.so'
    run(compiler, *STRICT, *(options or OPTIMISED), '-shared', '-fPIC', source, '-o', path, '-lm')
    return ctypes.CDLL(str(path))


def called(function, vectors, runtime_inputs, shape):
    """Return whether all numbers are finite, and the result, of an exported function."""
    result = np.full(shape, 7.0)
    function.restype = ctypes.c_bool
    return function(*(it.ctypes.data_as(ctypes.c_void_p) for it in (*vectors, runtime_inputs, result))), result


def special_states(random, name, lengths):
    """Return states with zeros and quarter turns, with large angles, and random ones."""
    for k in range(STATES):
        vectors = [random.normal(size=length) * 3.0 for length in lengths]
        if k == 0:
            vectors = [np.zeros(length) for length in lengths]
        elif k < 4:
            vectors[0] = np.round(vectors[0]) * np.pi / 2.0
        elif k < 8:
            vectors[0] = 3e4 * vectors[0]
        yield vectors


@functools.cache
def aubo_i5() -> Robot:
    return Robot.named('aubo_i5').compiled()


def same_bits(result, expected):
    """Compare bits; of a zero without its sign with LLVM 11, of Numba 0.55, whose specialised code has other ones."""
    if llvm_version_info[0] == 11:
        result, expected = result + 0.0, expected + 0.0
    return result.tobytes() == expected.tobytes()


@compilers
def test_the_bits_are_those_of_the_specialised_binding(compiler, tmp_path):
    base = aubo_i5()
    _, source, _ = base.export_c(tmp_path, [*SPECIALISED, *OF_A_LINK])
    exported, random = library(compiler, tmp_path, source), np.random.default_rng(1)
    loaded = base.with_payload(Payload(2.0, (0.1, -0.02, 0.3), 0.01 * np.eye(3))).with_gravity((1.0, -9.0, 3.0))
    assert base.is_compiled and loaded.is_compiled
    programs = [(name, name, ()) for name in SPECIALISED]
    programs += [(name, function, frame) for (name, *frame), function in zip(OF_A_LINK, FUNCTIONS, strict=True)]
    for name, function, frame in programs:
        lengths = {'link_velocity': 2, 'link_acceleration': 3}.get(name, 1)
        count = len(ALGORITHMS[name].inputs) if name in ALGORITHMS else lengths
        for which in (base, loaded):
            for vectors in special_states(random, name, [6] * count):
                expected = getattr(which, name)(*vectors, *frame)
                one = getattr(exported, f'aubo_i5_{function}')
                finite, result = called(one, vectors, which.runtime_inputs, expected.shape)
                assert finite and same_bits(result, expected), (name, vectors)


CASES = ('tree', 'tree of 4', 'free', 'spherical', 'planar', 'cylindrical', 'helical')


@compilers
@pytest.mark.parametrize('case', matrix(CASES, ['tree of 4', 'free', 'helical']))
def test_robots_of_all_kinds_of_joints(compiler, case, tmp_path):
    """Compared with the generic kernels, of which every program has one; a zero may have another sign there."""
    made = {
        'tree': lambda: robot_of('tree'),
        'tree of 4': lambda: Robot(trees.Model.of('tree', trees.BASE, trees.random_joints(3, count=4, chain=0.3))),
    }
    which = made[case]() if case in made else general(case, turned=True)
    which = shared(which.with_gravity((1.0, 2.0, -9.0)))
    left_out = 'link_poses', 'coriolis_matrix'
    names = [name for name, algorithm in ALGORITHMS.items() if not algorithm.of_loops and name not in left_out]
    if not {'planar', 'spherical', 'free'}.intersection(which._model.joint_kinds):
        names.append('coriolis_matrix')
    _, source, _ = which.export_c(tmp_path, names)
    exported, random = library(compiler, tmp_path, source), np.random.default_rng(2)
    for name in names:
        for _ in range(5):
            inputs = {
                vector: random.normal(size=6 if 'base' in vector else which.nv) for vector in ALGORITHMS[name].inputs
            }
            inputs['q'] = which.random(random)
            expected, vectors = getattr(which, name.removesuffix('_on_moving_base'))(**inputs), inputs.values()
            function = getattr(exported, f'{source.stem.removesuffix("_dynamics")}_{name}')
            finite, result = called(function, vectors, which.runtime_inputs, expected.shape)
            assert finite and (result == expected).all(), name


@compilers
def test_a_robot_with_closed_loops(compiler, tmp_path):
    """A closing hinge with a spring, and a coupling: forward dynamics and all quantities of loops."""
    hinge = LoopClosure('hinge', None, link_b='wrist3_Link', kind='revolute', stiffness=2.0, damping=0.1, rest=0.3)
    which = aubo_i5().with_loops([hinge, Coupling('shoulder_joint', 'upperArm_joint', (0.1, 0.5, 0.2))]).compiled()
    names = [name for name, algorithm in ALGORITHMS.items() if algorithm.of_loops]
    assert len(names) > 5
    names += ['forward_dynamics', 'spring_torque']
    _, source, _ = which.export_c(tmp_path, names)
    exported, random = library(compiler, tmp_path, source), np.random.default_rng(4)
    for name in names:
        for _ in range(5):
            vectors = [random.normal(size=length) for length in program_of(which.model.arrays, name).inputs.values()]
            expected = which._evaluator.evaluate(name, which.runtime_inputs, None, *vectors)
            function = getattr(exported, f'aubo_i5_{name}')
            finite, result = called(function, vectors, which.runtime_inputs, expected.shape)
            assert finite and result.tobytes() == expected.tobytes(), name


def test_loops_are_exported_where_there_are_some_and_never_left_out(tmp_path):
    with pytest.raises(ModelError, match=r'^loop_errors: aubo_i5 has no closed loops$'):
        aubo_i5().export_c(tmp_path, ['loop_errors'])
    looped = aubo_i5().with_loops([LoopClosure('hinge', None, link_b='wrist3_Link')])
    with pytest.raises(ModelError, match=r'^forward_dynamics_derivatives: not available for aubo_i5, which has closed'):
        looped.export_c(tmp_path, ['forward_dynamics_derivatives'])


@pytest.mark.slow  # gcc takes its time; twelve joints are below
@compilers
def test_a_robot_of_many_joints(compiler, tmp_path):
    which = Robot(trees.Model.of('large', trees.BASE, trees.random_joints(7, count=14, chain=0.8)))
    _, source, _ = which.export_c(tmp_path, ['inverse_dynamics', 'forward_dynamics'])
    exported, random = library(compiler, tmp_path, source, '-O1', '-ffp-contract=off'), np.random.default_rng(6)
    for name in ('inverse_dynamics', 'forward_dynamics'):
        vectors = random.normal(size=(3, 14))
        finite, result = called(getattr(exported, f'large_{name}'), vectors, which.runtime_inputs, 14)
        assert finite and (result == getattr(which, name)(*vectors)).all()


RELEASE = ('-O3', '-DNDEBUG', '-ffp-contract=off', *(['-mfma'] if get_host_cpu_features().get('fma') else []))
"""Options of the CMakeLists.txt of export_controller, as far as this processor has the instruction."""
EAGER = (*RELEASE, '-std=gnu99', '-ffp-contract=fast', '-fno-vect-cost-model')
"""What the file itself turns off; and vector instructions wherever gcc finds them, as with some -march."""


@functools.cache
def of_twelve(which: str) -> tuple[Robot, list]:
    """Return a robot of twelve joints, two arms in a row or four legs of three, and what is exported of it."""
    if which == 'arms':
        robot = aubo_i5().with_attached(aubo_i5(), 'ee_link', prefix='second_').compiled()
        frames = [('link_pose', 'second_ee_link'), ('jacobian', 'second_ee_link', 'local')]
        return robot, ['inverse_dynamics', 'mass_matrix', *frames, ('jacobian', 'second_ee_link')]
    joints, axes, random = [], np.eye(3)[[0, 1, 1]], np.random.default_rng(0)
    for x, y in itertools.product((0.2, -0.2), (0.05, -0.05)):
        for k, origin in enumerate([(x, y, 0.0), (0.0, 1.6 * y, 0.0), (0.0, 0.0, -0.21)]):
            parent = joints[-1].link if k else trees.BASE
            com, points = random.uniform(-0.1, 0.1, 3), 0.05 * random.normal(size=(5, 3))
            inertia = np.trace(points.T @ points) * np.eye(3) - points.T @ points
            body = trees.ten_parameters(random.uniform(0.3, 2.0), com, inertia)
            name = f'{len(joints)}'
            joints.append(Joint(name, f'link {name}', parent, 'revolute', axes[k], np.eye(3), np.array(origin), body))
    robot = Robot(Model.of('legs', trees.BASE, joints)).compiled()
    return robot, ['mass_matrix', 'inverse_dynamics_derivatives']


@compilers
@pytest.mark.parametrize(
    ('which', 'options'),
    matrix([('arms', RELEASE), ('legs', RELEASE), ('legs', EAGER)], [('arms', RELEASE), ('legs', EAGER)]),
)
def test_twelve_joints_have_the_same_bits_with_instructions_for_fma(compiler, which, options, tmp_path):
    """gcc 12 fuses other products and sums while it makes vectors, and changes signs of zeros."""
    if compiler != 'gcc' and options is EAGER:
        pytest.skip('an option of gcc')
    robot, programs = of_twelve(which)
    _, source, _ = robot.export_c(tmp_path, programs)
    exported = library(compiler, tmp_path, source, *options)
    functions = re.findall(r'bool (\w+)\(', source.with_suffix('.h').read_text())
    for program, function in zip(programs, functions, strict=True):
        name, *frame = [program] if isinstance(program, str) else program
        count = len(ALGORITHMS[name].inputs) if name in ALGORITHMS else 1
        random = np.random.default_rng(3)
        states = list(special_states(random, name, [12] * count))
        for _ in range(STATES):  # where most zeros are
            states.append([0.5 * np.pi * random.integers(-3, 4, 12), *random.integers(-1, 2, (count - 1, 12)) * 1.0])
        for vectors in states:
            expected = getattr(robot, name)(*vectors, *frame)
            finite, result = called(getattr(exported, function), vectors, robot.runtime_inputs, expected.shape)
            assert finite and same_bits(result, expected), (name, vectors)


@compilers
@pytest.mark.parametrize('mechanism', [four_bar, gears])
def test_no_warning_on_what_a_mechanism_does_not_need(compiler, mechanism, tmp_path):
    robot = mechanism().robot.compiled()
    of_tree = {name for name, algorithm in ALGORITHMS.items() if algorithm.of_tree}
    names = [name for name in ALGORITHMS if name not in of_tree]
    if not robot.model.loops.closures:
        with pytest.raises(ModelError, match=r'^closure_torque: gears has no loop closures$'):
            robot.export_c(tmp_path, names)
        names.remove('closure_torque')
    _, source, _ = robot.export_c(tmp_path, [*names, *(('link_pose', link) for link in robot.link_names)])
    library(compiler, tmp_path, source, '-O0')


@compilers
def test_wrench_and_payload_of_another_link(compiler, tmp_path):
    which = aubo_i5().with_payload(Payload(1.0, (0.0, 0.0, 0.1)), 'foreArm_Link')
    _, source, _ = which.export_c(tmp_path, ['inverse_dynamics', 'forward_dynamics'])
    exported, random = library(compiler, tmp_path, source), np.random.default_rng(3)
    runtime_inputs = which.runtime_inputs
    runtime_inputs[13:] = wrench = random.normal(size=6)
    for name in ('inverse_dynamics', 'forward_dynamics'):
        vectors = random.normal(size=(3, 6))
        wrenches = {'wrist3_Link': wrench}
        expected = getattr(which, name)(*vectors, wrenches=wrenches, reference_frame='local')
        finite, result = called(getattr(exported, f'aubo_i5_{name}'), vectors, runtime_inputs, 6)
        assert finite and (result == expected).all()


@compilers
def test_no_number_that_is_not_finite_and_no_angle_that_is_too_large_goes_unnoticed(compiler, tmp_path):
    _, source, _ = aubo_i5().export_c(tmp_path, ['inverse_dynamics', 'mass_matrix', ('link_pose', 'ee_link')])
    exported = library(compiler, tmp_path, source)
    for name, count, size in (('inverse_dynamics', 3, 6), ('mass_matrix', 1, 36), ('link_pose_ee_link', 1, 16)):
        function, runtime_inputs = getattr(exported, f'aubo_i5_{name}'), aubo_i5().runtime_inputs
        for values, places in (((np.nan, np.inf, -np.inf), 6 * count), ((LARGEST_ANGLE, -1e20), 6)):
            for value, place in itertools.product(values, range(places)):
                vectors = np.ones((count, 6))
                assert called(function, vectors, runtime_inputs, size)[0]
                vectors.flat[place] = value
                assert not called(function, vectors, runtime_inputs, size)[0]


@compilers
def test_a_result_may_overwrite_an_argument(compiler, tmp_path):
    _, source, _ = aubo_i5().export_c(tmp_path, ['inverse_dynamics'])
    function = library(compiler, tmp_path, source).aubo_i5_inverse_dynamics
    q, qd, qdd = np.random.default_rng(4).normal(size=(3, 6))
    expected = aubo_i5().inverse_dynamics(q, qd, qdd)
    function(*(it.ctypes.data_as(ctypes.c_void_p) for it in (q, qd, qdd, aubo_i5().runtime_inputs, qdd)))
    assert (qdd == expected).all()


@compilers
def test_nothing_is_needed_but_fabs_and_fma_and_nothing_is_written_but_results(compiler, tmp_path):
    _, source, _ = aubo_i5().export_c(tmp_path, [*SPECIALISED[:6], *OF_A_LINK])
    assert set(re.findall(r'#include (.*)', source.read_text())) == {
        '"aubo_i5_dynamics.h"',
        '<float.h>',
        '<math.h>',
    }
    run(
        compiler, *STRICT, '-O2', '-ffp-contract=off', '-fno-builtin', '-fno-pic', '-c', source, '-o', tmp_path / 'it.o'
    )
    symbols = [line.split()[-2:] for line in run('nm', tmp_path / 'it.o').splitlines()]
    assert [name for kind, name in symbols if kind == 'U'] == [
        'fabs',
        'fma',
        'sqrt',
    ]  # without -fno-builtin, fabs is an instruction
    assert {kind for kind, _ in symbols} <= {'U', 'T', 't', 'R', 'r'}  # no writable memory


DRIVER = """
#include <stdlib.h>
#include "aubo_i5_dynamics.h"

static double *vector(size_t n) {
    double *const it = malloc(n * sizeof(double));
    for (size_t k = 0; k < n; k++) it[k] = 0.1 * (double)(k + 1);
    return it;
}

int main(void) {
    double *const q = vector(6), *const qd = vector(6), *const x = vector(6);
    aubo_i5_inputs *const inputs = malloc(sizeof *inputs);
    *inputs = aubo_i5_default_inputs;
    for (int turn = -3; turn < 4; turn++) {
        q[0] = 1e4 * turn;
        %s
    }
    free(inputs);
    free(x);
    free(qd);
    free(q);
    return 0;
}
"""


@compilers
def test_sanitizers_find_nothing(compiler, tmp_path):
    made = subprocess.run(
        [compiler, *SANITIZED, '-x', 'c', '-', '-o', tmp_path / 'empty'],
        input=b'int main(void) { return 0; }',
        capture_output=True,
        check=False,
    )
    if made.returncode:
        pytest.skip(f'{compiler} has no sanitizers here: {made.stderr.decode()[-200:]}')
    _, source, _ = aubo_i5().export_c(tmp_path, [*SPECIALISED, *OF_A_LINK])
    calls = []
    for head in re.findall(r'bool (\w+)\(\n?(.*?)\);', source.with_suffix('.h').read_text(), re.DOTALL):
        inputs, size = re.findall(r'const double (\w+)\[', head[1]), re.search(r'result\[(\d+)\]', head[1])[1]
        arguments = ', '.join({'q': 'q', 'qd': 'qd'}.get(name, 'x') for name in inputs)
        calls.append(f'{{ double *r = vector({size}); if (!{head[0]}({arguments}, inputs, r)) return 1; free(r); }}')
    assert len(calls) == len(SPECIALISED) + len(OF_A_LINK)
    (tmp_path / 'main.c').write_text(DRIVER % '\n        '.join(calls))
    program = tmp_path / 'main'
    # without optimisation nothing wrong is removed before it is checked, and compilation takes a fifth
    run(compiler, '-std=c99', '-O0', '-ffp-contract=off', *SANITIZED, source, tmp_path / 'main.c', '-o', program, '-lm')
    run(program)


@compilers
@pytest.mark.parametrize('option', ['-ffast-math', '-ffinite-math-only', '-funsafe-math-optimizations'])
def test_options_that_would_break_it_are_refused(compiler, option, tmp_path):
    if compiler == 'clang' and option == '-funsafe-math-optimizations':
        pytest.skip('clang does not tell the code about this option')
    _, source, _ = aubo_i5().export_c(tmp_path, ['gravity_torque'])
    done = subprocess.run([compiler, '-O2', option, '-c', source, '-o', '/dev/null'], capture_output=True, check=False)
    assert done.returncode and b'would be wrong with -ffast-math' in done.stderr


HOSTILE = ('*/', '/*', 'a\nb', '"', '\\', '??/', 'ü*/\n#error', "%s'", 'x */ int evil(void); /*')


def hostile() -> Robot:
    """Return a robot with names that no importer would let through."""
    joints = trees.random_joints(5, count=len(HOSTILE), chain=1.0)
    names = {joint.link: f'{name} link' for joint, name in zip(joints, HOSTILE, strict=True)}
    renamed = [
        replace(joint, name=name, link=names[joint.link], parent=names.get(joint.parent, joint.parent))
        for joint, name in zip(joints, HOSTILE, strict=True)
    ]
    return Robot(Model.of('*/\n#error "??/', joints[0].parent, renamed))


@compilers
def test_exported_c_has_hostile_names(compiler, tmp_path):
    which = hostile()
    links = [('link_pose', name) for name in which.link_names[1:]]
    header, source, cmake = which.export_c(tmp_path, ['gravity_torque', *links])
    for path in (header, source, cmake):
        text = path.read_text(encoding='utf-8')
        assert re.fullmatch(r'[ -~\n]*', text)
        assert '??' not in text and not re.search(r'^\s*#\s*error(?! "(sine|double))', text, re.MULTILINE)
        assert '\nint evil' not in re.sub(r'/\*.*?\*/', '', text, flags=re.DOTALL) and text.count('/*') == text.count(
            '*/'
        )
    exported = library(compiler, tmp_path, source)
    names = (ctypes.c_char_p * len(HOSTILE)).in_dll(exported, 'error_joint_names')
    assert [name.decode() for name in names] == list(which.joint_names)
    q = np.linspace(-1.0, 1.0, which.nv)
    finite, result = called(exported.error_gravity_torque, [q], which.runtime_inputs, which.nv)
    assert finite and (result == which.gravity_torque(q)).all()
    run(compiler, '-x', 'c++', '-std=c++17', '-Wall', '-Wextra', '-Wpedantic', '-Werror', '-fsyntax-only', header)


def test_cmake_builds_a_library_which_has_the_former_names_of_the_run_time_inputs(tmp_path):
    if not shutil.which('cmake'):
        pytest.skip('cmake is missing')
    aubo_i5().export_c(tmp_path / 'exported', ['gravity_torque'])
    (tmp_path / 'main.cpp').write_text(
        '#include "aubo_i5_dynamics.h"\n#include <cstdio>\n'
        'int main() {\n    const double q[AUBO_I5_NQ] = {};\n    double tau[AUBO_I5_NV];\n'
        '    aubo_i5_load load = aubo_i5_default_load;\n'
        '    if (!aubo_i5_gravity_torque(q, &load, tau)) return 1;\n'
        '    for (double one : tau) std::printf("%.17g ", one);\n}\n'
    )
    (tmp_path / 'CMakeLists.txt').write_text(
        'cmake_minimum_required(VERSION 3.10...3.31)\nproject(p LANGUAGES C CXX)\nadd_subdirectory(exported)\n'
        'add_executable(main main.cpp)\ntarget_link_libraries(main PRIVATE aubo_i5_dynamics)\n'
    )
    generator = ['-G', 'Ninja'] if shutil.which('ninja') else []
    run('cmake', *generator, '-S', tmp_path, '-B', tmp_path / 'build', '-DCMAKE_BUILD_TYPE=Release')
    assert '-ffp-contract=off' in run('cmake', '--build', tmp_path / 'build', '--verbose')
    printed = run(tmp_path / 'build' / 'main')
    assert [float(number) for number in printed.split()] == aubo_i5().gravity_torque(np.zeros(6)).tolist()
