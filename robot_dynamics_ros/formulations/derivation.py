"""Symbolic equations of motion by SymPy: polynomials in sin q, cos q, q, qd and symbolic parameters.

Imported where a derivation begins, see ``lagrange.derive``: SymPy takes a second to import.
"""

from functools import cached_property

import numpy as np
from sympy import QQ, RR, Float, Integer, Matrix, cos, expand, latex, ring, sin, sstr, symbols
from sympy.polys.rings import PolyElement
from sympy.simplify.fu import TR8

from robot_dynamics_ros import validation
from robot_dynamics_ros.formulations.kinematic_tree import ZERO

NEGLIGIBLE = 1e-14
"""Of a coefficient, relative to the largest of its expression: what rounding leaves of sums that are zero."""


class Derivation:
    """Equations of motion tau = M(q) qdd + c(q, qd) + g(q) of a chain, as SymPy derived them."""

    def __init__(self, variables: 'Variables', M, c, g, J):
        self.variables = variables
        self._polynomials = M, c, g, J

    @property
    def parameters(self) -> dict[str, float]:
        """Values of the letters by their names; empty for a derivation in numbers."""
        return self.variables.parameters

    @cached_property
    def M(self):  # noqa: N802
        """Mass matrix (n, n), a SymPy matrix."""
        return self.variables.matrix(self._polynomials[0])

    @cached_property
    def c(self):
        """Coriolis and centrifugal torques (n, 1), a SymPy matrix."""
        return self.variables.matrix(self._polynomials[1])

    @cached_property
    def g(self):
        """Torques against gravity (n, 1), a SymPy matrix."""
        return self.variables.matrix(self._polynomials[2])

    def text(self, digits: int = 6) -> str:
        """Return M, c and g, a line for each element; numbers to ``digits`` digits."""
        lines = []
        for name, matrix in (('M', self.M), ('c', self.c), ('g', self.g)):
            for (i, j), element in np.ndenumerate(_rounded(matrix, digits)):
                place = f'{i + 1},{j + 1}' if name == 'M' else f'{i + 1}'
                lines.append(f'{name}[{place}] = {sstr(element, full_prec=False)}')
        return '\n'.join(lines)

    def latex(self, digits: int = 6) -> str:
        """Return M, c and g as LaTeX, a line for each; numbers to ``digits`` digits."""
        named = ((r'M(\theta)', self.M), (r'c(\theta, \dot{\theta})', self.c), (r'g(\theta)', self.g))
        return '\n'.join(f'{name} = {latex(_rounded(matrix, digits))}' for name, matrix in named)

    def evaluate(self, q, qd) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return M (n, n), c (n,) and g (n,) with the robot's parameters, at q and qd (n,; rad or m, per s)."""
        n = self.variables.n
        M, c, g, _ = self.numbers(validation.finite('q', q, (n,)), validation.finite('qd', qd, (n,)))
        return M, c, g

    def numbers(self, q, qd) -> list[np.ndarray]:
        """Return M, c, g and the Jacobian (6, n) of the last link at its origin, in axes of the base."""
        values = self.variables.values(q, qd)
        return [np.vectorize(lambda terms: _sum(terms, values), otypes=[float])(array) for array in self._terms]

    @cached_property
    def _terms(self) -> list[np.ndarray]:
        """The polynomials as pairs of exponents (k, variables) and coefficients (k) of their k terms."""
        return [_each(_exponents_and_coefficients, array) for array in self._polynomials]


class Variables:
    """Variables of a derivation: polynomials in sines, cosines, positions, velocities and letters.

    SymPy keeps them expanded and differentiates them; a sine's derivative is its cosine.
    """

    def __init__(self, n: int, parameters: dict[str, float]):
        self.n, self.parameters = n, parameters
        groups = [[f'{kind}_{i}' for i in range(1, n + 1)] for kind in ('sin', 'cos', 'theta', 'thetadot')]
        names = [name for group in groups for name in group] + list(parameters)
        # with letters the other numbers are those of right angles: 0, 1, -1
        self.ring, *symbols = ring(names, QQ if parameters else RR)
        self.sin, self.cos, self.position, self.rate = (symbols[k * n : (k + 1) * n] for k in range(4))
        self.letters = dict(zip(parameters, symbols[4 * n :], strict=True))
        self.zero = self.ring.zero

    def array(self, values) -> np.ndarray:
        """Return numbers as constant polynomials, and polynomials as they are."""
        return _each(lambda value: self.zero + (_number(value) if isinstance(value, float) else value), values)

    def by_rate(self, f, i: int):
        """Return the partial derivative of f by the velocity of joint i."""
        return f.diff(self.rate[i])

    def by_position(self, f, i: int):
        """Return the partial derivative of f by the position of joint i: cos df/dsin - sin df/dcos + df/dtheta."""
        sin, cos = self.sin[i], self.cos[i]
        return cos * f.diff(sin) - sin * f.diff(cos) + f.diff(self.position[i])

    def simplified(self, array) -> np.ndarray:
        """Return polynomials with sin^2 = 1 - cos^2, without what rounding leaves of zeros."""
        identities = [sin**2 + cos**2 - 1 for sin, cos in zip(self.sin, self.cos, strict=True)]
        return _each(lambda f: _without_rounding(f.rem(identities)), array)

    def matrix(self, array):
        """Return polynomials as a SymPy matrix: sines and cosines of sums of angles in place of their products."""
        position, rate = (symbols(f'{name}_1:{self.n + 1}', real=True) for name in ('theta', 'thetadot'))
        letters = symbols(list(self.letters), real=True)
        arguments = [*map(sin, position), *map(cos, position), *position, *rate, *letters]
        rows = _each(lambda f: _without_rounding(expand(TR8(f.as_expr(*arguments)))), array)
        return Matrix(rows.tolist())

    def values(self, q, qd) -> np.ndarray:
        """Return the numbers of all variables at a state."""
        return np.concatenate([np.sin(q), np.cos(q), q, qd, list(self.parameters.values())])


def _each(function, array) -> np.ndarray:
    """Return the results of a function of each element, in an array of objects."""
    return np.vectorize(function, otypes=[object])(array)


def _number(value: float) -> float | int:
    """Return the integer that a number is but for rounding, else the number."""
    nearest = round(value)
    return nearest if abs(value - nearest) <= ZERO else value


def _without_rounding(f):
    """Return a polynomial or an expanded expression without negligible terms."""
    terms = f if isinstance(f, PolyElement) else f.as_coefficients_dict()
    largest = max((abs(float(coefficient)) for coefficient in terms.values()), default=0.0)
    kept = {term: it for term, it in terms.items() if abs(float(it)) > NEGLIGIBLE * largest}
    return f.ring.from_dict(kept) if isinstance(f, PolyElement) else sum(it * term for term, it in kept.items())


def _exponents_and_coefficients(f) -> tuple[np.ndarray, np.ndarray]:
    """Return a polynomial's terms: exponents (k, variables) and coefficients (k)."""
    return np.array([*f.keys()], int).reshape(-1, f.ring.ngens), np.array([*f.values()], float)


def _sum(terms, values) -> float:
    """Return the sum of coefficients times powers of the variables' values."""
    exponents, coefficients = terms
    return float(coefficients @ np.prod(values**exponents, axis=1))


def _rounded(matrix, digits: int):
    """Return a SymPy matrix with its decimal numbers rounded, and those that are integers as such."""
    rounded = {it: Float(it, digits) for it in matrix.atoms(Float)}
    return matrix.xreplace({it: Integer(int(to)) if float(to).is_integer() else to for it, to in rounded.items()})
