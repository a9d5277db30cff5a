"""robot_dynamics_check_model: findings, tables and exit status; the nodes' verdict is that of their own loader."""

import re
import sys
from pathlib import Path

from support.matrices import matrix
from support.robots.cut_four_bar import PIN_OF_COUPLER, PIN_OF_ROCKER, cut_four_bar
from support.robots.example_robots import example_urdfs
from support.robots.facade_robots import TREE
from support.robots.mechanisms import actuated, geared_four_bar, three_rpr

import numpy as np
import pytest
import yaml

from robot_dynamics_ros import Robot
from robot_dynamics_ros.formats.library import named_urdf
from robot_dynamics_ros.formats.urdf import Inertial
from robot_dynamics_ros.model.model import Finding
from robot_dynamics_ros.nodes.executables.bringup import NODES
from robot_dynamics_ros.tools import check_model
from robot_dynamics_ros.tools.figures.link_boxes import LinkBox, boxes_of, check_box

LIMITED = TREE.replace('effort="0"', 'effort="9"')
ARROW = '<visual><origin xyz="0 0 0.1"/><geometry><box size="0.2 0.1 0.4"/></geometry></visual>'


def run(capsys, *arguments) -> tuple[int, str]:
    """Return exit status and output of the command."""
    with pytest.raises(SystemExit) as ended:
        check_model.main(list(arguments))
    status = ended.value.code
    return (1, status) if isinstance(status, str) else (status, capsys.readouterr().out)


def table(text: str, title: str) -> list[str]:
    """Return the rows of a table, without its head."""
    (found,) = [part.splitlines() for part in text.split('\n\n') if part.startswith(title)]
    return found[2:]


def verdicts(text: str) -> dict[str, str]:
    """Return what each node does with the robot."""
    return {row.split()[0]: row.split()[1] for row in table(text, 'nodes')}


def test_a_sound_robot_is_accepted_by_all_nodes(capsys):
    status, text = run(capsys, 'aubo_i5')
    assert status == 0 and set(verdicts(text).items()) == {(name, 'accepted') for name in NODES}
    (row,) = [row for row in table(text, 'nodes') if not row.endswith('  accepted')]
    assert row.split(maxsplit=2) == ['aubo_node', 'accepted', 'reads an AUBO controller']
    assert table(text, 'findings')[0].split() == ['none']
    row = next(row.split() for row in table(text, 'joints') if 'upperArm_joint' in row)
    assert row[-4:] == ['133', '69.07', '52', '%']
    assert len(table(text, 'links')) == 7


def test_an_impossible_inertia_is_refused_by_the_nodes_that_need_it(capsys, tmp_path):
    path = tmp_path / 'arm.urdf'
    path.write_text(LIMITED.replace('iyy="0.03"', 'iyy="0.12"'))
    status, text = run(capsys, str(path))
    assert status == 1
    refused = {name for name, verdict in verdicts(text).items() if verdict == 'refused'}
    assert refused == set(NODES) - {'gravity_compensation_node', 'aubo_node'}  # gravity torques need no inertia
    assert any(re.match(r"  error +link 'sledge' +its principal moments", row) for row in table(text, 'findings'))
    status, text = run(capsys, str(path), '-p', 'model_findings:=accept')
    assert status == 0 and set(verdicts(text).values()) == {'accepted'}


def test_a_joint_without_effort_limit_is_refused_by_torque_nodes(capsys):
    status, text = run(capsys, TREE)
    assert status == 1 and verdicts(text)['dynamics_server'] == 'accepted'
    limited = {name for name, verdict in verdicts(text).items() if verdict == 'refused'}
    assert limited == {
        'feedforward_node',
        'gravity_compensation_node',
        'torque_controller',
        'trajectory_effort_node',
    }
    assert next(row for row in table(text, 'nodes') if 'torque_controller' in row).endswith(
        "joint 'a_wag': no effort limit is known; set the parameter effort_limit (.inf: no limit)"
    )
    assert run(capsys, TREE, '-p', 'effort_limit:=100')[0] == 0
    assert run(capsys, TREE, '-p', "locked_joints:=['a_wag: 0.1']")[0] == 0


def test_a_robot_that_mujoco_cannot_move_is_refused_by_simulated_arm(capsys, tmp_path, monkeypatch):
    path = tmp_path / 'screw.yaml'
    path.write_text(
        Robot.from_urdf(LIMITED).to_yaml().replace('kind: revolute', 'kind: helical\n  pitch: 0.1'), encoding='utf-8'
    )
    status, text = run(capsys, str(path))
    assert status == 1 and verdicts(text)['dynamics_server'] == 'accepted'
    row = next(row for row in table(text, 'nodes') if 'simulated_arm' in row)
    assert row.endswith("joint 'z_turn': MuJoCo has no helical joint")
    # and by all, where MuJoCo is not installed
    monkeypatch.setitem(sys.modules, 'robot_dynamics_ros.simulation.plant.mujoco_arm', None)
    status, text = run(capsys, 'aubo_i5')
    row = next(row for row in table(text, 'nodes') if 'simulated_arm' in row)
    assert status == 1 and row.endswith("it needs MuJoCo, which is not installed: pip install 'mujoco>=3.3'")


def test_torques_above_effort_limits_are_findings(capsys):
    _, text = run(capsys, LIMITED.replace('effort="9"', 'effort="0.5"'))
    needed = max(abs(Robot.from_urdf(TREE).gravity_torque(np.random.default_rng(0).uniform(-1, 1, (500, 3)))[:, 2]))
    (row,) = [row for row in table(text, 'findings') if 'gravity needs' in row]
    found = float(re.search(r"joint 'a_wag' +gravity needs ([\d.]+) N m .* its effort limit is 0.5", row)[1])
    assert needed <= found < 1.2 * needed


def on_placeholders(capsys, urdf: str) -> list[str]:
    """Return the findings on effort limits that limit nothing."""
    return [row for row in table(run(capsys, urdf)[1], 'findings') if 'limits nothing' in row]


@pytest.mark.parametrize(('effort', 'found'), [(300, 0), (5000, 1), (5e5, 0)])
def test_an_effort_limit_that_limits_nothing_is_found(effort, found, capsys):
    text = Path(named_urdf('aubo_i5')).read_text(encoding='utf-8')
    rows = on_placeholders(capsys, re.sub('effort="133"', f'effort="{effort}"', text))
    assert len(rows) == found
    said = (
        r'effort limit of shoulder_joint 5000, .*_joint 5000 N m: gravity needs no more than 69\.07 N m at any joint; '
    )
    assert all(re.search(said, row) for row in rows)


def test_limits_of_a_module_of_two_hinges_are_no_finding(capsys):
    assert not on_placeholders(capsys, LIMITED.replace('effort="9"', 'effort="2000"'))


@pytest.mark.parametrize('name', matrix(['a1.urdf', 'go1.urdf', 'go2.urdf', 'laikago.urdf'], ['go2.urdf']))
def test_limits_of_legs_are_no_finding(name, capsys):
    (path,) = [path for path in example_urdfs() if path.endswith(f'/{name}')]
    assert not on_placeholders(capsys, path)


def test_axes_that_are_nearly_along_a_coordinate_axis_are_findings(capsys):
    _, text = run(capsys, LIMITED.replace('<axis xyz="0 1 0"/>', '<axis xyz="0.01 1 0"/>'))
    (row,) = [row for row in table(text, 'findings') if 'axis' in row]
    assert "joint 'a_wag'" in row and '0.57 degrees off y' in row


def test_mimic_joints_are_shown_with_their_leaders(capsys):
    text = LIMITED.replace('effort="9"/>', 'effort="9"/><mimic joint="z_turn"/>')
    rows = table(run(capsys, text)[1], 'joints')
    assert len(rows) == 3 and 'follows z_turn' in rows[-1] and rows[-1].split()[0] == 'a_wag'


@pytest.mark.parametrize(
    ('entry', 'place', 'where'),
    [
        ('measured', 0.0, 'where joint_states say '),
        ('measured from 0.3', 0.3, 'where joint_states say, and until then at 0.3 '),
    ],
)
def test_measured_joints_are_shown_with_where_they_count(capsys, entry, place, where):
    status, text = run(capsys, LIMITED, '-p', f"locked_joints:=['z_turn: {entry}']")
    assert f'gravity torque: largest within the position limits, with z_turn at {place:g}\n' in text
    row = table(text, 'joints')[-1]
    assert row.split()[0] == 'z_turn' and where in row
    refused = {it.split()[0] for it in table(text, 'nodes') if ' refused ' in it}
    # those that read no joint states need a position
    assert refused == (set() if place else {'trajectory_effort_node', 'aubo_node', 'simulated_arm'}), text
    assert status == (0 if place else 1)


def test_a_yaml_file_is_checked_too(capsys, tmp_path):
    path = tmp_path / 'arm.yaml'
    path.write_text(Robot.from_urdf(LIMITED).to_yaml())
    status, text = run(capsys, str(path), '-p', 'gravity:=[0, 0, 9.81]')
    assert status == 0 and 'gravity 0, 0, 9.81 m/s^2' in text


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (['nowhere.urdf'], 'nowhere.urdf'),
        (['no_such_robot'], 'no_such_robot'),
        ([TREE, '-p', 'base_link:=boom'], "joint 'z_turn' moves between"),
        ([TREE, '-p', 'base_lnk:=boom'], "did you mean 'base_link'"),
        ([TREE, '-p', 'base_link'], "expected 'name:=value'"),
        ([TREE, '-p', 'gravity:=[down]'], '-p: gravity: expected a double_array'),
        ([re.sub('<inertial>.*?</inertial>', '', TREE, flags=re.DOTALL)], 'no link that moves has a mass'),
    ],
)
def test_what_cannot_be_checked_gets_one_line_or_a_finding(capsys, arguments, message):
    status, text = run(capsys, *arguments)
    assert status == 1 and message in text
    if not text.startswith('tree'):
        assert text.startswith('robot_dynamics_check_model: ') and '\n' not in text


def test_a_capsule_has_a_box_with_its_ends():
    capsule = '<visual><geometry><capsule radius="0.1" length="0.3"/></geometry></visual>'
    box = boxes_of(TREE.replace('<link name="flag">', f'<link name="flag">{capsule}'))['flag']
    np.testing.assert_allclose(box.edges, [0.2, 0.2, 0.5], rtol=1e-12)


def test_boxes_hold_all_shapes_of_a_link():
    second = ARROW.replace('visual', 'collision').replace('0 0 0.1', '0.3 0 0')
    text = TREE.replace('<link name="flag">', f'<link name="flag">{ARROW}{second}')
    box = boxes_of(text)['flag']
    np.testing.assert_allclose(box.lower, [-0.1, -0.05, -0.2], rtol=1e-12)
    np.testing.assert_allclose(box.upper, [0.4, 0.05, 0.3], rtol=1e-12)
    turned = ARROW.replace('xyz="0 0 0.1"', 'xyz="0 0 0.1" rpy="0 1.5707963267948966 0"')
    box = boxes_of(TREE.replace('<link name="flag">', f'<link name="flag">{turned}'))['flag']
    np.testing.assert_allclose(box.edges, [0.4, 0.1, 0.2], atol=1e-12)
    # of a mesh without a file nothing is known
    mesh = '<visual><geometry><mesh filename="nowhere.stl"/></geometry></visual>'
    assert boxes_of(TREE.replace('<link name="flag">', f'<link name="flag">{mesh}')) == {}


SDF = """<sdf version="1.9"><model name="r"><link name="base"/>
  <link name="arm"><inertial><mass>{mass}</mass><inertia><ixx>0.01</ixx><iyy>0.01</iyy><izz>0.01</izz></inertia>
    </inertial><visual name="v"><pose relative_to="turn">0 0 0.1 0 0 0</pose><geometry>
      <box><size>0.2 0.1 0.4</size></box></geometry></visual></link>
  <link name="held"><inertial><mass>30</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial></link>
  <joint name="turn" type="revolute"><pose>0 0 -0.1 0 0 0</pose><parent>base</parent><child>arm</child>
    <axis><xyz>0 1 0</xyz><limit><lower>-1</lower><upper>1</upper><effort>900</effort><velocity>1</velocity></limit>
    </axis></joint>
  <joint name="hold" type="fixed"><parent>arm</parent><child>held</child></joint>
</model></sdf>"""


def test_the_box_of_an_sdf_is_compared_with_the_inertial_of_its_link(capsys, tmp_path):
    path = tmp_path / 'arm.sdf'
    for mass, found in ((2, 0), (60, 1)):
        path.write_text(SDF.format(mass=mass), encoding='utf-8')
        _, text = run(capsys, str(path))
        assert next(row.split() for row in table(text, 'links') if ' arm ' in row)[-3:] == ['0.2', '0.1', '0.4']
        rows = [row for row in table(text, 'findings') if 'solid steel' in row]
        assert len(rows) == found and all("link 'arm'" in row for row in rows)


def test_the_box_of_an_mjcf_holds_looks_and_contacts(capsys, tmp_path):
    pytest.importorskip('mujoco')
    path = tmp_path / 'arm.xml'
    path.write_text("""<mujoco><asset><mesh name="wedge" vertex="0 0 0 0.4 0 0 0 0.2 0 0 0 0.1"/></asset><worldbody>
      <body name="arm"><joint name="turn" axis="0 1 0"/><inertial pos="0.5 0 0" mass="50" diaginertia="1 1 1"/>
        <geom type="mesh" mesh="wedge" contype="0" conaffinity="0" euler="0 0 90"/>
        <geom type="ellipsoid" size="0.05 0.1 0.2" group="3"/></body></worldbody></mujoco>""")
    box = boxes_of(path)['arm']
    np.testing.assert_allclose(box.lower, [-0.2, -0.1, -0.2], atol=1e-6)
    np.testing.assert_allclose(box.upper, [0.05, 0.4, 0.2], atol=1e-6)
    rows = [row for row in table(run(capsys, str(path))[1], 'findings') if 'outside of the box' in row]
    assert len(rows) == 1 and "link 'arm'" in rows[0] and '0.45 m' in rows[0]


@pytest.mark.parametrize('name', ['arm.stl', 'arm.dae'])
def test_a_file_that_is_no_mesh_has_no_box(name, tmp_path):
    pytest.importorskip('trimesh')
    pytest.importorskip('collada')
    (tmp_path / name).write_text('\n<?xml version="1.0"?><COLLADA/>', encoding='utf-8')
    path = tmp_path / 'arm.urdf'
    mesh = f'<visual><geometry><mesh filename="{name}"/></geometry></visual>'
    path.write_text(TREE.replace('<link name="flag">', f'<link name="flag">{mesh}'), encoding='utf-8')
    assert boxes_of(path) == {}


BOX = LinkBox(np.array([-0.1, -0.05, -0.2]), np.array([0.1, 0.05, 0.2]))
SOLID = 2.0 / 12.0 * np.diag([0.1**2 + 0.4**2, 0.2**2 + 0.4**2, 0.2**2 + 0.1**2])


@pytest.mark.parametrize(
    ('com', 'inertia', 'message'),
    [
        ((0.0, 0.0, 0.0), SOLID, None),
        ((0.0, 0.0, 0.15), 2.9 * SOLID, None),  # as if all mass were at the ends
        ((0.0, 0.0, 0.0), 4.0 * SOLID, 'is 4 times that of a solid box of its size, 0.2 x 0.1 x 0.4 m'),
        ((0.0, 0.0, 0.0), 1e-3 * SOLID, 'its inertia is 0.001 times that of a solid box'),
        ((0.0, 0.0, 0.0), np.zeros((3, 3)), None),  # a point mass: another finding
        ((0.0, 0.3, 0.0), SOLID, 'its centre of mass is 0.25 m outside of the box'),
    ],
)
def test_masses_are_inside_of_the_shapes(com, inertia, message):
    found = list(check_box('arm', Inertial(2.0, np.array(com), inertia), BOX))
    assert [message in it.message and it.where == "link 'arm'" for it in found] == ([True] if message else [])


@pytest.mark.parametrize(('density', 'found'), [(3500.0, 0), (6000.0, 1)])
def test_a_link_as_heavy_as_solid_steel_is_found(density, found):
    mass = density * BOX.edges.prod()
    messages = [it.message for it in check_box('arm', Inertial(mass, np.zeros(3), 0.5 * mass * SOLID), BOX)]
    text = 'its mass of 48 kg is 6000 kg/m^3 in the box of its shapes, 0.2 x 0.1 x 0.4 m: as much as solid steel'
    assert [it.startswith(text) for it in messages] == [True] * found


PIN = {
    'name': 'pin',
    'link_a': 'coupler_link',
    'pose_a': {'xyz': [float(it) for it in PIN_OF_COUPLER.split()]},
    'link_b': 'rocker_link',
    'pose_b': {'xyz': [float(it) for it in PIN_OF_ROCKER.split()]},
}


def four_bar(tmp_path, more='', **loops) -> tuple[str, str]:
    """Return the paths of the cut four-bar, and of a loops file with its pin."""
    urdf, file = tmp_path / 'bar.urdf', tmp_path / 'loops.yaml'
    urdf.write_text(cut_four_bar(more))
    file.write_text(yaml.safe_dump({'loops': {'closures': [PIN], **loops}}))
    return str(urdf), str(file)


def loop_table(text: str) -> tuple[str, list[list[str]]]:
    """Return title and cells of the table of loops."""
    (part,) = [part for part in text.split('\n\n') if part.startswith('loops')]
    title, _, *rows = part.splitlines()
    return title, [re.split(r' {2,}', row.strip()) for row in rows]


def test_each_loop_has_a_row_and_nodes_compute_with_its_motor(capsys, tmp_path):
    urdf, file = four_bar(tmp_path, actuated=['crank'])
    mimic = '<ros2_control><joint name="rocker"><param name="mimic">crank</param></joint></ros2_control>'
    (tmp_path / 'bar.urdf').write_text(cut_four_bar(mimic))
    status, text = run(capsys, urdf, '--loops', file)
    title, rows = loop_table(text)
    assert title.startswith('loops; degrees of freedom that they leave: 1; joints with a motor: crank; open: largest')
    assert rows == [
        ['pin', 'point', 'coupler_link, rocker_link', '3', '0', 'crank, coupler, rocker', 'crank'],
        ['rocker', 'coupling', 'rocker, crank', '1', '0', 'rocker, crank', 'crank'],
    ]
    assert not [row for row in table(text, 'findings') if 'degree' in row]
    assert all(row.endswith('computes with 1 of 3 joints; the others follow them') for row in table(text, 'nodes'))
    again = run(capsys, urdf, '-p', f'loops:={file}')
    assert again == (status, text)


def test_an_open_loop_is_shown_as_open(capsys, tmp_path):
    urdf, _ = four_bar(tmp_path)
    shifted = {**PIN, 'pose_a': {'xyz': [1.0, 0.25, 0.0]}}
    file = tmp_path / 'shifted.yaml'
    file.write_text(yaml.safe_dump({'loops': {'closures': [shifted]}}))
    _, ((_, _, _, _, opening, *_),) = loop_table(run(capsys, urdf, '--loops', str(file))[1])
    assert opening == '0.25'


MOTORS = {
    'none': ([], 'its loops leave 1 degree of freedom, and nothing says which joints have a motor: state 1 of them'),
    'too many': (['crank', 'rocker'], '2 joints have a motor (crank, rocker): 1 more than that; the positions of'),
}


@pytest.mark.parametrize(('actuated', 'said'), MOTORS.values(), ids=MOTORS)
def test_motors_that_do_not_fit_the_degrees_of_freedom_are_a_finding(capsys, tmp_path, actuated, said):
    urdf, file = four_bar(tmp_path, actuated=actuated)
    text = run(capsys, urdf, '--loops', file)[1]
    (row,) = [row for row in table(text, 'findings') if 'of freedom' in row]
    assert said in row


def test_mimic_joints_say_how_many_joints_a_node_computes_with(capsys, tmp_path):
    urdf, file = tmp_path / 'bar.urdf', tmp_path / 'loops.yaml'
    urdf.write_text(cut_four_bar())
    file.write_text('loops: {couplings: [{joint: rocker, other: crank, polynomial: [0.0, 1.0]}]}')
    status, text = run(capsys, str(urdf), '--loops', str(file))
    rows = table(text, 'nodes')
    assert status == 0 and all(row.endswith('computes with 2 of 3 joints; the others follow them') for row in rows)
    assert loop_table(text)[0].startswith('loops; degrees of freedom that they leave: 2;')
    assert not [row for row in table(text, 'findings') if 'of freedom' in row]  # leaders are driven


def test_a_robot_without_loops_has_no_table_of_them(capsys):
    assert '\nloops' not in run(capsys, 'aubo_i5')[1]


def test_a_wrong_loops_file_ends_the_command_in_one_line(capsys, tmp_path):
    urdf, _ = four_bar(tmp_path)
    status, text = run(capsys, urdf, '--loops', str(tmp_path / 'no.yaml'))
    assert status == 1 and text.startswith('robot_dynamics_check_model: ') and 'no.yaml: cannot be read' in text


def test_joints_without_a_motor_of_a_tree_are_a_finding_where_others_have_one(capsys, tmp_path):
    control = '<ros2_control><joint name="crank"><command_interface name="effort"/></joint>{}</ros2_control>'
    urdf, file = four_bar(tmp_path, control.format(''))

    def said(*arguments) -> list[str]:
        rows = table(run(capsys, urdf, *arguments)[1], 'findings')
        return [row for row in rows if 'unlike for the other joints' in row]

    (row,) = said()
    assert 'no <transmission> or command interface for coupler, rocker, unlike' in row
    assert not said('--loops', file)  # a loop moves them
    (row,) = said('-p', "locked_joints:=['rocker: 0.0']")
    assert 'interface for coupler, unlike' in row
    follows = '<joint name="rocker"><param name="mimic">crank</param></joint>'
    (tmp_path / 'bar.urdf').write_text(cut_four_bar(control.format(follows)))
    assert 'rocker' not in said()[0]
    (tmp_path / 'bar.urdf').write_text(cut_four_bar())
    assert not said()


def test_joints_of_several_degrees_of_freedom_have_a_row_without_torque(capsys, tmp_path):
    path = tmp_path / 'ball.xml'
    path.write_text(
        '<mujoco><worldbody><body name="rod"><joint name="ball" type="ball"/><geom size="0.1" pos="0.5 0 0"/></body>'
        '<body name="lever" pos="1 0 0"><joint name="hinge" axis="0 1 0" actuatorfrcrange="-7 7"/>'
        '<geom size="0.1" pos="-0.2 0 0"/></body></worldbody>'
        '<equality><connect body1="rod" body2="lever" anchor="0.6 0 0"/></equality></mujoco>'
    )
    rows = table(run(capsys, str(path))[1], 'joints')
    assert [re.split(r' {2,}', row.strip()) for row in rows] == [
        ['ball', 'spherical', '-', '-', '-', '-', '-'],
        ['hinge', 'revolute', '0 1 0', '-inf .. inf', '7', '-', '-'],
    ]


def test_a_linkage_that_is_cut_is_a_finding_until_its_loop_is_stated(capsys, tmp_path):
    urdf, file = four_bar(tmp_path, actuated=['crank'])

    def said(*arguments) -> list[str]:
        return [row for row in table(run(capsys, urdf, *arguments)[1], 'findings') if 'turn in one plane' in row]

    (row,) = said()
    assert "link 'base'" in row and 'crank, rocker turn in one plane' in row and 'loops file' in row
    assert not said('--loops', file)
    assert not said('-p', "locked_joints:=['rocker: 0.0']")


def test_joints_without_effort_limit_of_a_tree_are_a_finding_where_others_have_one(capsys, tmp_path):
    urdf, file = four_bar(tmp_path, actuated=['crank'])
    before, tag, after = cut_four_bar().partition('<joint name="coupler"')
    (tmp_path / 'bar.urdf').write_text(before + tag + after.replace(' effort="50"', ''))

    def said(*arguments) -> list[str]:
        rows = table(run(capsys, urdf, *arguments)[1], 'findings')
        return [row for row in rows if 'unlike for the other joints' in row]

    (row,) = said()
    assert 'no effort limit is known for coupler, rocker: where these have no motor and loops move them, state' in row
    assert not said('--loops', file)
    (tmp_path / 'bar.urdf').write_text(cut_four_bar())
    assert not said()


def test_findings_on_mechanisms_are_shown(capsys, tmp_path):
    """A platform that comes to a second solution, and a crank before a gear."""
    platform = actuated(three_rpr((-0.39, -1.49), 2.05), [f'rod {k} joint' for k in range(3)])
    shown = []
    for robot in (platform, actuated(geared_four_bar(0.5), ('gear 0 joint',))):
        path = tmp_path / 'mechanism.yaml'
        path.write_text(robot.to_yaml())
        shown.append('\n'.join(table(run(capsys, str(path))[1], 'findings')))
    assert 'two positions in one assembly mode' in shown[0] and 'tell its whole turns apart' not in shown[0]
    assert "joint 'gear 0 joint'" in shown[1] and 'tell its whole turns apart' in shown[1]


def test_the_spring_of_a_hinge_that_turns_on_is_shown(capsys, monkeypatch):
    step = Finding('warning', "loop 'pin'", 'it turns beyond half a turn')
    monkeypatch.setattr(check_model, 'spring_findings', lambda robot: [step])
    _, text = run(capsys, str(Path(__file__).parents[2] / 'examples' / 'mechanisms' / 'palletizer.yaml'))
    assert any('it turns beyond half a turn' in row for row in table(text, 'findings'))
