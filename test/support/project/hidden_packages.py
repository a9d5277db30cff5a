"""Hides packages from a program: ``hidden_packages.py NAME,NAME... PROGRAM ARGUMENT...`` runs it."""

import importlib.abc
import runpy
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path


class Visible(importlib.abc.MetaPathFinder):
    """Finds modules by other finders, those of hidden packages not."""

    def __init__(self, hidden: Collection[str], finders: list):
        """Ask ``finders`` for modules that are not in ``hidden`` packages."""
        self._hidden, self.finders = frozenset(hidden), finders

    def find_spec(self, name, path=None, target=None):
        """Return the spec of a module; None where it is hidden or there is none."""
        if name.partition('.')[0] in self._hidden:
            return None
        found = (finder.find_spec(name, path, target) for finder in self.finders)
        return next(filter(None, found), None)

    def find_distributions(self, *context):
        """Yield distributions for importlib.metadata, those of hidden packages too."""
        for finder in self.finders:
            yield from getattr(finder, 'find_distributions', lambda *_: ())(*context)

    def invalidate_caches(self):
        """Let the other finders look anew."""
        for finder in self.finders:
            getattr(finder, 'invalidate_caches', lambda: None)()


@contextmanager
def hidden_packages(names: Collection[str]) -> Iterator[None]:
    """Let no module of packages be found."""
    visible = Visible(names, [*sys.meta_path])
    sys.meta_path[:] = [visible]
    try:
        yield
    finally:
        place = sys.meta_path.index(visible)  # beside finders that were added meanwhile
        sys.meta_path[place : place + 1] = visible.finders


if __name__ == '__main__':
    _, packages, *sys.argv = sys.argv
    sys.path[0] = str(Path(sys.argv[0]).parent)
    with hidden_packages(packages.split(',')):
        runpy.run_path(sys.argv[0], run_name='__main__')
