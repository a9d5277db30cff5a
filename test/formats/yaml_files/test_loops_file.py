"""A loops file beside a description: the section ``loops`` of a model's YAML, added to what the description states."""

import textwrap

from support.robots.cut_four_bar import PIN_OF_COUPLER, PIN_OF_ROCKER, closed_at, cut_four_bar

import pytest
import yaml

from robot_dynamics_ros import Coupling, Robot
from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.yaml_files import loops_yaml

COUPLER, ROCKER = ([float(it) for it in pin.split()] for pin in (PIN_OF_COUPLER, PIN_OF_ROCKER))
PIN = {
    'name': 'pin',
    'link_a': 'coupler_link',
    'pose_a': {'xyz': COUPLER},
    'link_b': 'rocker_link',
    'pose_b': {'xyz': ROCKER, 'rpy': [0.0, 0.0, 0.5]},
    'kind': 'revolute',
}
CONTROL = (
    '<ros2_control name="c" type="system"><joint name="crank"><command_interface name="effort"/></joint></ros2_control>'
)
MIMIC = '<gazebo><plugin name="m" filename="f"><joint>crank</joint><mimicJoint>rocker</mimicJoint></plugin></gazebo>'


@pytest.fixture
def written(tmp_path):
    """Return a function that writes a loops file and returns its path."""

    def write(section, name='loops.yaml'):
        path = tmp_path / name
        path.write_text(yaml.safe_dump({'loops': section}), encoding='utf-8')
        return path

    return write


def test_a_file_closes_the_loop_of_a_plain_urdf(written):
    path = written({'closures': [PIN], 'actuated': ['crank'], 'gain': 5.0, 'tolerance': 1e-4})
    for robot in (
        Robot.from_urdf(cut_four_bar(), loops_file=path),
        Robot.from_description(cut_four_bar(), loops_file=str(path)),
    ):
        assert robot.mobility(closed_at(0.3)) == 1
        assert robot.loop_errors(closed_at(0.3)) == pytest.approx(0.0, abs=1e-15)
        assert (robot.loops.gain, robot.loops.tolerance, robot.loops.actuated) == (5.0, 1e-4, ('crank',))


def test_a_file_is_the_section_of_a_models_yaml(written):
    robot = Robot.from_urdf(cut_four_bar(), loops_file=written({'closures': [PIN], 'actuated': ['crank']}))
    again = Robot.from_urdf(cut_four_bar(), loops_file=written(yaml.safe_load(robot.to_yaml())['loops'], 'again.yaml'))
    assert again.digest == robot.digest and again.loops.actuated == robot.loops.actuated
    assert Robot.from_yaml(robot.to_yaml()).digest == robot.digest


def test_the_motors_of_the_description_count_where_the_file_names_none(written):
    text = cut_four_bar(CONTROL)
    assert Robot.from_urdf(text, loops_file=written({'closures': [PIN]})).loops.actuated == ('crank',)
    stated = Robot.from_urdf(text, loops_file=written({'closures': [PIN], 'actuated': ['rocker']}))
    assert stated.loops.actuated == ('rocker',)


def test_loops_are_added_to_those_of_the_description(written):
    ball = f'<loop_joint name="ball" type="spherical"><link1 link="coupler_link" xyz="{PIN_OF_COUPLER}"/>' + (
        f'<link2 link="rocker_link" xyz="{PIN_OF_ROCKER}"/></loop_joint>'
    )
    robot = Robot.from_urdf(cut_four_bar(ball + MIMIC), mimic='couple', loops_file=written({'closures': [PIN]}))
    assert [it.name for it in robot.loops.closures] == ['ball', 'pin'] and len(robot.loops.couplings) == 1
    with pytest.raises(ModelError, match="loop 'pin': the name occurs twice"):
        Robot.from_urdf(cut_four_bar(ball.replace('"ball"', '"pin"')), loops_file=written({'closures': [PIN]}))


@pytest.mark.parametrize('mimic', ['ignore', 'couple'])
def test_a_joint_that_file_and_description_couple_is_refused_by_name(written, mimic):
    path = written({'couplings': [{'joint': 'rocker', 'other': 'crank', 'polynomial': [0.0, 1.0]}]})
    assert Robot.from_urdf(cut_four_bar(), mimic=mimic, loops_file=path).loops.couplings == (
        Coupling('rocker', 'crank', (0.0, 1.0)),
    )
    with pytest.raises(ModelError) as error:
        Robot.from_urdf(cut_four_bar(MIMIC), mimic=mimic, loops_file=path)
    expected = f"robot description: {path}: coupling of joint 'rocker': the description couples this joint, too"
    assert str(error.value).startswith(expected)


def test_a_robot_of_the_package_and_an_mjcf_take_a_file_too(written, tmp_path):
    grasp = {'name': 'grasp', 'link_b': 'wrist3_Link'}
    assert (
        Robot.from_description('aubo_i5', loops_file=written({'closures': [grasp]})).loops.closures[0].name == 'grasp'
    )
    pytest.importorskip('mujoco', reason='MuJoCo is not installed')
    arm = tmp_path / 'arm.xml'
    body = '<body name="{0}"><joint name="{0}"/><geom size="0.1"/>{1}</body>'
    arm.write_text(f'<mujoco><worldbody>{body.format("a", body.format("b", ""))}</worldbody></mujoco>')
    path = written({'closures': [{'name': 'tip', 'link_b': 'b'}]})
    assert [it.name for it in Robot.from_description(arm, loops_file=path).loops.closures] == ['tip']
    held = '<equality><connect body1="a" anchor="0 0 0"/></equality><actuator><motor joint="a"/></actuator></mujoco>'
    arm.write_text(arm.read_text().replace('</mujoco>', held))
    robot = Robot.from_description(arm, loops_file=path)
    assert len(robot.loops.closures) == 2 and robot.loops.actuated == ('a',)  # those of the MJCF


def test_a_yaml_with_loops_of_its_own_takes_none(written, tmp_path):
    path, model = written({'closures': [PIN]}), tmp_path / 'arm.yaml'
    robot = Robot.from_urdf(cut_four_bar())
    model.write_text(robot.to_yaml())
    assert len(Robot.from_description(model, loops_file=path).loops.closures) == 1
    model.write_text(Robot.from_urdf(cut_four_bar(), loops_file=path).to_yaml())
    with pytest.raises(ModelError, match='has a section loops of its own; state all loops there'):
        Robot.from_description(model, loops_file=path)


REFUSED = {
    'another section': ({'joints': []}, "the file: 'joints': unknown; expected some of loops"),
    'nothing': ({}, 'the file: loops: is missing'),
    'a list': ([], 'the file: expected a table'),
    'an unknown key': ({'loops': {'motors': []}}, "loops: 'motors': unknown"),
    'an unknown link': ({'loops': {'closures': [{**PIN, 'link_a': 'x'}]}}, "loop 'pin': link_a: no link 'x'"),
    'an unknown joint': ({'loops': {'actuated': ['x']}}, "loops: actuated: no joint 'x'"),
    'a pose of words': (
        {'loops': {'closures': [{**PIN, 'pose_a': {'xyz': ['a', 0, 0]}}]}}, "loop 'pin': pose_a: xyz: expected finite"
    ),
    'a pose with another key': (
        {'loops': {'closures': [{**PIN, 'pose_a': {'quat': [0]}}]}}, "loop 'pin': pose_a: 'quat': unknown"
    ),
    'couplings that are none': ({'loops': {'couplings': [3]}}, 'coupling number 1: expected a table'),
}  # fmt: skip


@pytest.mark.parametrize(('content', 'culprit'), REFUSED.values(), ids=REFUSED)
def test_refused_by_name_of_file_and_entry(tmp_path, content, culprit):
    path = tmp_path / 'loops.yaml'
    path.write_text(yaml.safe_dump(content))
    with pytest.raises(ModelError) as error:
        Robot.from_urdf(cut_four_bar(), loops_file=path)
    assert str(error.value).startswith(f'robot description: {path}: {culprit}')


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ModelError, match=r'nowhere\.yaml: cannot be read: No such file'):
        Robot.from_urdf(cut_four_bar(), loops_file=tmp_path / 'nowhere.yaml')


def test_the_example_in_the_documentation_is_a_file():
    example = yaml.safe_load(textwrap.dedent(loops_yaml.__doc__.partition('alone::')[2]))
    assert list(example) == ['loops']
    assert set(example['loops']) == {'actuated', 'near', 'closures', 'couplings'}
