"""Shapes of MJCF against MuJoCo: poses of geoms in any position, sizes and colours as its viewer has them."""

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.tools.figures.mjcf_shapes import shapes_from_mjcf
from robot_dynamics_ros.tools.figures.shapes import Box, Capsule, Cylinder, Ellipsoid, Sphere, Triangles

mujoco = pytest.importorskip('mujoco', reason='no mujoco; install it: pip install mujoco')

MJCF = """<mujoco model="arm"><compiler angle="radian"/>
  <asset><material name="red" rgba="1 0 0 1"/>
    <mesh name="roof" vertex="0 0 0 1 0 0 0 2 0 0 0 3 1 1 1" scale="0.1 -0.1 0.2"/></asset>
  <worldbody>
    <geom name="table" type="box" size="1 2 0.1" pos="0 0 -0.1" euler="0 0 0.3"/>
    <body name="upper" pos="0 0 0.2" euler="0.1 0.2 0.3">
      <joint name="shoulder" axis="0 0 1" pos="0 0.1 0" ref="0.2"/><joint name="lift" type="slide" axis="1 0 0"/>
      <geom type="cylinder" fromto="0 0 0 0.4 0 0.1" size="0.05" material="red"/>
      <geom type="mesh" mesh="roof" pos="0.1 0.2 0.3" euler="0.4 0 0" rgba="0 1 0 1"/>
      <body name="fixed" pos="0.1 0 0"><geom type="ellipsoid" size="0.1 0.2 0.3" material="red" rgba="0 0 1 1"/></body>
      <body name="fore" pos="0.4 0 0.1" quat="0.5 0.5 0.5 0.5">
        <joint name="elbow" axis="0 1 0"/>
        <geom type="capsule" size="0.04 0.2"/><geom type="sphere" size="0.07" pos="0 0 0.3"/>
      </body></body></worldbody></mujoco>"""


def test_every_geometry_has_mujocos_size_and_colour():
    drawn, left_out = shapes_from_mjcf(MJCF)
    assert left_out == []
    assert [shape.link for shape in drawn] == ['world', 'upper', 'upper', 'fixed', 'fore', 'fore']
    box, cylinder, mesh, ellipsoid, capsule, sphere = (shape.geometry for shape in drawn)
    assert (box, ellipsoid) == (Box((2.0, 4.0, 0.2)), Ellipsoid((0.1, 0.2, 0.3)))
    assert cylinder == Cylinder(0.05, pytest.approx(np.hypot(0.4, 0.1)))
    assert (capsule, sphere) == (Capsule(0.04, 0.4), Sphere(0.07))
    assert isinstance(mesh, Triangles) and len(mesh.vertices) == 5 and len(mesh.faces) > 3
    # in the frame of the body
    upper = drawn[2].pose
    corners = [[0, 0, 0], [0.1, 0, 0], [0, -0.2, 0], [0, 0, 0.6], [0.1, -0.1, 0.2]]
    turn = np.array([[1, 0, 0], [0, np.cos(0.4), -np.sin(0.4)], [0, np.sin(0.4), np.cos(0.4)]])
    expected = np.array(corners) @ turn.T + [0.1, 0.2, 0.3]
    vertices = mesh.vertices @ upper[:3, :3].T + upper[:3, 3]
    distances = np.linalg.norm(vertices[:, None] - expected, axis=2)
    assert distances.min(axis=0).max() < 1e-6
    plant = mujoco.MjModel.from_xml_string(MJCF)
    scene = mujoco.MjvScene(plant, 50)
    data = mujoco.MjData(plant)
    mujoco.mj_forward(plant, data)
    mujoco.mjv_updateScene(plant, data, mujoco.MjvOption(), None, mujoco.MjvCamera(), mujoco.mjtCatBit.mjCAT_ALL, scene)
    shown = {
        geom.objid: geom.rgba[:3] for geom in scene.geoms[: scene.ngeom] if geom.objtype == mujoco.mjtObj.mjOBJ_GEOM
    }
    assert [shape.colour for shape in drawn] == [pytest.approx(shown[i]) for i in range(len(drawn))]


@pytest.mark.parametrize('seed', range(3))
def test_shapes_are_where_mujoco_has_the_geoms(seed):
    robot, plant = Robot.from_mjcf(MJCF), mujoco.MjModel.from_xml_string(MJCF)
    q = np.random.default_rng(seed).uniform(-1.0, 1.0, 3)
    data = mujoco.MjData(plant)
    data.qpos[:] = q
    mujoco.mj_forward(plant, data)
    for i, shape in enumerate(shapes_from_mjcf(MJCF).drawn):
        pose = robot.link_pose(q, shape.link) @ shape.pose
        assert pose[:3, 3] == pytest.approx(data.geom_xpos[i], abs=1e-9)
        assert pose[:3, :3] == pytest.approx(data.geom_xmat[i].reshape(3, 3), abs=1e-9)


def body(*geoms):
    return f"""<mujoco><asset><hfield name="hill" nrow="2" ncol="2" size="1 1 1 1"/>
      <material name="glass" rgba="1 1 1 0"/></asset><worldbody><body name="arm"><joint name="turn"/>
      <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>{''.join(geoms)}</body></worldbody></mujoco>"""


LOOK = '<geom type="sphere" size="0.1" contype="0" conaffinity="0" group="{}"/>'


@pytest.mark.parametrize(
    ('geoms', 'drawn', 'collides', 'left_out'),
    [
        # the looks of a body, and else its contacts
        ((LOOK.format(2), '<geom size="0.2"/>', '<geom size="0.3" group="3"/>'), [0.1], [0.2, 0.3], []),
        (('<geom size="0.2"/>', '<geom size="0.3" group="3"/>'), [0.2], [0.2, 0.3], []),
        ((LOOK.format(3), '<geom size="0.2"/>'), [0.2], [0.2], []),
        (('<geom size="0.2" group="3"/>',), [], [0.2], ['its shapes are transparent, or of groups that MuJoCo hides']),
        (('<geom size="0.2" material="glass"/>',), [], [0.2], ['its shapes are transparent']),
        ((), [], [], []),
    ],
)
def test_what_mujoco_shows_is_drawn(geoms, drawn, collides, left_out):
    found = shapes_from_mjcf(body(*geoms))
    assert [shape.geometry.radius for shape in found.drawn] == drawn
    assert [str(it).startswith(f"link 'arm': {text}") for it, text in zip(found.left_out, left_out, strict=True)] == [
        True for _ in left_out
    ]
    found = shapes_from_mjcf(body(*geoms), 'collision')
    assert [shape.geometry.radius for shape in found.drawn] == collides and not found.left_out


def test_what_is_not_drawn_is_a_sentence():
    text = body().replace(
        '<worldbody>', '<worldbody><geom type="plane" size="1 1 1"/><geom type="hfield" hfield="hill"/>'
    )
    assert [str(it) for it in shapes_from_mjcf(text).left_out] == [
        "link 'world': a plane is not drawn",
        "link 'world': a height field is not drawn",
    ]


def test_a_source_that_is_no_mjcf_is_refused(tmp_path):
    with pytest.raises(ModelError, match='<robot>: expected <mujoco>'):
        shapes_from_mjcf('<robot name="r"/>')
    with pytest.raises(ModelError, match=r'none\.xml: cannot be read'):
        shapes_from_mjcf(tmp_path / 'none.xml')
