"""Model audit: a finding for each flaw, and none where there is no flaw."""

import numpy as np
import pytest

from robot_dynamics_ros.formats.urdf import model_from_urdf
from robot_dynamics_ros.formats.yaml_files.actuators import with_actuators
from robot_dynamics_ros.model.audit import (
    ROUNDING,
    audit_bodies,
    audit_inertial,
    audit_joint,
    audit_model,
    audit_rotors,
)
from robot_dynamics_ros.model.inertial_parameters import ten_parameters
from robot_dynamics_ros.model.joint_types import Joint
from robot_dynamics_ros.model.model import Finding, Model

pytestmark = pytest.mark.plain


def joint(name='elbow', link='arm', parent='base', **fields):
    figures = {
        'kind': 'revolute',
        'axis': np.array([0.0, 0.0, 1.0]),
        'rotation': np.eye(3),
        'origin': np.zeros(3),
        'inertia': ten_parameters(2.0, [0.1, 0.0, 0.0], np.diag([0.02, 0.03, 0.04])),
        'lower': -1.0,
        'upper': 1.0,
        'velocity': 2.0,
        'effort': 3.0,
    }
    return Joint(name, link, parent, **{**figures, **fields})


def only(findings):
    """Return severity, place and message of the one finding."""
    (finding,) = findings
    return finding


def test_a_sound_robot_gets_no_finding():
    assert not list(audit_inertial('arm', 2.0, np.diag([0.02, 0.03, 0.04])))
    assert not list(audit_joint(joint()))
    assert not list(audit_bodies([joint()]))
    assert not list(audit_inertial('frame', 0.0, np.zeros((3, 3))))  # a link without an inertial


@pytest.mark.parametrize(
    ('mass', 'inertia', 'severity', 'message'),
    [
        (-1.0, np.zeros((3, 3)), 'error', 'mass of -1 kg is negative'),
        (-1.0, np.diag([0.02, 0.03, 0.04]), 'error', 'mass of -1 kg is negative'),
        (0.0, np.diag([0.02, 0.03, 0.04]), 'error', 'an inertia but no mass'),
        (2.0, np.zeros((3, 3)), 'warning', 'a point mass of 2 kg'),
        (
            2.0,
            np.diag([-0.01, 0.03, 0.04]),
            'error',
            'not positive definite: principal moments -0.01, 0.03, 0.04',
        ),
        (2.0, np.array([[0.02, 0.05, 0], [0.05, 0.02, 0], [0, 0, 0.04]]), 'error', 'not positive definite'),
        (2.0, -np.diag([0.02, 0.03, 0.04]), 'error', 'not positive definite'),
        (2.0, np.diag([0.0, 0.03, 0.03]), 'warning', 'not positive definite'),  # a rod, in six decimals
        (2.0, np.diag([0.01, 0.02, 0.04]), 'error', 'break the triangle inequality'),
        (2.0, np.diag([0.01, 0.02, 0.03 + 0.9 * ROUNDING]), 'warning', 'break the triangle inequality'),
        (2.0, np.diag([0.01, 0.02, 0.03 + 1.1 * ROUNDING]), 'error', 'break the triangle inequality'),
    ],
)
def test_findings_of_an_inertial(mass, inertia, severity, message):
    finding = only(audit_inertial('arm', mass, inertia))
    assert (finding.severity, finding.where) == (severity, "link 'arm'")
    assert message in finding.message


def test_a_turned_plate_is_sound():
    # flat bodies meet the triangle inequality with equality; rotation must not make a finding of the last bit
    rng = np.random.default_rng(3)
    for _ in range(50):
        rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        assert not list(audit_inertial('plate', 2.0, rotation @ np.diag([0.01, 0.02, 0.03]) @ rotation.T))


@pytest.mark.parametrize(
    ('fields', 'severity', 'message'),
    [
        ({'effort': np.nan}, 'warning', 'no limit known for effort (zero'),
        ({'velocity': np.nan}, 'warning', 'no limit known for velocity (zero'),
        ({'lower': np.nan}, 'warning', 'no limit known for lower/upper (zero'),
        (
            dict.fromkeys(['effort', 'velocity', 'lower', 'upper'], np.nan),
            'warning',
            'for effort, velocity, lower/upper',
        ),
        ({'lower': 1.5}, 'error', 'lower limit 1.5 is above the upper, 1'),
        ({'viscous': -0.1}, 'error', 'its damping of -0.1 is negative'),
        ({'coulomb': -0.2}, 'error', 'its friction of -0.2 is negative'),
    ],
)
def test_findings_of_a_joint(fields, severity, message):
    finding = only(audit_joint(joint(**fields)))
    assert (finding.severity, finding.where) == (severity, "joint 'elbow'")
    assert message in finding.message


def test_joints_that_turn_without_end_lack_no_limit():
    assert not list(audit_joint(joint(lower=-np.inf, upper=np.inf)))
    assert not list(audit_joint(joint(lower=1.0, upper=1.0)))  # a joint that is held there


MASSLESS = np.zeros(10)
ON_THE_AXIS = ten_parameters(5.0, [0.0, 0.0, 0.7], np.zeros((3, 3)))


def test_a_massless_body_between_others_is_a_warning():
    chain = [joint(inertia=MASSLESS), joint('wrist', 'hand', 'arm')]
    finding = only(audit_bodies(chain))
    assert (finding.severity, finding.where) == ('warning', "link 'arm'")


@pytest.mark.parametrize(
    'fields',
    [{'inertia': MASSLESS}, {'inertia': MASSLESS, 'kind': 'prismatic'}, {'inertia': ON_THE_AXIS}],
)
def test_a_last_body_without_inertia_about_its_joint_is_an_error(fields):
    finding = only(audit_bodies([joint(), joint('wrist', 'hand', 'arm', **fields)]))
    assert (finding.severity, finding.where) == ('error', "link 'hand'")
    assert "joint 'wrist'" in finding.message
    assert 'singular' in finding.message


@pytest.mark.parametrize('fields', [{'rotor': 0.1}, {'kind': 'prismatic'}, {'axis': np.array([1.0, 0.0, 0.0])}])
def test_a_point_mass_on_the_axis_is_fine_with_a_rotor_or_across(fields):
    assert not list(audit_bodies([joint(inertia=ON_THE_AXIS, **fields)]))


INERTIAL = '<inertial><mass value="{}"/><inertia ixx="{}" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'


def test_the_model_carries_the_findings_of_its_urdf():
    model = model_from_urdf(f"""<robot name="r">
        <link name="world">{INERTIAL.format(3, 1)}</link>
        <link name="plate">{INERTIAL.format(4, 1)}</link>
        <link name="arm"/>
        <link name="cover">{INERTIAL.format(2, -1)}</link>
        <link name="tip"/>
        <joint name="bolt" type="fixed"><parent link="world"/><child link="plate"/></joint>
        <joint name="elbow" type="continuous"><parent link="plate"/><child link="arm"/></joint>
        <joint name="glue" type="fixed"><parent link="arm"/><child link="cover"/></joint>
        <joint name="wrist" type="prismatic"><parent link="cover"/><child link="tip"/>
            <limit lower="2" upper="1" velocity="1" effort="0"/></joint>
    </robot>""")
    found = [(finding.severity, finding.where) for finding in model.findings]
    assert found == [
        ('error', "link 'cover'"),  # inertia not positive, judged as written though merged into 'arm'
        ('warning', "joint 'elbow'"),  # no effort, no velocity
        ('warning', "joint 'wrist'"),  # effort 0
        ('error', "joint 'wrist'"),  # lower > upper
        ('error', "link 'tip'"),  # moves nothing; 'arm' has the cover's mass
    ]  # nothing of the 7 kg that do not move


@pytest.mark.parametrize(('rotor', 'spin'), [(0.5, 0.15), (0.5, -0.15), (0.0, 0.01)])
def test_a_rotor_with_more_inertia_than_the_link_that_carries_it_is_an_error(rotor, spin):
    """The arm has 0.04 kg m^2 about z through its centre; 0.15^2 / 0.5 is 0.045."""
    wrist = joint('wrist', 'hand', 'arm', rotor=rotor, spin=spin)
    finding = only(audit_rotors([joint(), wrist]))
    assert (finding.severity, finding.where) == ('error', "joint 'wrist'")
    assert "link 'arm' with it only 0.04" in finding.message
    # another axis, along which the arm has less; on the base, which has no say
    assert not list(audit_rotors([joint(rotor=rotor, spin=spin), joint('wrist', 'hand', 'arm', rotor=0.5, spin=0.14)]))
    assert list(audit_rotors([joint(), joint('wrist', 'hand', 'arm', rotor=0.5, spin=0.14, axis=np.eye(3)[0])]))
    # as much as the arm, up to rounding
    equal = joint('wrist', 'hand', 'arm', rotor=0.04, spin=0.04 * (1.0 + 0.1 * ROUNDING))
    assert not list(audit_rotors([joint(), equal]))


def test_actuators_are_audited_as_they_change():
    joints = [joint(), joint('wrist', 'hand', 'arm')]
    model = Model.of('two', 'base', joints, findings=[Finding('warning', "link 'arm'", 'kept')])
    figures = {
        'gear_ratio': {'elbow': 10.0, 'wrist': 10.0},
        'rotor_direction': {'elbow': 0, 'wrist': 1},
        'motor_inertia': {'elbow': 0.0, 'wrist': 0.05},
    }
    heavy = with_actuators(model, figures)
    assert [finding.where for finding in heavy.findings] == ["link 'arm'", "joint 'wrist'"]
    assert [str(finding) for finding in audit_model(heavy)] == [str(heavy.findings[1])]
    light = with_actuators(heavy, {'motor_inertia': {'elbow': 0.0, 'wrist': 0.03}})
    assert [finding.where for finding in light.findings] == ["link 'arm'"]
