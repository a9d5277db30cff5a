"""The view of a motion: the scene follows the robot's own poses, in Python and in a real browser."""

import re
import signal
import subprocess
import sys
import time
from itertools import pairwise
from urllib.request import urlopen

from support.project.browser import Watched, playwright
from support.robots import small_robots

import numpy as np
import pytest

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.formats.library import named_urdf
from robot_dynamics_ros.tools.figures.figures import joint_colours
from robot_dynamics_ros.tools.figures.urdf_shapes import shapes_from_urdf
from robot_dynamics_ros.tools.view import MotionView

URDF = named_urdf('aubo_i5')
ARM = Robot.named('aubo_i5').with_payload(Payload(5.0, (0.0, 0.01, 0.05)))
T = np.array([1.0, 1.5, 3.0])
Q = np.array([[0.0, -0.8, 0.0, 0.0, 0.0, 0.0], [0.4, -0.2, 0.7, -0.3, 0.2, 0.9], [1.2, 0.5, -0.9, 0.6, -0.4, 0.1]])
TAU = ARM.gravity_torque(Q) + np.array([30.0, 0.0, 0.0, 0.0, 0.0, 2.0])
MOMENTS = [(1.0, Q[0]), (1.25, 0.5 * (Q[0] + Q[1])), (2.0, Q[1] + (Q[2] - Q[1]) / 3.0), (3.0, Q[2]), (9.0, Q[2])]


@pytest.fixture(scope='module', autouse=True)
def viser():
    return pytest.importorskip('viser', reason='no viser; install it: pip install viser')


@pytest.fixture(scope='module')
def shown():
    with MotionView(ARM, T, Q, TAU, URDF) as view:
        yield view


def pose_of(wxyz, position):
    """Return the pose (4, 4) of a node."""
    w, *v = wxyz
    cross = np.cross(np.eye(3), v)
    pose = np.eye(4)
    pose[:3, :3] = np.eye(3) + 2.0 * w * cross + 2.0 * cross @ cross
    pose[:3, 3] = position
    return pose


@pytest.mark.parametrize(('moment', 'q'), MOMENTS)
def test_links_are_where_the_robot_says(shown, moment, q):
    shown.show(moment)
    links = {shape.link for shape in shapes_from_urdf(URDF).drawn}
    assert set(shown.scene.links) == links | {'wrist3_Link'}
    for link, node in shown.scene.links.items():
        assert pose_of(node.wxyz, node.position) == pytest.approx(ARM.link_pose(q, link), abs=1e-9)


def test_arrows_lie_along_the_joint_axes_in_proportion_to_the_torques(shown):
    shown.show(T[1])
    arrows = shown.scene.arrows
    starts, ends = np.moveaxis(np.array([arrow.points[0] for arrow in arrows], float), 1, 0)
    for k, link in enumerate(ARM.link_names[1:]):
        axis = ARM.jacobian(Q[1], link)[:3, k]
        along = (ends - starts)[k]
        assert starts[k] == pytest.approx(ARM.link_pose(Q[1], link)[:3, 3], abs=1e-6)
        length = 0.4 * shown.scene.size * TAU[1, k] / np.abs(TAU).max()
        assert along == pytest.approx(length * axis, abs=1e-6)
    colours = joint_colours(ARM.joint_names).values()
    assert ['#' + bytes(arrow.colors.ravel().tolist()).hex() for arrow in arrows] == list(colours)


def test_a_small_torque_has_a_small_arrow_and_none_has_none():
    robot = small_robots.mixed()
    with MotionView(robot, [0.0], np.zeros((1, 3)), [[10.0, 0.1, 0.0]]) as view:
        size = view.scene.size
        long, short, none = view.scene.arrows
        assert long.head_length == pytest.approx(0.06 * size)
        assert np.linalg.norm(np.diff(long.points[0], axis=0)) == pytest.approx(0.4 * size)
        length = np.linalg.norm(np.diff(short.points[0], axis=0))
        assert length == pytest.approx(0.004 * size, rel=1e-4) and short.head_length == pytest.approx(0.002 * size)
        assert short.head_radius == pytest.approx(0.001 * size) and short.shaft_radius == pytest.approx(0.0004 * size)
        assert none.head_length == none.head_radius == none.shaft_radius == 0.0


def test_a_payload_is_a_sphere_of_its_mass_at_its_centre(shown):
    (sphere,) = shown.scene.payloads
    assert sphere.position == pytest.approx([0.0, 0.01, 0.05])
    assert 2700.0 * 4.0 / 3.0 * np.pi * sphere.radius**3 == pytest.approx(5.0)
    assert sphere.name.startswith(shown.scene.links['wrist3_Link'].name)


def test_a_robot_without_shapes_is_drawn_as_lines_between_its_links():
    robot = small_robots.mixed()
    q = np.array([[0.1, 0.2, 0.3], [0.5, -0.4, 1.0]])
    with MotionView(robot, [0.0, 1.0], q) as view:
        view.show(1.0)
        assert view.scene.lines.visible
        assert not any(arrow.visible for arrow in view.scene.arrows)
        names = robot.link_names
        expected = [[robot.link_pose(q[1], name)[:3, 3] for name in pair] for pair in pairwise(names)]
        assert view.scene.lines.points == pytest.approx(np.array(expected), abs=1e-6)


def test_between_two_times_a_free_joint_turns_about_one_axis():
    robot = small_robots.general('free')
    start, step = robot.neutral(), np.array([0.0, 0.0, 2.0, 0.0, 0.0, 0.0])
    with MotionView(robot, [0.0, 1.0], [start, robot.integrate(start, step)]) as view:
        q, _ = view.at(0.25)
        assert robot.link_pose(q, 'arm')[:2, 0] == pytest.approx([np.cos(0.5), np.sin(0.5)])


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        ({'t': [1.0, 1.0, 2.0]}, r't\[1\]: expected more than t\[0\] = 1, got 1'),
        ({'t': [[1.0]]}, r't: expected shape \(m,\)'),
        ({'t': [0.0, np.nan, 1.0]}, r't\[1\]: nan is not finite'),
        ({'q': Q[:2]}, r'q: expected shape \(3, 6\), got \(2, 6\)'),
        ({'torque': TAU[:, :5]}, r'torque: expected shape \(3, 6\), got \(3, 5\)'),
        ({'port': -1}, 'port: expected a number from 1 to 65535, got -1'),
        ({'port': 70000}, 'port: expected a number from 1 to 65535, got 70000'),
        ({'robot': ARM.chain(None, 'base_link'), 'q': np.zeros((3, 0))}, 'robot: aubo_i5 has no joint that moves'),
    ],
)
def test_what_is_wrong_is_named(change, message):
    with pytest.raises(ArgumentError, match=message):
        MotionView(**({'robot': ARM, 't': T, 'q': Q, 'torque': TAU} | change))


def test_a_wrong_moment_is_named(shown):
    with pytest.raises(ArgumentError, match='moment: nan is not finite'):
        shown.show(np.nan)


def test_a_name_stands_for_the_urdf_and_a_yaml_file_has_no_shapes(shown):
    with MotionView(ARM, T, Q, urdf='aubo_i5') as view:
        assert set(view.scene.links) == set(shown.scene.links) and view.left_out == ()
    with MotionView(ARM, T, Q, urdf='arm.yaml') as view:
        assert view.left_out == ('arm.yaml: a YAML file has no shapes',) and view.scene.lines.visible


SDF = """<sdf version="1.9"><model name="r"><link name="base"/>
  <link name="arm"><pose>0 0 0.3 0 0 0</pose>{}</link>
  <joint name="turn" type="revolute"><parent>base</parent><child>arm</child><axis><xyz>0 1 0</xyz></axis></joint>
</model></sdf>"""


def sdf(*geometries):
    return SDF.format(''.join(f'<visual name="v"><geometry>{it}</geometry></visual>' for it in geometries))


def test_the_shapes_of_an_sdf_are_drawn_and_what_is_not_is_a_sentence(viser, monkeypatch):
    meshes = []
    monkeypatch.setattr(viser.SceneApi, 'add_mesh_simple', lambda *arguments, **_: meshes.append(arguments) or True)
    text = sdf('<ellipsoid><radii>1 2 3</radii></ellipsoid>', '<plane/>')
    with MotionView(Robot.from_sdf(text), [0.0], [[0.5]], urdf=text) as view:
        assert view.left_out == ("link 'arm': visual 'v': <plane> is not drawn",)
        assert list(view.scene.links) == ['arm'] and not view.scene.lines.visible
        ((_, name, vertices, _),) = meshes
        assert name == '/link0/shape0' and np.ptp(vertices, axis=0) == pytest.approx([2.0, 4.0, 6.0], rel=0.01)
    text = sdf()
    with MotionView(Robot.from_sdf(text), [0.0], [[0.5]], urdf=text) as view:
        assert view.left_out == ('the description has no shapes: lines show the links',)


@pytest.mark.parametrize(
    'geometry',
    [
        '<capsule><radius>0</radius><length>0</length></capsule>',
        '<sphere><radius>0</radius></sphere>',
        '<box><size>-1 1 1</size></box>',
        '<cylinder><radius>-1</radius><length>1</length></cylinder>',
        '<ellipsoid><radii>0 0 0</radii></ellipsoid>',
    ],
)
def test_a_shape_without_a_size_is_a_sentence(geometry):
    text = sdf(geometry)
    with MotionView(Robot.from_sdf(text), [0.0], [[0.5]], urdf=text) as view:
        (sentence,) = view.left_out
        assert re.fullmatch(r"link 'arm': a shape of the size -?[\d -]+ m is not drawn", sentence)


def test_the_shapes_of_an_mjcf_are_drawn():
    pytest.importorskip('mujoco')
    text = """<mujoco><asset><mesh name="roof" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset><worldbody>
      <geom type="plane" size="1 1 1"/>
      <body name="arm"><joint name="a" axis="0 1 0"/><joint name="b" axis="1 0 0"/>
        <geom type="mesh" mesh="roof"/></body></worldbody></mujoco>"""
    with MotionView(Robot.from_mjcf(text), [0.0], [[0.5, 0.2]], urdf=text) as view:
        assert view.left_out == ("link 'world': a plane is not drawn",)
        # the link between the two joints has no mass
        assert list(view.scene.links) == ['arm'] and not view.scene.lines.visible


def test_a_urdf_of_another_robot_is_refused():
    visual = '<visual><geometry><sphere radius="1"/></geometry></visual>'
    other = f'<robot name="other"><link name="hull">{visual}</link></robot>'
    with pytest.raises(ArgumentError, match="urdf: it has shapes of 'hull' and others, but of no link of aubo_i5"):
        MotionView(ARM, T, Q, urdf=other)


@pytest.mark.parametrize('content', ['', 'solid nothing', 'a text that is longer than the header of a binary file' * 9])
def test_a_file_that_is_no_mesh_is_named(tmp_path, content):
    (tmp_path / 'arm.stl').write_text(content, encoding='utf-8')
    visual = '<visual><geometry><mesh filename="arm.stl"/></geometry></visual>'
    path = tmp_path / 'arm.urdf'
    path.write_text(f'<robot name="r"><link name="wrist3_Link">{visual}</link></robot>', encoding='utf-8')
    with MotionView(ARM, T, Q, urdf=path) as view:
        (sentence,) = view.left_out
        assert re.search(r"^link 'wrist3_Link': .*arm\.stl is no mesh", sentence)


def test_a_mesh_of_a_format_that_is_not_read_is_named(tmp_path):
    (tmp_path / 'arm.step').touch()
    visual = '<visual><geometry><mesh filename="arm.step"/></geometry></visual>'
    path = tmp_path / 'arm.urdf'
    path.write_text(f'<robot name="r"><link name="wrist3_Link">{visual}</link></robot>', encoding='utf-8')
    with MotionView(ARM, T, Q, urdf=path) as view:
        (sentence,) = view.left_out
        assert sentence.endswith('arm.step is not read: trimesh reads no files of the format step')


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, 'viser', None)
    with pytest.raises(DynamicsError, match='viewing a motion needs viser, which is not installed: pip install viser'):
        MotionView(ARM, T, Q)


# a process in the background may ignore the signal
SCRIPT = """
import signal

from robot_dynamics_ros import Robot
from robot_dynamics_ros.tools.view import view

signal.signal(signal.SIGINT, signal.default_int_handler)
view(Robot.from_dh([{'a': 0.5, 'mass': 1.0}]), [0.0, 1.0], [[0.0], [1.0]], urdf='arm.yaml')
"""


def test_a_script_prints_the_address_and_ends_with_an_interrupt():
    command = [sys.executable, '-c', SCRIPT]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        lines = iter(process.stdout)
        assert next(line for line in lines if 'drawn' in line) == 'not drawn: arm.yaml: a YAML file has no shapes\n'
        line = next(line for line in lines if 'Ctrl-C' in line)
        with urlopen(re.search(r'http://127\.0\.0\.1:\d+', line)[0]) as page:
            assert b'Viser client' in page.read()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, '')


@pytest.fixture(scope='module')
def page(shown, browser):
    watched = Watched(browser, viewport={'width': 800, 'height': 450})  # drawn without a graphics card
    watched.page.goto(shown.url)
    watched.page.wait_for_function('window.__viserMutable?.nodeRefFromName["/link6"] !== undefined')
    yield watched.page
    assert [url for url in watched.requests if not url.startswith((shown.url, f'blob:{shown.url}'))] == []
    assert [line for line in watched.console if 'error' in line.lower()] == []


def drawn(page, node):
    """Return the pose (4, 4) of a node as the browser draws it, in the base frame."""
    rows = page.evaluate(
        """name => {
          const nodes = window.__viserMutable.nodeRefFromName;
          nodes[name].updateWorldMatrix(true, false);
          return nodes[''].matrixWorld.clone().invert().multiply(nodes[name].matrixWorld).transpose().elements;
        }""",
        node,
    )
    return np.array(rows).reshape(4, 4)


def wait_until(holds):
    """Wait until a condition holds; half a minute is enough for a slow machine."""
    end = time.monotonic() + 30.0
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def wait_until_drawn(page, view, q):
    """Wait until the last link is where it is at q."""
    node, expected = view.scene.links['wrist3_Link'].name, ARM.link_pose(q, 'wrist3_Link')
    wait_until(lambda: np.allclose(drawn(page, node), expected, atol=1e-6))


def test_a_browser_draws_the_links_where_the_robot_says(shown, page):
    pictures = []
    for moment, q in (MOMENTS[0], MOMENTS[3]):
        shown.show(moment)
        wait_until_drawn(page, shown, q)
        for link, node in shown.scene.links.items():
            assert drawn(page, node.name) == pytest.approx(ARM.link_pose(q, link), abs=1e-6)
        for i, shape in enumerate(shapes_from_urdf(URDF).drawn):
            name = f'{shown.scene.links[shape.link].name}/shape{i}'
            assert drawn(page, name) == pytest.approx(ARM.link_pose(q, shape.link) @ shape.pose, abs=1e-6)
        pictures.append(page.locator('canvas').first.screenshot())
    assert pictures[0] != pictures[1]


def test_the_play_button_moves_the_arm(shown, page):
    shown.show(T[0])
    wrist = shown.scene.links['wrist3_Link'].name
    before = drawn(page, wrist)
    page.get_by_role('button', name='Play').click()
    wait_until(lambda: not np.allclose(drawn(page, wrist), before, atol=1e-2))
    page.get_by_role('button', name='Pause').click()
    playwright().expect(page.get_by_role('button', name='Play')).to_be_visible()


def test_a_time_that_is_typed_is_shown(shown, page):
    box = page.locator('input[value]').filter(visible=True).first
    box.fill('1.5')
    box.press('Enter')
    wait_until_drawn(page, shown, Q[1])


def test_a_check_box_hides_the_torques(shown, page):
    page.get_by_label('torques, up to').click()
    wait_until(lambda: not any(arrow.visible for arrow in shown.scene.arrows))
    page.get_by_label('torques, up to').click()
    wait_until(lambda: all(arrow.visible for arrow in shown.scene.arrows))
