"""Choices of numbers: kernels have no branches that depend on a state, but may choose between two numbers.

``min(a, b)``, ``max(a, b)`` and ``abs(x)`` of Python are choices, too. Conditions are comparisons of two numbers by
``<``, ``<=``, ``>`` or ``>=``, combined by ``&`` and ``|``; a comparison with NaN does not hold. Both numbers of a
choice are computed. All bindings give the same bits, those of NaN, infinite numbers and signed zeros included.
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
