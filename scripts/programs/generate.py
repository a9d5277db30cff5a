"""The example parameter file and the tables of the documentation, from the definitions of the parameters; a layout; the
library of a pendulum for the tests of the controllers.
"""

import json
import re
import tempfile
import textwrap
from collections.abc import Iterable
from pathlib import Path

import yaml

from robot_dynamics_ros.codegen.c.library import library_source
from robot_dynamics_ros.control.laws.impedance.cartesian_impedance import Impedance
from robot_dynamics_ros.control.laws.impedance.commanded_wrench import CommandedWrench
from robot_dynamics_ros.control.laws.impedance.frame_law_code import impedance_code
from robot_dynamics_ros.control.laws.impedance.stiffness import Stiffness
from robot_dynamics_ros.control.terms.compensation import TERMS
from robot_dynamics_ros.nodes.lifecycle.parameter_definitions import (
    Definition,
    definition,
    definitions,
    definitions_of,
    groups_by_node,
)
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.robot.export.c_library_export import controller_library
from robot_dynamics_ros.tools.demonstration.plotjuggler_layout import plotjuggler_layout

ARM = 'aubo_i5'
"""Of the layout for PlotJuggler."""
ROOT = Path(__file__).resolve().parents[2]
CONTROLLER = 'feedforward_effort_controller'
"""Whose parameters are in a file of their own."""
PENDULUM = """\
<robot name="pendulum"><link name="base"/>
<link name="bob"><inertial><origin xyz="0.5 0 0"/><mass value="2"/>
<inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial></link>
<joint name="joint" type="continuous"><parent link="base"/><child link="bob"/><axis xyz="0 -1 0"/>
<limit effort="100" velocity="10"/></joint></robot>
"""
"""Of 2 kg and 0.5 m, horizontal at q = 0: tau = J qdd + m g l cos(q)."""
COLUMN, WIDTH = 32, 120
"""Where comments begin, and where lines end."""
HEADER = """\
# Generated from robot_dynamics_ros/nodes/lifecycle/parameters.yaml by scripts/generate.
#
# Every parameter of every node with its default. Copy what you change into a file of your own and pass it as
# --params-file, or as the launch argument config. Values act when a node is configured, unless another time is said.
"""
COLUMNS = ('name', 'type', 'default', 'unit, range', 'description', 'a new value acts')


def main():
    """Write all files."""
    for path, text in files().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding='utf-8')


def files() -> dict[Path, str]:
    """Return the text of each generated file."""
    tables = {ROOT / 'doc' / 'parameters' / f'{node}.md': table(node) for node in groups_by_node()}
    layout = plotjuggler_layout(Robot.named(ARM).joint_names)
    return {
        ROOT / 'config' / 'nodes.yaml': parameter_file(),
        ROOT / 'config' / 'plotjuggler' / f'{ARM}.xml': layout,
        ROOT / 'doc' / 'parameters' / f'{CONTROLLER}.md': controller_table(),
        **pendulum_library(),
        **tables,
    }


def pendulum_library() -> dict[Path, str]:
    """Return the source files of a library for controllers, with a Cartesian impedance."""
    robot, folder = Robot.from_urdf(PENDULUM), ROOT / 'robot_dynamics_controllers' / 'test' / 'pendulum'
    springs, wrench = (10.0,) * 3 + (0.0,) * 3, CommandedWrench((5.0, 0.0), (1.0, 1.0), 0.1)
    impedance = Impedance(springs, [0.0], [0.0], wrench=wrench)
    library = controller_library(robot, impedance_code(robot, impedance, Stiffness(springs), TERMS, 100.0))
    texts = {folder / f'{library.title}.c': library_source(library)}
    with tempfile.TemporaryDirectory() as exported:
        for path in robot.export_c(exported, library.programs):
            if path.suffix in ('.c', '.h'):
                texts[folder / path.name] = path.read_text(encoding='utf-8')
    return texts


def parameter_file() -> str:
    """Return config/nodes.yaml: parameters of several nodes in one section, so that one line changes them for all."""
    nodes = groups_by_node()
    holders: dict[str, list[str]] = {}
    for node, groups in nodes.items():
        for group in groups:
            holders.setdefault(group, []).append(node)
    lines = [HEADER, '/**:', '  ros__parameters:']
    for group in (group for group in holders if group not in nodes):
        of = 'all nodes' if len(holders[group]) == len(nodes) else ', '.join(holders[group])
        lines += [f'    # of {of}', *entries(group), '']
    for group in (group for group in holders if group in nodes):
        lines += [f'/**/{group}:', '  ros__parameters:', *entries(group), '']
    return '\n'.join(lines).rstrip() + '\n'


def entries(group: str) -> list[str]:
    """Return the lines of the parameters of a group, each with its comment."""
    lines = []
    for found in definitions(group):
        entry = f'    {found.name}: {value_text(found.default)}'
        begin = max(COLUMN, len(entry) + 1)
        first, *more = textwrap.wrap(comment(found), WIDTH - begin - 2, break_on_hyphens=False)
        lines.append(f'{entry:{begin}}# {first}')
        lines += [f'{"":{begin}}# {line}' for line in more]
    return lines


def comment(found: Definition) -> str:
    """Return unit, description, choices and when a value acts, in one line."""
    parts = [f'{found.unit}: {found.description}' if found.unit else found.description]
    parts += [found.limits] if found.choices else []
    parts += [f'acts {found.acts}'] if found.acts != Definition._field_defaults['acts'] else []
    return '; '.join(parts)


def value_text(value) -> str:
    """Return a default as YAML."""
    if isinstance(value, list):
        return f'[{", ".join(map(value_text, value))}]'
    is_plain = isinstance(value, str) and re.fullmatch('[a-z][a-z0-9_]*', value)
    return value if is_plain else json.dumps(value)


def table(node: str) -> str:
    """Return the documentation of a node's parameters, its own before those that it shares with others."""
    own_first = sorted(definitions_of(node), key=lambda found: found not in own(node))
    return table_of(own_first, 'robot_dynamics_ros/nodes/lifecycle/parameters.yaml')


def controller_table() -> str:
    """Return the documentation of the controller's parameters."""
    source = f'robot_dynamics_controllers/src/{CONTROLLER}_parameters.yaml'
    entries = yaml.safe_load((ROOT / source).read_text(encoding='utf-8'))[CONTROLLER]
    found = [
        definition(name, {**fields, 'unit': fields.get('additional_constraints', '')})
        for name, fields in entries.items()
    ]
    return table_of(found, source)


def table_of(parameters: Iterable[Definition], source: str) -> str:
    """Return the table of ``parameters``, which the file ``source`` defines."""
    rows = [row(found) for found in parameters]
    lines = [
        f'<!-- Generated from {source} by scripts/generate. -->',
        '',
        '| ' + ' | '.join(COLUMNS) + ' |',
        '| ' + ' | '.join(['---'] * len(COLUMNS)) + ' |',
        *('| ' + ' | '.join(cells) + ' |' for cells in rows),
    ]
    return '\n'.join(lines) + '\n'


def own(node: str) -> tuple[Definition, ...]:
    """Return the parameters that no other node has."""
    return definitions(node) if node in groups_by_node()[node] else ()


def row(found: Definition) -> tuple[str, ...]:
    """Return the cells of a parameter's row."""
    limits = ', '.join(part for part in (found.unit, found.limits) if part)
    return (
        f'`{found.name}`',
        found.type,
        f'`{value_text(found.default)}`',
        limits,
        found.description,
        found.acts,
    )


if __name__ == '__main__':
    main()
