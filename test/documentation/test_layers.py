"""The layers on the page about the architecture are those that the import contract checks."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Python 3.10 has no tomllib. The contract of the rooms comes before those of shelves.
CONTRACT = re.findall(r'^layers = \[\n(.*?)^\]', (ROOT / 'pyproject.toml').read_text(encoding='utf-8'), re.M | re.S)[0]
LEVELS = [[name.strip() for name in line.strip(" ',").split('|')] for line in CONTRACT.splitlines()]
PAGE, DRAWING = ((ROOT / 'doc' / name).read_text(encoding='utf-8') for name in ('architecture.md', 'layers.svg'))
TABLE = re.findall(r'^\| [^|]*\| (`[^|]*`) \|', PAGE, re.M)
DRAWN = re.findall(r'y="(\d+)"[^>]*><tspan[^>]*>(\w+)</tspan>', DRAWING)
SHOWN = {'table': re.findall(r'`(\w+)`', ' '.join(TABLE)), 'drawing': [name for _, name in DRAWN]}


def level(name: str) -> int:
    """Return the number of the level of a layer, from above."""
    (found,) = (k for k, names in enumerate(LEVELS) if name in names)
    return found


@pytest.mark.parametrize('where', SHOWN)
def test_every_layer_is_shown_once_above_those_that_it_imports(where):
    shown = [name for name in SHOWN[where] if any(name in level for level in LEVELS)]
    assert sorted(shown) == sorted(name for level in LEVELS for name in level)
    assert [level(name) for name in shown] == sorted(level(name) for name in shown)


def test_layers_of_one_level_are_drawn_beside_each_other():
    assert len({(height, level(name)) for height, name in DRAWN}) == len(LEVELS)
