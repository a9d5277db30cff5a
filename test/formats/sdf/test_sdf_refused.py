"""What an SDF may not say is refused by name, and no text raises anything else."""

from itertools import pairwise

from support.formats.random_sdf import random_sdf
from support.formats.sdf_texts import HELD, hinge, sdf
from support.robots import any_description
from support.unhurried import examples

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.sdf.sdf import model_from_sdf

ARM = HELD + hinge()
FREE = '<link name="c"/>'


def jointed(kind='revolute', inside='<axis><xyz>0 1 0</xyz></axis>', parent='a', child='b') -> str:
    ends = f'<parent>{parent}</parent><child>{child}</child>'
    return f'{HELD}<link name="b"/><joint name="j" type="{kind}">{ends}{inside}</joint>'


REFUSED = {
    'no SDF': ('<robot name="r"/>', '<robot>: expected <sdf>'),
    'no version': ('<sdf><model name="m"/></sdf>', '<sdf version="">: expected a version such as 1.7'),
    'an old version': (sdf(ARM, '1.3'), '<sdf version="1.3">: versions before 1.4 are not read; convert it: gz sdf -p'),
    'no model': ('<sdf version="1.7"/>', 'expected one <model> that moves, it has none'),
    'a static model': (sdf('<static>true</static>' + ARM), "expected one <model> that moves, 'm' is static"),
    'two models': (sdf(ARM, around='{0}{0}'), "expected one <model> that moves, got 'm', 'm'"),
    'two worlds': (sdf(ARM, around='<world name="a">{}</world><world name="b"/>'), 'it has 2 worlds: expected one'),
    'a world of includes': (
        '<sdf version="1.7"><world name="w"><include><uri>model://arm</uri></include></world></sdf>',
        'it has none; files that it includes are not opened: write all into one, gz sdf -p FILE > whole.sdf',
    ),
    'an include': (
        sdf(ARM + '<include><uri>model://gripper</uri></include>'),
        '<include> model://gripper: files that it includes are not opened',
    ),
    'no link': (sdf(), "model 'm': it has no <link>"),
    'a link without a name': (sdf('<link/>'), "model 'm': link: <link>: attribute 'name' is missing or empty"),
    'a reserved name': (sdf('<link name="world"/>'), "<link name='world'>: the name is reserved"),
    'a name twice': (sdf(ARM + '<frame name="b"/>'), "frame 'b': the name occurs twice among links, joints, frames"),
    'a joint twice': (sdf(ARM + hinge(link='c')), "joint 'j': the name occurs twice"),
    'a joint with the name of a link': (sdf(HELD + hinge(name='b')), "joint 'b': the name occurs twice"),
    'links apart': (sdf(ARM + FREE), "links 'world', 'c' have no parent joint"),
    'a type': (sdf(jointed('universal')), "joint 'j': type 'universal' is not supported (only revolute, continuous,"),
    'no axis': (sdf(jointed(inside='')), "joint 'j': <axis> is missing"),
    'a zero axis': (
        sdf(jointed(inside='<axis><xyz>0 0 0</xyz></axis>')),
        "joint 'j': <axis><xyz>: the axis has no dir",
    ),
    'a frame of an axis': (
        sdf(jointed(inside='<axis><xyz expressed_in="elbow">0 0 1</xyz></axis>')),
        "joint 'j': no frame 'elbow'; ",
    ),
    'an axis of an old version': (
        sdf(jointed(inside='<axis><xyz>0 0 1</xyz><use_parent_model_frame>1</use_parent_model_frame></axis>')),
        "joint 'j': <use_parent_model_frame> is read before version 1.7; later it is <xyz expressed_in='__model__'>",
    ),
    'no parent': (sdf(jointed().replace('<parent>a</parent>', '')), "joint 'j': <parent> is missing"),
    'an unknown parent': (sdf(jointed(parent='A')), "joint 'j': no frame 'A'; there are world"),
    'a child that is the world': (sdf(jointed(child='world')), "joint 'j': its child is the world"),
    'a joint of a link with itself': (sdf(jointed(parent='b')), "its parent and its child are the same link, 'b'"),
    'a pose of five numbers': (sdf(FREE.replace('/>', '><pose>1 2 3 4 5</pose></link>')), 'expected 6 finite numbers'),
    'a pose of an unknown frame': (
        sdf(FREE.replace('/>', '><pose relative_to="d"/></link>')),
        "link 'c': no frame 'd'",
    ),
    'a pose relative to itself': (
        sdf(HELD + '<frame name="f"><pose relative_to="g"/></frame><frame name="g"><pose relative_to="f"/></frame>'),
        'its pose is relative to itself',
    ),
    'a frame on itself': (
        sdf(HELD + '<frame name="f" attached_to="g"/><frame name="g" attached_to="f"/>'),
        'it is attached to itself',
    ),
    'an old attribute of a pose': (
        sdf(FREE.replace('/>', '><pose frame="a">0 0 0 0 0 0</pose></link>')),
        "link 'c': <pose>: its attribute frame is called relative_to since version 1.7",
    ),
    'a form of rotation': (
        sdf(FREE.replace('/>', '><pose rotation_format="euler">0 0 0 0 0 0</pose></link>')),
        "link 'c': <pose>: rotation_format 'euler': expected euler_rpy or quat_xyzw",
    ),
    'a quaternion of another length': (
        sdf(FREE.replace('/>', '><pose rotation_format="quat_xyzw">0 0 0 0 0 0 2</pose></link>')),
        "link 'c': <pose>: expected a quaternion of length 1",
    ),
    'a quaternion in degrees': (
        sdf(FREE.replace('/>', '><pose rotation_format="quat_xyzw" degrees="true">0 0 0 0 0 0 1</pose></link>')),
        "link 'c': <pose>: a quaternion is not in degrees",
    ),
    'degrees that are no truth': (
        sdf(FREE.replace('/>', '><pose degrees="yes">0 0 0 0 0 0</pose></link>')),
        "link 'c': <pose>: expected true or false, got 'yes'",
    ),
    'an inertia of shapes': (
        sdf(FREE.replace('/>', '><inertial auto="true"/></link>')),
        'link \'c\': <inertial auto="true">: inertias are not computed from shapes; state them',
    ),
    'an inertial elsewhere': (
        sdf(HELD + FREE.replace('/>', '><inertial><pose relative_to="a"/></inertial></link>')),
        "link 'c': <inertial><pose>: it is relative to the link, not to 'a'",
    ),
    'a mass that is no number': (
        sdf(FREE.replace('/>', '><inertial><mass>heavy</mass></inertial></link>')),
        "link 'c': <mass> heavy: expected a finite number",
    ),
    'a limit that is no number': (
        sdf(jointed(inside='<axis><xyz>0 0 1</xyz><limit><lower>low</lower></limit></axis>')),
        "joint 'j': <lower> low: expected a finite number",
    ),
    'a thread of no pitch': (
        sdf(jointed('screw', '<axis><xyz>0 0 1</xyz></axis><thread_pitch>0</thread_pitch>')),
        "joint 'j': <thread_pitch>: expected another number than 0",
    ),
    'a negative rotor': (
        sdf(jointed(inside='<axis><xyz>0 0 1</xyz></axis><drake:rotor_inertia>-1</drake:rotor_inertia>')),
        "joint 'j': <drake:rotor_inertia> -1: expected at least 0",
    ),
    'a gear ratio of zero': (
        sdf(jointed(inside='<axis><xyz>0 0 1</xyz></axis><drake:gear_ratio>0</drake:gear_ratio>')),
        "joint 'j': <drake:gear_ratio> 0: expected another number",
    ),
    'a second axis that is mimicked': (
        sdf(jointed(inside='<axis><xyz>0 0 1</xyz><mimic joint="k" axis="axis2"/></axis>')),
        "joint 'j': <mimic axis='axis2'>: the joint that it mimics has one axis",
    ),
    'a gearbox on nothing': (
        sdf(ARM + '<joint name="g" type="gearbox"><parent>a</parent><child>b</child></joint>'),
        "joint 'g': <gearbox_reference_body> is missing",
    ),
    'a frame that places a model from outside': (
        sdf(HELD + '<model name="n" placement_frame="o"><pose/><link name="l"/></model>'),
        "model 'n': placement_frame: no frame 'n::o'",
    ),
}


@pytest.mark.parametrize(('text', 'culprit'), REFUSED.values(), ids=REFUSED)
def test_refused_by_name(text, culprit):
    with pytest.raises(ModelError) as error:
        Robot.from_sdf(text)
    assert culprit in str(error.value) and str(error.value).startswith('robot description: ')


def test_a_file_is_named(tmp_path):
    with pytest.raises(ModelError, match=r'arm\.sdf: cannot be read'):
        Robot.from_sdf(tmp_path / 'arm.sdf')
    path = tmp_path / 'arm.sdf'
    path.write_text('<sdf version="1.7"/>')
    with pytest.raises(ModelError, match=r'arm\.sdf: expected one <model>'):
        Robot.from_sdf(str(path))


SEED = random_sdf(3, '1.9')
SCRAPS = ['', ' ', '"', '<', '>', '/>', '</link>', '<link name="x"/>', '<inertial/>', '<pose>0 0 0 0 0</pose>', 'world',
          '0', '-1', 'nan', '1e29', '1e400', 'fixed', 'ball', 'gearbox', 'link_1', 'joint_2', '__model__', '::', 'é',
          '<axis2/>', '<mimic joint="joint_1"/>', '\ud800', '\0', '&a;']  # fmt: skip


@examples(300)
@given(edits=st.lists(st.tuples(st.integers(0, len(SEED)), st.integers(0, 40), st.sampled_from(SCRAPS))))
def test_mutilated_text_raises_nothing_but_model_error(edits):
    any_description.check(model_from_sdf, any_description.edited(SEED, edits))


WORDS = ['', ' ', '0', '-1', '1e-320', '1e29', '1e400', 'nan', 'inf', '0 0 0', 'link_1', 'joint_1', 'frame_1', 'world',
         'fixed', 'ball', 'screw', '__model__', 'true', '1.4', '0 0 0 0 0 0 0']  # fmt: skip
ENDS = [i for i, character in enumerate(SEED) if character in '<>"']
VALUES = [
    (start, end) for start, end in pairwise(ENDS) if SEED[start] in '>"' and end > start + 1 and SEED[end] in '<"'
]


@examples(300)
@given(edits=st.dictionaries(st.integers(0, len(VALUES) - 1), st.sampled_from(WORDS), min_size=1, max_size=4))
def test_replaced_values_raise_nothing_but_model_error(edits):
    text = SEED
    for number in sorted(edits, reverse=True):
        start, end = VALUES[number]
        text = text[: start + 1] + edits[number] + text[end:]
    any_description.check(model_from_sdf, text)
