"""Trajectories: interpolation, their beginning and end, and what a robot needs for them."""
