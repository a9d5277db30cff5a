"""Compiled code only: one algorithm a file, beside its paper."""
