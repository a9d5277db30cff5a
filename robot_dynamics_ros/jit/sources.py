"""What the machine code of a function is made from: digests tell whether code belongs to the sources that are here."""

import hashlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

PACKAGE = Path(__file__).parents[1]
COMPILER = (
    'algorithms/kernel_arguments.py',
    'codegen/compiled_calls_compiler.py',
    'codegen/llvm_machine.py',
    'codegen/numba_code.py',
    'jit/decorators.py',
    'jit/fused_multiply_add.py',
    'jit/inlining.py',
    'jit/instructions.py',
    'jit/kinds.py',
    'model/arrays.py',
    'native/run.h',
)
"""Files that the code of all functions depends on."""


@cache
def digest_of(function: Any) -> str:
    """Return the digest (16 hex digits) of a function or ``Kernel``: of all files that its machine code is made from.

    These are its own, those of the functions of this package that it calls, and the compiler's. Constants that they
    import count by their values.
    """
    constants: set[str] = set()
    files: set[Path] = set()
    for called in _called(getattr(function, 'source', function)):
        files.add(Path(called.__code__.co_filename))
        constants |= set(_constants(called))
    parts = [_compiler(), *map(_content, sorted(files)), *sorted(constants)]
    return hashlib.sha256('\0'.join(parts).encode()).hexdigest()[:16]


def name_of(function: Any) -> str:
    """Return the name of a function or kernel, with its module below the package: kernels.rnea.rnea."""
    return f'{function.__module__}.{function.__name__}'.removeprefix(f'{PACKAGE.name}.')


def _called(function: FunctionType) -> set[FunctionType]:
    """Return a function and all functions of this package that it calls."""
    found, waiting = {function}, [function]
    while waiting:
        for it in _globals(waiting.pop()).values():
            called = getattr(it, 'source', it)
            if isinstance(called, FunctionType) and _is_ours(called) and called not in found:
                found.add(called)
                waiting.append(called)
    return found


def _constants(function: FunctionType) -> Iterator[str]:
    """Yield names and values of the numbers and texts that a function reads."""
    for name, it in _globals(function).items():
        if isinstance(it, int | float | str | tuple):
            yield f'{name} {it!r}'


def _globals(function: FunctionType) -> dict[str, Any]:
    """Return the global names of a function, and what they are."""
    return {name: function.__globals__[name] for name in function.__code__.co_names if name in function.__globals__}


def _is_ours(function: Callable) -> bool:
    return function.__module__.startswith(f'{PACKAGE.name}.')


@cache
def _compiler() -> str:
    """Return the digest of the compiler's files."""
    return hashlib.sha256('\0'.join(_content(PACKAGE / path) for path in COMPILER).encode()).hexdigest()


@cache
def _content(path: Path) -> str:
    """Return the digest of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
