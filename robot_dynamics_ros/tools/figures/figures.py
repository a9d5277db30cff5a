"""Records of figures: curves over one pair of axes, and colours of joints."""

import colorsys
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.validation import choice, numbers

PALETTE = (
    *('#1f77b4', '#ff7f0e', '#2ca02c', '#d62728', '#9467bd'),
    *('#8c564b', '#e377c2', '#7f7f7f', '#bcbd22', '#17becf'),
)
"""Ten colours that can be distinguished on a white and on a dark background."""

DASHES = ('solid', 'dash', 'dot', 'dashdot')
"""Line styles of a curve."""


@dataclass(frozen=True)
class Axis:
    """Quantity on an axis: what it is, its unit ('' for none), and whether its scale is logarithmic."""

    label: str
    unit: str
    logarithmic: bool = False

    @property
    def text(self) -> str:
        """Label and unit in one text."""
        return f'{self.label}, {self.unit}' if self.unit else self.label


@dataclass(frozen=True, eq=False)
class Curve:
    """A named curve through points x, y, each (m,); values that are not finite leave a gap.

    ``colour`` is '#rrggbb', see ``joint_colours``; ``dash`` is one of ``DASHES``. Raises ArgumentError with the name.
    """

    name: str
    colour: str
    x: np.ndarray = field(repr=False)
    y: np.ndarray = field(repr=False)
    dash: str = 'solid'

    def __post_init__(self):
        """Convert the points to arrays; check name, shapes, colour and line style."""
        if not self.name.strip():
            raise ArgumentError('name of a curve: expected a text for the legend, got none')
        x, y = (numbers(f'{axis} of curve {self.name!r}', getattr(self, axis)) for axis in 'xy')
        if x.ndim != 1 or x.shape != y.shape or not x.size:
            raise ArgumentError(f'curve {self.name!r}: expected x and y (m,) with m > 0, got {x.shape} and {y.shape}')
        if not re.fullmatch('#[0-9a-fA-F]{6}', self.colour):
            raise ArgumentError(f"colour of curve {self.name!r}: expected '#rrggbb', got {self.colour!r:.80}")
        choice(f'dash of curve {self.name!r}', self.dash, DASHES)
        object.__setattr__(self, 'x', x)
        object.__setattr__(self, 'y', y)


@dataclass(frozen=True, eq=False)
class Figure:
    """Curves over a pair of axes. ``name`` is the stem of its files: letters, digits, '_' and '-'.

    Raises ArgumentError naming the figure: a name that is no stem, no curves, two curves of one name.
    """

    name: str
    title: str
    x: Axis
    y: Axis
    curves: Sequence[Curve] = field(repr=False)

    def __post_init__(self):
        """Check the name and the names of the curves."""
        if not re.fullmatch('[A-Za-z0-9_-]+', self.name):
            raise ArgumentError(f"name of a figure: expected letters, digits, '_' and '-', got {self.name!r:.80}")
        if not self.curves:
            raise ArgumentError(f'figure {self.name!r}: it has no curves')
        check_unique(f'curves of figure {self.name!r}', [curve.name for curve in self.curves])


def joint_colours(joint_names: Sequence[str]) -> dict[str, str]:
    """Return a colour for each joint, which depends on the joints of the robot only: the same in every figure.

    Up to ten joints have those of ``PALETTE``, more have hues at equal distances.
    """
    count = len(joint_names)
    if count <= len(PALETTE):
        return dict(zip(joint_names, PALETTE, strict=False))
    # neighbours differ in lightness, too
    parts = [colorsys.hls_to_rgb(i / count, 0.4 + 0.2 * (i % 2), 0.8) for i in range(count)]
    texts = ['#' + ''.join(f'{round(255 * part):02x}' for part in rgb) for rgb in parts]
    return dict(zip(joint_names, texts, strict=True))


def joint_curves(joint_names: Sequence[str], x, y, suffix: str = '', dash: str = 'solid') -> list[Curve]:
    """Return a curve of each joint through x (m,) and the columns of y (m, n), in the joint's colour.

    The curves have the names of the joints; ``suffix`` tells several curves of a joint apart, for instance ', 5 kg'.
    """
    columns = numbers('y', y)
    if columns.ndim != 2 or columns.shape[1] != len(joint_names):
        raise ArgumentError(f'y: expected shape (m, {len(joint_names)}), got {columns.shape}')
    colours = joint_colours(joint_names)
    return [Curve(name + suffix, colours[name], x, columns[:, j], dash) for j, name in enumerate(joint_names)]


def check_unique(what: str, names: Sequence[str]) -> None:
    """Raise ArgumentError with the first name that occurs twice."""
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if twice is not None:
        raise ArgumentError(f'{what}: the name {twice!r} occurs twice')
