"""Public methods are documented in numpydoc's form: every parameter with shape or type and unit, and the result."""

import ast
import inspect
import pydoc
import re
import subprocess
import sys
from collections import Counter
from functools import cache

from support.project.project_files import PACKAGE

import pytest

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.robot.shared_parameters import SHARED

OWN = {'link', 'actuated', 'tolerance', 'source', 'gravity', 'payload', 'rotation'}
"""Arguments that differ between methods."""
UNIT = re.compile(r'\b(rad|m|kg|N|J|A|s|cores|joints)\b|without unit|unit')


def public(cls):
    """Return the public methods of a class by their names."""
    names = [name for name in dir(cls) if not name.startswith('_')]
    return {f'{cls.__name__}.{name}': getattr(cls, name) for name in names if inspect.isroutine(getattr(cls, name))}


METHODS = {**public(Robot), **public(Payload)}


def section(method, title):
    """Return the lines of a section of a docstring."""
    found = re.search(rf'^{title}\n-+\n(.*?)(?=\n\n\w+\n---|\Z)', inspect.getdoc(method), re.DOTALL | re.MULTILINE)
    return found[1] if found else ''


@pytest.mark.parametrize('name', METHODS)
def test_parameters_and_result_are_documented(name):
    method = METHODS[name]
    parameters = [it for it in inspect.signature(method).parameters if it not in ('self', 'cls')]
    described = re.findall(r'^(\w+) : \S', section(method, 'Parameters'), re.MULTILINE)
    assert described == parameters
    assert bool(section(method, 'Returns')) == (inspect.signature(method).return_annotation is not None)


def parameters(method):
    """Return type and description of each parameter, by its name."""
    found = re.findall(r'^(\w+) : (.*)\n((?:    .*(?:\n|$))+)', section(method, 'Parameters'), re.MULTILINE)
    return {name: (kind, ' '.join(meaning.split())) for name, kind, meaning in found}


@pytest.mark.parametrize('name', METHODS)
def test_numbers_have_a_shape_and_a_unit(name):
    for parameter, (kind, meaning) in parameters(METHODS[name]).items():
        if 'array' in kind:
            shape = re.search(r'\((\.\.\., )?\w+', kind + meaning)
            assert (shape and UNIT.search(meaning)) or parameter in ('out', 'rotation'), parameter


def test_an_argument_is_described_alike_by_all_methods():
    described = {}
    for method in METHODS.values():
        for parameter, it in parameters(method).items():
            if parameter not in OWN:
                described.setdefault(parameter, set()).add(it)
    assert len(described) > 20
    assert not {name: texts for name, texts in described.items() if len(texts) > 1}


@pytest.mark.parametrize('name', [name for name in METHODS if 'ndarray' in section(METHODS[name], 'Returns')])
def test_results_have_a_shape_and_a_unit(name):
    returned = section(METHODS[name], 'Returns')
    assert re.search(r'ndarray, \((\.\.\.|nq|n)', returned) and UNIT.search(returned.split('\n')[1])


@cache
def written():
    """Return how often files of ``robot/`` have a parameter and its description, and how often its name alone."""
    docstrings = [
        ast.get_docstring(node) or ''
        for path in (PACKAGE / 'robot').rglob('*.py')
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8')))
        if isinstance(node, ast.FunctionDef)
    ]
    described = Counter(it for text in docstrings for it in re.findall(r'^\w+ : .*(?:\n    .*)+', text, re.MULTILINE))
    named = Counter(it for text in docstrings for it in re.findall(r'^\w+$', text, re.MULTILINE) if it in SHARED)
    return described, named


def test_a_description_that_methods_share_is_written_once():
    described, named = written()
    assert len(described) > 20
    assert {text: count for text, count in described.items() if count > 1 or text in SHARED.values()} == {}
    assert {name: named[name] for name in SHARED if named[name] < 2} == {}


@pytest.mark.parametrize('name', METHODS)
def test_help_has_whole_descriptions(name):
    shown = pydoc.render_doc(METHODS[name], renderer=pydoc.plaintext)
    assert not re.search(rf'^ *({"|".join(SHARED)})$', shown, re.MULTILINE)
    for parameter, (kind, meaning) in parameters(METHODS[name]).items():
        assert f'{parameter} : {kind}\n' in shown and meaning in ' '.join(shown.split())


def test_robots_need_no_docstrings():
    program = 'from robot_dynamics_ros import Robot; print(Robot.jacobian.__doc__)'
    done = subprocess.run([sys.executable, '-OO', '-c', program], stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout == 'None\n'
