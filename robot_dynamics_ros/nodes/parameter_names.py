"""Names of parameters that are given to a node: a misspelt one must not leave a limit at its default."""

import difflib
from collections.abc import Iterable
from functools import cache

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.formats.library import share_folder
from robot_dynamics_ros.formats.untrusted_text import parsed_yaml, read_text

OF_RCLPY = ('qos_overrides.', 'use_sim_time', 'start_type_description_service')
"""Beginnings of names that rclpy declares, some of them only when they are needed."""


def check_names(undeclared: Iterable[str]) -> None:
    """Refuse names that a node does not declare, unless another node of this package does.

    Sections of a parameter file are shared by nodes. ArgumentError suggests the name that is meant.
    """
    others = [name for name in undeclared if not name.startswith(OF_RCLPY)]
    unknown = [name for name in others if name not in package_names()]
    if unknown:
        near = difflib.get_close_matches(unknown[0], package_names(), 1)
        suggestion = f'; did you mean {near[0]!r}?' if near else ''
        more = f' (and {len(unknown) - 1} more)' if len(unknown) > 1 else ''
        raise ArgumentError(f'parameter {unknown[0]!r}{more}: no node of this package has it{suggestion}')


@cache
def package_names() -> frozenset[str]:
    """Return the names of all parameters of all nodes, from ``config/nodes.yaml``."""
    sections = parsed_yaml(read_text(share_folder() / 'config' / 'nodes.yaml'))
    return frozenset(name for section in sections.values() for name in section['ros__parameters'])
