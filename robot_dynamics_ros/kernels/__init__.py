"""Compiled kernels: one algorithm per file, with the equations that it implements."""
