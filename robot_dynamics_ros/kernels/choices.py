"""Choices between two numbers, in laws and guards, beside ``min``, ``max`` and ``abs``.

Both numbers are computed, so a choice is no branch. Conditions are comparisons, combined by ``&`` and ``|``; a
comparison with NaN does not hold. Nodes and exported C give the same bits, those of NaN, infinite numbers and signed
zeros included.
"""

from robot_dynamics_ros.jit.decorators import kernel


@kernel
def select(condition, a, b):
    """Return a where a condition holds, else b."""
    return a if condition else b


@kernel
def is_finite(x):
    """Return the condition that x is neither NaN nor infinite."""
    return abs(x) <= 1.7976931348623157e308
