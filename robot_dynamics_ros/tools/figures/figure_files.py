"""Figures as files: PNG, CSV, and one page that shows all of them."""

import csv
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure as Canvas

from robot_dynamics_ros.tools.figures.figure_page import write_page
from robot_dynamics_ros.tools.figures.figures import Axis, Figure, check_unique

MOST_CONSTRAINTS = 28
"""Names below each other in a legend; more have a further column."""
LONGEST = 40
"""Characters of a name in a legend; a longer one is shown without its middle."""
LINE_STYLES = {'solid': '-', 'dash': '--', 'dot': ':', 'dashdot': '-.'}


def write_figures(folder: Path, title: str, figures: Sequence[Figure]) -> list[Path]:
    """Write each figure as <name>.png and <name>.csv, and index.html with all of them; return the paths, it last.

    Raises ArgumentError where two figures have one name, and DynamicsError without plotly.
    """
    check_unique('figures', [figure.name for figure in figures])
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for figure in figures:
        for write, suffix in ((write_png, '.png'), (write_csv, '.csv')):
            paths.append(folder / (figure.name + suffix))
            write(paths[-1], figure)
    paths.append(folder / 'index.html')
    write_page(paths[-1], title, figures)
    return paths


def write_png(path: Path, figure: Figure) -> None:
    """Write a figure as PNG, 1100 x 550 pixels; its legend is beside the axes."""
    canvas = Canvas(figsize=(11, 5.5), layout='constrained')
    axes = canvas.add_subplot()
    for curve in figure.curves:
        y = np.where(np.isfinite(curve.y), curve.y, np.nan)
        axes.plot(
            curve.x,
            y,
            color=curve.colour,
            linestyle=LINE_STYLES[curve.dash],
            linewidth=1.3,
            label=_plain(_short(curve.name)),
        )
    axes.set(title=_plain(figure.title), xlabel=_plain(figure.x.text), ylabel=_plain(figure.y.text))
    if figure.x.logarithmic:
        axes.set_xscale('log')
    else:
        axes.margins(x=0.0)
    if figure.y.logarithmic:
        axes.set_yscale('log')
    axes.grid(alpha=0.3)
    columns = -(-len(figure.curves) // MOST_CONSTRAINTS)
    canvas.legend(loc='outside right upper', fontsize='small', ncols=columns)
    canvas.savefig(path, dpi=100)


def write_csv(path: Path, figure: Figure) -> None:
    """Write a figure as CSV: a column of x, then those of the curves at these x; the header has the units.

    Curves at other x follow with an x column of their own; shorter columns end with empty fields.
    """
    columns: list[tuple[str, np.ndarray]] = []
    x = None
    for curve in sorted(figure.curves, key=_groups(figure)):
        if x is None or not np.array_equal(x, curve.x, equal_nan=True):
            x = curve.x
            columns.append((_heading(figure.x.label, figure.x), x))
        columns.append((_heading(curve.name, figure.y), curve.y))
    with path.open('w', encoding='utf-8', newline='') as file:
        table = csv.writer(file, lineterminator='\n')
        table.writerow(heading for heading, _ in columns)
        table.writerows(zip_longest(*(column.tolist() for _, column in columns), fillvalue=''))


def _groups(figure: Figure):
    """Return a sort key that brings curves at the same x together, in the order in which these first occur."""
    order: dict[bytes, int] = {}
    for curve in figure.curves:
        order.setdefault(curve.x.tobytes(), len(order))
    return lambda curve: order[curve.x.tobytes()]


def _heading(name: str, axis: Axis) -> str:
    """Return the heading of a column with the axis's unit."""
    return f'{name} [{axis.unit}]' if axis.unit else name


def _short(name: str) -> str:
    """Return a name, or its beginning and end with an ellipsis between them."""
    return name if len(name) <= LONGEST else f'{name[: LONGEST // 2 - 1]}…{name[-LONGEST // 2 :]}'


def _plain(text: str) -> str:
    """Return a text in which matplotlib finds no formula; a legend would also drop a name that starts with '_'."""
    shown = text.replace('$', r'\$')
    return f'\u200b{shown}' if shown.startswith('_') else shown
