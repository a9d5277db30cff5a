"""The kernel contract, held by reading the source.

Which rule an offending kernel breaks is said by ``broken_rules``, and each rule is shown to catch something.
"""

import ast
import re
from functools import cache
from pathlib import Path

from support.robots import random_trees as trees

import pytest

import robot_dynamics_ros

PACKAGE = Path(robot_dynamics_ros.__file__).parent
FOLDER = PACKAGE / 'kernels'
SOURCES = sorted(FOLDER.rglob('*.py'))
STATEMENTS_AND_EXPRESSIONS = (
    ast.Assign, ast.AugAssign, ast.Expr, ast.For, ast.If, ast.Return, ast.While,
    ast.Attribute, ast.BinOp, ast.BoolOp, ast.Call, ast.Compare, ast.Constant, ast.IfExp, ast.Name, ast.Slice,
    ast.Subscript, ast.Tuple, ast.UnaryOp,
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.USub, ast.And, ast.Or, ast.Not, ast.cmpop, ast.expr_context,
    ast.BitAnd, ast.BitOr,
)  # fmt: skip
CHOICES = {'min': 2, 'max': 2, 'abs': 1}
"""Functions of Python that choose between numbers of the state, and the number of their arguments."""
PLAIN_CALLS = {'range', *CHOICES}
ORDERED = ast.Lt | ast.LtE | ast.Gt | ast.GtE
CONDITION = ast.Compare | ast.BinOp | ast.Name | ast.Call
DECORATORS = ('kernel',)
BRANCH = 'choices.py'  # has the function that chooses
ARRAYS = trees.arrays_of(trees.random_joints(0))
# as arguments of kernels; how a frame is seen, and places in matrices, are numbers too
LINK_NUMBERS = {'i', 'j', 'k', 'p', 'stop', 'reference_frame', 'row', 'column', 'constraint'}
OF_THE_TREE = {'joints_to_link', 'link_before'}  # kernels that return an integer of the model
INTEGERS = {f'model.{name}' for name, array in ARRAYS._asdict().items() if array.dtype.kind == 'i'}


# the rules


def kernels_of(tree: ast.Module) -> list[ast.FunctionDef]:
    """Return the functions of a module that carry one of the decorators."""
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return [f for f in functions if set(decorators_of(f)) & set(DECORATORS)]


def decorators_of(function: ast.FunctionDef) -> list[str]:
    """Return the decorators of a function as text."""
    return [ast.unparse(decorator) for decorator in function.decorator_list]


@cache
def all_kernel_names() -> frozenset:
    """Return the name of every kernel of the package."""
    return frozenset(f.name for path in SOURCES for f in kernels_of(ast.parse(path.read_text())))


def integers_of(function: ast.FunctionDef) -> set:
    """Return the local names that hold only integers of the model: loop indices, shapes, parents, sums."""
    assigned = {}
    for node in ast.walk(function):
        if isinstance(node, ast.For):
            # a loop runs over range, see broken_rules
            assigned.setdefault(ast.unparse(node.target), []).append(ast.Constant(0))
        elif isinstance(node, ast.AugAssign):
            assigned.setdefault(ast.unparse(node.target), []).append(node.value)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                for name in ast.walk(target):
                    if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                        # an unpacked tuple counts as unknown
                        value = node.value if target is name else ast.Constant(None)
                        assigned.setdefault(name.id, []).append(value)
    arguments = {argument.arg for argument in function.args.args}
    integers = (set(assigned) - arguments) | (arguments & LINK_NUMBERS - set(assigned))
    while True:
        kept = {name for name in integers if all(is_integer(value, integers) for value in assigned.get(name, ()))}
        if kept == integers:
            return integers
        integers = kept


def is_integer(node, integers: set) -> bool:
    """Return whether an expression has only integers, those of the model, shapes and integer names."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int)
    if isinstance(node, ast.Name):
        return node.id in integers
    if isinstance(node, ast.Subscript):
        of = ast.unparse(node.value)
        return of in INTEGERS or (of.endswith('.shape') and is_integer(node.slice, integers))
    if isinstance(node, ast.Call):
        name, arguments = ast.unparse(node.func), [a for a in node.args if ast.unparse(a) != 'model']
        return name in {'min', 'max'} | OF_THE_TREE and all(is_integer(a, integers) for a in arguments)
    if isinstance(node, ast.BinOp | ast.UnaryOp | ast.BoolOp | ast.Compare):
        parts = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
        divides = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)
        return not divides and all(is_integer(part, integers) for part in parts)
    return False


def broken_rules(function: ast.FunctionDef, file: str) -> list[str]:
    """Return what a kernel does against the contract, one line each."""
    broken = []
    a = function.args
    if decorators_of(function) not in [[name] for name in DECORATORS]:
        broken.append('another decorator')
    if a.defaults or a.kw_defaults or a.kwonlyargs or a.vararg or a.kwarg or a.posonlyargs:
        broken.append('arguments are not plain')
    text = ast.get_docstring(function) or ''
    if not re.match(r'(Write|Return) ', text):
        broken.append('docstring does not open with what it writes or returns')
    integers = integers_of(function)
    names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
    local = {argument.arg for argument in a.args}
    local |= {name.id for name in names if isinstance(name.ctx, ast.Store)}
    body = function.body[1:] if text else function.body
    for node in (node for statement in body for node in ast.walk(statement)):
        if not isinstance(node, STATEMENTS_AND_EXPRESSIONS):
            broken.append(f'{type(node).__name__} is not allowed')
        if isinstance(node, ast.Call):
            broken += _broken_by_call(node, integers)
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == 'np':
            if ast.unparse(node) != 'np.sqrt':
                broken.append(f'np.{node.attr} is not allowed')
        elif isinstance(node, ast.Name) and node.id not in local | all_kernel_names() | PLAIN_CALLS | {'np'}:
            broken.append(f'the name {node.id} is from elsewhere')
        elif isinstance(node, ast.If | ast.While | ast.IfExp) and not is_integer(node.test, integers):
            if file != BRANCH:
                broken.append(f'control flow may depend on the state: {ast.unparse(node.test)}')
        elif isinstance(node, ast.Compare | ast.BoolOp) and not is_integer(node, integers):
            if isinstance(node, ast.BoolOp) or len(node.ops) > 1 or not isinstance(node.ops[0], ORDERED):
                broken.append(f'a comparison is none of two numbers by order: {ast.unparse(node)}')
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr):
            if not all(isinstance(side, CONDITION) for side in (node.left, node.right)):
                broken.append(f'& and | are for conditions: {ast.unparse(node)}')
        elif isinstance(node, ast.For) and not ast.unparse(node.iter).startswith('range('):
            broken.append(f'a loop is not over range: {ast.unparse(node.iter)}')
        elif isinstance(node, ast.For):
            sizes = [argument for argument in node.iter.args if not is_integer(argument, integers)]
            broken += [f'a loop may depend on the state: {ast.unparse(argument)}' for argument in sizes]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv) and not is_integer(node, integers):
            broken.append(f'a quotient without remainder may depend on the state: {ast.unparse(node)}')
        elif isinstance(node, ast.Constant) and not isinstance(node.value, int | float):
            broken.append(f'a constant is not a number: {node.value!r}')
    return broken


def _broken_by_call(node: ast.Call, integers: set) -> list[str]:
    """Return what a call does against the contract."""
    name = ast.unparse(node.func)
    if name in PLAIN_CALLS:
        wrong = [ast.unparse(argument) for argument in node.args if not is_integer(argument, integers)]
        if wrong and CHOICES.get(name) != len(node.args):
            return [f'{name} may depend on the state: {", ".join(wrong)}']
        return []
    return [] if name in all_kernel_names() | {'np.sqrt'} else [f'a call of {name}']


# the rules against the sources


@pytest.mark.parametrize('path', SOURCES, ids=lambda path: path.name)
def test_kernels_keep_the_contract(path):
    """No kernel breaks a rule; beside kernels, their files hold no other functions and no constants."""
    tree = ast.parse(path.read_text())
    found = kernels_of(tree)
    assert not {f.name: broken_rules(f, path.name) for f in found if broken_rules(f, path.name)}
    if found:
        others = [node for node in tree.body if node not in found]
        assert all(isinstance(node, ast.Import | ast.ImportFrom) or node is tree.body[0] for node in others)


def test_the_kernels_are_found():
    """The rule above read something: each file of the folder holds kernels."""
    files = {path for path in SOURCES if kernels_of(ast.parse(path.read_text()))}
    assert files == {path for path in SOURCES if path.name != '__init__.py'} and len(files) > 15
    assert all_kernel_names() >= {'rnea', 'crba', 'aba', 'cross', 'sincos'}


@pytest.mark.parametrize(
    ('body', 'rule'),
    [
        ('E = E @ E', 'MatMult'),
        ('x = q[0] ** 2', 'Pow'),
        ('x = np.zeros(3)', 'np.zeros'),
        ('x = np.empty_like(q)', 'np.empty_like'),
        ('x = np.array(q)', 'np.array'),
        ('x = [q[0], q[1]]', 'List'),
        ('x = q.copy()', 'a call of q.copy'),
        ('x = np.sin(q[0])', 'np.sin'),
        ('x = np.float64(q[0])', 'np.float64'),
        ('x = np.pi', 'np.pi is not allowed'),
        ('x = np.floor(q[0])', 'np.floor'),
        ('rnea_batch(model, q, E)', 'a call of rnea_batch'),
        ('x = n ^ n', 'BitXor'),
        ('x = 1 | 2', '& and | are for conditions: 1 | 2'),
        ('x = ~(q[0] > 0.0)', 'Invert'),
        ('x = float(q[0])', 'a call of float'),
        ('x = q.astype(int32)', 'the name int32'),
        ('x = np.abs(q[0])', 'np.abs is not allowed'),
        ('x = SOME_CONSTANT', 'the name SOME_CONSTANT'),
        ('print(q[0])', 'a call of print'),
        ('raise ValueError', 'Raise'),
        ('assert n > 0', 'Assert'),
        ('try:\n        x = 1\n    except ValueError:\n        x = 2', 'Try'),
        ('if q[0] > 0.0:\n        x = 1', 'control flow may depend on the state: q[0] > 0.0'),
        ('x = q[0]\n    while x > 0.0:\n        x -= 1.0', 'control flow may depend on the state: x > 0.0'),
        ('j = 1\n    j = q[0]\n    if j > 0:\n        x = 1', 'control flow may depend on the state: j > 0'),
        ('x, y = q[0], 1\n    if y > 0:\n        x = 1', 'control flow may depend on the state: y > 0'),
        ('x = 1.0 if q[0] > 0.0 else 0.0', 'control flow may depend on the state: q[0] > 0.0'),
        ('if n:\n        x = 1', 'control flow may depend on the state: n'),
        ('x = q[0] < 1.0\n    if x:\n        x = 1', 'control flow may depend on the state: x'),
        ('x = max(q[0], q[1], q[2])', 'max may depend on the state: q[0], q[1], q[2]'),
        ('for x in range(abs(q[0])):\n        y = x', 'a loop may depend on the state: abs(q[0])'),
        ('x = q[0] == 0.0', 'a comparison is none of two numbers by order: q[0] == 0.0'),
        ('x = 0.0 < q[0] < 1.0', 'a comparison is none of two numbers by order'),
        ('x = q[0] < 1.0 and q[1] < 1.0', 'a comparison is none of two numbers by order'),
        ('for x in q:\n        y = x', 'a loop is not over range'),
        ('x = "text"', 'a constant is not a number'),
        ('x = lambda y: y', 'Lambda'),
    ],
)
def test_each_rule_catches_something(body, rule):
    """A small kernel that breaks one rule is found out."""
    source = f'@kernel\ndef bad(model, q, n, E):\n    """Write nothing."""\n    {body}\n'
    assert any(rule in line for line in broken_rules(*kernels_of(ast.parse(source)), 'bad.py'))


@pytest.mark.parametrize(
    ('source', 'rule'),
    [
        ('@kernel\ndef bad(q, n=3):\n    """Write nothing."""\n', 'arguments'),
        ('@kernel\ndef bad(*q):\n    """Write nothing."""\n', 'arguments'),
        ('@entry\n@kernel\ndef bad(q):\n    """Write nothing."""\n', 'decorator'),
        ('@other\n@kernel\ndef bad(q):\n    """Write nothing."""\n', 'decorator'),
        ('@kernel\ndef bad(q):\n    """Something is done."""\n', 'docstring'),
        ('@kernel\ndef bad(q):\n    q[0] = 1.0\n', 'docstring'),
    ],
)
def test_each_rule_on_the_head_catches_something(source, rule):
    """Likewise for what stands above the body."""
    assert any(rule in line for line in broken_rules(*kernels_of(ast.parse(source)), 'bad.py'))


def test_rules_allow_what_kernels_need():
    """Loops over the model's size, walks towards the base, choices between indices and of numbers are no offence."""
    source = '''
@kernel
def good(model, q, out):
    """Write out."""
    n = model.parent.shape[0] - 1
    for i in range(n, 0, -1):
        j = i
        while model.parent[j] > 0 and j > 1:
            j = model.parent[j]
        for k in range(min(i, n - 1), n):
            out[i, k] = 1.0 if i == k else np.sqrt(q[min(j, n - 1)]) / 2.0
    is_large = (abs(q[0]) > 1.0) & (q[1] <= max(q[2], 0.0)) | is_finite(q[3])
    out[0, 0] = select(is_large, q[0], 0.0)
'''
    assert broken_rules(*kernels_of(ast.parse(source)), 'good.py') == []


def algorithms() -> list[ast.FunctionDef]:
    """Return the function of every algorithm: the kernels on ``model`` and ``work``, batch loops aside."""
    paths = [path for path in SOURCES if path.name != 'batch.py']
    kernels = [f for path in paths for f in kernels_of(ast.parse(path.read_text()))]
    return [f for f in kernels if [a.arg for a in f.args.args[:2]] == ['model', 'work']]


OF_JOINTS = ('add_joint_torques', 'transmitted_torque')
"""Sums of terms whose own kernels cite a source."""


@pytest.mark.parametrize(
    'function', [it for it in algorithms() if it.name not in OF_JOINTS], ids=lambda function: function.name
)
def test_algorithms_cite_their_source(function):
    """An algorithm's docstring names an algorithm, an equation, a table or a section of a paper or of RBDA."""
    cited = re.search(r'(RBDA|\d{4}),?\s+(algorithm|eq\.|table|section)\s*\d', ast.get_docstring(function))
    assert cited, f'{function.name} cites no source'


def test_there_are_algorithms():
    """The rule above read something."""
    assert len(algorithms()) >= 6


def test_few_files_import_numba():
    """Nowhere else in the package, however it is spelled."""
    importers = set()
    for path in PACKAGE.rglob('*.py'):
        for node in ast.walk(ast.parse(path.read_text())):
            named = []
            if isinstance(node, ast.Import):
                named = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                named = [node.module or '']
            elif isinstance(node, ast.Constant) and path.name != 'library_build.py':  # which asks for its version
                named = [str(node.value)]  # import_module('numba')
            if any(re.match(r'numba(\.|$)', name) for name in named):
                importers.add(path)
    of_jit = (f'jit/{name}' for name in ('decorators', 'inlining', 'instructions'))
    compilers = (f'codegen/{name}' for name in ('called_address', 'compiled_calls_compiler', 'numba_code'))
    assert importers == {PACKAGE / f'{name}.py' for name in (*of_jit, *compilers)}
