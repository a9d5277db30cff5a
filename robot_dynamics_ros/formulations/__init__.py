"""Formulations of rigid-body dynamics in plain NumPy and SymPy, each beside the equations of its source.

They are written to be read, share no code with the kernels, and check them and each other.
"""
