"""Operation counts of formulations: they are run on numbers that count their products and sums.

What depends on the robot alone is constant and free, as in code that is written for one robot: only operations on the
state, and on what is computed from it, are counted.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.formulations.kinematic_tree import KinematicTree
from robot_dynamics_ros.robot import Robot


class Operations(NamedTuple):
    """Number of operations; changes of sign are not counted."""

    multiplications: int
    additions: int  # and subtractions
    divisions: int
    square_roots: int
    sincos: int  # angles of which sine, cosine or both are needed


class OperationCount(NamedTuple):
    """Result of a run, with its operations counted in two ways."""

    result: np.ndarray
    dense: Operations
    """All operations of the matrix products, as by a program without knowledge of their structure."""
    sparse: Operations
    """Without products with exactly 0, 1 or -1, sums with exactly 0 and quotients of 0 or by 1 or -1."""


@dataclass
class Tally:
    """Operations so far, all and those that are not trivial."""

    dense: dict[str, int] = field(default_factory=lambda: dict.fromkeys(Operations._fields[:-1], 0))
    trivial: dict[str, int] = field(default_factory=lambda: dict.fromkeys(Operations._fields[:-1], 0))
    angles: set['CountedNumber'] = field(default_factory=set)

    def add(self, operation: str, trivial: bool) -> None:
        """Count an operation."""
        self.dense[operation] += 1
        self.trivial[operation] += trivial


class CountedNumber:
    """A real number whose operations are counted in a tally; numpy object arrays of it multiply as float arrays do."""

    __slots__ = ('tally', 'value')

    def __init__(self, value: float, tally: Tally):
        self.value, self.tally = float(value), tally

    def _combined(self, other, operation: str, function: Callable, trivial: Callable):
        """Return the number of a binary operation, counted; numpy does it for each entry of an array."""
        if isinstance(other, np.ndarray):
            return NotImplemented
        value = other.value if isinstance(other, CountedNumber) else float(other)
        self.tally.add(operation, trivial(self.value, value))
        return CountedNumber(function(self.value, value), self.tally)

    def __add__(self, other):
        return self._combined(other, 'additions', lambda a, b: a + b, lambda a, b: a == 0.0 or b == 0.0)

    __radd__ = __add__

    def __sub__(self, other):
        return self._combined(other, 'additions', lambda a, b: a - b, lambda a, b: a == 0.0 or b == 0.0)

    def __rsub__(self, other):
        return self._combined(other, 'additions', lambda a, b: b - a, lambda a, b: a == 0.0 or b == 0.0)

    def __mul__(self, other):
        units = (0.0, 1.0, -1.0)
        return self._combined(other, 'multiplications', lambda a, b: a * b, lambda a, b: a in units or b in units)

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self._combined(other, 'divisions', lambda a, b: a / b, lambda a, b: a == 0.0 or abs(b) == 1.0)

    def __rtruediv__(self, other):
        return self._combined(other, 'divisions', lambda a, b: b / a, lambda a, b: b == 0.0 or abs(a) == 1.0)

    def __neg__(self):
        return CountedNumber(-self.value, self.tally)

    def __gt__(self, other):
        return self.value > other

    def sqrt(self):
        """Return the square root; numpy.sqrt calls it."""
        self.tally.add('square_roots', False)
        return CountedNumber(np.sqrt(self.value), self.tally)

    def sin(self):
        """Return the sine; numpy.sin calls it."""
        self.tally.angles.add(self)
        return CountedNumber(np.sin(self.value), self.tally)

    def cos(self):
        """Return the cosine; numpy.cos calls it."""
        self.tally.angles.add(self)
        return CountedNumber(np.cos(self.value), self.tally)


@dataclass(frozen=True)
class CountedTree(KinematicTree):
    """A kinematic tree whose joint vectors are counted numbers: a tally counts all operations on them."""

    tally: Tally

    def arguments(self, tip_wrench=None, **vectors) -> list[np.ndarray]:
        """Return joint vectors and wrench as ``KinematicTree.arguments`` does, of counted numbers."""
        given = {name: value for name, value in vectors.items() if np.asarray(value).dtype != object}
        *checked, wrench = super().arguments(tip_wrench, **given)
        counted = {name: self._counted(value) for name, value in zip(given, checked, strict=True)}
        return [
            *(counted.get(name, value) for name, value in vectors.items()),
            wrench if tip_wrench is None else self._counted(wrench),
        ]

    def _counted(self, vector) -> np.ndarray:
        return np.array([CountedNumber(value, self.tally) for value in vector])


def operation_count(formulation: Callable, robot: Robot, *vectors, tip_wrench=None) -> OperationCount:
    """Run a formulation once on numbers that count.

    Parameters
    ----------
    formulation : callable
        ``formulation(tree, *vectors)`` such as ``spatial.inverse_dynamics``, which computes with products and sums of
        numpy arrays that may have entries of any number type: it must neither write into float arrays nor call
        ``numpy.linalg``.
    robot : Robot
    *vectors : array_like, (n,)
        The state: q, qd, qdd for inverse dynamics. Numbers that are not 0 or 1, for these are counted apart.
    tip_wrench : array_like, (6,), optional
        As the formulation's; without it products with it are constant.

    Returns
    -------
    OperationCount
        The formulation's result as floats, and its operations.

    Raises
    ------
    ModelError
        For a robot that the formulation doesn't represent.
    ArgumentError
        For a vector of wrong shape or with NaN or inf.
    """
    tally = Tally()
    tree = CountedTree(**vars(KinematicTree.of(robot, 'operation_count', serial=False)), tally=tally)
    result = formulation(tree, *vectors, **({} if tip_wrench is None else {'tip_wrench': tip_wrench}))
    sparse = {name: count - tally.trivial[name] for name, count in tally.dense.items()}
    return OperationCount(
        result=np.vectorize(_plain, otypes=[float])(result),
        dense=Operations(**tally.dense, sincos=len(tally.angles)),
        sparse=Operations(**sparse, sincos=len(tally.angles)),
    )


def _plain(number) -> float:
    return number.value if isinstance(number, CountedNumber) else float(number)
