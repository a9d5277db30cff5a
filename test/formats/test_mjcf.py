"""MJCF to model: mass matrix, torques, Jacobians and poses against MuJoCo; what is refused, by name."""

import sys
from dataclasses import replace

from support.robots import any_description
from support.robots import random_trees as trees
from support.twins.mujoco_states import move
from support.unhurried import examples

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.mjcf import model_from_mjcf
from robot_dynamics_ros.model.inertial_parameters import central_parameters

pytestmark = pytest.mark.plain

TOLERANCE = 1e-9  # of the largest magnitude in the quantity

# Two joints on one body, anchors off the origin, references, a welded body, a body on the world, turned inertias.
GIMBAL = """
<mujoco model="gimbal">
  <option gravity="1 -2 -9"/>
  <worldbody>
    <body name="table" pos="0.1 0.2 0.3" euler="10 20 30">
      <inertial pos="0 0 0.1" mass="7" diaginertia="0.1 0.1 0.1"/>
      <body name="head" pos="0.2 0 0.4" euler="0 40 0">
        <joint name="pan" type="hinge" axis="0 1 2" pos="0.05 -0.02 0.01" ref="25" range="-100 120"
               armature="0.3" damping="0.7" frictionloss="0.2"/>
        <joint name="lift" type="slide" axis="1 0 1" ref="0.2" armature="2"/>
        <joint name="tilt" type="hinge" axis="1 0 0" pos="0 0.03 0.04" ref="-15"/>
        <inertial pos="0.02 0.03 -0.05" mass="3" fullinertia="0.04 0.05 0.06 0.005 -0.004 0.003"/>
        <body name="cover" pos="0.1 0 0" euler="0 0 90">
          <inertial pos="0 0.05 0" mass="0.5" diaginertia="0.002 0.003 0.004"/>
          <body name="camera" pos="0 0.1 0.1" euler="0 0 20">
            <joint name="zoom" type="slide" axis="0 0 1" ref="0.1" range="-1 1"/>
            <inertial pos="0 0 0.02" mass="0.8" diaginertia="0.002 0.002 0.001"/>
          </body>
        </body>
        <body name="arm" pos="0 0 -0.2">
          <joint name="wag" type="hinge" axis="0 1 0"/>
          <geom type="capsule" size="0.03" fromto="0 0 0 0.3 0.1 0"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
# Everything left to defaults: no names, classes, radians, gravity off.
NAMELESS = """
<mujoco>
  <compiler angle="radian" autolimits="true"/>
  <option><flag gravity="disable"/></option>
  <default><joint armature="0.1" damping="1"/><geom density="500"/></default>
  <worldbody>
    <body><joint axis="0 0 1" range="-1 1"/><geom size="0.1 0.2 0.3" type="box" pos="0.3 0 0"/>
      <body pos="0.5 0 0"><joint axis="0 1 0"/><geom size="0.1"/><joint axis="1 0 0"/></body>
    </body>
  </worldbody>
</mujoco>
"""
# Two free bodies, one with an arm; balls: with an anchor, between slides, after a hinge.
FLOATING = """
<mujoco model="floating">
  <option gravity="1 -2 -9"/>
  <default><joint damping="0.3"/></default>
  <worldbody>
    <body name="ship" pos="1 2 3" quat="0.5 0.1 -0.7 0.3">
      <joint name="sea" type="free"/>
      <inertial pos="0.1 -0.2 0.05" mass="5" fullinertia="0.4 0.5 0.6 0.05 -0.04 0.03"/>
      <body name="mast" pos="0.1 0 0.4" euler="0 40 0">
        <joint name="lean" type="hinge" axis="0 1 2" pos="0.05 -0.02 0.01" ref="25" armature="0.3"/>
        <inertial pos="0 0 0.3" mass="2" diaginertia="0.1 0.1 0.02"/>
        <body name="flag" pos="0 0.1 0.6" euler="10 -20 30">
          <joint name="knot" type="ball" pos="0.02 0.03 -0.04" armature="0.2" range="0 90" frictionloss="0.1"/>
          <inertial pos="0.2 0 0" mass="0.5" diaginertia="0.002 0.01 0.011" quat="0.9 0.1 0.3 0.2"/>
        </body>
      </body>
    </body>
    <body name="buoy" pos="-1 0 0"><freejoint/><geom type="box" size="0.1 0.2 0.3" pos="0.05 0 0.1"/>
      <body name="bell" pos="0 0 0.3" euler="0 0 50">
        <joint name="up" type="slide" axis="0 1 1" ref="0.1"/>
        <joint name="swing" type="ball"/>
        <joint name="out" type="slide" axis="1 0 0"/>
        <geom size="0.1" pos="0 0 -0.1"/>
        <body name="clapper" pos="0 0 -0.1">
          <joint name="hook" type="hinge" axis="1 1 0" pos="0 0 0.02"/><joint name="eye" type="ball" pos="0 0.1 0"/>
          <geom type="capsule" size="0.01" fromto="0 0 0 0.02 0 -0.2"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="knot" gear="1 0 0" forcerange="-2 2"/></actuator>
</mujoco>
"""


def mjcf_of(joints) -> str:
    """Return MJCF of a random tree, nested by hand."""
    children = {}
    for joint in joints:
        children.setdefault(joint.parent, []).append(joint)

    def text(numbers):
        return ' '.join(repr(float(number)) for number in numbers)

    def body(joint):
        mass, com, about_com = central_parameters(joint.inertia)
        moments, axes = np.linalg.eigh(about_com)
        axes = axes * np.linalg.det(axes)
        x, y, z, w = Rotation.from_matrix(axes).as_quat()
        turn = Rotation.from_matrix(joint.rotation).as_quat()
        kind = {'revolute': 'hinge', 'prismatic': 'slide', 'spherical': 'ball'}[joint.kind]
        return (
            f'<body name="{joint.link}" pos="{text(joint.origin)}" quat="{text(np.roll(turn, 1))}">'
            f'<joint name="{joint.name}" type="{kind}" axis="{text(joint.axis)}" armature="{joint.rotor!r}"/>'
            f'<inertial pos="{text(com)}" mass="{mass!r}" diaginertia="{text(moments)}" quat="{text([w, x, y, z])}"/>'
            + ''.join(map(body, children.get(joint.link, [])))
            + '</body>'
        )

    return '<mujoco><worldbody>' + ''.join(map(body, children[trees.BASE])) + '</worldbody></mujoco>'


def random_mjcf(seed, general=0.0) -> str:
    """Return MJCF of a random tree of hinges and slides, and balls in the place of all other joints."""
    joints = trees.random_joints(seed, count=12, general=general)
    return mjcf_of([replace(it, kind='spherical') if it.kind in trees.GENERAL else it for it in joints])


TREES = {f'tree {seed}': random_mjcf(seed, general=0.3 * (seed % 2)) for seed in range(2000, 2006)}
MODELS = pytest.mark.parametrize(
    'text', [GIMBAL, NAMELESS, FLOATING, *TREES.values()], ids=['gimbal', 'nameless', 'floating', *TREES]
)


def plant_of(text):
    """Return MuJoCo's model without what is no part of inverse dynamics: friction, limits and contacts."""
    plant = mujoco.MjModel.from_xml_string(text)
    plant.dof_damping[:] = plant.dof_frictionloss[:] = plant.jnt_limited[:] = 0
    plant.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    return plant, mujoco.MjData(plant)


def motions(robot, count=10):
    """Yield random q, qd, qdd as we have them."""
    rng = np.random.default_rng(robot.nv)
    for _ in range(count):
        q = robot.integrate(robot.neutral(), rng.uniform(-2.0, 2.0, robot.nv))
        yield q, *rng.uniform(-2.0, 2.0, (2, robot.nv))


@MODELS
def test_torques_are_those_of_mj_inverse(text):
    (plant, data), robot = plant_of(text), Robot(*model_from_mjcf(text))
    for q, qd, qdd in motions(robot):
        T = move(plant, data, q, qd, qdd)
        mujoco.mj_inverse(plant, data)
        assert trees.relative_error(robot.inverse_dynamics(q, qd, qdd), T.T @ data.qfrc_inverse) < TOLERANCE
        assert trees.relative_error(robot.bias_torque(q, qd), bias_of(plant, data, T, q, qd)) < TOLERANCE


def bias_of(plant, data, T, q, qd):
    """Return what qfrc_bias is to our velocities, whose accelerations of zero are not MuJoCo's."""
    move(plant, data, q, qd, np.zeros(plant.nv))
    inertial = np.empty(plant.nv)
    mujoco.mj_mulM(plant, data, inertial, data.qacc)
    return T.T @ (data.qfrc_bias + inertial)


@MODELS
def test_mass_matrix_is_mujocos(text):
    (plant, data), robot = plant_of(text), Robot(*model_from_mjcf(text))
    for q, qd, qdd in motions(robot):
        T = move(plant, data, q, qd, qdd)
        mujoco.mj_forward(plant, data)
        M = np.empty((plant.nv, plant.nv))
        for column, unit in zip(M, np.eye(plant.nv), strict=True):
            mujoco.mj_mulM(plant, data, column, unit)
        assert trees.relative_error(robot.mass_matrix(q), T.T @ M @ T) < TOLERANCE


@pytest.mark.compiled
@MODELS
def test_every_body_is_where_mujoco_has_it_and_moves_so(text):
    (plant, data), robot = plant_of(text), Robot(*model_from_mjcf(text))
    for q, qd, qdd in motions(robot):
        T = move(plant, data, q, qd, qdd)
        mujoco.mj_kinematics(plant, data)
        mujoco.mj_comPos(plant, data)
        for i in range(1, plant.nbody):
            name = plant.body(i).name or f'body_{i}'
            pose = robot.link_pose(q, name)
            assert pose[:3, :3] == pytest.approx(data.xmat[i].reshape(3, 3), abs=1e-12)
            assert pose[:3, 3] == pytest.approx(data.xpos[i], abs=1e-12)
            J = np.empty((6, plant.nv))
            mujoco.mj_jacBody(plant, data, J[3:], J[:3], i)
            assert robot.jacobian(q, name, 'local_world_aligned') == pytest.approx(J @ T, abs=1e-12)


def test_free_and_ball_joints_by_name():
    robot = Robot.from_mjcf(FLOATING)
    assert robot.joint_names == ('sea', 'lean', 'knot', 'joint_3', 'up', 'swing', 'out', 'hook', 'eye')
    assert robot._model.joint_kinds == (
        'free', 'revolute', 'spherical', 'free', 'prismatic', 'spherical', 'prismatic', 'revolute', 'spherical'
    )  # fmt: skip
    assert (robot.nq, robot.nv) == (30, 25)
    # where the coordinates are zero, not where MuJoCo starts
    assert robot.link_pose(robot.neutral(), 'ship').tolist() == np.eye(4).tolist()
    assert robot.rotor_inertia[:10].tolist() == [0] * 6 + [0.3] + [0.2] * 3
    assert robot.friction.viscous.tolist() == [0.3] * 10 + [0] * 6 + [0.3] * 9
    assert robot.friction.coulomb[5:11].tolist() == [0, 0, 0.1, 0.1, 0.1, 0]
    assert np.isinf(robot.limits.lower).all() and np.isnan(robot.limits.effort).all()
    (ignored,) = [str(finding) for finding in robot.findings if 'is ignored' in str(finding)]
    assert ignored.startswith("warning: joint 'knot': its range of 1.5708 rad")


def test_names_limits_friction_and_gravity():
    robot = Robot.from_mjcf(GIMBAL)
    assert (robot.name, robot.joint_names) == ('gimbal', ('pan', 'lift', 'tilt', 'zoom', 'wag'))
    assert robot.link_names == ('world', 'head/pan', 'head/lift', 'head/tilt', 'camera', 'arm')
    assert set(robot.frame_names) - set(robot.link_names) == {'table', 'head', 'cover'}
    assert robot.gravity.tolist() == [1, -2, -9]
    assert robot.rotor_inertia.tolist() == [0.3, 2, 0, 0, 0]
    assert (robot.friction.viscous[0], robot.friction.coulomb[0]) == (0.7, 0.2)
    assert robot.limits.lower == pytest.approx([np.deg2rad(-100), -np.inf, -np.inf, -1, -np.inf])
    assert robot.limits.upper == pytest.approx([np.deg2rad(120), np.inf, np.inf, 1, np.inf])
    assert np.isnan(robot.limits.velocity).all() and np.isnan(robot.limits.effort).all()
    # the mass of the base is kept for who attaches it to something that moves, and nothing to warn of
    assert robot._model.arrays.I[0, 0] == 7.0
    assert not any('7 kg' in str(finding) for finding in robot.findings)
    nameless = Robot.from_mjcf(NAMELESS)
    assert nameless.joint_names == ('joint_0', 'joint_1', 'joint_2') and nameless.gravity.tolist() == [0, 0, 0]
    assert nameless.link_names == ('world', 'body_1', 'body_2/joint_1', 'body_2')


def one(joint='<joint name="elbow"/>', more='', option='') -> str:
    """Return one body with a joint."""
    body = f'<body name="arm">{joint}<geom size="0.1"/></body>'
    return f'<mujoco>{option}<worldbody>{body}</worldbody>{more}</mujoco>'


@pytest.mark.parametrize(
    ('joint', 'actuators', 'effort'),
    [
        ('', '', np.nan),
        ('actuatorfrcrange="-3 3"', '', 3),
        ('type="slide" actuatorfrcrange="-3 3"', '', 3),
        ('actuatorfrcrange="-3 4"', '', np.nan),
        ('', '<motor joint="elbow" gear="-20" forcerange="-2 2"/>', 40),
        ('actuatorfrcrange="-30 30"', '<motor joint="elbow" gear="20" forcerange="-2 2"/>', 30),
        ('', '<motor joint="elbow" forcerange="-2 2"/><motor joint="elbow" forcerange="-2 2"/>', np.nan),
        ('', '<motor joint="elbow" ctrlrange="-2 2"/>', np.nan),
    ],
)
def test_effort_limits_where_they_are_clear(joint, actuators, effort):
    robot = Robot(*model_from_mjcf(one(f'<joint name="elbow" {joint}/>', f'<actuator>{actuators}</actuator>')))
    assert robot.limits.effort.tolist() == pytest.approx([effort], nan_ok=True)


TENDON = '<tendon><fixed name="rope" {}><joint joint="elbow" coef="1"/></fixed></tendon>'
REFUSED = {
    'free rotor': (
        one('<joint name="loose" type="free" armature="1"/>'),
        "joint 'loose': rotor inertia of a free joint is not supported",
    ),
    'free friction': (
        one('<joint name="loose" type="free" frictionloss="1"/>'),
        "joint 'loose': dry friction of a free joint is not supported",
    ),
    'ball with a spring': (
        one('<joint type="ball" stiffness="1"/>'),
        "joint 'joint_0': a spring of a ball joint is not supported",
    ),
    'free body on a spring': (
        one('<joint name="loose" type="free" stiffness="1"/>'),
        "joint 'loose': a spring of a free joint is not supported",
    ),
    'a mass that is no number': (
        '<mujoco><worldbody><body name="arm"><joint/><geom size="1e200"/></body></worldbody></mujoco>',
        "body 'arm': mass: expected finite numbers up to 1e+30",
    ),
    'equality of tendons': (
        one(more=TENDON.format('') + '<equality><tendon name="lock" tendon1="rope"/></equality>'),
        "equality 'lock': a constraint of the type tendon is not supported",
    ),
    'tendon armature': (one(more=TENDON.format('armature="1"')), "tendon 'rope': rotor inertia is not supported"),
    'no weight': (
        one().replace('<body name="arm">', '<body name="arm" gravcomp="1">'),
        "body 'arm': gravity compensation is not supported",
    ),
    'flex': (
        '<mujoco><worldbody><body name="b"><flexcomp name="rope" type="grid" dim="1" count="3 1 1"'
        ' spacing="1 1 1" radius="0.1" mass="1" rigid="true"/></body></worldbody></mujoco>',
        'a deformable body (flex) is not supported',
    ),
    'a second world': (one('<joint name="x" pos="0 0 1"/>').replace('arm', 'world'), 'MuJoCo does not load it'),
    'no mass': ('<mujoco><worldbody><body><joint/></body></worldbody></mujoco>', 'MuJoCo does not load it'),
    'URDF': ('<robot name="r"><link name="l"/></robot>', '<robot>: expected <mujoco>'),
    'not XML': ('<mujoco', 'not well-formed'),
    'document type': ('<!DOCTYPE x SYSTEM "y"><mujoco/>', 'refused'),
    'unknown element': ('<mujoco><world/></mujoco>', 'MuJoCo does not load it'),
}


@pytest.mark.parametrize(('text', 'culprit'), REFUSED.values(), ids=REFUSED.keys())
def test_mjcf_is_refused_by_name(text, culprit):
    with pytest.raises(ModelError) as error:
        model_from_mjcf(text)
    assert str(error.value).startswith('robot description: ')
    assert culprit in str(error.value)


@pytest.mark.skipif(not hasattr(mujoco.MjModel, 'dof_dampingpoly'), reason='this MuJoCo knows linear damping only')
def test_a_value_for_one_velocity_is_reported_as_one_of_its_joint():
    with pytest.raises(ModelError, match="joint 'elbow': a damping that is not linear is not supported"):
        model_from_mjcf(one('<joint type="ball"/><joint type="slide" name="elbow" damping="1 2"/>'))


@pytest.mark.parametrize(
    'more',
    [
        TENDON.format(''),
        '<equality><joint joint1="elbow" active="false"/></equality>',
        '<actuator><position joint="elbow" kp="10"/></actuator>',
        '<worldbody><body name="target" mocap="true"><geom size="0.1"/></body></worldbody>',
    ],
    ids=['tendon', 'equality that is off', 'servo', 'mocap'],
)
def test_what_changes_no_dynamics_is_let_through(more):
    with_more, without = Robot(*model_from_mjcf(one(more=more))), Robot(*model_from_mjcf(one()))
    state = [0.3], [0.4], [0.5]
    assert with_more.inverse_dynamics(*state).tolist() == without.inverse_dynamics(*state).tolist()


def test_a_file_may_name_others_beside_it(tmp_path):
    (tmp_path / 'arm.xml').write_text(one().replace('<geom size="0.1"/>', '<include file="shape.xml"/>'))
    (tmp_path / 'shape.xml').write_text('<mujoco><geom size="0.1"/></mujoco>')
    for path in (tmp_path / 'arm.xml', str(tmp_path / 'arm.xml')):
        assert Robot(*model_from_mjcf(path)).mass_matrix([0.0]) == Robot(*model_from_mjcf(one())).mass_matrix([0.0])
    for source in (tmp_path / 'absent.xml', None, 7):
        with pytest.raises(ModelError, match=f'^{source}: cannot be read'):
            model_from_mjcf(source)


def test_without_mujoco_the_error_names_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, 'mujoco', None)
    with pytest.raises(ModelError, match='MuJoCo, which is not installed: pip install mujoco'):
        model_from_mjcf(one())


SCRAPS = ['', ' ', '"', '<', '/>', '</body>', '<body/>', '<joint/>', '<freejoint/>', '<geom size="1"/>', '0', '-1',
          'nan', 'inf', '1e29', '1e400', 'hinge', 'slide', 'ball', 'head', '\ud800', '\0', 'é', '<include file="x"/>',
          '<joint name="head"/>']  # fmt: skip


@examples(200)
@given(edits=st.lists(st.tuples(st.integers(0, len(GIMBAL)), st.integers(0, 12), st.sampled_from(SCRAPS)), max_size=4))
def test_mutilated_text_raises_nothing_but_model_error(edits):
    any_description.check(model_from_mjcf, any_description.edited(GIMBAL, edits))
