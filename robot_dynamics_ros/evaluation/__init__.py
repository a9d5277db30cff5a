"""Dynamics quantities of a robot: argument validation, choice of kernels, batches."""
