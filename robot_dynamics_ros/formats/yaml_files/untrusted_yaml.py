"""Parsing of untrusted YAML with limited sizes; errors name the line.

PyYAML is a twentieth of the time in which a process computes its first torque, so files that need this module for some
robots only import it where they do.
"""

import reprlib

import yaml

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.untrusted_text import MAX_DEPTH

MAX_YAML_BYTES = 1024 * 1024  # a joint has 1.2 kB
MAX_VALUES = 50_000  # keys counted; a joint has a hundred
MAX_SCALAR = 10_000  # characters; PyYAML needs hours for some longer numbers


class _PlainLoader(yaml.SafeLoader):
    """Builds plain values; raises ModelError at the first value beyond the limits, and at aliases."""

    depth = values = 0

    def compose_node(self, parent, index):
        """Compose one value and its children."""
        line = self.peek_event().start_mark.line + 1
        if self.check_event(yaml.AliasEvent):
            raise ModelError(f'line {line}: aliases are refused')
        self.depth += 1
        self.values += 1
        if self.depth > MAX_DEPTH:
            raise ModelError(f'line {line}: nested deeper than {MAX_DEPTH} tables and lists')
        if self.values > MAX_VALUES:
            raise ModelError(f'more than {MAX_VALUES} values')
        node = super().compose_node(parent, index)
        self.depth -= 1
        if isinstance(node, yaml.ScalarNode) and len(node.value) > MAX_SCALAR:
            raise ModelError(f'line {line}: a value of more than {MAX_SCALAR} characters')
        return node

    def construct_mapping(self, node, deep=False):
        """Construct a table; ModelError for a key that occurs twice."""
        known = set()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if (key.tag, key.value) in known:
                where = f'line {key.start_mark.line + 1}'
                raise ModelError(f'{where}: the key {reprlib.repr(key.value)} occurs twice')
            known.add((key.tag, key.value))
        return super().construct_mapping(node, deep)


def parsed_yaml(text: str):
    """Return the plain values of a YAML text; ModelError for invalid or too long text and for aliases.

    The error names the line but does not quote it, since the file may be confidential.
    """
    if len(text) > MAX_YAML_BYTES:
        raise ModelError(f'longer than {MAX_YAML_BYTES} bytes')
    try:
        return yaml.load(text, Loader=_PlainLoader)
    except ModelError:
        raise
    except yaml.MarkedYAMLError as error:
        line = f'line {error.problem_mark.line + 1}: ' if error.problem_mark else ''
        raise ModelError(f'not YAML: {line}{error.problem}') from error
    # ValueError: an invalid date; OverflowError: a base-60 number larger than every float
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        raise ModelError(f'not YAML: {error}') from error
