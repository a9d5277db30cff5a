"""What ``scripts/processors`` runs."""

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

from support.processors import environment_of

from robot_dynamics_ros.jit.machine_code import lanes

TREE = Path(__file__).parents[1]
CALL = re.compile(r'^from support\.\w+ import .*\b(bound|rounding)\b|chains\.rounding\(', re.MULTILINE)
SHORT = {
    'BLAS of Haswell': environment_of('Haswell'),
    'BLAS of SkylakeX': environment_of('SkylakeX'),
    'BLAS of Nehalem, no vector code of NumPy': environment_of('Nehalem', simd=False),
}
LONG = {
    **SHORT,
    'BLAS of Prescott, no vector code of NumPy': environment_of('Prescott', simd=False),
    'kernels of Haswell': {**environment_of('Haswell'), 'NUMBA_CPU_NAME': 'haswell'},
    'kernels of Nehalem': {**environment_of('Nehalem', simd=False), 'NUMBA_CPU_NAME': 'nehalem'},
}


def described() -> str:
    """Return this processor, BLAS's name of it, and the width of the vectors of kernels."""
    cpuinfo = Path('/proc/cpuinfo')
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    name = next((line.split(':')[1].strip() for line in lines if line.startswith('model name')), platform.machine())
    # OpenBLAS prints its choice when it is loaded
    verbose = {**os.environ, 'OPENBLAS_VERBOSE': '2'}
    command = [sys.executable, '-c', 'import numpy']
    loaded = subprocess.run(command, env=verbose, capture_output=True, text=True, check=True)
    core = next((line.split(':')[1].strip() for line in loaded.stderr.splitlines() if 'Core:' in line), 'unknown')
    return f'processor {name}; BLAS core {core}; kernels with vectors of {lanes() // 2} numbers'


def files() -> list[str]:
    """Return the test files with bounds on rounding: they call ``bound``, or a ``rounding`` made with it."""
    return sorted(str(path) for path in (TREE / 'test').rglob('test_*.py') if CALL.search(path.read_text()))


def main(arguments: list[str]) -> int:
    """Print the processor, run the tests in each environment; return the number of failed runs."""
    print(described(), flush=True)
    if '--describe' in arguments:
        return 0
    environments = SHORT if '--short' in arguments else LONG
    options = [argument for argument in arguments if argument != '--short']
    failed = []
    for name, environment in environments.items():
        print(f'== {name}', flush=True)
        environment = {key: value for key, value in environment.items() if key != 'PYTHONPATH'}
        parallel = ['--numprocesses=logical', '--maxprocesses=4', '--dist=loadfile']
        command = [sys.executable, '-m', 'pytest', '-q', '--durations=3', *parallel, *files(), *options]
        if subprocess.run(command, cwd=TREE, env=environment, check=False).returncode:
            failed.append(name)
    print(f'failed: {"; ".join(failed)}' if failed else 'all passed')
    return len(failed)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
