"""Numbers that carry their depth, on which kernels run to be counted: operations, and the longest chain of them.

The depth of a result is the time of a machine that has a processor for every operation. An input has depth 0; model
constants are plain floats, and operations among them are not counted, nor are changes of sign.
"""

from types import SimpleNamespace

import numpy as np

from robot_dynamics_ros.codegen.trace import Tape


class DepthNumber:
    """A real number with the number of operations on the longest way to it; ``tally[0]`` counts all operations."""

    __slots__ = ('depth', 'tally', 'value')

    def __init__(self, value, depth, tally):
        self.value, self.depth, self.tally = value, depth, tally

    def _of(self, value, *others):
        """Return a result of this number and others."""
        self.tally[0] += 1
        return DepthNumber(value, 1 + max(self.depth, *(depth_of(other) for other in others)), self.tally)

    def __add__(self, other):
        return self._of(self.value + value_of(other), other)

    __radd__ = __add__

    def __sub__(self, other):
        return self._of(self.value - value_of(other), other)

    def __rsub__(self, other):
        return self._of(value_of(other) - self.value, other)

    def __mul__(self, other):
        return self._of(self.value * value_of(other), other)

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self._of(self.value / value_of(other), other)

    def __rtruediv__(self, other):
        return self._of(value_of(other) / self.value, other)

    def __neg__(self):
        return DepthNumber(-self.value, self.depth, self.tally)


def value_of(number) -> float:
    """Return the value of a number."""
    return number.value if isinstance(number, DepthNumber) else number


def depth_of(number) -> int:
    """Return the depth of a number, 0 for a constant."""
    return number.depth if isinstance(number, DepthNumber) else 0


class DepthRun(Tape):
    """Runs kernels in Python on numbers with depth: a product and a sum are two operations, fused or not."""

    def __init__(self):
        """Start with no operations counted."""
        super().__init__()
        self.tally = [0]

    @property
    def operations(self) -> int:
        """Number of operations so far."""
        return self.tally[0]

    def numbers(self, vector) -> np.ndarray:
        """Return a vector of inputs."""
        return np.array([DepthNumber(float(value), 0, self.tally) for value in vector], object)

    def fma(self, x, y, z):
        """Return x y + z."""
        return x * y + z

    def _sincos(self, x):
        """Return sine and cosine, each one operation."""
        return x._of(np.sin(x.value), x), x._of(np.cos(x.value), x)


def floats(arrays):
    """Return a record of arrays with Python's own numbers in place of NumPy's, which would convert other numbers."""
    converted = [np.array(it.tolist(), object).reshape(it.shape) if it.dtype == float else it for it in arrays]
    return SimpleNamespace(**dict(zip(arrays._fields, converted, strict=True)))
