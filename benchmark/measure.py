"""Interleaved timing, and the machine, versions and commit of a result."""

import os
import platform
import statistics
import subprocess
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ('numba', 'numpy', 'pin', 'mujoco', 'pybullet', 'drake', 'roboticstoolbox-python')


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
    versions = ', '.join(f'{package} {found(package)}' for package in PACKAGES)
    return (
        f'{time.strftime("%Y-%m-%d")}, commit {commit.stdout.strip() or "unknown"}\n'
        f'{processor}, {len(os.sched_getaffinity(0))} cores; Python {platform.python_version()}, {versions}'
    )


def found(package: str) -> str:
    """Return the version of a package, or that it is missing."""
    try:
        return version(package)
    except PackageNotFoundError:
        return 'missing'


def interleaved(calls: dict, seconds: float = 0.05, rounds: int = 15) -> dict[str, float]:
    """Return the median time of each call in s: every round times all of them, one after the other."""
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
    return {name: statistics.median(values) for name, values in times.items()}


def verdict(ratio: float, at_most: float) -> str:
    """Return a ratio and its target as text."""
    return f'{ratio:6.3f} (at most {at_most:.2f}{"" if ratio <= at_most else ", MISSED"})'
