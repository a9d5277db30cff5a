"""Calls from Python of machine code. They check their arguments and make the result in some 0.1 us."""

from collections.abc import Callable
from typing import Any, final

import numpy as np

MOST_WORDS: int
"""Largest number of words of the arguments of a program."""
LEVEL: int
"""The level of the library's code that this processor can run: 1 with AVX2 and fused multiply-adds, else 0."""
RUN: int
"""Address of ``bool f(double **vectors, double *runtime_inputs, double *result, int64 count, int64 *program, int64
streamed)``, which computes states in rows by a program of ``states_code.words_of_program``.

Results of blocks of states bypass the caches if ``streamed`` is not 0.
"""

@final
class StatesCall:
    """A quantity of a robot for one state or a batch: ``f(vectors..., runtime_inputs, out)``, see ``states_code``.

    It returns the result: ``out``, or a new array where that is None; None if some number is not finite or an angle too
    large. Raises TypeError unless all arrays are C-contiguous float64 ones of the shapes of one state (n,) or of a
    batch (count, n), if ``out`` overlaps a vector, for quaternions that may not have length 1, and for more states than
    it was made for. A large batch is computed by several threads.
    """

    def __new__(
        cls,
        integers: tuple[np.ndarray, ...],
        words: np.ndarray,
        sizes: tuple[int, int],
        checked: bool,
        largest_angle: float,
        limits: tuple[int, int, int],
        threads: int,
        owner: object,
        /,
    ) -> StatesCall: ...
    def __call__(self, *arguments: Any) -> np.ndarray | None: ...

def by_key(calls: dict, of_frames: dict, otherwise: Callable, /) -> Callable:
    """Return ``evaluate(key, runtime_inputs, out, vectors...)``; each of the ``calls`` is a StatesCall.

    It returns the result of ``calls[key]``. Where the last vector is a dictionary of one wrench, it is that of
    ``of_frames[key][frame]``, and the wrench the vector. It calls ``otherwise`` with the same arguments where there is
    no such call, where the call refuses them, and where it returns None.
    """

def bound(
    words: np.ndarray, examples: tuple, returned: type | None, refusal: str, nogil: bool, owner: object, /
) -> Callable:
    """Return a compiled function with fixed arguments, ``f(given...)``, see ``codegen.bound_function``.

    ``words`` are its address and those of the fixed arguments. It raises TypeError with the text ``refusal`` for
    arguments that are not like the ``examples``.
    """

def functions(path: str, level: int, /) -> dict[str, tuple[str, int]]:
    """Return the functions of a library by their names: digest of the sources, and address of the code of a level.

    ImportError for a file that is no such library.
    """
