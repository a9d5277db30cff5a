"""Descriptions that were written to do harm: refused by name, in little time and memory, with one printable line.

What is merely wrong is refused in the tests of each importer.
"""

import os
import resource
import signal
import sys
from functools import reduce

from support.formats.sdf_texts import HELD, hinge, sdf

import pytest

from robot_dynamics_ros.errors import InputError, ModelError, UnknownNameError
from robot_dynamics_ros.formats.dh import model_from_dh
from robot_dynamics_ros.formats.library import named_model
from robot_dynamics_ros.formats.mjcf import model_from_mjcf
from robot_dynamics_ros.formats.mjcf_elements import MOST_CELLS
from robot_dynamics_ros.formats.sdf.sdf import model_from_sdf
from robot_dynamics_ros.formats.untrusted_text import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_ELEMENTS,
    MOST_MOVING_LINKS,
)
from robot_dynamics_ros.formats.urdf import model_from_urdf
from robot_dynamics_ros.formats.yaml_files.actuators import with_actuators
from robot_dynamics_ros.formats.yaml_files.model_yaml import model_from_yaml
from robot_dynamics_ros.formats.yaml_files.untrusted_yaml import MAX_SCALAR, MAX_VALUES, MAX_YAML_BYTES
from robot_dynamics_ros.model.model import MOST_MOVING_LINKS as MOST_MOVING_LINKS_OF_CODE
from robot_dynamics_ros.model.untrusted_values import MAX_NAME

CPU_TIME = 10.0
"""s; the slowest takes a tenth of it."""
MEMORY = 1 << 29
"""Bytes that an importer may ask for."""


@pytest.fixture(autouse=True)
def bounded():
    """End what takes too long, and give no more memory than ``MEMORY``."""

    def over(number, frame):
        raise TimeoutError(f'more than {CPU_TIME} s')

    def limited():
        with open('/proc/self/statm') as file:
            return int(file.read().split()[0]) * resource.getpagesize() + MEMORY

    before = resource.getrlimit(resource.RLIMIT_AS)
    handler = signal.signal(signal.SIGPROF, over)
    resource.setrlimit(resource.RLIMIT_AS, (limited(), before[1]))
    signal.setitimer(signal.ITIMER_PROF, CPU_TIME)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        resource.setrlimit(resource.RLIMIT_AS, before)
        signal.signal(signal.SIGPROF, handler)


def urdf(inside: str, name='r') -> str:
    return f'<robot name="{name}">{inside}</robot>'


def chain(count: int, kind: str) -> str:
    """Return ``count`` links in a row."""
    links = ''.join(f'<link name="{i}"/>' for i in range(count))
    joints = (
        f'<joint name="{i}" type="{kind}"><parent link="{i}"/><child link="{i + 1}"/></joint>' for i in range(count - 1)
    )
    return urdf(links + ''.join(joints))


def one_joint(inside='', name='j', link='arm') -> str:
    joint = f'<joint name="{name}" type="continuous"><parent link="base"/><child link="{link}"/>{inside}</joint>'
    body = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    return urdf(f'<link name="base"/><link name="{link}">{body}</link>{joint}')


def mjcf(inside='', more='', option='') -> str:
    body = f'<body name="arm"><joint name="elbow"/><geom size="0.1"/>{inside}</body>'
    return f'<mujoco>{option}<worldbody>{body}</worldbody>{more}</mujoco>'


def asset(inside: str) -> str:
    return mjcf(more=f'<asset>{inside}</asset>')


def frames(count: int) -> str:
    """Return frames of SDF, each relative to the one before."""
    parts = (f'<frame name="f{k}"><pose relative_to="f{k - 1}"/></frame>' for k in range(1, count + 1))
    return ''.join(parts)


def weld(child: int, parent: int) -> str:
    ends = f'<parent>{parent}</parent><child>{child}</child>'
    return f'<link name="{child}"/><joint name="j{child}" type="fixed">{ends}</joint>'


def gears(count: int) -> str:
    inside = '<parent>b</parent><child>b</child><gearbox_reference_body>a</gearbox_reference_body>'
    axis = '<axis><xyz>0 1 0</xyz></axis>'
    return ''.join(f'<joint name="g{k}" type="gearbox">{inside}{axis}</joint>' for k in range(count))


LOG_LINE = '&#10;[ERROR] all is lost'
NO_NAME = 'expected up to 256 printable characters'
COUNTS = f'its counts and sizes make more than {MAX_ELEMENTS} elements'
CELLS = f'its textures and height fields have more than {MOST_CELLS} cells'
NO_FILE = 'text must not name a file'
LAUGHS = ''.join(f', &{b} [{", ".join([f"*{a}"] * 9)}]' for a, b in zip('abcdefgh', 'bcdefghi', strict=True))
ROBOT = 'robot: r\nbase: {link: b}\njoints: '

ATTACKS = {  # importer, text, culprit
    'laughing entities': (
        model_from_urdf,
        lambda: '<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;">]>' + urdf('&b;'),
        'document types and entities are refused',
    ),
    'an entity that is a file': (
        model_from_urdf,
        lambda: '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/hostname">]>' + urdf('&a;'),
        'document types and entities are refused',
    ),
    'long XML': (model_from_urdf, lambda: urdf(' ' * MAX_BYTES), f'longer than {MAX_BYTES} bytes'),
    'deep XML': (model_from_urdf, lambda: '<a>' * 400_000, f'nested deeper than {MAX_DEPTH}'),
    'many elements': (model_from_urdf, lambda: urdf('<a/>' * 900_000), f'more than {MAX_ELEMENTS} elements'),
    'many links': (model_from_urdf, lambda: chain(30_000, 'fixed'), f'more than {MAX_ELEMENTS} elements'),
    'many joints': (model_from_urdf, lambda: chain(MOST_MOVING_LINKS + 2, 'revolute'), '1001 joints that move'),
    'loose links': (
        model_from_urdf,
        lambda: urdf(''.join(f'<link name="{i}"/>' for i in range(40_000))),
        "'9' and 39990 others have no parent joint",
    ),
    'a long tag': (model_from_urdf, lambda: f'<{"r" * 10**6}/>', '<rrrrrr'),
    'a long name': (model_from_urdf, lambda: one_joint(name='j' * (MAX_NAME + 1)), NO_NAME),
    'a log line in a name': (model_from_urdf, lambda: one_joint(name='j' + LOG_LINE), NO_NAME),
    'a log line in a link': (model_from_urdf, lambda: one_joint(link='arm' + LOG_LINE), NO_NAME),
    'a log line in the name of the robot': (model_from_urdf, lambda: urdf('', 'r' + LOG_LINE), NO_NAME),
    'a log line in a number': (model_from_urdf, lambda: one_joint(f'<axis xyz="0 0 x{LOG_LINE}"/>'), 'x\\n[ERROR]'),
    'colours of a terminal': (model_from_urdf, lambda: one_joint(name='j\x9b31m'), NO_NAME),
    'text that runs backwards': (model_from_urdf, lambda: one_joint(name='j\u202egnp.x'), NO_NAME),
    'a number that is slow to refuse': (
        model_from_urdf,
        lambda: one_joint(f'<axis xyz="0 0 {"1" * 10**6}x"/>'),
        'expected 3 finite numbers',
    ),
    'a number of a million digits': (
        model_from_urdf,
        lambda: one_joint(f'<axis xyz="0 0 {"1" * 10**6}"/>'),
        'expected 3 finite numbers',
    ),
    'a large exponent': (model_from_urdf, lambda: one_joint(f'<axis xyz="0 0 1e{"9" * 10**6}"/>'), 'expected 3 fin'),
    'a cycle': (
        model_from_urdf,
        lambda: chain(1000, 'fixed').replace('<child link="999"/>', '<child link="0"/>'),
        "'9' and 989 others are unreachable: their joints form a cycle",
    ),
    'frames in a row that end nowhere': (
        model_from_sdf,
        lambda: sdf(HELD + frames(20_000) + '<frame name="f0"><pose relative_to="none"/></frame>'),
        "frame 'f0': no frame 'none'",
    ),
    'frames in a circle': (
        model_from_sdf,
        lambda: sdf(HELD + frames(20_000) + '<frame name="f0"><pose relative_to="f20000"/></frame>'),
        'its pose is relative to itself',
    ),
    'links in a row that hang on nothing': (
        model_from_sdf,
        lambda: sdf('<link name="0"/><link name="x"/>' + ''.join(weld(k, k - 1) for k in range(1, 9_000))),
        "links '0', 'x' have no parent joint",
    ),
    'many gears': (
        model_from_sdf,
        lambda: sdf(HELD + hinge() + gears(7_000) + '<link name="x"/>'),
        "links 'world', 'x' have no parent joint",
    ),
    'models in models': (
        model_from_sdf,
        lambda: sdf('<model name="n">' * 400 + '</model>' * 400),
        f'nested deeper than {MAX_DEPTH}',
    ),
    'a log line in SDF': (model_from_sdf, lambda: sdf(HELD.replace('"a"', f'"a{LOG_LINE}"')), NO_NAME),
    'laughing YAML': (model_from_yaml, lambda: f'{ROBOT}[&a [ha]{LAUGHS}]\n', 'line 3: aliases are refused'),
    'laughing tables': (
        model_from_yaml,
        lambda: f'{ROBOT}\n- &a {{x: 1}}\n- &b {{<<: [*a, *a, *a]}}\n- {{<<: [*b, *b, *b]}}\n',
        'line 5: aliases are refused',
    ),
    'YAML within itself': (model_from_yaml, lambda: f'{ROBOT}&a [*a]\n', 'line 3: aliases are refused'),
    'long YAML': (model_from_yaml, lambda: '#' * MAX_YAML_BYTES + '\n', f'longer than {MAX_YAML_BYTES} bytes'),
    'a long line of YAML': (
        model_from_yaml,
        lambda: 'a' * (MAX_YAML_BYTES - 1) + '\n',
        f'a value of more than {MAX_SCALAR}',
    ),
    'deep lists': (model_from_yaml, lambda: f'{ROBOT}{"[" * 500_000}\n', f'deeper than {MAX_DEPTH} tables and lists'),
    'deep tables': (
        model_from_yaml,
        lambda: ''.join(f'{" " * i}a:\n' for i in range(1000)),
        f'deeper than {MAX_DEPTH} tables and lists',
    ),
    'many values': (model_from_yaml, lambda: f'{ROBOT}[{"1, " * 300_000}]\n', f'more than {MAX_VALUES} values'),
    'a number to the base of 60': (
        model_from_yaml,
        lambda: f'robot: 1{":1" * 400_000}\n',
        f'a value of more than {MAX_SCALAR} characters',
    ),
    'a float to the base of 60': (model_from_yaml, lambda: f'robot: 1{":1" * 400}.5\n', 'int too large'),
    'a date with a far clock': (model_from_yaml, lambda: 'robot: 2001-01-01T00:00:00+99:59\n', 'not YAML'),
    'an object': (model_from_yaml, lambda: 'robot: !!python/object/apply:os.getcwd []\n', 'constructor for the tag'),
    'a module': (model_from_yaml, lambda: 'robot: !!python/module:antigravity\n', 'constructor for the tag'),
    'a key twice': (model_from_yaml, lambda: 'robot: a\nrobot: b\n', "line 2: the key 'robot' occurs twice"),
    'a log line in a key': (model_from_yaml, lambda: '"a\\n[ERROR] lost": 1\n', "'a\\n[ERROR] lost': unknown"),
    'a log line in YAML': (model_from_yaml, lambda: ROBOT.replace('r\n', '"r\\n[ERROR]"\n') + '[]\n', 'a name, got'),
    'a long name in YAML': (model_from_yaml, lambda: ROBOT.replace('r\n', f'{"r" * 300}\n') + '[]\n', 'a name, got'),
    'many replicas': (
        model_from_mjcf,
        lambda: mjcf('<replicate count="900000000"><geom size="1"/></replicate>'),
        COUNTS,
    ),
    'replicas of replicas': (
        model_from_mjcf,
        lambda: mjcf('<replicate count="99">' * 9 + '<geom size="1"/>' + '</replicate>' * 9),
        COUNTS,
    ),
    'a large grid': (model_from_mjcf, lambda: mjcf('<flexcomp name="f" type="grid" count="999 999 999"/>'), COUNTS),
    'a large picture': (
        model_from_mjcf,
        lambda: asset('<texture builtin="flat" width="99999" height="99999"/>'),
        CELLS,
    ),
    'many large pictures': (
        model_from_mjcf,
        lambda: asset('<texture builtin="flat" width="9999" height="999"/>' * 9),
        CELLS,
    ),
    'a large field': (model_from_mjcf, lambda: asset('<hfield nrow="99999" ncol="99999" size="1 1 1 1"/>'), CELLS),
    'long user data': (model_from_mjcf, lambda: mjcf(option='<size nuser_body="2000000000"/>'), COUNTS),
    'a body of no size': (
        model_from_mjcf,
        lambda: '<mujoco><worldbody><body name="arm"><joint/><geom size="1e200"/></body></worldbody></mujoco>',
        "body 'arm': mass: expected finite numbers up to 1e+30",
    ),
    'an elbow beyond the moon': (
        model_from_mjcf,
        lambda: mjcf().replace('<joint ', '<joint pos="1e200 0 0" '),
        "joint 'elbow': position: expected finite numbers up to 1e+30",
    ),
    'many keys': (model_from_mjcf, lambda: mjcf(option='<size nkey="2000000000"/>'), COUNTS),
    'a file in MJCF': (model_from_mjcf, lambda: asset('<mesh name="m" file="/etc/passwd"/>'), f'<mesh>: {NO_FILE}'),
    'MJCF in MJCF': (model_from_mjcf, lambda: mjcf('<include file="/etc/passwd"/>'), f'<include>: {NO_FILE}'),
    'pictures in MJCF': (
        model_from_mjcf,
        lambda: asset('<texture type="cube" fileright="/etc/passwd"/>'),
        f'<texture>: {NO_FILE}',
    ),
    'many bodies': (
        model_from_mjcf,
        lambda: mjcf('<body><joint/><geom size="1"/></body>' * 30_000),
        f'more than {MAX_ELEMENTS} elements',
    ),
    'a log line in MJCF': (
        model_from_mjcf,
        lambda: mjcf().replace('elbow', 'elbow' + LOG_LINE),
        "joint: expected a name, got 'elbow\\n",
    ),
    'a value that unfolds without end': (  # as YAML's aliases would; here they are a caller's lists
        model_from_dh,
        lambda: [{'com': reduce(lambda value, _: [value] * 9, range(20), 1.0)}],
        'row 1: com: expected finite numbers of shape (3,) up to 1e+30, got [[[[[[[...], [...],',
    ),
    'many rows': (model_from_dh, lambda: [{}] * (MOST_MOVING_LINKS_OF_CODE + 1), '20001 joints that move'),
}


@pytest.mark.parametrize(('importer', 'make', 'culprit'), ATTACKS.values(), ids=ATTACKS)
def test_refused_in_one_printable_line(importer, make, culprit):
    with pytest.raises(ModelError) as error:
        importer(make())
    text = str(error.value)
    assert culprit in text
    assert text.isprintable() and len(text) <= InputError.LONGEST + 3


def test_what_is_just_small_enough_is_read():
    assert len(model_from_urdf(chain(MOST_MOVING_LINKS + 1, 'revolute')).joint_names) == MOST_MOVING_LINKS
    assert model_from_urdf(one_joint(name='j' * MAX_NAME)).joint_names == ('j' * MAX_NAME,)
    width = MOST_CELLS // 1000
    picture = asset(f'<texture name="t" type="2d" builtin="flat" width="{width}" height="127"/>')
    sizes = mjcf(option='<size nstack="300000" njmax="1000" nuser_geom="2"/>')
    for text in (picture, sizes, mjcf('<replicate count="9"><geom size="1"/></replicate>')):
        assert model_from_mjcf(text)[0].joint_names == ('elbow',)


def test_an_actuator_file_is_read_as_carefully(tmp_path):
    path = tmp_path / 'arm.yaml'
    joints = ', '.join(f'{name}: 1.0' for name in named_model('aubo_i5').joint_names)
    for text, culprit in (
        (f'gear_ratio: &a {{{joints}}}\ntorque_constant: *a\n', 'line 2: aliases are refused'),
        (f'gear_ratio: {{{joints}}}\ngear_ratio: {{{joints}}}\n', "line 2: the key 'gear_ratio' occurs twice"),
        (f'gear_ratio: {{{joints}, "x\\n[ERROR]": 1}}\n', "no joint 'x\\n[ERROR]'"),
        (f'"gear\\n[ERROR]": {{{joints}}}\n', "'gear\\n[ERROR]': unknown"),
    ):
        path.write_text(text)
        with pytest.raises(ModelError) as error:
            with_actuators(named_model('aubo_i5'), path)
        assert culprit in str(error.value) and str(error.value).isprintable()


def test_an_error_shows_nothing_of_a_file_that_is_no_yaml(tmp_path):
    path = tmp_path / 'credentials'
    path.write_text('user: me\npassword: "open sesame\nhost: [\n')
    with pytest.raises(ModelError, match='not YAML: line 4') as error:
        with_actuators(named_model('aubo_i5'), path)
    assert 'sesame' not in str(error.value)


@pytest.mark.parametrize('importer', [model_from_urdf, model_from_yaml, model_from_mjcf, model_from_sdf])
def test_a_pipe_or_device_is_refused_without_waiting(tmp_path, importer):
    os.mkfifo(tmp_path / 'pipe')
    for path in (tmp_path / 'pipe', '/dev/zero'):
        with pytest.raises(ModelError, match='cannot be read: not a regular file'):
            importer(path)


opened: list[str] = []
sys.addaudithook(lambda event, arguments: opened.append(str(arguments[0])) if event == 'open' else None)


def test_no_file_is_opened_that_a_urdf_names(tmp_path):
    secret = tmp_path / 'secret.stl'
    secret.write_text('')
    named = [f'{scheme}{secret}' for scheme in ('', 'file://', 'package://r/../..')]
    shapes = ''.join(f'<visual><geometry><mesh filename="{name}"/></geometry></visual>' for name in named)
    more = f'<gazebo><plugin filename="{secret}"/></gazebo><include file="{secret}"/>'
    text = one_joint().replace('<inertial>', f'{shapes}<inertial>').replace('</robot>', f'{more}</robot>')
    opened.clear()
    assert model_from_urdf(text).joint_names == ('j',)
    assert not [path for path in opened if 'secret' in path]
    secret.read_text()
    assert [path for path in opened if 'secret' in path]


STRANGE = [
    '../../../../escaped',
    '/tmp/escaped',
    '{0.__class__}',
    '%s%n',
    '"""',
    "'; raise SystemExit #",
    '$HOME',
    '`id`',
]


@pytest.mark.parametrize('name', STRANGE)
def test_a_strange_name_is_a_name_and_nothing_else(name):
    """What is generated and kept never sees it: compiler/test_kept_code.py."""
    text = one_joint(name=name.replace('"', '&quot;'), link=f'l{name}'.replace('"', '&quot;'))
    model = model_from_urdf(text)
    assert model.joint_names == (name,) and model.link_names == ('base', f'l{name}')
    assert all(str(finding).isprintable() for finding in model.findings)
    with pytest.raises(UnknownNameError, match=r'^no link .*; there are '):
        model.frame('nowhere')


@pytest.mark.parametrize('kind', InputError.__subclasses__())
def test_the_text_of_an_error_is_one_printable_line(kind):
    assert str(kind('a\nb\x1b[31m\u2028\ud800é\\n')) == 'a\\nb\\x1b[31m\\u2028\\ud800é\\n'
    assert len(str(kind('x' * 10**6))) == InputError.LONGEST + 3
