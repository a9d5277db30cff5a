"""Decorators of kernels, fused multiply-add, and the cache of compiled code; NumPy and Numba only."""
