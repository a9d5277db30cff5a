"""What ``scripts/processors`` runs."""

import os
import platform
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support.processors import CORES, LLVM_NAMES, PLAIN, can_run, environment_of

from robot_dynamics_ros.codegen.kept_code import lanes

TREE = Path(__file__).parents[2]
BLAS = {f'BLAS of {core}{", no vector code of NumPy" if core in PLAIN else ""}': environment_of(core) for core in CORES}
ENVIRONMENTS = {
    **BLAS,
    **{
        f'kernels of {core}': {**environment_of(core), 'NUMBA_CPU_NAME': LLVM_NAMES[core]}
        for core in CORES
        if core in LLVM_NAMES
    },
}


def described() -> str:
    """Return this processor, BLAS's name of it, and the width of the vectors of kernels."""
    cpuinfo = Path('/proc/cpuinfo')
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    name = next((line.split(':')[1].strip() for line in lines if line.startswith('model name')), platform.machine())
    return f'processor {name}; BLAS core {core()}; kernels with vectors of {lanes() // 2} numbers'


def core() -> str:
    """Return BLAS's name of this processor, which OpenBLAS prints when it is loaded."""
    verbose = {**os.environ, 'OPENBLAS_VERBOSE': '2'}
    command = [sys.executable, '-c', 'import numpy']
    loaded = subprocess.run(command, env=verbose, capture_output=True, text=True, check=True)
    return next((line.split(':')[1].strip() for line in loaded.stderr.splitlines() if 'Core:' in line), 'unknown')


def run(environment: dict[str, str], arguments: list[str]) -> subprocess.CompletedProcess:
    """Run pytest in one process."""
    command = [sys.executable, '-m', 'pytest', '-q', '--durations=3', '-m', 'rounding and not slow', *arguments]
    environment = {key: value for key, value in environment.items() if key != 'PYTHONPATH'}
    return subprocess.run(
        command, cwd=TREE, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )


def main(arguments: list[str], runs_here: Callable[[dict[str, str]], bool] = can_run) -> int:
    """Print the processor, run the tests in each environment that ``runs_here``; return the number of failed runs."""
    print(described(), flush=True)
    if '--describe' in arguments:
        return 0
    runnable = {name: it for name, it in ENVIRONMENTS.items() if runs_here(it)}
    for name in ENVIRONMENTS:
        if name not in runnable:
            print(f'left out: {name}: this processor does not have its instructions', flush=True)
    failed = []
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        runs = [pool.submit(run, environment, arguments) for environment in runnable.values()]
        for name, running in zip(runnable, runs, strict=True):
            ended = running.result()
            print(f'== {name}', ended.stdout, sep='\n', flush=True)
            if ended.returncode:
                failed.append(name)
    print(f'failed: {"; ".join(failed)}' if failed else f'passed: {"; ".join(runnable) or "none was run"}')
    return len(failed)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
