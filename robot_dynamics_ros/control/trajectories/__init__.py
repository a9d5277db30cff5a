"""Trajectories: interpolation, start and end, limits, and the torques that they require."""
