"""Parameters of the nodes as ``parameters.yaml`` defines them; importing it needs no ROS."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from robot_dynamics_ros import validation
from robot_dynamics_ros.errors import ArgumentError, nearest

SOURCE = Path(__file__).with_name('parameters.yaml')
OURS = 'robot_dynamics_ros::'
"""Begins the name of a validation that is a function of this package."""
OF_RCLPY = ('qos_overrides.', 'use_sim_time', 'start_type_description_service')
"""Beginnings of names that rclpy declares, some of them only when they are needed."""


class Definition(NamedTuple):
    """One parameter."""

    name: str
    type: str
    default: Any
    description: str
    unit: str = ''
    bounds: tuple = ()  # smallest and largest number
    choices: tuple[str, ...] = ()
    check: str = ''  # name of the function that checks a value
    acts: str = 'at the next configure'  # when a value that is set at run time acts

    @property
    def limits(self) -> str:
        """The range or the choices in words, '' for neither."""
        if self.choices:
            return 'one of ' + ', '.join(choice or "''" for choice in self.choices)
        return '{:g} to {:g}'.format(*self.bounds) if self.bounds else ''


@cache
def groups_by_node() -> dict[str, list[str]]:
    """Return the groups of parameters of each node."""
    return _content()['groups']


@cache
def definitions(group: str) -> tuple[Definition, ...]:
    """Return the parameters of a group."""
    return tuple(definition(name, fields) for name, fields in _content()[group].items())


def definitions_of(node: str) -> list[Definition]:
    """Return the parameters of a node by its name; one that the file does not list has those of all nodes."""
    return [found for group in groups_by_node().get(node, ['all_nodes']) for found in definitions(group)]


def options() -> dict[str, str]:
    """Return the description of each parameter that bringup has an option for."""
    found = {each.name: each for node in groups_by_node() for each in definitions_of(node)}
    texts = {name: (found[name].description, found[name].limits) for name in _content()['options']}
    return {name: '; '.join(filter(None, parts)) for name, parts in texts.items()}


def option_value(name: str, text: str) -> str | bool | list[str] | list[float]:
    """Return the value of an option as its parameter has it; entries of an array have commas between.

    ArgumentError for a bool that is no true or false, and for what is no number; YAML's .inf is one.
    """
    (kind,) = {found.type for node in groups_by_node() for found in definitions_of(node) if found.name == name}
    entries = [part.strip() for part in text.split(',')]
    if kind == 'bool':
        validation.choice(name, text, ['true', 'false'])
        return text == 'true'
    if kind == 'string_array':
        return entries
    if kind != 'double_array':
        return text
    try:
        return [float('inf' if entry == '.inf' else entry) for entry in entries]
    except ValueError:
        raise ArgumentError(f'{name}: expected numbers with commas between, got {text!r:.80}') from None


def check_names(undeclared: Iterable[str]) -> None:
    """Refuse names that a node does not declare, unless another node of this package does.

    A misspelt name must not leave a limit at its default; sections of a parameter file are shared by nodes.
    ArgumentError suggests the name that is meant.
    """
    known = {found.name for node in groups_by_node() for found in definitions_of(node)}
    unknown = [name for name in undeclared if not name.startswith(OF_RCLPY) and name not in known]
    if unknown:
        near = nearest(unknown[0], known)
        more = f' (and {len(unknown) - 1} more)' if len(unknown) > 1 else ''
        raise ArgumentError(f'parameter {unknown[0]!r}{more}: no node of this package has it{near and f"; {near}"}')


@cache
def _content() -> dict:
    """Return what the file holds; libyaml, where PyYAML has it, reads it in 2 ms."""
    return yaml.load(SOURCE.read_text(encoding='utf-8'), Loader=getattr(yaml, 'CSafeLoader', yaml.SafeLoader))


def definition(name: str, fields: dict) -> Definition:
    """Return a parameter from its entry in a file."""
    validations = fields.get('validation', {})
    ours = [key.removeprefix(OURS) for key in validations if key.startswith(OURS)]
    return Definition(
        name=name,
        type=fields['type'],
        default=fields['default_value'],
        description=fields['description'],
        bounds=tuple(validations.get('bounds<>', ())),
        choices=tuple(*validations.get('one_of<>', [()])),
        check=ours[0] if ours else '',
        **{key: fields[key] for key in ('unit', 'acts') if key in fields},
    )
