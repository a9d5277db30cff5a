"""How far rounding may move a result that BLAS, LAPACK or NumPy's vector functions compute.

Their code, and with it the order of summation, depends on the processor: a bound that is the error seen on one machine
fails on the next one. Tests that call it run for several processors (``scripts/processors``).
"""

import numpy as np

EPS = np.finfo(float).eps


def bound(C: float, n: int, condition: float = 1.0, scale: float = 1.0) -> float:
    """Return C n eps condition scale, the largest error by rounding of a result of a backward stable method.

    Sums of n products are wrong by at most n eps times the sum of the magnitudes of their terms; a linear system of n
    unknowns has the exact solution of one that differs by a small multiple of n eps, which changes the solution by
    ``condition`` times as much (Higham 2002, sections 3.1 and 9.3). ``scale`` is the largest magnitude of what is
    compared, or of the terms in it where they cancel. ``C`` counts the operations after each other and the
    two sides of the comparison; it leaves ten times the largest error that was seen on any processor.
    """
    return C * n * EPS * condition * scale
