"""A payload's file: what is written is read again, what is broken or hostile is refused by key."""

import os
import subprocess
import sys

import numpy as np
import pytest

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.yaml_files.payload_yaml import Body, KeptPayload, read_payload, write_payload
from robot_dynamics_ros.jit.cache import TEMPORARY, remove_abandoned

INERTIA = np.array([[0.04, 0.01, 0.002], [0.01, 0.05, -0.01], [0.002, -0.01, 0.03]])
BODY = ('ee_link', 2.5, (0.1, -0.2, 1.0 / 3.0), INERTIA)
TEXT = """
frame: ee_link
mass: 2.0
com: [0.0, 0.0, 0.05]
inertia: {ixx: 0.1, iyy: 0.2, izz: 0.3, ixy: 0.01, ixz: 0.02, iyz: 0.03}
"""
EARLIER = 'before:\n- ' + TEXT.strip().replace('\n', '\n  ')


def test_what_is_written_is_read_to_the_bit(tmp_path):
    path = tmp_path / 'payload.yaml'
    ramp = KeptPayload(Body(*BODY), 1_700_000_000_123_456_789, 0.1, (Body('other', *BODY[1:]), Body(*BODY)))
    for kept in (KeptPayload(Body('first', 1.0, np.zeros(3), np.zeros((3, 3)))), ramp):
        write_payload(path, kept)
    found = read_payload(path)
    assert (found.start, found.ramp_time) == ramp[1:3]
    assert [body.frame for body in found.before] == ['other', 'ee_link']
    for frame, mass, com, inertia in (found.body, *found.before):
        assert (mass, tuple(com)) == BODY[1:3] and frame in ('other', BODY[0])
        assert np.array_equal(inertia, INERTIA)
    assert os.listdir(tmp_path) == ['payload.yaml']


@pytest.mark.parametrize('name', ['Größe', 'yes', '1.0', 'a: b', '!!python/object:os.system', "it's"])
def test_any_name_is_read_back(tmp_path, name):
    write_payload(tmp_path / 'payload.yaml', KeptPayload(Body(name, *BODY[1:])))
    assert read_payload(tmp_path / 'payload.yaml').body.frame == name


def test_a_file_by_hand(tmp_path):
    (tmp_path / 'payload.yaml').write_text(TEXT)
    kept = read_payload(tmp_path / 'payload.yaml')
    frame, mass, com, inertia = kept.body
    assert kept[1:] == (0, 0.0, ())
    assert (frame, mass, com.tolist()) == ('ee_link', 2.0, [0.0, 0.0, 0.05])
    assert inertia.tolist() == [[0.1, 0.01, 0.02], [0.01, 0.2, 0.03], [0.02, 0.03, 0.3]]


def test_no_file_is_no_payload(tmp_path):
    assert read_payload(tmp_path / 'payload.yaml') is None


BROKEN = {
    'empty': ('', 'payload: expected a table'),
    'a list': ('[1, 2]', 'payload: expected a table'),
    'torn': (TEXT[:60], 'not YAML'),
    'no YAML': ('a: [', 'not YAML'),
    'a key more': (TEXT + 'weight: 3\n', "'weight': unknown"),
    'a key less': (TEXT.replace('mass: 2.0', ''), 'mass: is missing'),
    'text for a number': (TEXT.replace('2.0', 'heavy'), 'mass: expected a finite number'),
    'truth for a number': (TEXT.replace('2.0', 'true'), 'mass: expected a finite number'),
    'NaN': (TEXT.replace('2.0', '.nan'), 'mass: expected a finite number'),
    'infinity': (TEXT.replace('0.05', '.inf'), 'com: expected finite numbers'),
    'a digit run': (TEXT.replace('2.0', '9' * 5000), ''),
    'two numbers': (TEXT.replace('0.0, 0.0, 0.05', '0.0, 0.05'), 'com: expected finite numbers'),
    'an entry less': (TEXT.replace('ixy: 0.01, ', ''), 'inertia: ixy: is missing'),
    'text for an inertia': (TEXT.replace('0.01', 'x'), 'inertia: ixy: expected a finite number'),
    'a negative ramp': (TEXT + 'ramp_time: -1.0\n', 'ramp_time: expected at least 0'),
    'a time before all': (TEXT + 'start: -1\n', 'start: expected a time in ns'),
    'truth for a time': (TEXT + 'start: true\n', 'start: expected a time in ns'),
    'a time that fits no message': (TEXT + f'start: {1 << 63}\n', 'start: expected a time in ns'),
    'a fraction of a nanosecond': (TEXT + 'start: 1.5\n', 'start: expected a time in ns'),
    'no list of bodies': (TEXT + 'before: {mass: 1.0}\n', 'before: expected a list'),
    'more bodies than any arm carries': (TEXT + f'before: [{"1, " * 101}]\n', 'before: expected a list'),
    'no body': (TEXT + 'before: [1]\n', 'before[0]: expected a table'),
    'half a body': (TEXT + 'before: [{mass: 1.0}]\n', 'before[0]: frame: is missing'),
    'a body without a name': (TEXT + EARLIER.replace('ee_link', '[1]'), 'before[0]: frame: expected a name'),
    'text for the mass of a body': (TEXT + EARLIER.replace('2.0', 'heavy'), 'before[0]: mass: expected a finite'),
    'a body of one number': (TEXT + EARLIER.replace('0.0, 0.0, 0.05', '0.0'), 'before[0]: com: expected finite'),
    'text in its inertia': (TEXT + EARLIER.replace('0.01', 'x'), 'before[0]: inertia: ixy: expected a finite'),
    'no name': (TEXT.replace('ee_link', '[1]'), 'frame: expected a name'),
    'an object': (TEXT.replace('2.0', '!!python/object/apply:os.system ["touch HERE/touched"]'), 'not YAML'),
    'a bomb': (
        'a: &a [x, x, x]\n'
        + ''.join(f'{n}: &{n} [*{o}, *{o}, *{o}]\n' for o, n in zip('abcdefgh', 'bcdefghi', strict=True)),
        'aliases are refused',
    ),
    'depth': ('[' * 100_000, 'nested deeper than 64 tables and lists'),
    'no text': (b'\xff\xfe\x00', 'not UTF-8'),
}


@pytest.mark.parametrize('case', BROKEN)
def test_a_broken_file_is_refused_by_key_and_does_nothing(tmp_path, case):
    content, culprit = BROKEN[case]
    content = content if isinstance(content, bytes) else content.replace('HERE', str(tmp_path)).encode()
    (tmp_path / 'payload.yaml').write_bytes(content)
    with pytest.raises(ModelError) as error:
        read_payload(tmp_path / 'payload.yaml')
    assert culprit in str(error.value)
    assert len(str(error.value)) < 500
    assert os.listdir(tmp_path) == ['payload.yaml']


def test_a_failed_write_is_an_error_and_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / 'payload.yaml'
    write_payload(path, KeptPayload(Body(*BODY)))

    def full(*_):
        raise OSError(28, 'No space left on device')

    monkeypatch.setattr(os, 'fsync', full)
    with pytest.raises(ModelError, match=r'^cannot be written: .*No space left'):
        write_payload(path, KeptPayload(Body('other', *BODY[1:])))
    assert read_payload(path).body.frame == 'ee_link'
    assert os.listdir(tmp_path) == ['payload.yaml']
    with pytest.raises(ModelError, match=r'^cannot be written'):
        write_payload(tmp_path / 'nowhere' / 'payload.yaml', KeptPayload(Body(*BODY)))


KILLED_WHILE_WRITING = """
import os, sys
from pathlib import Path
from robot_dynamics_ros.jit import cache
cache.os.fsync = lambda file: os.kill(os.getpid(), 9)
cache.write_at_once(Path(sys.argv[1]), b'half', lasting=True)
"""


def test_temporary_files_of_a_writer_that_was_killed_are_removed_and_no_others(tmp_path):
    path = tmp_path / 'payload.yaml'
    killed = subprocess.run([sys.executable, '-c', KILLED_WHILE_WRITING, path], check=False)
    (left,) = os.listdir(tmp_path)
    assert killed.returncode == -9 and left.startswith('.payload.yaml.') and left.endswith(TEMPORARY)
    process = left.split('.')[3]
    others = [
        left.replace('.payload.yaml.', '.other.yaml.'),  # of another file
        left.replace(process, '1'),  # of a process that runs
        left.removesuffix(TEMPORARY),
        '.payload.yaml.mine' + TEMPORARY,
        'tmpabc',
    ]
    for name in others:
        (tmp_path / name).write_text('')
    (tmp_path / left.replace(process, '999999999')).symlink_to(tmp_path / 'tmpabc')
    others.append(left.replace(process, '999999999'))
    remove_abandoned(path)
    assert sorted(os.listdir(tmp_path)) == sorted(others)
    remove_abandoned(tmp_path / 'missing' / 'payload.yaml')
