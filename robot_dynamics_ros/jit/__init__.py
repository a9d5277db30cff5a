"""Decorators of kernels, fused multiply-add, and the cache of compiled code; needs NumPy and Numba only."""
