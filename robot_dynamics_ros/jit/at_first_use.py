"""Attributes that are made when they are first read."""

from collections.abc import Callable
from typing import Generic, TypeVar

Value = TypeVar('Value')


class AtFirstUse(Generic[Value]):
    """An attribute that ``make(owner)`` makes when it is first read; of several threads that do so each may make it.

    ``functools.cached_property`` writes to ``__dict__``, which would slow down all attributes of a robot. Before Python
    3.12 it holds a lock meanwhile, for all objects of a class: a process that is forked then would wait for ever.
    """

    def __init__(self, make: Callable[..., Value]):
        """Store the function, a method of the owner's class."""
        self._make, self.__doc__ = make, make.__doc__

    def __set_name__(self, owner: type, name: str):
        """Store the name of the attribute."""
        self._name = name

    def __get__(self, instance, owner: type) -> Value:
        """Make the value, which replaces this descriptor in the owner."""
        value = self._make(instance)
        setattr(instance, self._name, value)
        return value
