"""Text of unknown origin in, XML elements, numbers and YAML out: sizes are capped, errors name the attribute."""

import math
import re
from pathlib import Path
from xml.etree.ElementTree import Element, TreeBuilder

import yaml
from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import ParseError, XMLParser

from robot_dynamics_ros.dynamics.errors import ModelError

MAX_BYTES = 4 * 1024 * 1024  # meshes are files of their own; a humanoid's URDF has 0.2 MiB
MAX_DEPTH = 64  # URDF itself needs six levels, simulators' extensions some more
LARGEST_NUMBER = 1e30  # m, kg, rad, ...: products and sums of such figures are still finite
# Python's float would also take 'nan', '1_000' and digits of every script.
_NUMBER = re.compile(r'[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?')


def read_text(path: str | Path) -> str:
    """Return the text of a file; ModelError if it can't be read, is too long or is not UTF-8."""
    try:
        with Path(path).open('rb') as file:
            data = file.read(MAX_BYTES + 1)  # no more than needed to see that it is too long
        if len(data) > MAX_BYTES:
            raise ModelError(f'longer than {MAX_BYTES} bytes')
        return data.decode('utf-8')
    except UnicodeDecodeError as error:
        raise ModelError(f'not UTF-8 text: {error.reason} at byte {error.start}') from error
    except ModelError:
        raise
    except (OSError, TypeError, ValueError) as error:  # ValueError: a zero byte in the path
        raise ModelError(f'cannot be read: {error}') from error


class _GuardedTree(TreeBuilder):
    """Builds the element tree, and stops at what no robot description has before it is built."""

    depth = 0

    def start(self, tag, attrs):
        """Open an element."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ModelError(f'<{tag}>: nested deeper than {MAX_DEPTH} elements')
        if tag[0] == '{' and 'xacro' in tag.partition('}')[0]:
            raise ModelError(f'<{tag}> is xacro, not URDF: run xacro first')
        for attribute, text in attrs.items():
            if '${' in text or '$(' in text:
                raise ModelError(f'<{tag} {attribute}="{text[:80]}">: this is xacro: run xacro first')
        return super().start(tag, attrs)

    def end(self, tag):
        """Close an element."""
        self.depth -= 1
        return super().end(tag)


def parsed(text: str) -> Element:
    """Return the root element; ModelError for document types, entities, external references and xacro."""
    try:
        data = text.encode()
        if len(data) > MAX_BYTES:
            raise ModelError(f'longer than {MAX_BYTES} bytes')
        parser = XMLParser(target=_GuardedTree(), encoding='utf-8', forbid_dtd=True)
        parser.feed(data)
        return parser.close()
    except DefusedXmlException as error:
        raise ModelError(f'document types and entities are refused: {error}') from error
    except ParseError as error:
        hint = '; is this xacro? Run xacro first' if '<xacro:' in text else ''
        raise ModelError(f'not well-formed XML: {error}{hint}') from error
    except UnicodeEncodeError as error:
        raise ModelError(f'not UTF-8 text: {error.reason} at character {error.start}') from error


def parsed_yaml(text: str):
    """Return what YAML text holds, plain values only; ModelError if it is none or too long."""
    if len(text) > MAX_BYTES:
        raise ModelError(f'longer than {MAX_BYTES} bytes')
    try:
        return yaml.safe_load(text)
    # ValueError: a date that is none; RecursionError: deep nesting
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ModelError(f'not YAML: {error}') from error


def only_child(owner: str, element: Element, tag: str) -> Element | None:
    """Return the one child with this tag, None where there is none; ModelError where there are more."""
    found = element.findall(tag)
    if len(found) > 1:
        raise ModelError(f'{owner}: <{tag}> occurs {len(found)} times')
    return found[0] if found else None


def word(owner: str, element: Element, attribute: str) -> str:
    """Return an attribute that must be there and not be empty."""
    text = element.get(attribute)
    if not text or text.isspace():
        raise ModelError(f'{owner}: <{element.tag}>: attribute {attribute!r} is missing or empty')
    return text


def numbers(
    owner: str, element: Element | None, attribute: str, default: list[float], largest: float = LARGEST_NUMBER
) -> list[float]:
    """Return an attribute of as many numbers as ``default`` has; ``default`` where there is no attribute.

    Raises ModelError for anything but finite decimal numbers, and for any beyond ``largest``.
    """
    text = None if element is None else element.get(attribute)
    if element is None or text is None:
        return list(default)
    found = [float(part) if _NUMBER.fullmatch(part) else math.nan for part in text.split()]
    if len(found) != len(default) or not all(math.isfinite(number) for number in found):
        count = 'a finite number' if len(default) == 1 else f'{len(default)} finite numbers'
        raise ModelError(f'{owner}: <{element.tag} {attribute}="{text[:80]}">: expected {count}')
    if any(abs(number) > largest for number in found):
        raise ModelError(f'{owner}: <{element.tag} {attribute}="{text[:80]}">: beyond {largest:g}')
    return found


def number(owner: str, element: Element, attribute: str) -> float:
    """Return an attribute that must be there, as ``numbers`` does."""
    word(owner, element, attribute)
    return numbers(owner, element, attribute, [math.nan])[0]
