"""Mutants for scripts/mutation: each is one change of a module's syntax tree.

Operators and comparisons are replaced by others, numbers increased by one (or doubled), texts made longer,
conditions negated, results replaced by None; calls for side effects, raise, break and continue are removed. Error
texts, annotations and decorators are not changed.
"""

import ast
from collections.abc import Iterator
from typing import NamedTuple

OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
LEFT_ALONE = (ast.Import, ast.ImportFrom, ast.JoinedStr)
FIELDS_LEFT_ALONE = {'annotation', 'returns', 'decorator_list', 'ctx', 'exc'}


class Mutant(NamedTuple):
    """One change in one place."""

    path: str
    line: int
    number: int  # among those of the file
    executed_with: range  # lines; a constant is executed with the statement that it is part of, not on its own line
    before: str
    after: str

    def __str__(self):
        return f'{self.path}:{self.line}: {self.before}  ->  {self.after}'


def mutants(path: str) -> list[Mutant]:
    """Return all mutants of a file."""
    tree = _tree(path)
    return [
        Mutant(path, place.node.lineno, number, place.statement, _short(place.node), _short(other))
        for number, (place, other) in enumerate(_changes(tree))
    ]


def changed(mutant: Mutant):
    """Return the code of a mutant's file with its change."""
    tree = _tree(mutant.path)
    place, other = next(change for number, change in enumerate(_changes(tree)) if number == mutant.number)
    other = ast.fix_missing_locations(ast.copy_location(other, place.node))
    if place.index is None:
        setattr(place.parent, place.field, other)
    else:
        getattr(place.parent, place.field)[place.index] = other
    return compile(tree, mutant.path, 'exec')


class _Place(NamedTuple):
    """Position of a node in the tree."""

    parent: ast.AST
    field: str
    index: int | None
    node: ast.AST
    statement: range  # lines of the innermost one, without those of statements in it


def _tree(path: str) -> ast.Module:
    with open(path, encoding='utf-8') as file:
        return ast.parse(file.read())


def _changes(tree: ast.AST) -> Iterator[tuple[_Place, ast.AST]]:
    """Yield every place with every replacement of its node, in the order of the source."""
    for place in _places(tree, range(0)):
        for other in _others(place):
            yield place, other


def _places(parent: ast.AST, statement: range) -> Iterator[_Place]:
    """Yield the nodes below ``parent``, itself part of ``statement``, that may be changed."""
    for field, value in ast.iter_fields(parent):
        if field in FIELDS_LEFT_ALONE:
            continue
        nodes = enumerate(value) if isinstance(value, list) else [(None, value)]
        for index, node in nodes:
            if not isinstance(node, ast.AST) or isinstance(node, LEFT_ALONE) or _is_text(node):
                continue
            lines = _lines(node) if isinstance(node, ast.stmt) else statement
            yield _Place(parent, field, index, node, lines)
            yield from _places(node, lines)


def _lines(statement: ast.stmt) -> range:
    """Return the lines of a statement up to the first statement in it."""
    inner = [node.lineno for node in ast.walk(statement) if isinstance(node, ast.stmt) and node is not statement]
    return range(statement.lineno, max(min(inner, default=statement.end_lineno + 1), statement.lineno + 1))


def _is_text(node: ast.AST) -> bool:
    """Return whether a statement is an expression without effect, such as a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _others(place: _Place) -> Iterator[ast.AST]:
    """Yield the replacements of the node in a place."""
    node = place.node
    match node:
        case ast.BinOp() if type(node.op) in OPERATORS:
            yield ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right)
        case ast.AugAssign() if type(node.op) in OPERATORS:
            yield ast.AugAssign(node.target, OPERATORS[type(node.op)](), node.value)
        case ast.BoolOp():
            yield ast.BoolOp(OPERATORS[type(node.op)](), node.values)
        case ast.Compare():
            for k, operator in enumerate(node.ops):
                ops = [*node.ops[:k], COMPARISONS[type(operator)](), *node.ops[k + 1 :]]
                yield ast.Compare(node.left, ops, node.comparators)
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield node.operand
        case ast.Constant(value=bool()):
            yield ast.Constant(not node.value)
        case ast.Constant(value=int() | float()):
            yield ast.Constant(node.value + 1 if node.value + 1 != node.value else 2 * node.value)
        case ast.Constant(value=str()):
            yield ast.Constant(node.value + '_')
        case ast.Expr(value=ast.Call()) | ast.Raise():
            yield ast.Pass()
        case ast.Return(value=ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value is None):
            yield ast.Return(ast.Constant(None))
        case ast.Continue():
            yield ast.Break()
        case ast.Break():
            yield ast.Continue()
    # comparisons are negated above
    if (place.field == 'test' or place.field == 'ifs') and not isinstance(node, ast.Compare | ast.UnaryOp):
        yield ast.UnaryOp(ast.Not(), node)


def _short(node: ast.AST) -> str:
    """Return a node's source as one line."""
    return ' '.join(ast.unparse(node).split())[:80]
