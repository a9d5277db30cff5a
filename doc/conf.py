"""The site: ``python -m sphinx -W --keep-going -n doc doc/_build``; nothing is fetched from the network."""

import sys
from pathlib import Path

from docutils import nodes
from latex2mathml.converter import convert

sys.path.insert(0, str(Path(__file__).parents[1]))

project = 'robot_dynamics_ros'
author = 'robot_dynamics_ros maintainers'
copyright = author
extensions = ['myst_parser', 'sphinx.ext.autodoc', 'numpydoc']
html_theme = 'furo'
html_title = project
html_math_renderer = 'mathml'
exclude_patterns = ['_build', 'parameters']  # the site itself; tables that the pages of the nodes include

myst_enable_extensions = ['dollarmath']
myst_heading_anchors = 3
numpydoc_show_class_members = False  # autodoc lists them
autodoc_member_order = 'bysource'
autoclass_content = 'both'
autodoc_typehints = 'none'
# Types of other packages are named in the text, and no site of theirs is looked up.
nitpick_ignore_regex = [('py:.*', r'(?!robot_dynamics_ros).*')]


def setup(app):
    """Write equations as MathML, which browsers show without a script."""
    app.add_html_math_renderer('mathml', (_inline_equation, None), (_equation, None))


def _inline_equation(translator, node):
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _equation(translator, node):
    # wider than the page: scrolled
    style = 'margin: 1rem 0; padding: 0.5rem 0; overflow: auto hidden'
    translator.body.append(f'<div style="{style}">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode
