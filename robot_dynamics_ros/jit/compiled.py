"""Declarations of the functions that ``codegen.bound_function`` binds: what machine code is made of without a robot."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from robot_dynamics_ros.jit.kinds import difference, examples_of
from robot_dynamics_ros.jit.sources import PACKAGE, name_of

Function = TypeVar('Function', bound=Callable)


class Declaration(NamedTuple):
    """A function that is compiled for arguments of these kinds alone."""

    function: Any  # or kernel
    fixed: dict[str, Any]  # an example of each parameter that is bound, by name
    given: dict[str, Any]  # of each other parameter

    @property
    def python(self) -> Any:
        """The Python function that Numba compiles; that of a kernel has fused multiply-adds."""
        return getattr(self.function, 'py_func', self.function)

    @property
    def examples(self) -> tuple[tuple, tuple]:
        """Examples of the bound arguments and of the given ones, in order."""
        return tuple(self.fixed.values()), tuple(self.given.values())

    def check(self, fixed: tuple, given: tuple) -> None:
        """Raise TypeError unless there is an argument of the declared kind for each parameter."""
        for declared, arguments in ((self.fixed, fixed), (self.given, given)):
            if len(arguments) != len(declared):
                names = ', '.join(declared) or 'none'
                raise TypeError(f'{name_of(self.function)}: expected arguments {names}, got {len(arguments)}')
            for argument, (name, example) in zip(arguments, declared.items(), strict=True):
                wrong = difference(name, argument, example)
                if wrong:
                    raise TypeError(f'{name_of(self.function)}: {wrong}')


functions: dict[str, Declaration] = {}
"""All declared functions of the modules that were imported, by ``name_of``."""


def compiled(given: str = '') -> Callable[[Function], Function]:
    """Declare a function: ``codegen.bound_function.bound`` may bind it, and it is compiled when the package is built.

    Parameters
    ----------
    given : str
        Names of the last parameters, separated by spaces, whose arguments each call gives; the others are bound.

    Returns
    -------
    callable
        Registers a function or a kernel and returns it unchanged. Each parameter is annotated with its kind
        (``jit.kinds``), the result with None, bool or int. TypeError for other parameters.
    """

    def declare(function: Function) -> Function:
        source: Any = getattr(function, 'source', function)
        code, names = source.__code__, tuple(given.split())
        parameters, examples = code.co_varnames[: code.co_argcount], examples_of(source)
        first = len(parameters) - len(names)
        if parameters != tuple(examples) or parameters[first:] != names:
            raise TypeError(
                f'{name_of(function)}: expected an annotation of each of {parameters}, the last of which are given, '
                f'got {tuple(examples)}, of which {names} are given'
            )
        fixed = {name: examples[name] for name in parameters[:first]}
        functions[name_of(function)] = Declaration(function, fixed, {name: examples[name] for name in names})
        return function

    return declare


def declaration_of(function) -> Declaration:
    """Return the declaration of a function or kernel; TypeError for one without."""
    found = functions.get(name_of(function))
    if found is None or found.function is not function:
        raise TypeError(f'{name_of(function)}: expected a function that is declared with jit.compiled')
    return found


def modules() -> list[str]:
    """Return the modules of this package that declare functions, by their sources; none of them needs ROS."""
    declares = re.compile(r'^@compiled\(', re.MULTILINE)
    paths = [path for path in sorted(PACKAGE.rglob('*.py')) if declares.search(path.read_text(encoding='utf-8'))]
    return ['.'.join(path.relative_to(PACKAGE.parent).with_suffix('').parts) for path in paths]
