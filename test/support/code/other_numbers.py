"""Kernels on numbers of another type: their sources run as plain Python, with the sine, cosine and root of the type."""

from robot_dynamics_ros.codegen.trace import Tape


class OtherNumbers(Tape):
    """Runs kernels on object arrays of a number type, ``run(kernel, *arguments)``."""

    def __init__(self, sincos, sqrt):
        """Take the functions of the type: ``sincos(x)`` returns sine and cosine."""
        self._functions = sincos, sqrt
        super().__init__()

    def _sincos(self, x):
        return self._functions[0](x)

    def sqrt(self, x):
        return self._functions[1](x)

    def fma(self, x, y, z):
        return x * y + z
