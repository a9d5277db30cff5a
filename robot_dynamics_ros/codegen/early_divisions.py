"""Divisions and square roots that straight-line code computes early, one at a time.

A processor has one unit that divides, and it takes as long as several dozen sums: next to sums and products of other
values that costs nothing, but several divisions in a row make all else wait. A kernel that has them in a row at its
end, as that of friction, need not wait for them if they depend on little: their results are computed long before.
"""

from collections.abc import Sequence

from robot_dynamics_ros.codegen.trace import Symbol

SLOW = ('/', 'sqrt')
FEW = 8
"""Most operations from the inputs to the result of a division that is computed early."""


def early_divisions(values: Sequence[Symbol]) -> dict[Symbol, list[Symbol]]:
    """Return divisions and square roots, by the value after which they are computed.

    They are spread evenly over ``values``, which are in the order in which the kernels compute them. Those that the
    kernels compute earlier are left out, and so are values that depend on more than a few operations.
    """
    operations: dict[Symbol, frozenset[Symbol] | None] = {}
    for value in values:
        operations[value] = _operations(value, operations)
    slow = [value for value in values if value.operation in SLOW and operations[value]]
    order = {value: k for k, value in enumerate(values)}
    places: dict[Symbol, list[Symbol]] = {}
    for k, value in enumerate(slow):
        after = (k + 1) * len(values) // (len(slow) + 1)
        if after < order[value] and values[after].operation != 'input':
            places.setdefault(values[after], []).append(value)
    return places


def _operations(value: Symbol, of_arguments: dict[Symbol, frozenset[Symbol] | None]) -> frozenset[Symbol] | None:
    """Return the operations that a value depends on, itself included; None for more than a few."""
    if value.operation == 'input':
        return frozenset()
    found = {value}
    for it in value.arguments:
        if isinstance(it, Symbol):
            some = of_arguments[it]
            if some is None or len(found := found | some) > FEW:
                return None
    return frozenset(found)
