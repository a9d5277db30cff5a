"""What does a state cost in a batch, on one core and on all, against one call of Pinocchio from Python?

How close is that to the machine's limit? Printed beside it: the share of its measured rate of multiplications and
additions (fused: two operations each; sine and cosine included), the speed-up by a second core of arithmetic without
memory access and of a memory-bound sum of arrays, and the time to fill a result with zeros, a lower bound for large
results of large batches, which are written to memory.
"""

import ast
import inspect
import math
import os
import resource
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np

from benchmark.measure import heading, interleaved, verdict
from benchmark.peers import ARGUMENTS, pinocchio_calls
from robot_dynamics_ros import Robot
from robot_dynamics_ros.algorithms.program import program_of
from robot_dynamics_ros.codegen.straight_line import count, trace
from robot_dynamics_ros.jit import instructions  # noqa: F401 - Numba then knows fma
from robot_dynamics_ros.jit.fused_multiply_add import fma
from robot_dynamics_ros.kernels.sincos import sincos
from robot_dynamics_ros.model.regrouping import regrouped

FIGURES = {
    'inverse_dynamics': 0.03,
    'mass_matrix': 0.05,
    'forward_dynamics': 0.03,
    'inverse_dynamics_derivatives': 0.06,
    'forward_dynamics_derivatives': 0.06,
    'torque_regressor': 0.06,
}
MOST_NUMBERS = 1 << 27
"""Largest result, bytes: 1 GiB. Larger batches are skipped."""
ALL_CORES, MEMORY, WITH_FRICTION = 0.55, 64.0, 1.3
FRICTION = {
    'viscous, Coulomb': {'viscous': 3.0, 'coulomb': 2.0},
    'with load and offset': {'viscous': 3.0, 'coulomb': 2.0, 'load': 0.1, 'offset': 1.0},
    'with Stribeck': {'viscous': 3.0, 'coulomb': 2.0, 'stribeck': 1.0, 'stribeck_velocity': 0.1},
}
COUNTS = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
REPEATS, STEPS = 10_000, 8


@numba.njit(error_model='numpy', nogil=True)
def multiply_and_add(x):
    for _ in range(REPEATS):
        for i in range(x.size):
            y = x[i]
            for _ in range(STEPS):
                y = fma(y, 0.999, 0.001)
            x[i] = y


@numba.njit(error_model='numpy', nogil=True)
def add(a, b):
    for i in range(a.size):
        b[i] += a[i]


def peak(seconds: float, size: int) -> float:
    return 2 * STEPS * REPEATS * size / seconds


def operations(robot: Robot, name: str) -> int:
    """Return the multiplications and additions of one state."""
    counted = count(trace(program_of(arrays := regrouped(robot._model.arrays), name), arrays))
    in_sincos = sum(isinstance(node, ast.BinOp) for node in ast.walk(ast.parse(inspect.getsource(sincos.py_func))))
    return counted.multiplications + counted.additions + counted.sincos * in_sincos


def resident() -> float:
    """Return the largest resident memory of this process so far, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000.0


def of_the_machine() -> tuple[float, float]:
    """Return the ratio of times, all cores to one, for the same work: arithmetic only, and memory access only."""
    cores = len(os.sched_getaffinity(0))
    lanes, (a, b) = np.ones((cores, 512)), np.ones((2, cores, 24_000_000 // cores))
    with ThreadPoolExecutor(cores) as pool:
        times = interleaved(
            {
                'arithmetic, one': lambda: [multiply_and_add(row) for row in lanes],
                'arithmetic, all': lambda: list(pool.map(multiply_and_add, lanes)),
                'memory, one': lambda: [add(*rows) for rows in zip(a, b, strict=True)],
                'memory, all': lambda: list(pool.map(add, a, b)),
            },
            rounds=9,
        )
    return (
        times['arithmetic, all'] / times['arithmetic, one'],
        times['memory, all'] / times['memory, one'],
    )


def whole_torques(named: Robot, random: np.random.Generator) -> None:
    """Print the ratio of times, torques with friction to inverse dynamics, of a state, small and large batches."""
    for terms, values in FRICTION.items():
        for which, robot in (('generic', named), ('own', named.compiled(threads=1))):
            rubbing = named.with_friction(**values)
            rubbing = rubbing.compiled(threads=1) if robot.is_compiled else rubbing
            for states in ((6,), (8, 6), (1000, 6), (100_000, 6)):
                rows, out = random.normal(size=(3, *states)), np.zeros(states)
                times = interleaved(
                    {
                        'torque': lambda rows=rows, out=out, r=rubbing: r.torque(*rows, out=out),
                        'inverse dynamics': lambda rows=rows, out=out, r=robot: r.inverse_dynamics(*rows, out=out),
                    },
                    seconds=0.02,
                    rounds=31,
                )
                ratio = verdict(times['torque'] / times['inverse dynamics'], WITH_FRICTION)
                print(f'torque, {terms}, {which} code, {math.prod(states) // 6:6d} states: / inverse dynamics {ratio}')


def main():
    print(heading())
    named = Robot.named('aubo_i5')
    one, every = named.compiled(threads=1), named.compiled()
    peer = pinocchio_calls(named)
    random = np.random.default_rng(0)
    lanes = np.ones(512)
    for name, at_most in FIGURES.items():
        shape = program_of(named._model.arrays, name).shape
        for states in COUNTS:
            if states * math.prod(shape) > MOST_NUMBERS:
                continue
            rows = random.normal(size=(ARGUMENTS[name], states, 6))
            out = np.zeros((states, *shape))
            getattr(one, name)(*rows[:, :100])
            before = resident()
            getattr(every, name)(*rows, out=out)
            beyond = resident() - before
            times = interleaved(
                {
                    'one': lambda rows=rows, out=out, name=name: getattr(one, name)(*rows, out=out),
                    'pin': peer[name],
                    'peak': lambda: multiply_and_add(lanes),
                    'fill': lambda out=out: out.fill(0.0),
                },
                seconds=0.02,
                rounds=31,
            )
            # separate arrays: a cache line that another core has written is slow to read or write
            cores = interleaved(
                {
                    'one': lambda rows=rows, out=out, name=name: getattr(one, name)(*rows, out=out),
                    'all': lambda rows=rows, out=out, name=name: getattr(every, name)(*rows, out=out),
                },
                seconds=0.02,
                rounds=31,
            )
            a_state = times['one'] / states
            said = verdict(a_state / times['pin'], at_most) if states == 100_000 else f'{a_state / times["pin"]:6.3f}'
            share = operations(named, name) / a_state / peak(times['peak'], lanes.size)
            print(
                f'{name}, {states:7d} states: {1e9 * a_state:7.1f} ns a state, / pin {said}; '
                f'{100 * share:.0f} % of the peak; {1e9 * times["fill"] / states:.1f} ns to fill a result with zeros; '
                f'all cores {states / cores["all"]:.3g} states a second'
            )
        if name == 'inverse_dynamics':
            ratio = verdict(cores['all'] / cores['one'], ALL_CORES)
            arithmetic, memory = of_the_machine()
            print(f'  1000000 states: {len(os.sched_getaffinity(0))} cores / one {ratio}')
            print(f'  the machine itself: {arithmetic:.3f} for arithmetic alone, {memory:.3f} for memory alone')
            print(f'  1000000 states: {beyond:.0f} MB beyond inputs and outputs (at most {MEMORY:.0f})')
    whole_torques(named, random)
    print(f'peak of one core: {1e-9 * peak(times["peak"], lanes.size):.1f} GFLOP/s')


if __name__ == '__main__':
    main()
