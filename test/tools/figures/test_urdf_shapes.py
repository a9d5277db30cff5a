"""Shapes of a URDF: every kind of geometry, colours, files of meshes, and what is refused."""

import re
from pathlib import Path

from support.robots.example_robots import example_urdfs

import numpy as np
import pytest

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.library import named_urdf
from robot_dynamics_ros.tools.figures.shapes import GREY, Box, Capsule, Cylinder, Mesh, Sphere
from robot_dynamics_ros.tools.figures.urdf_shapes import shapes_from_urdf


def urdf(*visuals, before=''):
    shown = ''.join(f'<visual>{visual}</visual>' for visual in visuals)
    return f'<robot name="r">{before}<link name="arm">{shown}</link></robot>'


def geometry(text):
    return f'<geometry>{text}</geometry>'


def test_the_shapes_of_the_aubo_i5_are_those_of_its_file():
    shapes = shapes_from_urdf(named_urdf('aubo_i5')).drawn
    assert len(shapes) == Path(named_urdf('aubo_i5')).read_text(encoding='utf-8').count('<visual>')
    tube = next(shape for shape in shapes if shape.geometry == Cylinder(0.048, 0.408))
    assert tube.link == 'upperArm_Link'
    assert tube.colour == (0.85, 0.87, 0.9)
    assert tube.pose == pytest.approx(
        np.array([[0, 0, 1, 0.204], [0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 0, 1]]), abs=1e-15
    )


def test_every_geometry_is_read_with_its_colour():
    shapes = shapes_from_urdf(
        urdf(
            geometry('<box size="1 2 3"/>') + '<material name="red"/>',
            geometry('<sphere radius="0.5"/>') + '<material name=""><color rgba="0 0 1 0.5"/></material>',
            geometry('<cylinder radius="0.1" length="2"/>'),
            geometry('<capsule radius="0.1" length="0.5"/>'),
            before='<material name="red"><color rgba="1 0 0 1"/></material>',
        )
    ).drawn
    assert [shape.geometry for shape in shapes] == [
        Box((1.0, 2.0, 3.0)),
        Sphere(0.5),
        Cylinder(0.1, 2.0),
        Capsule(0.1, 0.5),
    ]
    assert [shape.colour for shape in shapes] == [(1.0, 0.0, 0.0), (0.0, 0.0, 1.0), GREY, GREY]


def test_a_quaternion_turns_a_shape_from_urdf_1_1_on():
    turned = (
        geometry('<box size="1 2 3"/>') + '<origin xyz="1 2 3" quat_xyzw="0 0 0.7071067811865476 0.7071067811865476"/>'
    )
    (shape,) = shapes_from_urdf(urdf(turned).replace('name="r"', 'name="r" version="1.1"')).drawn
    assert shape.pose.tolist() == [[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]]
    (shape,) = shapes_from_urdf(urdf(turned)).drawn
    assert shape.pose[:3, :3].tolist() == np.eye(3).tolist()


def test_meshes_are_found_beside_the_file_above_it_and_in_packages(tmp_path, monkeypatch):
    names = ['meshes/arm.stl', 'package://my%20arm/meshes/arm.stl', (tmp_path / 'x y.stl').as_uri()]
    elsewhere = ['package://gripper/hand.stl']
    missing = ['none.stl', 'package://my%20arm/none.stl', 'package://none/arm.stl', 'http://localhost/arm.stl', '']
    places = ['my%20arm/urdf/meshes/arm.stl', 'my%20arm/meshes/arm.stl', 'x y.stl', 'prefix/share/gripper/hand.stl']
    for place in places:
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).touch()
    monkeypatch.setenv('AMENT_PREFIX_PATH', f'/nowhere:{tmp_path / "prefix"}')
    path = tmp_path / 'my%20arm' / 'urdf' / 'arm.urdf'
    meshes = [geometry(f'<mesh filename="{name}" scale="1 -1 2"/>') for name in [*names, *elsewhere, *missing]]
    path.write_text(urdf(*meshes), encoding='utf-8')
    shapes = shapes_from_urdf(path)
    found = [shape.geometry for shape in shapes.drawn]
    assert [str(it) for it in shapes.left_out] == [f"link 'arm': mesh {name} is not found" for name in missing]
    assert found == [Mesh(tmp_path / place, (1.0, -1.0, 2.0)) for place in places]
    # a text has no folder
    assert len(shapes_from_urdf(path.read_text(encoding='utf-8')).drawn) == 2


def test_known_robots_are_read():
    urdfs = [path for path in example_urdfs() if path.endswith(('panda.urdf', 'ur5_robot.urdf', 'solo12.urdf'))]
    assert len(urdfs) >= 3
    for path in urdfs:
        shapes = shapes_from_urdf(path).drawn
        assert len(shapes) == Path(path).read_text(encoding='utf-8').count('<visual')
        assert all(isinstance(shape.geometry, Mesh) for shape in shapes)


@pytest.mark.parametrize(
    ('visual', 'message'),
    [
        ('', "link 'arm': visual: expected one <geometry>"),
        (geometry('<box size="1 2"/>'), 'size="1 2">: expected 3 finite numbers'),
        (geometry('<sphere/>'), "'radius' is missing"),
        (geometry('<cone radius="1"/>'), '<cone>: expected box, cylinder, capsule, sphere or mesh'),
        (geometry('<sphere radius="1"/>') + '<origin xyz="0 nan 0"/>', 'expected 3 finite numbers'),
    ],
)
def test_what_is_wrong_is_left_out_with_a_sentence(visual, message):
    drawn, (left_out,) = shapes_from_urdf(urdf(visual, geometry('<sphere radius="1"/>')))
    assert len(drawn) == 1 and re.search(message, str(left_out))


def test_a_wrong_colour_of_a_name_is_left_out_with_a_sentence():
    before = '<material name="red"><color rgba="1 0"/></material>'
    visual = geometry('<sphere radius="1"/>') + '<material name="red"/>'
    (shape,), (left_out,) = shapes_from_urdf(urdf(visual, before=before))
    assert shape.colour == GREY and 'expected 4 finite numbers' in str(left_out)


def test_another_format_is_refused():
    with pytest.raises(ModelError, match='<sdf>: expected <robot>'):
        shapes_from_urdf('<sdf version="1.7"/>')


def test_a_file_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(ModelError, match=r'none\.urdf: cannot be read'):
        shapes_from_urdf(tmp_path / 'none.urdf')
