"""Environments in which libraries choose the code for other processors than this one."""

import os
import platform

try:
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
except ImportError:  # NumPy 1
    from numpy.core._multiarray_umath import __cpu_dispatch__, __cpu_features__

ARM64 = platform.machine() == 'aarch64'
CORES = ('NEOVERSEN1', 'CORTEXA57', 'ARMV8', 'CORTEXA53') if ARM64 else ('Haswell', 'SkylakeX', 'Nehalem', 'Prescott')
"""Processors by OpenBLAS's names."""
PLAIN = CORES[2:]
"""Those without the vector instructions for which NumPy has code of its own."""
LLVM_NAMES = {'Haswell': 'haswell', 'Nehalem': 'nehalem', 'NEOVERSEN1': 'neoverse-n1', 'CORTEXA53': 'cortex-a53'}
"""LLVM's names of some of them."""


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
