"""Names and comments in generated C hold nothing but plain characters, whatever a description contains."""

import re

import pytest

from robot_dynamics_ros.codegen.c.text import (
    LONGEST_PART,
    WIDTH,
    comment,
    filled,
    identifier,
    in_comment,
    numbered,
    string,
)

HOSTILE = [
    '*/',
    '/*',
    '/' + '*' * 9 + '/',
    'a\nb',
    'a\\',
    '"',
    "'",
    '??/',
    '??/\n',
    '%s%n',
    'ü',
    'а',
    '\x00',
    '\u2028',
    '\ud800',
]
NAMES = [*HOSTILE, *(f'x{text}y' for text in HOSTILE), '', ' ', '__a__', '1', 'a' * 300, 'a b', 'int', 'ß', '²']


@pytest.mark.parametrize('name', NAMES)
def test_an_identifier_has_letters_digits_and_single_underscores(name):
    found = identifier(name, 'link')
    assert re.fullmatch(r'[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*', found, re.ASCII)
    assert len(found) <= LONGEST_PART + len('link_')


@pytest.mark.parametrize(
    ('name', 'expected'),
    [
        ('tool0', 'tool0'),
        ('left/tool-0', 'left_tool_0'),
        ('7', 'link_7'),
        ('__tool__', 'tool'),
        ('*/', 'link'),
        ('müll', 'm_ll'),
    ],
)
def test_an_identifier_is_the_name_as_far_as_possible(name, expected):
    assert identifier(name, 'link') == expected


def test_identifiers_that_are_used_are_numbered():
    used = []
    for name in ('a', 'a', 'a_2', 'a', 'b'):
        used.append(numbered(name, used))
    assert used == ['a', 'a_2', 'a_2_2', 'a_3', 'b']


@pytest.mark.parametrize('name', NAMES)
def test_a_comment_ends_where_it_should(name):
    for text in (comment(name), comment(f'before {name} after', '', name, name)):
        assert text.startswith('/*') and text.index('*/') == len(text) - 2
        assert text.count('/*') == 1
        assert re.fullmatch(r'[ -~\n]*', text) and '\\' not in text and '??' not in text


def test_a_comment_keeps_plain_text_and_is_wrapped():
    assert comment('a <b> c(d) + e[0] = f^2; g') == '/* a <b> c(d) + e[0] = f^2; g */'
    lines = comment('words ' * 100).split('\n')
    assert len(lines) > 5 and max(map(len, lines)) <= WIDTH + 3
    assert in_comment('a*b') == 'a{2a}b'


def test_a_template_has_its_words_replaced_and_refuses_one_without_a_value(tmp_path):
    template = tmp_path / 'text.in'
    template.write_text('$$ ${word}_$other')
    assert filled(template, word='a $other', other=1) == '$ a $other_1'
    with pytest.raises(KeyError, match='other'):
        filled(template, word='a')


@pytest.mark.parametrize('name', NAMES)
def test_a_string_is_plain_and_means_the_name(name):
    text = string(name)
    assert re.fullmatch(r'"([^"\\?]|\\[0-7]{3})*"', text) and text.isascii() and text.isprintable()
    octal = re.sub(r'\\([0-7]{3})', lambda found: chr(int(found[1], 8)), text[1:-1])
    assert octal.encode('latin-1') == name.encode(errors='replace')
