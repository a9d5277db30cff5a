"""Joints as control sees them: order, turns, limits, and whether they stand still."""
