"""Hides packages from a program: ``hidden_packages.py NAME,NAME... PROGRAM ARGUMENT...`` runs it."""

import importlib.abc
import runpy
import sys
from collections.abc import Collection
from pathlib import Path


class Hidden(importlib.abc.MetaPathFinder):
    """Lets no module of packages be found."""

    def __init__(self, names: Collection[str]):
        """Hide the packages of these names."""
        self._names = frozenset(names)

    def find_spec(self, name, path=None, target=None):
        """Return None for other modules: other finders look for them."""
        if name.partition('.')[0] in self._names:
            raise ModuleNotFoundError(f'No module named {name!r}', name=name)


if __name__ == '__main__':
    _, names, *sys.argv = sys.argv
    sys.path[0] = str(Path(sys.argv[0]).parent)
    sys.meta_path.insert(0, Hidden(names.split(',')))
    runpy.run_path(sys.argv[0], run_name='__main__')
