"""What does one state cost in compiled code, against C code that CasADi generates for the same robot?

Loops in C over random states call both, function by function. urdf2casadi writes the expressions, from a URDF without
rotors; gcc compiles CasADi's code together with its loop. Ours is the compiled code of ``Robot.address``.
"""

import ctypes
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from benchmark.measure import heading, interleaved, verdict
from robot_dynamics_ros import Robot
from robot_dynamics_ros.formats.library import named_urdf

COUNT = 10_000
"""States of a loop, few enough for the caches."""
FIGURES = {'inverse_dynamics': 0.50, 'mass_matrix': 0.25, 'forward_dynamics': 0.35}
"""At most, as a part of the time with -ffast-math."""
AGREEMENT = 1e-9
OPTIMISED = ('gcc', '-O3', '-march=native', '-shared', '-fPIC')
COMPILERS = {'-O3': OPTIMISED, '-O3 -ffast-math': (*OPTIMISED, '-ffast-math')}

LOOP_OF_CASADI = """
void loop(long long count, const double *rows, double *results) {
  double w[%(work)d];
  const double *arguments[%(arguments)d];
  double *out[%(results)d];
  for (long long k = 0; k < count; ++k) {
    for (int i = 0; i < %(vectors)d; ++i) arguments[i] = rows + (i * count + k) * 6;
    out[0] = results + k * %(length)d;
    program(arguments, out, 0, w, 0);
  }
}
"""
LOOPS = """
#include <stdbool.h>
typedef bool three_vectors(const double *, const double *, const double *, const double *, double *);
typedef bool one_vector(const double *, const double *, double *);
void loop_3(three_vectors *f, long long count, const double *rows, const double *runtime_inputs, double *results) {
  const double *more = rows + 6 * count, *most = more + 6 * count;
  for (long long k = 0; k < count; ++k) f(rows + 6 * k, more + 6 * k, most + 6 * k, runtime_inputs, results + 6 * k);
}
void loop_1(one_vector *f, long long count, const double *rows, const double *runtime_inputs, double *results) {
  for (long long k = 0; k < count; ++k) f(rows + 6 * k, runtime_inputs, results + 36 * k);
}
"""


def compiled(source: str, compiler: tuple[str, ...], folder: Path, name: str) -> ctypes.CDLL:
    """Return the library of a C source."""
    file, library = folder / f'{name}.c', folder / f'{name}.so'
    file.write_text(source)
    subprocess.run([*compiler, str(file), '-o', str(library), '-lm'], check=True)
    return ctypes.CDLL(str(library))


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def expressions() -> dict:
    """Return CasADi's functions of the AUBO-i5 by the names of ours."""
    from urdf2casadi.urdfparser import URDFparser

    parser = URDFparser(func_opts={})
    parser.from_string(named_urdf('aubo_i5').read_text())
    ends, gravity = ('base_link', 'ee_link'), [0.0, 0.0, -9.81]
    return {
        'inverse_dynamics': parser.get_inverse_dynamics_rnea(*ends, gravity=gravity),
        'mass_matrix': parser.get_inertia_matrix_crba(*ends),
        'forward_dynamics': parser.get_forward_dynamics_aba(*ends, gravity=gravity),
    }


def source_of(function, folder: Path) -> str:
    """Return CasADi's C code of a function, with a loop over states."""
    import casadi

    generator = casadi.CodeGenerator('generated.c')
    arguments = function.sx_in()
    generator.add(casadi.Function('program', arguments, [function(*arguments)]))
    generator.generate(f'{folder}/')
    sizes = {
        'work': function.sz_w() + 1,
        'arguments': function.sz_arg(),
        'results': function.sz_res(),
        'vectors': function.n_in(),
        'length': function.numel_out(0),
    }
    return (folder / 'generated.c').read_text() + LOOP_OF_CASADI % sizes


def main():
    print(heading())
    try:
        functions = expressions()
    except ImportError as error:
        print(f'casadi, urdf2casadi: missing, pip install -r requirements/benchmark.txt ({error})')
        return
    robot = Robot.named('aubo_i5')
    robot = robot.with_actuators({'rotor_inertia': dict.fromkeys(robot.joint_names, 0.0)})
    runtime_inputs = robot.runtime_inputs
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ours = compiled(LOOPS, OPTIMISED, folder, 'loops')
        for program, at_most in FIGURES.items():
            function = functions[program]
            rows = np.random.default_rng(0).normal(size=(function.n_in(), COUNT, 6))
            results = np.empty((COUNT, function.numel_out(0)))
            expected = getattr(robot, program)(*rows).reshape(results.shape)
            loop = getattr(ours, f'loop_{function.n_in()}')
            address, count = ctypes.c_void_p(robot.address(program)), ctypes.c_longlong(COUNT)
            calls = {'ours': lambda: loop(address, count, pointer(rows), pointer(runtime_inputs), pointer(results))}
            calls['ours']()
            assert (results == expected).all()
            source = source_of(function, folder)
            for flags, compiler in COMPILERS.items():
                theirs = compiled(source, compiler, folder, f'{program}{flags}').loop
                calls[flags] = lambda theirs=theirs: theirs(count, pointer(rows), pointer(results))
                calls[flags]()
                difference = np.abs(results - expected).max() / np.abs(expected).max()
                assert difference < AGREEMENT, f'{program}, gcc {flags}: off by {difference:.1e}'
            times = interleaved(calls, seconds=0.003, rounds=201)
            print(
                f'{program}: {1e9 * times["ours"] / COUNT:.0f} ns; CasADi with gcc '
                + ', '.join(f'{flags} {1e9 * times[flags] / COUNT:.0f} ns' for flags in COMPILERS)
                + f'; / -O3 {times["ours"] / times["-O3"]:.3f}, '
                f'/ -O3 -ffast-math {verdict(times["ours"] / times["-O3 -ffast-math"], at_most)}'
            )


if __name__ == '__main__':
    main()
