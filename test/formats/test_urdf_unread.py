"""What a URDF says is used or reported: an audit changes each attribute and text of a description that has them all."""

import re
from collections.abc import Iterator
from copy import deepcopy
from xml.etree.ElementTree import Element, tostring

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.untrusted_text import parsed
from robot_dynamics_ros.formats.urdf import model_from_urdf
from robot_dynamics_ros.formats.urdf_unread import GAZEBO_WITHOUT_EFFECT, READ, WITHOUT_EFFECT

ALL = """
<robot name="all" version="1.1" xmlns:xacro="http://ros.org/wiki/xacro">
  <material name="grey"><color rgba="1 1 1 1"/></material>
  <link name="base" type="robot"/>
  <link name="arm">
    <inertial><origin xyz="0.5 0.1 0.2" rpy="0.1 0.2 0.3"/><mass value="2.0"/>
      <inertia ixx="0.03" iyy="0.04" izz="0.05" ixy="0.001" ixz="0.002" iyz="0.003"/></inertial>
    <visual name="v" group="g"><geometry><sphere radius="0.1"/></geometry><material name="grey"/></visual>
    <collision concave="no"><geometry><box size="1 1 1"/></geometry></collision>
    <contact><lateral_friction value="1"/></contact>
    <self_collision_checking><geometry><sphere radius="0.1"/></geometry></self_collision_checking>
  </link>
  <link name="hand">
    <inertial><origin quat_xyzw="0.1 0.1 0.1 0.98488578017961"/><mass value="0.5"/>
      <inertia ixx="0.003" iyy="0.004" izz="0.005" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="j" type="revolute" dont_collapse="true" independent="true">
    <parent link="base"/><child link="arm"/><origin xyz="0 0.1 0.3" rpy="0.3 0 0.1"/><axis xyz="0 1 0.5" rpy="0 0 0"/>
    <limit lower="-3" upper="3" velocity="3" effort="50" acceleration="9" drake:acceleration="9"/>
    <dynamics damping="0.5" friction="0.4"/>
    <safety_controller k_position="20" k_velocity="0" soft_lower_limit="-1" soft_upper_limit="1"/>
    <calibration rising="0.1"/>
  </joint>
  <joint name="k" type="prismatic">
    <parent link="arm"/><child link="hand"/><origin xyz="0.7 0 0" quat_xyzw="0.1 0.1 0.1 0.98488578017961"/>
    <axis xyz="0 0 1"/><limit lower="0" upper="0.1" velocity="1" effort="5"/>
    <mimic joint="j" multiplier="0.02" offset="0.01"/>
  </joint>
  <transmission name="t"><type>SimpleTransmission</type>
    <joint name="j"><hardwareInterface>EffortJointInterface</hardwareInterface></joint>
    <actuator name="m"><drake:rotor_inertia value="1e-4"/><drake:gear_ratio value="100"/></actuator></transmission>
  <transmission name="u"><type>PR2</type><joint name="j"/>
    <actuator name="n"><motorInertia>0.1</motorInertia><mechanicalReduction>3</mechanicalReduction>
      <drake:gear_ratio value="3"/></actuator>
  </transmission>
  <gazebo reference="arm"><turnGravityOff>true</turnGravityOff><mu1>0.2</mu1><material>Gazebo/Red</material></gazebo>
  <gazebo reference="hand"><gravity>0</gravity></gazebo>
  <gazebo><plugin name="p" filename="f"/></gazebo>
  <gazebo>
    <joint name="hinge" type="revolute"><pose relative_to="arm">0.1 0.2 0.3 0.4 0.5 0.6</pose><parent>base</parent>
      <child>hand</child><axis><xyz expressed_in="__model__">0 1 0.5</xyz><limit><lower>-1</lower>
      <upper>1</upper></limit><dynamics><damping>0.1</damping><friction>0.2</friction><spring_stiffness>3</spring_stiffness>
      <spring_reference>0.3</spring_reference></dynamics></axis></joint>
    <joint name="slide" type="prismatic"><parent>base</parent><child>hand</child></joint>
    <plugin name="m" filename="g"><joint>j</joint><mimicJoint>k</mimicJoint><multiplier>0.5</multiplier>
      <offset>0.1</offset></plugin>
    <plugin name="n" filename="libmimic.so"/>
  </gazebo>
  <constraint name="cut" type="revolute"><parent link="base"/><parent_origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>
    <parent_axis xyz="0 1 0.5"/><child link="hand"/><child_origin xyz="3 2 1" rpy="0.3 0.2 0.1"/>
    <child_axis xyz="0.5 1 0"/></constraint>
  <constraint name="point" type="position"><predecessor link="base"><origin xyz="1 2 3"/></predecessor>
    <successor link="hand"><origin xyz="1 2 3"/></successor></constraint>
  <loop_joint name="ball" type="revolute"><link1 link="base" xyz="1 2 3" rpy="0.1 0.2 0.3"/>
    <link2 link="hand" xyz="1 2 3" rpy="0.1 0.2 0.3"/><axis xyz="0 1 0.5"/></loop_joint>
  <drake:ball_constraint><drake:ball_constraint_body_A name="base"/><drake:ball_constraint_p_AP value="1 2 3"/>
    <drake:ball_constraint_body_B name="hand"/><drake:ball_constraint_p_BQ value="1 2 3"/></drake:ball_constraint>
  <drake:linear_bushing_rpy><drake:bushing_frameA name="a"/></drake:linear_bushing_rpy>
  <ros2_control name="c" type="system"><joint name="j"/></ros2_control>
  <mujoco><compiler balanceinertia="true"/></mujoco>
</robot>
"""


def result(text: str, couple: bool) -> list:
    """Return everything that is read of a URDF: numbers, names and findings."""
    try:
        model = model_from_urdf(text, couple_mimics=couple)
    except ModelError as error:
        return [str(error)]
    frames = {
        name: (frame.link, frame.rotation.tolist(), frame.origin.tolist()) for name, frame in model.frames.items()
    }
    numbers = [it.tobytes() for part in (model.arrays, model.limits, model.friction, model.actuators) for it in part]
    found = [model.name, model.joint_names, model.link_names, model.joint_kinds, frames, numbers]
    found += [[(it.name, it.kind) for it in model.loops.closures], model.loops.couplings, model.loops.actuated]
    return [*found, sorted(map(str, model.findings))]


def changed(value: str) -> str:
    """Return other numbers in place of numbers, another text in place of text."""
    numbers = value.split()
    if numbers and all(re.fullmatch(r'[-+.0-9e]+', it) for it in numbers):
        return ' '.join(f'{1.25 * float(it) + 0.01:.6g}' for it in numbers)
    return f'{value}x'


def places(element: Element, path: str = '') -> Iterator[tuple[str, Element, str | None]]:
    """Yield path, element and attribute (None: its text) of all that a description says."""
    for attribute in element.attrib:
        yield f'{path or "robot"}@{attribute}', element, attribute
    if (element.text or '').strip():
        yield path, element, None
    for child in element:
        yield from places(child, f'{path}/{child.tag}'.lstrip('/'))


def without_effect() -> set[str]:
    """Return the paths of which no change changes anything that is read."""
    root = parsed(ALL)
    original, said, found = {couple: result(ALL, couple) for couple in (False, True)}, set(), set()

    def is_read() -> bool:
        text = tostring(root, encoding='unicode')
        return any(result(text, couple) != before for couple, before in original.items())

    for path, element, attribute in places(root):
        said.add(path)
        before = deepcopy(element.attrib), element.text
        if attribute is None:
            element.text = changed(element.text or '')
        else:
            element.set(attribute, changed(element.get(attribute, '')))
        if is_read():
            found.add(path)
        element.attrib.clear()
        element.attrib.update(before[0])
        element.text = before[1]
    assert not is_read()
    return said - found


# Within elements of which other parts are used or reported.
BESIDE = {
    'transmission/joint/hardwareInterface',
    'transmission/actuator@name',
    'gazebo/mu1',
    'gazebo/material',
    'gazebo/plugin@filename',
    'drake:linear_bushing_rpy/drake:bushing_frameA@name',
}


def test_what_is_neither_used_nor_reported_is_in_the_tables():
    unread = without_effect()
    listed = [path for paths in WITHOUT_EFFECT.values() for path in paths if path not in ('gazebo', 'transmission')]
    left = {path for path in unread if not any(re.match(f'{re.escape(it)}(@|/|$)', path) for it in listed)}
    assert left == BESIDE | {'robot@xmlns:xacro'}
    # and what the table says is read has an effect
    said = {path for path, _, _ in places(parsed(ALL))}
    read = {f'{path}@{attribute}' for path, attributes in READ.items() for attribute in attributes}
    assert read <= said and not read & unread


def test_the_audit_finds_an_attribute_that_is_not_read(monkeypatch):
    """As it was with quaternions: taken for read, and without effect."""
    monkeypatch.setitem(READ, 'joint/axis', frozenset({'xyz', 'xzy'}))
    text = ALL.replace('<axis xyz="0 0 1"/>', '<axis xyz="0 0 1" xzy="1 0 0"/>')
    for other in (ALL, text.replace('xzy="1 0 0"', 'xzy="0 1 0"')):
        assert result(text, couple=False) == result(other, couple=False)


UNKNOWN = {
    'a misspelt attribute': (
        '<axis xyz="0 0 1"/>', '<axis xzy="0 0 1"/>', "joint 'k'", '<joint><axis xzy> is not read'
    ),
    'an old element': (
        '<calibration rising="0.1"/>', '<joint_properties damping="3"/>', "joint 'j'",
        '<joint><joint_properties> is not read',
    ),
    'an element of the robot': ('<mujoco>', '<drake:joint/><mujoco>', "robot 'all'", '<drake:joint> is not read'),
    'an inertial out of place': ('<mujoco>', '<inertial/><mujoco>', "robot 'all'", '<inertial> is not read'),
    'scaling of an inertia': (
        '<inertia ixx="0.03"', '<scale/><inertia ixx="0.03"', "link 'arm'", '<link><inertial><scale> is not read'
    ),
    'a spring of Gazebo': (
        '<gazebo reference="arm">', '<gazebo reference="j"><springStiffness>9</springStiffness></gazebo><gazebo>',
        "gazebo 'j'", '<gazebo><springStiffness> is not read: only Gazebo uses it',
    ),
    'a joint of Gazebo': ('<gazebo>', '<gazebo><joint name="l"/>', "loop 'l'", "its type is '', and the loop stays"),
    'a part of a constraint': ('<parent_axis', '<limit/><parent_axis', "loop 'cut'", '<limit> is not read'),
    'a misspelt origin': ('<child_origin xyz', '<child_origin xzy', "loop 'cut'", '<child_origin xzy> is not read'),
    'a part of a closing joint': ('<pose relative', '<x/><pose relative', "loop 'hinge'", '<x> is not read'),
    'a newer version': ('version="1.1"', 'version="1.7"', "robot 'all'", 'version 1.7 of URDF is newer than 1.2'),
}  # fmt: skip


@pytest.mark.parametrize(('old', 'new', 'where', 'message'), UNKNOWN.values(), ids=UNKNOWN)
def test_what_is_not_known_is_a_finding(old, new, where, message):
    before = set(map(str, model_from_urdf(ALL).findings))
    (found,) = [it for it in model_from_urdf(ALL.replace(old, new, 1)).findings if str(it) not in before]
    assert (found.severity, found.where) == ('warning', where) and found.message.startswith(message)


def test_findings_of_one_kind_are_one_finding():
    links = ''.join(f'<link name="l{i}"><gravity value="0"/></link>' for i in range(7))
    joints = ''.join(
        f'<joint name="j{i}" type="fixed"><parent link="l0"/><child link="l{i}"/></joint>' for i in range(1, 7)
    )
    (finding,) = model_from_urdf(f'<robot name="r">{links}{joints}</robot>').findings
    twice = model_from_urdf(f'<robot name="r"><cable/><cable/>{links.replace("gravity", "visual")}{joints}</robot>')
    assert [str(it) for it in twice.findings] == ["warning: robot 'r': <cable> is not read (2 times)"]
    assert (
        str(finding)
        == "warning: robot 'r': <link><gravity> is not read (of link 'l0', link 'l1', link 'l2' and 4 others)"
    )


def test_a_description_of_unknown_elements_has_a_limited_number_of_findings():
    unknown = ''.join(f'<a{i}/>' for i in range(1000))
    found = model_from_urdf(f'<robot name="r"><link name="a"/>{unknown}</robot>').findings
    assert len(found) == 51 and found[0].message == '950 further kinds of elements and attributes are not read'


def test_weight_that_gazebo_takes_away_is_a_finding_where_there_is_weight():
    found = [it for it in model_from_urdf(ALL).findings if 'gazebo' in it.message]
    assert [it.where for it in found] == ["link 'arm'", "link 'hand'"]
    assert 'it has weight here, and none in Gazebo' in found[0].message
    for off in ('false', '0'):
        text = ALL.replace('>true</turnGravityOff>', f'>{off}</turnGravityOff>')
        assert "link 'arm'" not in [it.where for it in model_from_urdf(text).findings]
    text = ALL.replace('<gazebo reference="arm">', '<gazebo reference="base">')
    assert "link 'base'" not in [it.where for it in model_from_urdf(text).findings]


def test_a_safety_controller_that_allows_no_effort_is_a_finding():
    (finding,) = [it for it in model_from_urdf(ALL).findings if 'safety' in it.message]
    assert finding.where == "joint 'j'" and 'clamp its efforts to 0' in finding.message
    for value in ('k_velocity="10"', 'k_velocity="fast"', ''):
        assert not [
            it for it in model_from_urdf(ALL.replace('k_velocity="0"', value)).findings if 'safety' in it.message
        ]


TURNED = """
<robot name="q" version="{}"><link name="base"/><link name="arm"><inertial><origin xyz="0.5 0 0"/><mass value="2.0"/>
  <inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0 0 0.3" {}/><axis xyz="0 0 1"/>
  <limit lower="-3" upper="3" velocity="3" effort="50"/></joint></robot>
"""
QUATERNION = 'quat_xyzw="0.7071067811865476 0 0 0.7071067811865476"'


@pytest.mark.parametrize('version', ['1.1', '1.2'])
def test_a_quaternion_turns_a_joint(version):
    """By a quarter about x: m g l = 2 x 9.81 x 0.5."""
    robot = Robot.from_urdf(TURNED.format(version, QUATERNION))
    assert robot.gravity_torque([0.0]) == pytest.approx([9.81], rel=1e-12) and robot.findings == ()
    same = Robot.from_urdf(TURNED.format(version, 'rpy="1.5707963267948966 0 0"'))
    assert same.digest == robot.digest
    # any rotation, of a quaternion that was printed with few digits
    x, y, z, w = 0.1, -0.5, 0.3, 0.806
    found = model_from_urdf(TURNED.format(version, f'quat_xyzw="{x} {y} {z} {w}"')).joints[0].rotation
    axis, angle = np.array([x, y, z]) / np.hypot(np.hypot(x, y), z), 2.0 * np.arctan2(np.hypot(np.hypot(x, y), z), w)
    cross = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    np.testing.assert_allclose(
        found, np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross, atol=1e-15
    )


def test_a_quaternion_in_version_1_0_is_a_finding():
    for text in (TURNED.format('1.0', QUATERNION), TURNED.format('1.0', QUATERNION).replace(' version="1.0"', '')):
        robot = Robot.from_urdf(text)
        assert robot.gravity_torque([0.0]).tolist() == [0.0]
        (finding,) = robot.findings
        assert finding.where == "joint 'j'" and 'belongs to URDF 1.1, and this is 1.0; state' in finding.message


@pytest.mark.parametrize(
    ('version', 'origin', 'message'),
    [
        ('1.1', QUATERNION + ' rpy="0 0 0"', "joint 'j': <origin>: expected rpy or quat_xyzw, got both"),
        ('1.1', 'quat_xyzw="0 0 0 0"', 'joint \'j\': <origin quat_xyzw="0 0 0 0">: expected a quaternion of length 1'),
        ('1.1', 'quat_xyzw="0 0 0 2"', 'expected a quaternion of length 1'),
        ('1.1', 'quat_xyzw="0 0 1"', 'expected 4 finite numbers'),
        ('one', '', '<robot version="one">: expected a version such as 1.0'),
        ('1', '', '<robot version="1">: expected a version such as 1.0'),
    ],
)
def test_what_is_no_rotation_or_version_is_refused(version, origin, message):
    with pytest.raises(ModelError) as error:
        model_from_urdf(TURNED.format(version, origin))
    assert message in str(error.value)


def test_elements_of_gazebo_are_sorted_once():
    assert {'turnGravityOff', 'gravity', 'plugin'} <= GAZEBO_WITHOUT_EFFECT
    assert not {'joint', 'link', 'springStiffness', 'springReference', 'dampingFactor'} & GAZEBO_WITHOUT_EFFECT


# What the converter of sdformat and its tutorial on URDF know, but for springs, damping, and links and joints of SDF.
OF_GAZEBO = """
canonicalBody cfmDamping collision disableFixedJointLumping fdir1 fudgeFactor gravity gripper implicitSpringDamper
initial_joint_position kd kinematic kp laserRetro material maxContacts maxVel minDepth mu1 mu2 plugin preserveFixedJoint
projector provideFeedback selfCollide self_collide sensor static stopCfm stopErp stopKd stopKp turnGravityOff visual
enable_wind
"""


def test_elements_that_only_draw_collide_or_plug_in_are_no_finding():
    for tag in OF_GAZEBO.split():
        for text in ('true', '7', '') if tag == 'gravity' else ('false', '7', ''):
            robot = f'<robot name="r"><link name="a"/><gazebo reference="a"><{tag}>{text}</{tag}></gazebo></robot>'
            assert not Robot.from_urdf(robot).findings, tag
