"""SDF is read as a URDF of the same arm; its gravity, limits and mimic joints, and what it says that is not read."""

from pathlib import Path

from support.formats.sdf_texts import HELD, hinge, sdf, sdf_of
from support.robots.differentiated_robots import error
from support.robots.facade_robots import same_bits

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robot_dynamics_ros import Robot
from robot_dynamics_ros.formats.library import named_urdf


def test_an_arm_is_the_one_of_its_urdf_to_the_bit():
    text = Path(named_urdf('aubo_i5')).read_text()
    ours, theirs = Robot.from_sdf(sdf_of(text, relative=True)), Robot.from_urdf(text)
    assert ours.digest == theirs.digest and ours.joint_names == theirs.joint_names
    assert set(ours.frame_names) == set(theirs.frame_names)
    for part in ('limits', 'friction'):
        for one, other in zip(getattr(ours.model, part), getattr(theirs.model, part), strict=True):
            np.testing.assert_array_equal(one, other)
    assert same_bits(ours.gravity, theirs.gravity)
    (free,) = (str(it) for it in ours.findings if 'limit known' not in str(it))
    assert "link 'base_link': no joint holds it in the world" in free


def test_an_arm_with_poses_in_the_model_is_the_one_of_its_urdf():
    text = Path(named_urdf('aubo_i5')).read_text()
    ours, theirs = Robot.from_sdf(sdf_of(text, relative=False)), Robot.from_urdf(text)
    states = np.random.default_rng(0).normal(size=(3, 5, 6))
    assert error(ours.inverse_dynamics(*states), theirs.inverse_dynamics(*states)) < 1e-13


def test_gravity_is_that_of_the_world_in_the_frame_of_the_base():
    tilted = '<pose>0 0 0 0.5 0 0</pose>'
    assert Robot.from_sdf(sdf(tilted + HELD)).gravity.tolist() == [0.0, 0.0, -9.81]
    free = Robot.from_sdf(sdf(f'{tilted}<link name="a"><pose>0 0 0 0.25 0 0</pose></link>'))
    expected = Rotation.from_euler('x', 0.75).as_matrix().T @ [0.0, 0.0, -9.81]
    assert free.gravity == pytest.approx(expected, abs=1e-14)
    assert Robot.from_sdf(sdf(HELD, around='<world name="w">{}</world>')).gravity.tolist() == [0.0, 0.0, -9.8]
    stated = '<world name="w"><gravity>1 2 3</gravity>{}</world>'
    assert Robot.from_sdf(sdf(HELD, around=stated)).gravity.tolist() == [1.0, 2.0, 3.0]
    old = '<world name="w"><physics type="ode"><gravity>0 0 -1.6</gravity></physics>{}</world>'
    assert Robot.from_sdf(sdf(HELD, '1.5', around=old)).gravity.tolist() == [0.0, 0.0, -1.6]


def test_a_frame_in_the_world_is_none_of_the_robot():
    still = '<model name="rock"><static>1</static><link name="l"/><frame name="top"/></model>'
    frames = '<frame name="mark" attached_to="world"/><frame name="tip" attached_to="a"/>'
    mount = '<joint name="x" type="fixed"><parent>a</parent><child>rock::l</child></joint>'
    robot = Robot.from_sdf(sdf(HELD + frames + still + mount))
    assert robot.frame_names == ('a', 'rock::l', 'tip', 'world')


def test_limits_that_are_no_limits_and_those_of_a_fixed_joint():
    for text in (
        '',
        '<lower>-1e16</lower><upper>1e16</upper><effort>-1</effort>',
        '<lower>-inf</lower><upper>inf</upper><effort>inf</effort><velocity>inf</velocity>',
    ):
        limits = Robot.from_sdf(sdf(HELD + hinge(f'<limit>{text}</limit>'))).limits
        assert limits.lower.tolist() == [-np.inf] and limits.upper.tolist() == [np.inf]
        assert np.isnan([*limits.effort, *limits.velocity]).all()
    endless = hinge('<limit><lower>-1</lower><upper>1</upper></limit>').replace('"revolute"', '"continuous"')
    assert Robot.from_sdf(sdf(HELD + endless)).limits.upper.tolist() == [np.inf]
    held = Robot.from_sdf(sdf(HELD + hinge('<limit><lower>0</lower><upper>0</upper></limit>')))
    assert held.limits.lower.tolist() == held.limits.upper.tolist() == [0.0]
    assert "joint 'j': its limits hold it at 0: lock it" in '\n'.join(map(str, held.findings))


def test_what_is_not_read_is_a_finding_and_what_changes_no_torque_is_none():
    without = (
        '<plugin name="p" filename="f"><x/></plugin><self_collide>1</self_collide><gripper name="g"/>'
        '<link name="c"><pose>0 0 0 0 0 0</pose><inertial><mass>1</mass></inertial><visual name="v"><x/></visual>'
        '<collision name="c"/><sensor name="s" type="imu"/><gravity>1</gravity><kinematic>0</kinematic></link>'
        '<joint name="f" type="fixed"><parent>a</parent><child>c</child><physics><ode/></physics></joint>'
    )
    held = HELD.replace('<link name="a"/>', '<link name="a"><inertial/></link>')
    findings = [str(it) for it in Robot.from_sdf(sdf(held + without)).findings]
    assert findings == []
    more = without.replace('<gravity>1', '<velocity_decay><linear>0.1</linear></velocity_decay><gravity>0').replace(
        '<kinematic>0', '<fluid_added_mass/><kinematic>1'
    )
    more = more.replace('type="fixed">', 'type="fixed" speed="3"><axis><xyzz/></axis>') + '<tendon/>'
    others = '<include><uri>model://sun</uri></include><state/><light/><model name="t"><static>1</static></model>'
    around = f'<world name="w">{others}{{}}</world>'
    robot = Robot.from_sdf(sdf(held + more, '1.13', around=around))
    texts = '\n'.join(map(str, robot.findings))
    for expected in (
        "robot 'm': version 1.13 of SDFormat is newer than 1.12",
        "link 'c': <gravity> is not used: it has weight here",
        "link 'c': <kinematic> is not used",
        "link 'c': <velocity_decay> is not used",
        "link 'c': <link><fluid_added_mass> is not read",
        "joint 'f': <joint speed> is not read",
        "joint 'f': <joint><axis><xyzz> is not read",
        "robot 'm': <tendon> is not read",
        "world 'w': <include> model://sun is not read",
        "world 'w': <state> is not read",
        "world 'w': model 't' is static and not read",
    ):
        assert expected in texts
    assert len(robot.findings) == 11
    assert 'it has no <inertial>: by SDFormat that is a mass of 1 kg' in str(Robot.from_sdf(sdf(HELD)).findings)


def test_a_joint_that_mimics_another_is_coupled_on_request():
    numbers = '<multiplier>2</multiplier><offset>0.3</offset><reference>0.1</reference>'
    second = hinge(f'<mimic joint="j">{numbers}</mimic>', name='k', link='c')
    third = hinge(in_joint='<drake:mimic joint="j" multiplier="-1" offset="0.5"/>', name='l', link='d')
    text = sdf(HELD + hinge() + second + third)
    alone = Robot.from_sdf(text)
    assert not alone.loops.all
    assert "joint 'k': it mimics 'j'; here it is a joint of its own" in '\n'.join(map(str, alone.findings))
    couplings = Robot.from_sdf(text, mimic='couple').loops.couplings
    assert [(it.joint, it.other) for it in couplings] == [('k', 'j'), ('l', 'j')]
    assert [*couplings[0].polynomial, *couplings[1].polynomial] == pytest.approx([0.1, 2.0, 0.5, -1.0])
    assert Robot.from_description(text, mimic='couple').loops.couplings == couplings
