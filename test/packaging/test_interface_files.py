"""The interface package: each file is generated and declared, its fields have comments, the changelog names it."""

import re
from xml.etree import ElementTree

from support.project.project_files import INTERFACES, MESSAGES, SERVICES

import pytest

UNIT = r'in (rad|N m|kg|m\b|m/s|s\b|degrees Celsius)|no unit'


def test_changelog_of_the_interfaces_names_every_one():
    text = (INTERFACES / 'CHANGELOG.rst').read_text(encoding='utf-8')
    assert [path.stem for path in [*SERVICES, *MESSAGES] if not re.search(rf'\b{path.stem}\b', text)] == []


def test_every_interface_is_generated():
    listed = set(re.findall(r'"(\w+/\w+\.(?:srv|msg))"', (INTERFACES / 'CMakeLists.txt').read_text(encoding='utf-8')))
    assert listed == {f'{path.parent.name}/{path.name}' for path in [*SERVICES, *MESSAGES]}
    assert {'GetMassMatrix', 'GetForwardDynamics', 'GetInverseDynamics'} <= {path.stem for path in SERVICES}


def test_every_package_of_a_field_is_declared():
    cmake = (INTERFACES / 'CMakeLists.txt').read_text(encoding='utf-8')
    manifest = ElementTree.parse(INTERFACES / 'package.xml').getroot()
    used = {
        found.group(1)
        for path in [*SERVICES, *MESSAGES]
        for found in re.finditer(r'^(\w+)/\w+ ', path.read_text(encoding='utf-8'), flags=re.MULTILINE)
    }
    assert used
    assert used == {element.text for element in manifest.findall('depend')}
    assert used == set(re.search(r'DEPENDENCIES ([\w ]+)', cmake).group(1).split())
    assert all(f'find_package({package} REQUIRED)' in cmake for package in used)


@pytest.mark.parametrize('path', [*SERVICES, *MESSAGES], ids=lambda path: path.stem)
def test_every_field_has_a_comment_with_order_and_unit(path):
    comment = ''
    fields = []
    for line in path.read_text(encoding='utf-8').splitlines():
        if line.startswith('#'):
            comment += line
            continue
        if line and line != '---':
            kind, name, *_ = line.split()
            fields.append(name)
            assert comment, f'{name} has no comment above it'
            if kind == 'float64[]':
                assert re.search(r'# (count x (6 x )?)?n( x n)?: ', comment), f'{name}: order of the numbers?'
            if kind.startswith('float64'):
                assert re.search(UNIT, comment), f'{name}: unit?'
        # A blank line, the divider or a field ends what a comment belongs to.
        comment = ''
    assert path in MESSAGES or {'success', 'message'} <= set(fields)
    # lists are in an order that the answer repeats
    assert 'float64[] ' not in path.read_text(encoding='utf-8') or 'joint_names' in fields
