"""Parameters that a file states for a node, read without ROS."""

from pathlib import Path
from typing import Any

import yaml

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.nodes.lifecycle.parameter_definitions import Definition, check_names, definitions_of

TYPES = {'double': float, 'int': int, 'bool': bool, 'string': str}


class StatedParameters:
    """The parameters of one node: those of a file, and the defaults of the others.

    Parameters
    ----------
    node : str
        Name of the node, as ``torque_controller``.
    path : Path
        A parameter file of ROS; its sections of this name, in one namespace, and of ``/**`` count.

    Raises
    ------
    ArgumentError
        Names the file, and two namespaces with such a node, the parameter that no node has, or that has another type,
        a number beyond its bounds, or none of its choices.
    OSError
        For a file that cannot be read.
    """

    def __init__(self, node: str, path: Path):
        try:
            content = yaml.safe_load(path.read_text(encoding='utf-8'))
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise ArgumentError(f'{path}: not a file of YAML: {" ".join(str(error).split())}') from None
        self._defaults: dict[str, Any] = {}
        self._used: set[str] = set()
        try:
            self._stated = _sections(content, node)
            check_names(self._stated)
            for found in definitions_of(node):
                self._defaults[found.name] = found.default
                if found.name in self._stated:
                    self._stated[found.name] = _checked(found, self._stated[found.name])
        except ArgumentError as error:
            raise ArgumentError(f'{path}: {error}') from None

    @property
    def unused(self) -> list[str]:
        """Names that the file states and nobody has asked for."""
        return [name for name in self._stated if name not in self._used]

    def value(self, name: str) -> Any:
        """Return the value of a parameter of the node."""
        self._used.add(name)
        return self._stated.get(name, self._defaults[name])

    def is_stated(self, name: str) -> bool:
        """Return whether the file states a parameter."""
        return name in self._stated


def _sections(content, node: str) -> dict[str, Any]:
    """Return the parameters of a node in the sections of a file, those of its own name last; ArgumentError for two."""
    found: dict[str, dict] = {}

    def look(mapping, name: str) -> None:
        for key, value in mapping.items() if isinstance(mapping, dict) else ():
            if key != 'ros__parameters':
                look(value, f'{name}/{key}'.replace('//', '/'))
            elif isinstance(value, dict) and name.rpartition('/')[2] in (node, '*', '**'):
                found[name] = found.get(name, {}) | value

    look(content, '')
    own = [name for name in found if name.endswith(f'/{node}')]
    if len(own) > 1:
        raise ArgumentError(f'expected one section of {node}, got {", ".join(own)}')
    if not found:
        raise ArgumentError(f'expected a section /**/{node} with ros__parameters')
    ordered = sorted(found, key=lambda name: name in own)
    return {key: value for name in ordered for key, value in found[name].items()}


def _checked(found: Definition, value) -> Any:
    """Return a value as its parameter has it; ArgumentError for one that it cannot have."""
    kind, array, _ = found.type.partition('_array')
    values = value if array and isinstance(value, list) else [value]
    if (array and not isinstance(value, list)) or not all(_is_of(TYPES[kind], it) for it in values):
        raise ArgumentError(f'{found.name}: expected {found.type.replace("_", " ")}, got {value!r:.80}')
    values = [float(it) if kind == 'double' else it for it in values]
    if found.bounds and not all(found.bounds[0] <= it <= found.bounds[1] for it in values):
        raise ArgumentError(f'{found.name}: expected {found.limits}, got {value!r:.80}')
    if found.choices and not all(it in found.choices for it in values):
        raise ArgumentError(f'{found.name}: expected {found.limits}, got {value!r:.80}')
    return values if array else values[0]


def _is_of(kind: type, value) -> bool:
    """Return whether a value of YAML is of a type; ROS takes no whole number for a floating-point one."""
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
