"""Fused multiply-add (FMA): in kernels, x * y + z is rounded once and costs no more than a product.

A compiler that may fuse chooses differently in every caller, so that results differ. Here the source of a kernel is
rewritten by a fixed rule before it is compiled or traced, so that all compiled code gives the same numbers: in a sum or
difference the product on the left is fused, or else the product on the right. Kernels are written without ``fma``.
"""

import ast
import copy
import functools
import os
import threading
from pathlib import Path
from types import FunctionType
from typing import Any

_LOCKS: dict[int, threading.Lock] = {}
"""By process, for a forked one would wait for a thread that it does not have.

Held while a source is rewritten: Python 3.11 fails to parse in two threads at a time.
"""


def fma(x, y, z):
    """Return x y + z: rounded once for real numbers in compiled code, twice for complex ones and in plain Python."""
    return x * y + z


def with_fused_multiply_adds(function: FunctionType) -> FunctionType:
    """Return ``function`` with every sum of a product replaced by ``fma``, except in indices."""
    path = function.__code__.co_filename
    made: dict[str, Any] = {}
    with _LOCKS.setdefault(os.getpid(), threading.Lock()):
        definition = fused(definition_of(function))
        # def maker(fma): def function...; return function - fma is then a closure variable of this function only
        maker: Any = ast.parse('def maker(fma): pass')
        maker.body[0].body = [definition, ast.Return(ast.Name(definition.name, ast.Load()))]
        code = compile(ast.fix_missing_locations(maker), path, 'exec')
    exec(code, function.__globals__, made)
    return made['maker'](fma)


def definition_of(function: FunctionType) -> ast.FunctionDef:
    """Return the syntax of a function of a module, without decorators."""
    code = function.__code__
    return _definitions(code.co_filename)[code.co_firstlineno]


def fused(definition: ast.FunctionDef) -> ast.FunctionDef:
    """Return a definition with every sum of a product replaced by ``fma``, except in indices."""
    return _Fusion().visit(copy.deepcopy(definition))


@functools.cache
def _definitions(path: str) -> dict[int, ast.FunctionDef]:
    """Return the functions of a source file without decorators, by their first line, decorators included."""
    found = {}
    for node in ast.parse(Path(path).read_text()).body:
        if isinstance(node, ast.FunctionDef):
            node.lineno = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            node.decorator_list = []
            found[node.lineno] = node
    return found


class _Fusion(ast.NodeTransformer):
    """Replaces sums of products by calls of ``fma``."""

    def visit_Subscript(self, node):
        """Return indices unchanged."""
        return node

    def visit_BinOp(self, node):
        """Fuse x * y + z, x * y - z, z + x * y and z - x * y."""
        self.generic_visit(node)
        if isinstance(node.op, ast.Add | ast.Sub):
            minus = isinstance(node.op, ast.Sub)
            if _is_product(node.left):
                return _call(node.left.left, node.left.right, _negative(node.right) if minus else node.right)
            if _is_product(node.right):
                return _call(_negative(node.right.left) if minus else node.right.left, node.right.right, node.left)
        return node

    def visit_AugAssign(self, node):
        """Fuse z += x * y and z -= x * y."""
        read = copy.copy(node.target)
        read.ctx = ast.Load()
        value = self.visit_BinOp(ast.BinOp(read, node.op, node.value))
        return ast.copy_location(ast.Assign([node.target], value), node)


def _is_product(node) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)


def _negative(node) -> ast.UnaryOp:
    return ast.UnaryOp(ast.USub(), node)


def _call(*arguments) -> ast.Call:
    return ast.Call(ast.Name('fma', ast.Load()), list(arguments), [])
