"""Generation of C99 from the syntax of kernels: functions with the same loops, branches and roundings.

Straight-line code (``functions.py``) is for one robot's equations of motion; laws and guards stay loops, whose length
may depend on what they compute. A kernel is written as a function for the shapes of its arguments, with those that it
calls before it. Arrays are row by row, and may be the same where they may be so in Python.

Kernels may use what ``LoopFunction`` has a method for: numbers, conditions, integers in indices, entries of arrays,
loops over ranges, branches, ``min``, ``max``, ``abs``, ``np.sqrt``, and other kernels. Anything else is a TypeError
with its line.
"""

import ast
from collections.abc import Callable, Iterable
from inspect import signature
from math import prod
from typing import Any

from robot_dynamics_ros.codegen.c.text import number, numbered
from robot_dynamics_ros.jit.decorators import Kernel
from robot_dynamics_ros.jit.fused_multiply_add import definition_of, fused
from robot_dynamics_ros.kernels.choices import select

Shape = tuple[int, ...]
"""Shape of an array; () for a number."""
Kind = Shape | type[bool] | type[int]
"""Shape of an array or number, or the type of a condition or an integer."""
TYPES: dict[Kind, str] = {(): 'double', bool: 'bool', int: 'int'}
CHOICES = {'smaller': 'b < a ? b : a', 'larger': 'b > a ? b : a'}
"""Python's ``min`` and ``max`` in C: the first argument where neither is smaller or larger."""
ARITHMETIC: dict[type, str] = {ast.Add: '+', ast.Sub: '-', ast.Mult: '*', ast.Div: '/'}
CONDITIONS: dict[type, str] = {ast.BitAnd: '&&', ast.BitOr: '||', ast.And: '&&', ast.Or: '||'}
COMPARISONS: dict[type, str] = {
    ast.Lt: '<', ast.LtE: '<=', ast.Gt: '>', ast.GtE: '>=', ast.Eq: '==', ast.NotEq: '!=',
}  # fmt: skip
FUNCTIONS = {'min': 'smaller', 'max': 'larger', 'abs': 'fabs', 'sqrt': 'sqrt', 'fma': 'fma'}
"""Functions of numbers in C, by their names in kernels."""


class LoopCode:
    """Functions in C, each of which calls those before it."""

    def __init__(self):
        """Hold no functions."""
        self._functions: dict[tuple, LoopFunction] = {}

    @property
    def text(self) -> str:
        """All functions, in the order in which C needs them."""
        texts = [function.text for function in self._functions.values()]
        called = [name for name in CHOICES if any(f'{name}(' in text for text in texts)]
        choices = [f'static double {name}(double a, double b)\n{{\n    return {CHOICES[name]};\n}}' for name in called]
        return '\n\n'.join([*choices, *texts])

    def function(self, kernel: Kernel | Callable, kinds: Iterable[Kind]) -> 'LoopFunction':
        """Return a kernel, or a function that calls kernels, for arguments of these kinds; it is written once."""
        key = (kernel, tuple(kinds))
        if key not in self._functions:
            made = LoopFunction(self, kernel, key[1])
            name = kernel.__name__.strip('_')
            made.name = numbered(name, {it.name for it in self._functions.values()})
            self._functions[key] = made
        return self._functions[key]


class LoopFunction(ast.NodeVisitor):
    """One function: visitors of expressions return their text, and those of statements their lines.

    Attributes
    ----------
    name : str
        Its name in C.
    arguments : dict
        Kinds of the arguments, by name.
    kind : Kind or None
        Of what it returns.
    written : set of str
        Names of the arrays that it writes.
    """

    def __init__(self, code: LoopCode, kernel: Any, kinds: tuple[Kind, ...]):
        """Write ``kernel`` for arguments of these kinds; ``LoopCode.function`` names it."""
        self.kernel, self.name, self._code = kernel, '', code
        source = getattr(kernel, 'source', kernel)
        definition = definition_of(source)
        self._definition = fused(definition) if isinstance(kernel, Kernel) else definition
        self._names, self._path = source.__globals__, source.__code__.co_filename
        self.arguments: dict[str, Kind] = dict(zip(signature(source).parameters, kinds, strict=True))
        self._locals: dict[str, Kind] = {}
        self.kind: Kind | None = None
        self.written: set[str] = set()
        self._used: set[str] = set()
        self._lines = self._block(self._definition.body)

    @property
    def text(self) -> str:
        """The function in C."""
        origin = f'/* {self.kernel.__module__.rpartition(".")[2]}.{self.kernel.__name__} */'
        head = f'static {"void" if self.kind is None else TYPES[self.kind]} {self.name}(\n    '
        head += ', '.join(self._argument(name, kind) for name, kind in self.arguments.items()) + ')'
        variables = [
            f'{TYPES[kind]} {name} = {"false" if kind is bool else "0"};' for name, kind in self._locals.items()
        ]
        unused = [f'(void){name};' for name in self.arguments if name not in self._used]
        return '\n'.join([origin, head, '{', *('    ' + line for line in (*variables, *unused, *self._lines)), '}'])

    def _argument(self, name: str, kind: Kind) -> str:
        if isinstance(kind, tuple) and kind:
            return f'{"" if name in self.written else "const "}double {name}[{prod(kind)}]'
        return f'{TYPES[kind]} {name}'

    def _unknown(self, node: ast.AST, what: str = '') -> TypeError:
        """Return the error for what no function in C is written of."""
        return TypeError(f'{self._path}:{getattr(node, "lineno", 0)}: {what or type(node).__name__} in a kernel for C')

    # --- statements

    def _block(self, statements: list[ast.stmt]) -> list[str]:
        return [line for statement in statements for line in self.visit(statement)]

    def generic_visit(self, node):
        """Raise TypeError: everything that may occur has a method."""
        raise self._unknown(node)

    def visit_Expr(self, node) -> list[str]:
        """Return the line of a call; a docstring has none."""
        if isinstance(node.value, ast.Constant):
            return []
        return [f'{self.visit(node.value)};']

    def visit_Assign(self, node) -> list[str]:
        """Return the lines of an assignment; of several values, all are computed before any is assigned."""
        (target,) = node.targets
        if not isinstance(target, ast.Tuple):
            return [self._assignment(target, self.visit(node.value), self._kind(node.value))]
        if not isinstance(node.value, ast.Tuple):
            raise self._unknown(node, 'assignment of one value to several names')
        kinds = [self._kind(it) for it in node.value.elts]
        values = [self.visit(it) for it in node.value.elts]
        lines = [f'const {TYPES[kind]} v{k} = {it};' for k, (kind, it) in enumerate(zip(kinds, values, strict=True))]
        lines += [self._assignment(it, f'v{k}', kinds[k]) for k, it in enumerate(target.elts)]
        return ['{', *('    ' + line for line in lines), '}']

    def visit_AugAssign(self, node) -> list[str]:
        """Return the line of x += y, and likewise others."""
        kind = self._kind(node.target)
        read = ast.copy_location(ast.BinOp(_read(node.target), node.op, node.value), node)
        return [self._assignment(node.target, self.visit(read), kind)]

    def _assignment(self, target: ast.expr, value: str, kind: Kind) -> str:
        if isinstance(target, ast.Name):
            known = self._locals.setdefault(target.id, kind)
            if known != kind or target.id in self.arguments:
                raise self._unknown(target, f'{target.id!r} of two kinds, or an argument that is assigned')
            return f'{target.id} = {value};'
        if not isinstance(target, ast.Subscript):
            raise self._unknown(target)
        entry = self.visit(target)
        self.written.add(target.value.id)  # type: ignore[attr-defined]
        return f'{entry} = {value};'

    def visit_For(self, node) -> list[str]:
        """Return the lines of a loop over a range, whose variable nothing else has and no line after it reads."""
        call, name = node.iter, node.target.id
        is_range = isinstance(call, ast.Call) and getattr(call.func, 'id', '') == 'range' and len(call.args) <= 2
        if not is_range or node.orelse or name in self._locals:
            raise self._unknown(node)
        first, last = ['0', *map(self.visit, call.args)][-2:]
        self._locals[name] = int
        body = self._block(node.body)
        del self._locals[name]
        return [f'for (int {name} = {first}; {name} < {last}; ++{name}) {{', *('    ' + line for line in body), '}']

    def visit_If(self, node) -> list[str]:
        """Return the lines of a branch."""
        lines = [f'if ({self._condition(node.test)}) {{', *('    ' + line for line in self._block(node.body))]
        if node.orelse:
            lines += ['} else {', *('    ' + line for line in self._block(node.orelse))]
        return [*lines, '}']

    def visit_Continue(self, _) -> list[str]:
        """Return the line that goes on with the next one of a loop."""
        return ['continue;']

    def visit_Break(self, _) -> list[str]:
        """Return the line that ends a loop."""
        return ['break;']

    def visit_Return(self, node) -> list[str]:
        """Return the line that ends the function."""
        if node.value is None:
            return ['return;']
        kind = self._kind(node.value)
        self.kind = () if kind is int else kind
        return [f'return {self.visit(node.value)};']

    # --- expressions

    def visit_Name(self, node) -> str:
        """Return a name, or the number of a constant of the module."""
        self._used.add(node.id)
        if node.id in self._locals or node.id in self.arguments:
            return node.id
        return number(self._constant(node))

    def visit_Constant(self, node) -> str:
        """Return a number."""
        return number(node.value)

    def visit_BinOp(self, node) -> str:
        """Return a sum, product, quotient, or two conditions."""
        if type(node.op) in CONDITIONS:
            return self._conditions(node.op, [node.left, node.right])
        left, right = self._operand(node.left), self._operand(node.right)
        if type(node.op) not in ARITHMETIC:
            raise self._unknown(node.op)
        if isinstance(node.op, ast.Div):
            left = f'(double){left}' if self._kind(node.left) is int else left
        return f'{left} {ARITHMETIC[type(node.op)]} {right}'

    def visit_BoolOp(self, node) -> str:
        """Return several conditions."""
        return self._conditions(node.op, node.values)

    def _conditions(self, operator: ast.AST, conditions: list[ast.expr]) -> str:
        return f' {CONDITIONS[type(operator)]} '.join(f'({self._condition(it)})' for it in conditions)

    def visit_UnaryOp(self, node) -> str:
        """Return a negative, or the opposite of a condition."""
        if isinstance(node.op, ast.Not):
            return f'!({self._condition(node.operand)})'
        if not isinstance(node.op, ast.USub):
            raise self._unknown(node.op)
        return f'-{self._operand(node.operand)}'

    def visit_Compare(self, node) -> str:
        """Return a comparison of two numbers."""
        if len(node.ops) != 1 or type(node.ops[0]) not in COMPARISONS:
            raise self._unknown(node)
        left, right = self._operand(node.left), self._operand(node.comparators[0])
        return f'{left} {COMPARISONS[type(node.ops[0])]} {right}'

    def visit_IfExp(self, node) -> str:
        """Return one of two numbers."""
        return self._choice(node.test, node.body, node.orelse)

    def _choice(self, condition: ast.expr, one: ast.expr, other: ast.expr) -> str:
        return f'({self._condition(condition)}) ? {self._operand(one)} : {self._operand(other)}'

    def visit_Subscript(self, node) -> str:
        """Return an entry of an array, or the length of an axis."""
        if isinstance(node.value, ast.Attribute) and node.value.attr == 'shape':
            return str(self._shape(node.value.value)[node.slice.value])
        shape, index = self._shape(node.value), node.slice
        places = index.elts if isinstance(index, ast.Tuple) else [index]
        if len(places) != len(shape) or any(self._kind(it) is not int for it in places):
            raise self._unknown(node, 'other than an index of integers for each axis')
        self._used.add(node.value.id)
        place = ''
        for length, it in zip(shape, map(self.visit, places), strict=True):
            place = f'{length} * ({place}) + {it}' if place else it
        return f'{node.value.id}[{place}]'

    def visit_Call(self, node) -> str:
        """Return the call of a function of numbers, or of a kernel."""
        called = self._called(node)
        if called is select:
            return self._choice(*node.args)
        if not isinstance(called, Kernel):
            return f'{called}({", ".join(map(self.visit, node.args))})'
        callee = self._callee(node)
        arguments = []
        for given, (name, kind) in zip(node.args, callee.arguments.items(), strict=True):
            if isinstance(kind, tuple) and kind:
                self._used.add(given.id)
                if name in callee.written:
                    self.written.add(given.id)
                arguments.append(given.id)
            else:
                arguments.append(self.visit(given))
        return f'{callee.name}({", ".join(arguments)})'

    def _operand(self, node: ast.expr) -> str:
        """Return an expression as a part of another one."""
        text = self.visit(node)
        is_one_word = isinstance(node, ast.Name | ast.Subscript) or (isinstance(node, ast.Call) and '?' not in text)
        return text if is_one_word or (isinstance(node, ast.Constant) and text[0] != '-') else f'({text})'

    # --- what expressions are

    def _condition(self, node: ast.expr) -> str:
        if self._kind(node) is not bool:
            raise self._unknown(node, 'a number in place of a condition')
        return self.visit(node)

    def _constant(self, node: ast.Name) -> Any:
        value = self._names.get(node.id)
        if not isinstance(value, bool | int | float):
            raise self._unknown(node, f'{node.id!r}, which has no value yet,')
        return value

    def _shape(self, node: ast.expr) -> Shape:
        shape = self.arguments.get(node.id) if isinstance(node, ast.Name) else None
        if not isinstance(shape, tuple) or not shape:
            raise self._unknown(node, f'{ast.unparse(node)!r}, which is no array of the arguments,')
        return shape

    def _called(self, node: ast.Call) -> Any:
        """Return a kernel, or the name of a function of numbers in C."""
        name = getattr(node.func, 'id', getattr(node.func, 'attr', ''))
        found = self._names.get(name)
        if isinstance(found, Kernel):
            return found
        if name not in FUNCTIONS:
            raise self._unknown(node, f'call of {name!r}')
        return FUNCTIONS[name]

    def _callee(self, node: ast.Call) -> 'LoopFunction':
        return self._code.function(self._called(node), tuple(self._kind(it) for it in node.args))

    def _kind(self, node: ast.expr) -> Kind:
        """Return what an expression is."""
        if isinstance(node, ast.Name):
            known = self._locals.get(node.id, self.arguments.get(node.id))
            return _kind_of(self._constant(node)) if known is None else known
        if isinstance(node, ast.Constant):
            return _kind_of(node.value)
        if isinstance(node, ast.Compare | ast.BoolOp):
            return bool
        if isinstance(node, ast.UnaryOp):
            return bool if isinstance(node.op, ast.Not) else self._kind(node.operand)
        if isinstance(node, ast.BinOp):
            if type(node.op) in CONDITIONS:
                return bool
            kinds = {self._kind(node.left), self._kind(node.right)}
            return int if kinds == {int} and not isinstance(node.op, ast.Div) else ()
        if isinstance(node, ast.IfExp):
            return self._kind(node.body)
        if isinstance(node, ast.Subscript):
            return int if isinstance(node.value, ast.Attribute) else ()
        if isinstance(node, ast.Call):
            if isinstance(self._called(node), Kernel) and self._called(node) is not select:
                kind = self._callee(node).kind
                if kind is None:
                    raise self._unknown(node, 'the value of a kernel that returns nothing')
                return kind
            return ()
        raise self._unknown(node)


def _read(target: ast.expr) -> ast.expr:
    """Return the expression that reads an assignment's target."""
    return ast.parse(ast.unparse(target), mode='eval').body


def _kind_of(value) -> Kind:
    return bool if isinstance(value, bool) else int if isinstance(value, int) else ()
