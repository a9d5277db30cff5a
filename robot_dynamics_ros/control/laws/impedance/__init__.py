"""Cartesian impedance: springs and dampers of a frame, and what acts beside them."""
