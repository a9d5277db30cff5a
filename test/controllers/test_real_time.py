"""What an update must not do, shown by counting, by seccomp, and by the compilers' sanitizers."""

import functools
import subprocess
import sys

from support.controllers import controllers_frame_laws, driven_joints
from support.controllers.controllers_core import Terms, compiled, core, exported, has_compilers, has_sanitizer, run
from support.robots.small_robots import mixed

import numpy as np
import pytest

from robot_dynamics_ros.control.terms.compensation import TERMS, Compensation

pytestmark = pytest.mark.skipif(
    not has_compilers() or sys.platform != 'linux', reason='no C and C++ compiler, or another system than Linux'
)
SANITIZED = ('-O0', '-fno-sanitize-recover=all')


@functools.cache
def library():
    """Return the library of three joints with load-dependent friction."""
    return exported(mixed().with_friction(load=0.1, viscous=2.0), 'loaded')


LAWS = pytest.mark.parametrize(
    ('path', 'seen'),
    [
        (library, 0xFF),
        (functools.partial(driven_joints.library, 'palletizer'), 0xFF),
        (functools.partial(controllers_frame_laws.library, 'three'), 0x1FB),
        (functools.partial(controllers_frame_laws.operational_space_library, 'three'), 0x1FB),
    ],
    ids=['terms', 'closed_loops', 'impedance', 'operational_space'],
)
"""Libraries of three joints, and the outcomes that occur: an arm is held where the terms compensate gravity."""
INACTIVE = 1


@functools.cache
def program():
    core()
    driver = compiled('g++', 'g++_driver.so', 'driver.cpp')
    return compiled('g++', 'real_time', 'real_time.cpp', driver, f'-Wl,-rpath,{driver.parent}')


@LAWS
@pytest.mark.parametrize(
    ('word', 'found'), [('', ' 0 allocations, 0 locks'), ('allocate', '2000 allocations'), ('lock', '1000 locks')]
)
def test_an_update_neither_allocates_nor_locks(path, seen, word, found):
    """The other two show that both are counted."""
    printed = run(program(), path(), 'count', *[word][: len(word)])
    assert printed.startswith(f'{seen:03x} outcomes') and found in printed


@LAWS
def test_an_update_makes_no_system_call(path, seen):
    """Under seccomp's strict mode any but read, write and exit ends the process; the second run shows it."""
    printed = run(program(), path(), 'seccomp')
    if printed == 'no seccomp\n':
        pytest.skip('this system has no seccomp')
    assert printed == f'{seen:03x} outcomes\n'
    killed = subprocess.run([program(), path(), 'seccomp', 'call'], capture_output=True, check=False)
    assert killed.returncode == -9 and not killed.stdout


def skip_without(kinds):
    if not has_sanitizer(kinds):
        pytest.skip(f'programs with the sanitizers {kinds} of g++ do not run here')


@pytest.mark.slow
@LAWS
def test_any_input_under_the_sanitizers(path, seen):
    """20,000 updates and 500 changes of payload and gravity, broken ones among them."""
    skip_without('address,undefined')
    checked = compiled('g++', 'any_input', 'any_input.cpp', *SANITIZED, '-fsanitize=address,undefined')
    for seed in (1, 2):
        assert run(checked, path(), seed) == f'{seen & ~INACTIVE | (4 if seen > 0xFF else 0):03x} outcomes\n'


@pytest.mark.slow
@LAWS
def test_threads_under_the_sanitizer(path, seen):
    skip_without('thread')
    assert run(compiled('g++', 'threads', 'threads.cpp', *SANITIZED, '-fsanitize=thread'), path()) == 'right\n'


@pytest.mark.skipif(not has_compilers('clang', 'clang++'), reason='the compiler clang is missing')
def test_exported_code_compiled_by_clang_has_the_same_bits():
    robot, random = mixed().with_friction(load=0.1, viscous=2.0).compiled(), np.random.default_rng(1)
    theirs, states, expected = Compensation(robot, TERMS), random.normal(size=(500, 3, 3)), np.empty((500, 3))
    for state, out in zip(states, expected, strict=True):
        theirs.torque(*state, out=out)
    efforts, _ = Terms(library(), compiler='clang').torques(states, robot.runtime_inputs)
    assert efforts.tobytes() == expected.tobytes()
