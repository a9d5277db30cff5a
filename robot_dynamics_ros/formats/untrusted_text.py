"""Parsing of untrusted files and XML with limited sizes; errors name the attribute."""

import math
import os
import re
import reprlib
import stat
from collections.abc import Iterable
from pathlib import Path
from xml.etree.ElementTree import Element, TreeBuilder

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import ParseError, XMLParser

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.model.untrusted_values import LARGEST_NUMBER, MAX_NAME, is_name

MAX_BYTES = 4 * 1024 * 1024  # a humanoid's URDF has 0.2 MiB; meshes are separate files
MAX_DEPTH = 64  # URDF needs six levels, extensions of simulators some more
MAX_ELEMENTS = 50_000  # a humanoid with shapes and hands has some thousands
MOST_MOVING_LINKS = 1000  # a humanoid with hands has a hundred; the mass matrix of a thousand needs 8 MB
# Python's float() also accepts 'nan', '1_000' and digits of every script.
_NUMBER = re.compile(r'[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?')


def read_text(path: str | Path) -> str:
    """Return the text of a file; ModelError if it cannot be read, is too long or is not UTF-8."""
    try:
        with open(Path(path), 'rb', opener=_open_without_waiting) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ModelError('cannot be read: not a regular file')
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise ModelError(f'longer than {MAX_BYTES} bytes')
        return data.decode('utf-8')
    except UnicodeDecodeError as error:
        raise ModelError(f'not UTF-8 text: {error.reason} at byte {error.start}') from error
    except ModelError:
        raise
    except (OSError, TypeError, ValueError) as error:  # ValueError: a zero byte in the path
        raise ModelError(f'cannot be read: {error}') from error


def check_moving_links(kinds: Iterable[str]) -> None:
    """Raise ModelError for more than MOST_MOVING_LINKS joints that are not fixed."""
    count = sum(kind != 'fixed' for kind in kinds)
    if count > MOST_MOVING_LINKS:
        raise ModelError(f'{count} joints that move: expected up to {MOST_MOVING_LINKS}')


def _open_without_waiting(path: str, flags: int) -> int:
    """Open a file without blocking on a pipe that has no writer."""
    return os.open(path, flags | os.O_NONBLOCK)


class _GuardedTree(TreeBuilder):
    """Builds the element tree; raises ModelError at the first element beyond the limits, and at xacro."""

    depth = elements = 0

    def start(self, tag, attrs):
        """Open an element."""
        self.depth += 1
        self.elements += 1
        if self.elements > MAX_ELEMENTS:
            raise ModelError(f'more than {MAX_ELEMENTS} elements')
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


def only_child(owner: str, element: Element, tag: str) -> Element | None:
    """Return the one child with this tag, None where there is none; ModelError where there are more."""
    found = element.findall(tag)
    if len(found) > 1:
        raise ModelError(f'{owner}: <{tag}> occurs {len(found)} times')
    return found[0] if found else None


def word(owner: str, element: Element, attribute: str) -> str:
    """Return a required attribute that is a valid name, or other text of as few printable characters."""
    text = element.get(attribute)
    if not text or text.isspace():
        raise ModelError(f'{owner}: <{element.tag}>: attribute {attribute!r} is missing or empty')
    if not is_name(text):
        expected = f'expected up to {MAX_NAME} printable characters'
        raise ModelError(f'{owner}: <{element.tag}>: attribute {attribute!r}: {expected}, got {reprlib.repr(text)}')
    return text


def numbers(
    owner: str, element: Element | None, attribute: str, default: list[float], largest: float = LARGEST_NUMBER
) -> list[float]:
    """Return an attribute of as many numbers as ``default`` has; ``default`` where there is no attribute.

    Raises ModelError for anything but finite decimal numbers of at most ``largest``.
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
    """Return a required attribute as one number, as ``numbers`` does."""
    word(owner, element, attribute)
    return numbers(owner, element, attribute, [math.nan])[0]
