"""A traced quantity as a function of CasADi: one operation of SX for each operation of the trace.

Products and sums are traced unfused, since CasADi has no fused multiply-add, so that equal products are one value.
Sines and cosines are CasADi's own, so that it differentiates them.
"""

import math
import operator
from collections.abc import Callable, Mapping, Sequence

import casadi

from robot_dynamics_ros.codegen.straight_line import needed
from robot_dynamics_ros.codegen.trace import Tape

OPERATIONS: dict[str, Callable] = {
    '+': operator.add,
    '-': operator.sub,
    '*': operator.mul,
    '/': operator.truediv,
    'neg': operator.neg,
    'abs': casadi.fabs,
    'sqrt': casadi.sqrt,
    'min': casadi.fmin,
    'max': casadi.fmax,
    'sin': casadi.sin,
    'cos': casadi.cos,
}
"""By the operations of a trace."""


class UnfusedTape(Tape):
    """A trace without fused multiply-adds."""

    def fma(self, x, y, z):
        """Return x y + z, rounded twice."""
        return x * y + z


def casadi_function(name: str, inputs: Mapping[str, int], results: Sequence, columns: int) -> casadi.Function:
    """Return the function of traced ``results``, the rows of a matrix of so many columns.

    ``inputs`` are the names of its arguments and their lengths, in order. Inputs of the trace that are not among them
    are zero. An argument that a call by name leaves out is NaN; it would be zero by default.
    """
    arguments = {argument: casadi.SX.sym(argument, length) for argument, length in inputs.items()}
    expressions: dict = {}
    for value in needed(results):
        if value.operation == 'input':
            argument, k = value.arguments
            expressions[value] = arguments[argument][k] if argument in arguments else 0.0
        else:
            given = (expressions.get(it, it) for it in value.arguments)
            expressions[value] = OPERATIONS[value.operation](*given)
    rows = casadi.vertcat(*(expressions.get(it, it) for it in results))
    matrix = casadi.reshape(rows, columns, len(results) // columns).T
    options = {'default_in': [math.nan] * len(arguments)}
    return casadi.Function(name, [*arguments.values()], [matrix], [*arguments], ['result'], options)
