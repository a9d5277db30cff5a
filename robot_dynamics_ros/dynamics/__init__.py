"""Kernels and the model they read: one algorithm, one file, close to its paper; NumPy and Numba only."""
