"""One HTML page with interactive figures that needs no network and no server.

plotly.js draws the plots. Values of all curves under the pointer, zoom, reset and a legend that switches curves are its
defaults, so that this project has no code for them. It has the MIT licence and a release every few months, and the
Python package plotly contains it as one file, which makes a page of 5 MB. uPlot has 50 kB, but no Python package, and
leaves the values under the pointer to its user.
"""

import base64
import html
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from robot_dynamics_ros.codegen.c.text import filled
from robot_dynamics_ros.errors import DynamicsError
from robot_dynamics_ros.tools.figures.figures import Axis, Figure

TEMPLATE = Path(__file__).with_name('templates') / 'figure_page.html.in'
DIGITS = '.5~g'
"""Format of numbers under the pointer: five digits without trailing zeros."""


def write_page(path: Path, title: str, figures: Sequence[Figure], table: str = '') -> None:
    """Write a page with a table (plain text) and all figures, in their order; DynamicsError without plotly."""
    try:
        from plotly.offline import get_plotlyjs  # noqa: PLC0415
    except ImportError:
        raise DynamicsError('a page of figures needs plotly: pip install plotly') from None
    text = filled(
        TEMPLATE,
        title=html.escape(title),
        table=f'<pre>{html.escape(table)}</pre>' if table else '',
        links=' '.join(f'<a href="#{figure.name}">{html.escape(figure.title)}</a>' for figure in figures),
        sections='\n'.join(
            f'<h2>{html.escape(figure.title)}</h2>\n<div class="plot" id="{figure.name}"></div>' for figure in figures
        ),
        figures=json.dumps([_figure(figure) for figure in figures]),
        library=get_plotlyjs(),
    )
    path.write_text(text, encoding='utf-8')


def _figure(figure: Figure) -> dict:
    """Return a figure in plotly's terms; colours of text and grid follow in the page."""
    unit = _literal(f' {figure.y.unit}' if figure.y.unit else '')
    return {
        'name': figure.name,
        'xaxis': _axis(figure.x) | {'unifiedhovertitle': {'text': _reading(figure.x)}},
        'yaxis': _axis(figure.y),
        'data': [
            {
                'type': 'scatter',
                'mode': 'lines',
                'name': _literal(curve.name),
                'line': {'color': curve.colour, 'dash': curve.dash, 'width': 1.6},
                'x': _array(curve.x),
                'y': _array(curve.y),
                'hovertemplate': f'%{{y:{DIGITS}}}{unit}',
            }
            for curve in figure.curves
        ],
    }


def _axis(axis: Axis) -> dict:
    """Return title and scale of an axis."""
    return {'title': {'text': _literal(axis.text)}, 'type': 'log' if axis.logarithmic else 'linear'}


def _reading(axis: Axis) -> str:
    """Return the line above the values under the pointer: the place on the axis, with its unit."""
    return f'{_literal(axis.label)} = %{{x:{DIGITS}}} {_literal(axis.unit)}'.rstrip()


def _literal(text: str) -> str:
    """Return a text in which plotly.js finds no tag, formula or placeholder, and a browser no end of its element."""
    return html.escape(text, quote=False).replace('$', '&#36;').replace('%{', '%&#123;')


def _array(values: np.ndarray) -> dict:
    """Return numbers as plotly.js reads them without a loss of digits; what is not finite is a gap."""
    finite = np.where(np.isfinite(values), values, np.nan).astype('<f8')
    return {'dtype': 'f8', 'bdata': base64.b64encode(finite.tobytes()).decode('ascii')}
