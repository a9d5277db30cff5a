"""Interleaved timing, and the machine, versions and commit of a result."""

import os
import platform
import statistics
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = (
    'numba',
    'numpy',
    'pin',
    'mujoco',
    'pybullet',
    'drake',
    'roboticstoolbox-python',
    'casadi',
    'urdf2casadi',
    'adam-robotics',
    'frax',
    'jax',
    'torch',
    'bard',
)


def heading() -> str:
    """Return machine, versions and commit as lines."""
    with open('/proc/cpuinfo') as file:
        processor = next((line.split(':')[1].strip() for line in file if line.startswith('model name')), 'unknown')
    commit = subprocess.run(
        ['git', 'describe', '--always', '--dirty'],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    chosen = os.environ.get('NUMBA_CPU_NAME')
    vectors = instruction_set() + (f' (NUMBA_CPU_NAME={chosen})' if chosen else '')
    versions = ', '.join(f'{package} {found(package)}' for package in PACKAGES)
    return (
        f'{time.strftime("%Y-%m-%d")}, commit {commit.stdout.strip() or "unknown"}\n'
        f'{processor}, {vectors}, {len(os.sched_getaffinity(0))} cores; '
        f'Python {platform.python_version()}, {versions}'
    )


def instruction_set() -> str:
    """Return the widest vectors of compiled code: the processor's, or those of NUMBA_CPU_NAME if it is set."""
    with open('/proc/cpuinfo') as file:
        flags = next((line.split() for line in file if line.startswith('flags')), [])
    widths = {'AVX-512': 'avx512f', 'AVX2': 'avx2'}
    if os.environ.get('NUMBA_CPU_NAME') in ('haswell', 'x86-64-v3'):
        del widths['AVX-512']
    return next((name for name, flag in widths.items() if flag in flags), 'other')


def found(package: str) -> str:
    """Return the version of a package, or that it is missing."""
    try:
        return version(package)
    except PackageNotFoundError:
        return 'missing'


def interleaved(calls: dict, seconds: float = 0.05, rounds: int = 15, of_rounds=statistics.median) -> dict[str, float]:
    """Return the median time of each call in s, or the least: every round times all of them, one after the other."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    repeats = {}
    for name, call in calls.items():
        call()  # compiled, with its memory mapped
        began = time.perf_counter()
        call()
        repeats[name] = max(1, int(seconds / max(time.perf_counter() - began, 1e-7)))
    for _ in range(rounds):
        for name, call in calls.items():
            count = range(repeats[name])
            began = time.perf_counter()
            for _ in count:
                call()
            times[name].append((time.perf_counter() - began) / repeats[name])
    return {name: of_rounds(values) for name, values in times.items()}


def first_line(code: str, *arguments: str, **environment: str) -> float:
    """Return the time from the start of a Python process until it prints the first line, s."""
    began = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, '-c', code, *arguments], stdout=subprocess.PIPE, env=os.environ | environment
    ) as process:
        line = process.stdout.readline()
        seconds = time.perf_counter() - began
    assert line and process.returncode == 0, f'status {process.returncode} of {code}'
    return seconds


def verdict(ratio: float, at_most: float) -> str:
    """Return a ratio and its target as text."""
    return f'{ratio:6.3f} (at most {at_most:.2f}{"" if ratio <= at_most else ", MISSED"})'
