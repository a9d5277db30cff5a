"""What does a state cost in exported C (gcc -O3 -march=native -ffp-contract=off), against the code compiled here?"""

import ctypes
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmark.measure import heading, interleaved, verdict
from robot_dynamics_ros import Robot

COUNT = 10_000
AT_MOST = 1.15
PROGRAMS = ('inverse_dynamics', 'mass_matrix', 'forward_dynamics')
OPTIONS = ('-std=c99', '-O3', '-march=native', '-ffp-contract=off', '-shared', '-fPIC')
LOOPS = """
#include <stdbool.h>

typedef bool (*of_one)(const double *, const double *, double *);
typedef bool (*of_three)(const double *, const double *, const double *, const double *, double *);

bool loop_1(of_one f, long count, const double *q, const double *runtime_inputs, double *out, long size) {
    bool finite = true;
    for (long k = 0; k < count; k++) finite &= f(q + 6 * k, runtime_inputs, out + size * k);
    return finite;
}

bool loop_3(of_three f, long count, const double *q, const double *qd, const double *x, const double *runtime_inputs,
            double *out, long size) {
    bool finite = true;
    for (long k = 0; k < count; k++) finite &= f(q + 6 * k, qd + 6 * k, x + 6 * k, runtime_inputs, out + size * k);
    return finite;
}
"""


def compiled(compiler: str, folder: Path, sources) -> ctypes.CDLL:
    """Return the library that a compiler makes of C files."""
    library = folder / f'{Path(compiler).name}.so'
    subprocess.run([compiler, *OPTIONS, *map(str, sources), '-o', str(library), '-lm'], check=True)
    return ctypes.CDLL(str(library))


def main():
    print(heading())
    if not shutil.which('gcc'):
        sys.exit('gcc is missing')
    robot = Robot.named('aubo_i5').compiled()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _, source, _ = robot.export_c(folder, PROGRAMS)
        (folder / 'loops.c').write_text(LOOPS, encoding='utf-8')
        libraries = {}
        for compiler in filter(shutil.which, ('gcc', 'clang')):
            version = subprocess.run([compiler, '--version'], capture_output=True, text=True, check=True).stdout
            print(version.splitlines()[0])
            libraries[compiler] = compiled(compiler, folder, (source, folder / 'loops.c'))
        for program in PROGRAMS:
            compare(robot, program, libraries)


def compare(robot, program: str, libraries: dict):
    """Print the time of a state by each compiler and its ratio to the code compiled here, in the same loop."""
    count = 1 if program == 'mass_matrix' else 3
    rows = np.random.default_rng(0).normal(size=(count, COUNT, robot.nv))
    expected, runtime_inputs = getattr(robot, program)(*rows), robot.runtime_inputs
    size = expected[0].size
    own = ctypes.c_void_p(robot.address(program))
    loops = getattr(libraries['gcc'], f'loop_{count}')
    functions = {'robot.address': own}
    for compiler, library in libraries.items():
        functions[compiler] = ctypes.cast(getattr(library, f'aubo_i5_{program}'), ctypes.c_void_p)
    results = {name: np.empty((COUNT, size)) for name in functions}

    def call(name):
        arrays = [array.ctypes.data_as(ctypes.c_void_p) for array in (*rows, runtime_inputs, results[name])]
        return lambda: loops(functions[name], ctypes.c_long(COUNT), *arrays, ctypes.c_long(size))

    times = interleaved({name: call(name) for name in functions})
    for name in functions:
        assert results[name].tobytes() == expected.tobytes(), f'{program}: {name} gives other bits'
    ours = times['robot.address']
    print(f'{program}: robot.address {1e9 * ours / COUNT:.0f} ns a state')
    for name in libraries:
        judged = verdict(times[name] / ours, AT_MOST) if name == 'gcc' else f'{times[name] / ours:6.3f}'
        print(f'  {name} {1e9 * times[name] / COUNT:.0f} ns, / robot.address {judged}')


if __name__ == '__main__':
    main()
