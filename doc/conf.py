"""The site: ``python -m sphinx -W --keep-going -n doc doc/_build``; nothing is fetched from the network."""

import re
import sys
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

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
    writer.body.append(mathml(node.astext(), as_block=False))
    raise SkipNode


def block_math(writer, node):
    """Write an equation between paragraphs, scrolled if it is wider than the page."""
    equation = mathml(node.astext(), as_block=True)
    writer.body.append(f'<div style="margin: 1rem 0; overflow: auto hidden">{equation}</div>')
    raise SkipNode


def mathml(equation, as_block):
    """Return MathML of LaTeX. The index of a letter with dots is beside it; docutils puts it below."""
    text = re.sub(' xmlns="[^"]*"', '', tex2mathml(equation, as_block=as_block))
    # names of characters that only HTML has
    text = re.sub('&(?!lt;|gt;|amp;)[a-zA-Z]+;', lambda name: unescape(name[0]), text)
    math = ElementTree.fromstring(text)
    for element in list(math.iter('munderover')):
        base, index, accent = element
        if base.tag == 'mi':
            dotted = ElementTree.Element('mover', accent='true')
            dotted.extend([base, accent])
            element.tag, element[:] = 'msub', [dotted, index]
    return ElementTree.tostring(math, encoding='unicode')
