"""Kernels of robots with closed loops: constraints, their forces and multipliers, forward dynamics."""
