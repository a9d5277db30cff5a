"""Shapes of SDFormat: every kind of geometry, poses in other frames, colours, files of meshes, what is left out."""

from support.robots.example_robots import example_urdfs

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.tools.figures.sdf_shapes import shapes_from_sdf
from robot_dynamics_ros.tools.figures.shapes import GREY, Box, Capsule, Cylinder, Ellipsoid, Mesh, Sphere


def sdf(*visuals, frames='', version='1.9'):
    shown = ''.join(f'<visual name="v{i}">{visual}</visual>' for i, visual in enumerate(visuals))
    return f"""<sdf version="{version}"><model name="r"><link name="base"/>
      <link name="arm"><pose>0 0 0.5 0 0 1.5707963267948966</pose>{shown}</link>{frames}
      <joint name="turn" type="revolute"><pose>0 0 -0.1 0 0 0</pose><parent>base</parent><child>arm</child>
        <axis><xyz>0 1 0</xyz></axis></joint></model></sdf>"""


def geometry(text):
    return f'<geometry>{text}</geometry>'


BALL = geometry('<sphere><radius>0.5</radius></sphere>')


def test_every_geometry_is_read_with_its_colour():
    material = '<material><ambient>0 0 1 1</ambient><diffuse>1 0 0 1</diffuse></material>'
    shapes = shapes_from_sdf(
        sdf(
            geometry('<box><size>1 2 3</size></box>') + material,
            BALL + '<material><ambient>0 0 1</ambient></material>',
            geometry('<cylinder><radius>0.1</radius><length>2</length></cylinder>') + '<material/>',
            geometry('<capsule><radius>0.1</radius><length>0.5</length></capsule>'),
            geometry('<ellipsoid><radii>1 2 3</radii></ellipsoid>'),
            geometry('<empty/>'),
        )
    )
    assert shapes.left_out == [] and {shape.link for shape in shapes.drawn} == {'arm'}
    assert [shape.geometry for shape in shapes.drawn] == [
        Box((1.0, 2.0, 3.0)),
        Sphere(0.5),
        Cylinder(0.1, 2.0),
        Capsule(0.1, 0.5),
        Ellipsoid((1.0, 2.0, 3.0)),
    ]
    assert [shape.colour for shape in shapes.drawn] == [(1.0, 0.0, 0.0), (0.0, 0.0, 1.0), GREY, GREY, GREY]


@pytest.mark.parametrize(
    ('relative_to', 'expected'),
    [
        ('', [1.0, 2.0, 3.0]),
        ('relative_to="turn"', [1.0, 2.0, 2.9]),
        # the arm is turned by 90 degrees
        ('relative_to="__model__"', [2.0, -1.0, 2.5]),
        ('relative_to="tip"', [1.0, 2.0, 4.0]),
    ],
)
def test_a_pose_is_relative_to_the_link_or_to_a_frame(relative_to, expected):
    frames = '<frame name="tip" attached_to="arm"><pose>0 0 1 0 0 0</pose></frame>'
    text = sdf(f'<pose {relative_to}>1 2 3 0 0 0</pose>{BALL}', frames=frames)
    (shape,), left_out = shapes_from_sdf(text)
    assert not left_out and shape.pose[:3, 3] == pytest.approx(expected)
    # and what the robot has of this link is in the same frame
    assert Robot.from_sdf(text).link_pose([0.0], 'arm')[:3, 3] == pytest.approx([0.0, 0.0, 0.5])


def test_names_in_a_nested_model_are_those_of_this_model():
    text = """<sdf version="1.9"><model name="r"><model name="hand"><pose>0 0 1 0 0 0</pose><link name="palm"/>
      <link name="arm"><pose>1 0 0 0 0 0</pose><visual name="v"><pose relative_to="palm"/>
        <geometry><sphere><radius>0.5</radius></sphere></geometry></visual></link>
      <joint name="turn" type="revolute"><parent>palm</parent><child>arm</child><axis><xyz>0 1 0</xyz></axis></joint>
      </model></model></sdf>"""
    (shape,), _ = shapes_from_sdf(text)
    assert shape.link == 'hand::arm' and shape.pose[:3, 3] == pytest.approx([-1.0, 0.0, 0.0])
    assert 'hand::arm' in Robot.from_sdf(text).frame_names


def test_meshes_are_found_in_models_and_packages_and_beside_the_file(tmp_path):
    names = ['meshes/arm.stl', 'model://my_arm/meshes/arm.stl', (tmp_path / 'x y.stl').as_uri()]
    missing = ['model://my_arm/none.stl', 'model://none/arm.stl', 'https://localhost/arm.stl', '']
    for place in ('my_arm/meshes/arm.stl', 'x y.stl'):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).touch()
    path = tmp_path / 'my_arm' / 'model.sdf'
    meshes = [geometry(f'<mesh><uri>{name}</uri><scale>1 -1 2</scale></mesh>') for name in [*names, *missing]]
    path.write_text(sdf(*meshes), encoding='utf-8')
    drawn, left_out = shapes_from_sdf(path)
    arm = tmp_path / 'my_arm' / 'meshes' / 'arm.stl'
    assert [shape.geometry for shape in drawn] == [
        Mesh(it, (1.0, -1.0, 2.0)) for it in (arm, arm, tmp_path / 'x y.stl')
    ]
    assert [str(it) for it in left_out] == [
        f"link 'arm': visual 'v{i}': mesh {name} is not found" for i, name in enumerate(missing, len(names))
    ]


@pytest.mark.parametrize(
    ('visual', 'message'),
    [
        ('', 'expected one <geometry> with one shape'),
        (geometry('<plane><normal>0 0 1</normal></plane>'), '<plane> is not drawn'),
        (geometry('<box><size>1 2</size></box>'), '<size> 1 2: expected 3 finite numbers'),
        (BALL + '<pose relative_to="nowhere"/>', "no frame 'nowhere'"),
        (BALL + '<pose>0 nan 0 0 0 0</pose>', 'expected 6 finite numbers'),
        (
            geometry('<mesh><uri>a.dae</uri><submesh><name>lid</name></submesh></mesh>'),
            "part 'lid' of mesh a.dae is not drawn: <submesh> is not read",
        ),
    ],
)
def test_what_is_not_drawn_is_a_sentence(visual, message):
    drawn, (left_out,) = shapes_from_sdf(sdf(visual, BALL))
    assert len(drawn) == 1 and str(left_out).startswith("link 'arm': visual 'v0': ") and message in str(left_out)


def test_a_source_that_is_no_sdf_is_refused(tmp_path):
    with pytest.raises(ModelError, match='<robot>: expected <sdf>'):
        shapes_from_sdf('<robot name="r"/>')
    with pytest.raises(ModelError, match=r'none\.sdf: cannot be read'):
        shapes_from_sdf(tmp_path / 'none.sdf')


def test_a_public_robot_has_all_its_meshes():
    robots = next(path for path in example_urdfs() if '/robots/' in path).split('/robots/')[0]
    path = f'{robots}/robots/cassie_description/robots/cassie_v2.sdf'
    drawn, left_out = shapes_from_sdf(path)
    with open(path, encoding='utf-8') as file:
        assert len(drawn) == file.read().count('<visual') > 20
    assert left_out == [] and all(isinstance(shape.geometry, Mesh) for shape in drawn)
    assert {shape.link for shape in drawn} <= set(Robot.from_sdf(path).frame_names)
    assert all(np.isfinite(shape.pose).all() for shape in drawn)
