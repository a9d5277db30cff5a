"""Equality of models in all that is computed with them."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass

import numpy as np

from robot_dynamics_ros.model.model import Model

NAMES = ('name', 'findings')
"""Fields of a model that nothing is computed with."""


def same_model(one: Model, other: Model) -> bool:
    """Return whether two models are equal but for their own names and findings: same joints, links, frames, numbers."""
    return all(_equal(getattr(one, it.name), getattr(other, it.name)) for it in fields(Model) if it.name not in NAMES)


def _equal(one, other) -> bool:
    """Return whether two values of a model's fields are equal; NaN, an unknown number, equals NaN."""
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other, equal_nan=one.dtype.kind == 'f')
    if isinstance(one, Mapping):
        return one.keys() == other.keys() and all(_equal(value, other[key]) for key, value in one.items())
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_equal, one, other))
    if is_dataclass(one):
        return type(one) is type(other) and all(
            _equal(getattr(one, it.name), getattr(other, it.name)) for it in fields(one)
        )
    return bool(one == other)
