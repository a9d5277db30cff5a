"""Kinds of arguments of compiled functions: machine code depends on them, but not on values or lengths of axes.

A kind is an annotation: one of the arrays below, bytes, a float, an int, a bool, or a named tuple whose fields are
annotated in this way.
"""

from typing import Annotated, Any, NamedTuple, get_type_hints

import numpy as np


class Elements(NamedTuple):
    """Type of the elements of a C-contiguous array, and number of its axes, which may have any length."""

    dtype: type
    axes: int


Vector = Annotated[np.ndarray, Elements(np.float64, 1)]
Matrix = Annotated[np.ndarray, Elements(np.float64, 2)]
Array3 = Annotated[np.ndarray, Elements(np.float64, 3)]
Array4 = Annotated[np.ndarray, Elements(np.float64, 4)]
Integers = Annotated[np.ndarray, Elements(np.int64, 1)]
IntegerMatrix = Annotated[np.ndarray, Elements(np.int64, 2)]
Words32 = Annotated[np.ndarray, Elements(np.int32, 1)]
Octets = Annotated[np.ndarray, Elements(np.uint8, 1)]


def examples_of(annotated) -> dict[str, Any]:
    """Return an example of each kind that a function or a named tuple is annotated with, by name; results have none."""
    kinds = get_type_hints(annotated, include_extras=True)
    kinds.pop('return', None)
    return {name: _example(kind) for name, kind in kinds.items()}


def _example(kind) -> Any:
    """Return an argument of a kind; axes of arrays have the length 0."""
    for elements in getattr(kind, '__metadata__', ()):
        return np.empty((0,) * elements.axes, elements.dtype)
    return kind(**examples_of(kind)) if issubclass(kind, tuple) else kind()


def difference(name: str, value, example) -> str:
    """Return in words why ``value``, of this name, is not of the kind of ``example``; '' if it is."""
    if isinstance(example, tuple) and type(value) is type(example):
        fields = zip(getattr(example, '_fields', ()), value, example, strict=True)
        return next(filter(None, (difference(f'{name}.{field}', *pair) for field, *pair in fields)), '')
    if isinstance(example, np.ndarray):
        alike = isinstance(value, np.ndarray) and value.dtype == example.dtype and value.ndim == example.ndim
    else:
        # a bool is an int of Python, but of another kind
        alike = isinstance(value, type(example)) and isinstance(value, bool) == isinstance(example, bool)
    return '' if alike else f'{name}: expected {_described(example)}, got {_described(value)}'


def _described(value) -> str:
    """Return the kind of an argument in words."""
    if not isinstance(value, np.ndarray):
        return type(value).__name__
    return f'an array of {value.dtype.name} with {value.ndim} {"axis" if value.ndim == 1 else "axes"}'
