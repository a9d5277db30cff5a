"""Environments in which libraries choose the code for other processors than this one, and which of them run here."""

import os
import platform
import signal
import subprocess
import sys
from pathlib import Path

try:
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
except ImportError:  # NumPy 1
    from numpy.core._multiarray_umath import __cpu_dispatch__, __cpu_features__

ARM64 = platform.machine() == 'aarch64'
CORES = ('NEOVERSEN1', 'CORTEXA57', 'ARMV8', 'CORTEXA53') if ARM64 else ('Haswell', 'SkylakeX', 'Nehalem', 'Prescott')
"""Processors by OpenBLAS's names. A processor may lack the instructions of some: see ``can_run``."""
PLAIN = CORES[2:]
"""Those without the vector instructions for which NumPy has code of its own."""
LLVM_NAMES = {'Haswell': 'haswell', 'Nehalem': 'nehalem', 'NEOVERSEN1': 'neoverse-n1', 'CORTEXA53': 'cortex-a53'}
"""LLVM's names of some of them."""
TRIAL = """
import numpy as np
a = np.eye(50) + 1e-3 * np.arange(2500.0).reshape(50, 50)
for part in (a, a[:6, :6]):
    for number in (part, part.astype(np.float32)):
        number @ number, number @ number[0], number[0] @ number[0]
    np.linalg.solve(part, part[0]), np.linalg.svd(part), np.linalg.eigh(part + part.T), np.linalg.qr(part)
from robot_dynamics_ros import Robot
robot = Robot.named('aubo_i5')
robot.inverse_dynamics(*np.zeros((3, robot.nv)))
"""
"""A program that runs code of BLAS, LAPACK and the kernels."""


def environment_of(core: str) -> dict[str, str]:
    """Return the environment of a process whose BLAS uses the code of ``core``; one thread.

    For one of ``PLAIN`` NumPy uses its plain code, and the C library its code for processors without FMA.
    """
    chosen = {**os.environ, 'OPENBLAS_CORETYPE': core, 'OPENBLAS_NUM_THREADS': '1'}
    if core in PLAIN:
        chosen['NPY_DISABLE_CPU_FEATURES'] = ' '.join(it for it in __cpu_dispatch__ if __cpu_features__[it])
        if not ARM64:
            chosen['GLIBC_TUNABLES'] = 'glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2,-AVX512F'
    return chosen


def can_run(environment: dict[str, str], trial: str = TRIAL) -> bool:
    """Return whether this processor has all instructions that libraries use in an environment.

    A process of its own tries: an instruction that the processor does not have ends it. RuntimeError if it ends
    otherwise.
    """
    environment = {**environment, 'PYTHONPATH': str(Path(__file__).parents[2])}
    tried = subprocess.run([sys.executable, '-c', trial], env=environment, capture_output=True, text=True, check=False)
    if tried.returncode not in (0, -signal.SIGILL):
        raise RuntimeError(f'status {tried.returncode} of a program that tries instructions: {tried.stderr}')
    return tried.returncode == 0
