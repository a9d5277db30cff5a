"""Names and comments in generated C: text of a robot description becomes identifiers, comments and strings.

Descriptions may be hostile. Everything else that generated C has is written by this package.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from string import Template
from textwrap import wrap

LONGEST_PART = 40
"""Maximum characters of an identifier that come from one name of a description."""
WIDTH = 110
"""Maximum characters of a line of a comment, unless one name is longer."""
_NOT_IN_IDENTIFIERS = re.compile('[^A-Za-z0-9]+')
_NOT_IN_COMMENTS = re.compile(r'[^ -)+->@-\[\]-~]')  # plain ASCII without * ? and the backslash
_NOT_IN_STRINGS = re.compile('[^A-Za-z0-9 _.,:;/+-]')


def identifier(name: str, otherwise: str) -> str:
    """Return a name as a C identifier of ASCII letters, digits and single underscores.

    It begins with a letter: ``otherwise`` comes first, or alone, where the name gives none.
    """
    text = _NOT_IN_IDENTIFIERS.sub('_', name)[:LONGEST_PART].strip('_')
    return text if text[:1].isalpha() else f'{otherwise}_{text}'.rstrip('_')


def numbered(name: str, used) -> str:
    """Return an identifier that is not among those ``used``: the name, or the name with a number."""
    number, text = 1, name
    while text in used:
        number += 1
        text = f'{name}_{number}'
    return text


def in_comment(text: str) -> str:
    """Return text for a comment: without characters that end one, continue a line or begin a trigraph."""
    return _NOT_IN_COMMENTS.sub(lambda found: f'{{{ord(found[0]):x}}}', text)


def inside_comment(*paragraphs: str) -> str:
    """Return the lines of paragraphs, each escaped by ``in_comment`` and wrapped, for a block comment."""
    lines = [line for text in paragraphs for line in (wrap(in_comment(text), WIDTH, break_on_hyphens=False) or [''])]
    return '\n'.join(f' * {line}'.rstrip() for line in lines)


def comment(*paragraphs: str) -> str:
    """Return a block comment of paragraphs."""
    text = inside_comment(*paragraphs)
    return f'/{text[1:]}\n */' if '\n' in text else f'/{text[1:]} */'


def string(text: str) -> str:
    """Return text as a string literal in UTF-8; bytes beyond a plain alphabet are octal escapes."""
    plain = _NOT_IN_STRINGS.sub(
        lambda found: ''.join(f'\\{byte:03o}' for byte in found[0].encode(errors='replace')), text
    )
    return f'"{plain}"'


def numbers(values: Iterable[float]) -> str:
    """Return finite numbers, exact to the bit, with commas between them."""
    return ', '.join(repr(float(value)) for value in values)


def filled(template: Path, **words: str | int) -> str:
    """Return the text of a template in which each ``$word`` is replaced."""
    return Template(template.read_text(encoding='utf-8')).substitute(words)
