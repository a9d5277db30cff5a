"""Environments in which libraries choose the code for other processors than this one."""

import os

try:
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
except ImportError:  # NumPy 1
    from numpy.core._multiarray_umath import __cpu_dispatch__, __cpu_features__

CORES = ('Haswell', 'SkylakeX', 'Nehalem', 'Prescott')
"""Processors by OpenBLAS's names."""
WITHOUT_AVX = ('Nehalem', 'Prescott')


def environment_of(core: str, simd: bool = True) -> dict[str, str]:
    """Return the environment of a process whose BLAS uses the code of ``core``; one thread.

    Without ``simd``, NumPy uses its plain code, and the C library its code for processors without FMA.
    """
    chosen = {**os.environ, 'OPENBLAS_CORETYPE': core, 'OPENBLAS_NUM_THREADS': '1'}
    if not simd:
        chosen['NPY_DISABLE_CPU_FEATURES'] = ' '.join(it for it in __cpu_dispatch__ if __cpu_features__[it])
        chosen['GLIBC_TUNABLES'] = 'glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2,-AVX512F'
    return chosen
