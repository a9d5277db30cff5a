"""Kernels of forward dynamics by divide and conquer (Featherstone 1999)."""
