"""What ``scripts/processors`` runs."""

import ast
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

from support.processors import CORES, LLVM_NAMES, PLAIN, can_run, environment_of

from robot_dynamics_ros.codegen.object_files import lanes

TREE = Path(__file__).parents[1]
BOUNDS = {'bound', 'rounding'}
"""Functions of test/support that return a bound on rounding."""
BLAS = {f'BLAS of {core}{", no vector code of NumPy" if core in PLAIN else ""}': environment_of(core) for core in CORES}
SHORT = dict(islice(BLAS.items(), 3))
LONG = {
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


def tests() -> list[str]:
    """Return the tests with bounds on rounding."""
    files = sorted((TREE / 'test').rglob('test_*.py'))
    return [f'{path}::{name}' for path in files for name in bounded(ast.parse(path.read_text()))]


def bounded(module: ast.Module) -> list[str]:
    """Return the tests of a file that call one of ``BOUNDS``, themselves or by other names of the file."""
    imported = [it for it in module.body if isinstance(it, ast.ImportFrom) and str(it.module).startswith('support')]
    found = {alias.name for it in imported for alias in it.names} & BOUNDS | {f'chains.{name}' for name in BOUNDS}
    used = {name: names_in(part) for part in module.body for name in defined(part)}
    while more := {name for name, names in used.items() if names & found} - found:
        found |= more
    return [name for name in used if name in found and name.startswith('test_')]


def defined(part: ast.stmt) -> list[str]:
    """Return the names that a statement of a file defines."""
    if isinstance(part, ast.FunctionDef):
        return [part.name]
    return [it.id for it in ast.walk(part) if isinstance(it, ast.Name) and isinstance(it.ctx, ast.Store)]


def names_in(part: ast.stmt) -> set[str]:
    """Return names and attributes, as in ``chains.rounding``, that a statement contains."""
    return {ast.unparse(it) for it in ast.walk(part) if isinstance(it, ast.Name | ast.Attribute)}


def run(environment: dict[str, str], arguments: list[str]) -> subprocess.CompletedProcess:
    """Run pytest in one process."""
    command = [sys.executable, '-m', 'pytest', '-q', '--durations=3', *arguments]
    environment = {key: value for key, value in environment.items() if key != 'PYTHONPATH'}
    return subprocess.run(
        command, cwd=TREE, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )


def main(arguments: list[str], runs_here: Callable[[dict[str, str]], bool] = can_run) -> int:
    """Print the processor, run the tests in each environment that ``runs_here``; return the number of failed runs."""
    print(described(), flush=True)
    if '--describe' in arguments:
        return 0
    environments = LONG
    if '--short' in arguments:
        # as on this processor, the other steps of scripts/test run them
        environments = {name: it for name, it in SHORT.items() if it != environment_of(core())}
    runnable = {name: it for name, it in environments.items() if runs_here(it)}
    for name in environments:
        if name not in runnable:
            print(f'left out: {name}: this processor does not have its instructions', flush=True)
    bounds = [*tests(), *(argument for argument in arguments if argument != '--short')]
    failed = []
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        runs = [pool.submit(run, environment, bounds) for environment in runnable.values()]
        for name, running in zip(runnable, runs, strict=True):
            ended = running.result()
            print(f'== {name}', ended.stdout, sep='\n', flush=True)
            if ended.returncode:
                failed.append(name)
    print(f'failed: {"; ".join(failed)}' if failed else f'passed: {"; ".join(runnable) or "none was run"}')
    return len(failed)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
