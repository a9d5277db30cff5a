"""The site: ``python -m sphinx -W --keep-going -n doc doc/_build``; nothing is fetched from the network."""

import sys
from pathlib import Path

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml

sys.path.insert(0, str(Path(__file__).parents[1]))

project = 'robot_dynamics_ros'
author = 'robot_dynamics_ros maintainers'
copyright = author
extensions = ['myst_parser', 'sphinx.ext.autodoc', 'numpydoc']
html_theme = 'furo'
html_title = project
exclude_patterns = ['_build', 'parameters']  # the site itself; tables that the pages of the nodes include

myst_enable_extensions = ['dollarmath']
myst_heading_anchors = 3
numpydoc_show_class_members = False  # autodoc lists them
autodoc_member_order = 'bysource'
autoclass_content = 'both'
autodoc_typehints = 'none'
# Types of other packages are named in the text, and no site of theirs is looked up.
nitpick_ignore_regex = [('py:.*', r'(?!robot_dynamics_ros).*')]


# Equations as MathML, which browsers draw without a script.
html_math_renderer = 'mathml'


def setup(app):
    """Register the renderer of equations."""
    app.add_html_math_renderer('mathml', (inline_math, None), (block_math, None))


def inline_math(writer, node):
    """Write an equation of a line of text."""
    writer.body.append(tex2mathml(node.astext(), as_block=False))
    raise SkipNode


def block_math(writer, node):
    """Write an equation between paragraphs."""
    writer.body.append(f'<div class="math">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise SkipNode
