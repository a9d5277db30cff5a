"""Traces of quantities by their names."""

from robot_dynamics_ros.algorithms.program import program_of
from robot_dynamics_ros.codegen import straight_line


def trace(arrays, name, runtime_inputs=None):
    """Return the results of a quantity for a robot, symbols or floats."""
    return straight_line.trace(program_of(arrays, name), arrays, runtime_inputs)
