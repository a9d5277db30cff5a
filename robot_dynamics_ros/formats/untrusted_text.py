"""Parsing of untrusted files and XML with limited sizes; errors name the attribute.

What urdfdom reads although XML does not allow it is read, too: white space before the declaration, ``--`` in a comment,
prefixes without a namespace, and a NUL at the end.
"""

import codecs
import math
import os
import re
import reprlib
import stat
from collections.abc import Iterable
from pathlib import Path
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.model.untrusted_values import LARGEST_NUMBER, MAX_NAME, is_name

MAX_BYTES = 4 * 1024 * 1024  # a humanoid's URDF has 0.2 MiB; meshes are separate files
MAX_DEPTH = 64  # URDF needs six levels, extensions of simulators some more
MAX_ELEMENTS = 50_000  # a humanoid with shapes and hands has some thousands
LONGEST_DECLARATION = 1000  # bytes
READERS = {'robot': 'Robot.from_urdf', 'sdf': 'Robot.from_sdf', 'mujoco': 'Robot.from_mjcf'}  # by root element
MOST_MOVING_LINKS = 1000  # a humanoid with hands has a hundred; the mass matrix of a thousand needs 8 MB
# Python's float() also accepts 'nan', '1_000' and digits of every script.
_NUMBER = re.compile(r'[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?')


_DECLARATION = re.compile(r'\A(\s*)(<\?xml\s[^<>]*\?>)')
_ENCODING = re.compile(rb'\A\s*<\?xml\b[^>]*\bencoding\s*=\s*["\']([A-Za-z0-9._-]{1,40})["\']')
_ENCODINGS = ('utf-8', 'ascii', 'iso8859-1', 'iso8859-15', 'cp1252')
"""That a file may declare, by Python's names; UTF-16 has a byte order mark."""
_OPENING = re.compile(r'<!--|<!\[CDATA\[|<\?')
_CLOSING = {'<!--': '-->', '<![CDATA[': ']]>', '<?': '?>'}


def read_text(path: str | Path) -> str:
    """Return the text of a file; ModelError if it cannot be read, is too long or is not UTF-8."""
    return _decoded(_read(path), 'utf-8')


def read_xml(path: str | Path) -> str:
    """Return the text of an XML file in the encoding that it declares, as ``read_text`` does."""
    data = _read(path)
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _decoded(data, 'utf-16')
    declared = _ENCODING.match(data[:LONGEST_DECLARATION])
    name = declared[1].decode('ascii') if declared else 'utf-8'
    try:
        encoding = codecs.lookup(name).name
    except LookupError:
        encoding = ''
    if encoding not in _ENCODINGS:
        raise ModelError(f'encoding {name!r} is not supported: expected UTF-8, ISO-8859-1 or windows-1252')
    return _decoded(data, encoding)


def _read(path: str | Path) -> bytes:
    """Return the bytes of a file; ModelError if it cannot be read or is too long."""
    try:
        with open(Path(path), 'rb', opener=_open_without_waiting) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ModelError('cannot be read: not a regular file')
            data = file.read(MAX_BYTES + 1)
    except ModelError:
        raise
    except (OSError, TypeError, ValueError) as error:  # ValueError: a zero byte in the path
        reason = getattr(error, 'strerror', None)
        raise ModelError(f'cannot be read: {f"{reason}: {str(path)!r:.200}" if reason else error}') from error
    if len(data) > MAX_BYTES:
        raise ModelError(f'longer than {MAX_BYTES} bytes')
    return data


def _decoded(data: bytes, encoding: str) -> str:
    """Return bytes as text; ModelError naming the first that is none."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        name = 'UTF-8' if encoding.startswith('utf-8') else encoding
        raise ModelError(f'not {name} text: {error.reason} at byte {error.start}') from error


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
        if tag.startswith('xacro:'):
            raise ModelError(f'<{tag}> is xacro, not URDF: run xacro first')
        for attribute, text in attrs.items():
            if '${' in text or '$(' in text:
                raise ModelError(f'<{tag} {attribute}="{text[:80]}">: this is xacro: run xacro first')
        return super().start(tag, attrs)

    def end(self, tag):
        """Close an element."""
        self.depth -= 1
        return super().end(tag)


def plain_xml(text: str) -> str:
    """Return a text without its XML declaration, comments and NUL at the end; lines keep their numbers."""
    text = text.removeprefix('\ufeff').rstrip('\0')
    parts, kept = [], 0
    if declaration := _DECLARATION.match(text):
        kept = declaration.end()
        parts += [declaration[1], '\n' * declaration[2].count('\n')]
    position = kept
    # a comment ends at its first -->; what is in a CDATA section or in an instruction is no comment
    while opening := _OPENING.search(text, position):
        closing = _CLOSING[opening[0]]
        end = text.find(closing, opening.end())
        if end < 0:
            break
        position = end + len(closing)
        if opening[0] == '<!--':
            parts += [text[kept : opening.start()], '\n' * text.count('\n', opening.start(), position)]
            kept = position
    return ''.join([*parts, text[kept:]])


def parsed(text: str) -> Element:
    """Return the root element; ModelError for document types, entities, external references and xacro.

    A prefix is a part of the name of an element or attribute, declared or not, as in urdfdom.
    """
    try:
        data = plain_xml(text).encode()
    except UnicodeEncodeError as error:
        raise ModelError(f'not UTF-8 text: {error.reason} at character {error.start}') from error
    if len(data) > MAX_BYTES:
        raise ModelError(f'longer than {MAX_BYTES} bytes')
    tree, parser = _GuardedTree(), expat.ParserCreate('utf-8')
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = tree.start, tree.end, tree.data
    # entities, external ones too, are declared by document types alone
    parser.StartDoctypeDeclHandler = _refuse_document_type
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise ModelError(f'not well-formed XML: {error}') from error
    return tree.close()


def check_root(root: Element, tag: str) -> None:
    """Raise ModelError for a root element with another name, with what reads it."""
    if root.tag != tag:
        reader = f'; {READERS[root.tag]} reads it' if root.tag in READERS else ''
        raise ModelError(f'<{root.tag}>: expected <{tag}>{reader}')


def _refuse_document_type(name: str, *rest) -> None:
    """Raise ModelError."""
    raise ModelError(f'document types and entities are refused: <!DOCTYPE {name}>')


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
    return _numbers_in(text, f'{owner}: <{element.tag} {attribute}="{text[:80]}">', len(default), largest)


def numbers_of_text(
    owner: str, element: Element | None, default: list[float], largest: float = LARGEST_NUMBER
) -> list[float]:
    """Return the text of an element as ``numbers`` does an attribute; ``default`` where there is no element or text."""
    text = '' if element is None else element.text or ''
    if element is None or not text.strip():
        return list(default)
    return _numbers_in(text, f'{owner}: <{element.tag}> {text.strip()[:80]}', len(default), largest)


def _numbers_in(text: str, where: str, count: int, largest: float) -> list[float]:
    """Return ``count`` numbers of a text; ModelError, after ``where``, for anything else and beyond ``largest``."""
    found = [float(part) if _NUMBER.fullmatch(part) else math.nan for part in text.split()]
    if len(found) != count or not all(math.isfinite(number) for number in found):
        raise ModelError(f'{where}: expected {"a finite number" if count == 1 else f"{count} finite numbers"}')
    if any(abs(number) > largest for number in found):
        raise ModelError(f'{where}: beyond {largest:g}')
    return found


def number(owner: str, element: Element, attribute: str) -> float:
    """Return a required attribute as one number, as ``numbers`` does."""
    word(owner, element, attribute)
    return numbers(owner, element, attribute, [math.nan])[0]
