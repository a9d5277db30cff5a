"""XML as urdfdom reads it: what XML does not allow and descriptions have, encodings, and times that stay linear."""

import time
from xml.etree.ElementTree import tostring

import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.untrusted_text import MAX_BYTES, parsed, plain_xml, read_xml

ARM = (
    '<robot name="a"><link name="base"/><link name="arm"><inertial><origin xyz="0.5 0 0"/><mass value="2.0"/>'
    '<inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    '<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>'
    '<limit lower="-3" upper="3" velocity="3" effort="50"/></joint></robot>'
)
DECLARATION = '<?xml version="1.0" encoding="utf-8"?>'
READ = {
    'white space before the declaration': f'\n \t{DECLARATION}\n{ARM}',
    'dashes in a comment': ARM.replace('<link', '<!-- the arm -- and more -- <link name="no"/> ---><link', 1),
    'undeclared prefix': ARM.replace('<link', '<drake:thing drake:x="1"/><link', 1),
    'prefix of an attribute': ARM.replace('<limit', '<limit drake:acceleration="9"'),
    'default namespace': ARM.replace('<robot', '<robot xmlns="http://www.ros.org"', 1),
    'NUL at the end': DECLARATION + ARM + '\n\0\0',
    'byte order mark': '\ufeff' + DECLARATION + ARM,
    'declared Latin-1, text from a topic': f'<?xml version="1.0" encoding="ISO-8859-1"?><!-- é -->{ARM}',
    'a comment in CDATA is none': ARM.replace('<link', '<note><![CDATA[<!-- ]]></note><link', 1),
    'no comment in an instruction': ARM.replace('<link', '<?note <!-- ?><link', 1),
}


@pytest.mark.parametrize('text', READ.values(), ids=READ)
def test_what_urdfdom_reads_is_read(text, tmp_path):
    path = tmp_path / 'arm.urdf'
    path.write_text(text, encoding='latin-1' if 'ISO-8859-1' in text else 'utf-8')
    for source in (text, path):
        robot = Robot.from_urdf(source)
        assert robot.gravity_torque([0.0]) == pytest.approx([-9.81], rel=1e-12)  # m g l = 2 x 9.81 x 0.5


@pytest.mark.parametrize(
    'encoding', ['ISO-8859-1', 'latin1', 'ISO-8859-15', 'windows-1252', 'US-ASCII', 'UTF-8', 'UTF-16']
)
def test_files_are_read_in_the_encoding_that_they_declare(encoding, tmp_path):
    name = 'arm' if encoding == 'US-ASCII' else 'bräs'
    path = tmp_path / 'arm.urdf'
    path.write_bytes(f"<?xml version='1.0' encoding='{encoding}'?>{ARM}".replace('"a"', f'"{name}"').encode(encoding))
    assert Robot.from_urdf(path).name == name


REFUSED = {
    'Latin-1 that is not declared': (ARM.replace('"a"', '"é"').encode('latin-1'), 'not UTF-8 text'),
    'an encoding that none knows': (
        b'<?xml version="1.0" encoding="none"?><robot/>',
        "encoding 'none' is not supported",
    ),
    'one that is no text': (b'<?xml version="1.0" encoding="utf-7"?><robot/>', "encoding 'utf-7' is not supported"),
    'NUL within': (ARM.replace('"base"', '"ba\0se"').encode(), 'not well-formed XML'),
    'an open comment': (ARM.replace('<link', '<!-- <link', 1).encode(), 'not well-formed XML'),
    'text after the end': ((ARM + 'x').encode(), 'not well-formed XML'),
}


@pytest.mark.parametrize(('data', 'why'), REFUSED.values(), ids=REFUSED)
def test_what_is_no_text_or_no_xml_is_refused(data, why, tmp_path):
    path = tmp_path / 'arm.urdf'
    path.write_bytes(data)
    with pytest.raises(ModelError, match=why):
        parsed(read_xml(path))


def test_lines_keep_their_numbers():
    text = f'\n\n{DECLARATION}\n<!-- one\n -- two -->\n{ARM}\n<'
    with pytest.raises(ModelError, match=': line 7, column 0'):
        parsed(text)


def test_a_comment_takes_only_itself_away():
    assert plain_xml('<a><!-- 1 --><b/><!--2--></a>') == '<a><b/></a>'
    assert tostring(parsed('<a>x<!-- -- -->y</a>')) == b'<a>xy</a>'


@pytest.mark.parametrize('scrap', ['<!--', '<![CDATA[', '<?', '<!-->', '<?xml ', '\n', '<a b="'])
def test_time_grows_with_the_length_alone(scrap):
    """As long as a file may be; a search that begins anew at each opening would take hours."""
    started = time.monotonic()
    with pytest.raises(ModelError):
        parsed(scrap * (MAX_BYTES // len(scrap)))
    assert time.monotonic() - started < 60.0
