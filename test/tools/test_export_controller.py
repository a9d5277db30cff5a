"""The command export_controller: the package that it writes, and which robots and requests it refuses."""

import re
import runpy
import shutil
import subprocess
import sys
from unittest import mock
from xml.etree import ElementTree

from support.project.project_files import ROOT
from support.robots.mechanisms import MECHANISMS, PALLETIZER_ACTUATED
from support.robots.small_robots import joint, link

import pytest
import yaml

from robot_dynamics_ros import Coupling, LoopClosure, Payload, Robot
from robot_dynamics_ros.control.terms.compensation_policy import PRESETS
from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.robot.export.c_library_export import controller_library
from robot_dynamics_ros.tools import export_controller

FILES = [
    'CMakeLists.txt', 'config/controllers.yaml', 'dynamics/CMakeLists.txt', 'dynamics/NAME_dynamics.c',
    'dynamics/NAME_dynamics.h', 'dynamics/NAME_library.c', 'launch/controllers.launch.py', 'package.xml',
]  # fmt: skip
HOSTILE = 'a&quot;*/ $ (&apos;id&apos;) ??/ \\ : # {} é'
MIMIC = '<mimic joint="left" multiplier="-1"/>'
LIMIT = '<limit lower="-1" upper="1" velocity="2" effort="30"/>'


@pytest.fixture
def command(monkeypatch):
    """Return a function that runs the command with arguments."""

    def call(*arguments):
        monkeypatch.setattr(sys, 'argv', ['robot_dynamics_export_controller', *map(str, arguments)])
        export_controller.main()

    return call


def written(folder) -> dict:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob('*') if path.is_file()}


def parameters(folder) -> dict:
    return yaml.safe_load((folder / 'config' / 'controllers.yaml').read_text())


def description(folder, *parts, name='arm'):
    path = folder / 'arm.urdf'
    path.write_text(f'<robot name="{name}">{"".join(parts)}</robot>')
    return path


def nodes_started_by(path) -> list:
    """Return the arguments of the nodes that a launch file makes; launch itself is not needed for that."""
    names = ('launch', *(f'launch.{it}' for it in ('actions', 'conditions', 'substitutions')))
    names += ('launch_ros', *(f'launch_ros.{it}' for it in ('actions', 'parameter_descriptions', 'substitutions')))
    modules = {name: mock.MagicMock() for name in names}
    with mock.patch.dict(sys.modules, modules):
        runpy.run_path(str(path))['generate_launch_description']()
    return [call.kwargs for call in modules['launch_ros.actions'].Node.call_args_list]


def gripper(folder):
    """Return the path of an arm of one joint with a gripper of two fingers, the second of which mimics the first."""
    return description(
        folder, link('base'), link('arm', 2.0), link('finger_1', 0.1), link('finger_2', 0.1),
        joint('swing', 'base', 'arm', 'revolute', '0 1 0', inside=LIMIT),
        joint('left', 'arm', 'finger_1', 'prismatic', origin='0 0 1', inside=LIMIT),
        joint('right', 'arm', 'finger_2', 'prismatic', origin='0 0 1', inside=LIMIT + MIMIC),
    )  # fmt: skip


def test_the_package_of_an_arm(command, tmp_path, capsys):
    folder = tmp_path / 'new'
    command('aubo_i5', folder, '--preset', 'motor_pd', '--rate', '500')
    files = written(folder)
    assert sorted(files) == [name.replace('NAME', 'aubo_i5') for name in FILES]
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(str(folder / name) for name in files)
    package = ElementTree.fromstring(files['package.xml'])
    assert package.findtext('name') == 'aubo_i5_controllers'
    assert 'project(aubo_i5_controllers LANGUAGES C)' in files['CMakeLists.txt']
    started = nodes_started_by(folder / 'launch' / 'controllers.launch.py')
    assert [(it['package'], it['executable']) for it in started] == [
        ('controller_manager', 'ros2_control_node'),
        ('controller_manager', 'spawner'),
    ]
    robot, said = Robot.named('aubo_i5'), parameters(folder)
    assert set(said) - {'controller_manager'} <= set(started[1]['arguments'])
    manager, own = (said[name]['ros__parameters'] for name in ('controller_manager', 'feedforward_effort_controller'))
    assert manager['update_rate'] == 500
    assert own['joints'] == list(robot.joint_names) and own['model_digest'] == robot.digest
    assert own['library'] == '$(find-pkg-prefix aubo_i5_controllers)/lib/libaubo_i5_library.so'
    assert own['preset'] == 'motor_pd' and own['preset'] in PRESETS
    above = said['joint_trajectory_controller']['ros__parameters']
    assert above['command_joints'] == [f'feedforward_effort_controller/{name}' for name in robot.joint_names]
    assert above['command_interfaces'] == own['reference_interfaces'] == ['position', 'velocity', 'acceleration']
    for name in ('feedforward_effort_controller', 'joint_trajectory_controller'):
        assert manager[name]['type'] == said[name]['ros__parameters']['type']
    command('aubo_i5', folder, '--preset', 'motor_pd', '--rate', '500')
    assert written(folder) == files


@pytest.mark.parametrize('own', ['package.xml', 'config/controllers.yaml', 'dynamics/aubo_i5_library.c'])
def test_a_file_of_somebody_else_is_kept(own, command, tmp_path):
    (tmp_path / own).parent.mkdir(exist_ok=True)
    (tmp_path / own).write_text('mine')
    with pytest.raises(SystemExit, match=f'folder: .*{own} exists and is not of an export of aubo_i5_'):
        command('aubo_i5', tmp_path)
    assert written(tmp_path) == {own: 'mine'}


@pytest.mark.skipif(not shutil.which('gcc'), reason='no C compiler')
def test_names_are_text_and_nothing_else(command, tmp_path):
    path = description(
        tmp_path, link('base'), link('hand', 1.0), joint(HOSTILE, 'base', 'hand', 'continuous'), joint('fixed', 'hand',
        HOSTILE, 'fixed'), link(HOSTILE), name=HOSTILE,
    )  # fmt: skip
    command(path, tmp_path / 'new')
    (name,) = Robot.from_urdf(path).joint_names
    ElementTree.parse(tmp_path / 'new' / 'package.xml')
    own = parameters(tmp_path / 'new')
    assert own['feedforward_effort_controller']['ros__parameters']['joints'] == [name]
    text = (tmp_path / 'new' / 'config' / 'controllers.yaml').read_text()
    assert not re.findall(r'\$(?!\(find-pkg-prefix)', text), 'a launch file may replace substitutions'
    (source,) = (tmp_path / 'new').glob('dynamics/*_library.c')
    (dynamics,) = source.parent.glob('*_dynamics.c')
    include = ROOT / 'robot_dynamics_controllers' / 'include'
    strict = '-std=c99', '-trigraphs', '-Wall', '-Wextra', '-Wpedantic', '-Werror', '-fsyntax-only'
    subprocess.run(['gcc', *strict, '-I', include, source], check=True)
    joints = re.search(r'joint_names\[1\] = \{\s*"(.*)",', dynamics.read_text())[1]
    assert joints.encode().decode('unicode_escape').encode('latin-1').decode() == name


def test_the_limit_that_is_missing_is_named(command, tmp_path):
    command(description(tmp_path, link('base'), link('hand', 1.0), joint('turn', 'base', 'hand')), tmp_path / 'new')
    text = (tmp_path / 'new' / 'config' / 'controllers.yaml').read_text()
    assert '# state it: the description has no effort limit of "turn"' in text
    command('aubo_i5', tmp_path / 'other')
    assert 'state it' not in (tmp_path / 'other' / 'config' / 'controllers.yaml').read_text()


@pytest.mark.skipif(not shutil.which('gcc'), reason='no C compiler')
def test_the_joint_that_others_mimic_is_commanded(command, tmp_path):
    folder = tmp_path / 'new'
    command(gripper(tmp_path), folder)
    own = parameters(folder)['feedforward_effort_controller']['ros__parameters']
    assert own['joints'] == ['swing', 'left']
    above = parameters(folder)['joint_trajectory_controller']['ros__parameters']
    assert above['joints'] == ['swing', 'left']
    assert_both_variants_link(folder)


@pytest.mark.skipif(not shutil.which('gcc'), reason='no C compiler')
def test_a_law_of_a_frame_leads_the_driven_joints(command, tmp_path):
    folder, posture = tmp_path / 'new', {'stiffness': [1.0], 'damping': [1.0]}
    command(gripper(tmp_path), folder, '--impedance', gains(tmp_path, impedance_frame='', **LIGHT, **posture))
    (header,) = (folder / 'dynamics').glob('*_dynamics.h')
    assert 'driven_jacobian(' in header.read_text() and 'driven_mass_matrix_inverse(' in header.read_text()
    assert_both_variants_link(folder)


LIGHT = {'translational_stiffness': [10.0] * 3, 'rotational_stiffness': [0.0] * 3}


@pytest.mark.skipif(not shutil.which('gcc'), reason='no C compiler')
def test_the_actuated_joints_of_closed_loops_are_commanded(command, tmp_path):
    path = tmp_path / 'palletizer.yaml'
    mechanism, robot = MECHANISMS['palletizer'], MECHANISMS['palletizer'].robot
    near = dict(zip(robot.joint_names, map(float, mechanism.q), strict=True))
    path.write_text(robot.with_loops(mechanism.loops, actuated=PALLETIZER_ACTUATED, near=near).to_yaml())
    folder = tmp_path / 'new'
    command(path, folder)
    own = parameters(folder)['feedforward_effort_controller']['ros__parameters']
    assert own['joints'] == [name for name in robot.joint_names if name in PALLETIZER_ACTUATED]
    assert_both_variants_link(folder)


def test_loops_without_a_stated_motor_are_refused(command, tmp_path):
    path = tmp_path / 'loop.yaml'
    path.write_text(MECHANISMS['palletizer'].robot.to_yaml())
    with pytest.raises(SystemExit, match='nothing says which of its joints have a motor: state actuated'):
        command(path, tmp_path / 'new')
    assert not (tmp_path / 'new').exists()


def assert_both_variants_link(folder):
    """Compile the library with both variants of its files as CMakeLists.txt says: no symbol is defined twice."""
    (library,), (dynamics,) = (list((folder / 'dynamics').glob(f'*_{it}.c')) for it in ('library', 'dynamics'))
    text = (folder / 'CMakeLists.txt').read_text()
    renamed = [f'-D{it}' for it in re.findall(r'^ {8}(\w+=\w+_fma)\)?$', text, re.MULTILINE)]
    include = '-I', ROOT / 'robot_dynamics_controllers' / 'include'
    strict = '-std=c99', '-O0', '-fPIC', '-Wall', '-Wextra', '-Wpedantic', '-Wconversion', '-Werror', *include
    objects = []
    for source in (library, dynamics):
        for variant in ([], renamed):
            objects.append(folder / f'{source.stem}{len(objects)}.o')
            subprocess.run(['gcc', *strict, *variant, '-c', source, '-o', objects[-1]], check=True)
    subprocess.run(['gcc', '-shared', *objects, '-o', folder / 'both.so', '-lm'], check=True)


def test_a_gripper_is_locked_or_left_out(command, tmp_path):
    arm = gripper(tmp_path)
    command(arm, tmp_path / 'locked', '--lock', 'left:0.1')
    command(arm, tmp_path / 'without', '--tip-link', 'arm')
    masses = []
    for name in ('locked', 'without'):
        own = parameters(tmp_path / name)['feedforward_effort_controller']['ros__parameters']
        assert own['joints'] == ['swing']
        source = (tmp_path / name / 'dynamics' / 'arm_library.c').read_text()
        inputs = re.search(r'default_inputs\[ROBOT_DYNAMICS_INPUTS\] = \{\s*(.*),\n', source)[1].split(', ')
        masses.append(float(inputs[3]))
    assert masses == pytest.approx([2.2, 2.0])


GAINS = {
    'control_law': 'cartesian_impedance', 'impedance_frame': 'ee_link',
    'translational_stiffness': [800.0, 800.0, 300.0], 'rotational_stiffness': [30.0, 30.0, 30.0],
    'stiffness': [0.0], 'damping': [0.0], 'force_limit': 15.0, 'state_rate': 500.0,
}  # fmt: skip


def gains(folder, **values):
    """Return the path of a parameter file of a node."""
    path = folder / 'gains.yaml'
    path.write_text(yaml.safe_dump({'/**/torque_controller': {'ros__parameters': {**GAINS, **values}}}))
    return path


@pytest.mark.compiled
@pytest.mark.skipif(not shutil.which('gcc'), reason='no C compiler')
def test_the_package_of_a_compliant_arm(command, tmp_path, capsys):
    """Its library has the gains of a parameter file of torque_controller, and its parameters choose them."""
    folder = tmp_path / 'new'
    command(
        'aubo_i5',
        folder,
        '--impedance',
        gains(tmp_path, torque_delay=0.001, model='aubo_i5', gravity=[0.0], locked_joints=['']),
    )
    said = capsys.readouterr()
    assert len(said.out.splitlines()) == len(FILES)
    note = 'not used, state in controllers.yaml what counts there: state_rate'
    assert said.err == f'{tmp_path}/gains.yaml: {note}\n'
    own = parameters(folder)['feedforward_effort_controller']['ros__parameters']
    assert own['torque_delay'] == 0.001
    assert (own['control_law'], own['evaluate_at'], own['stiffness']) == ('cartesian_impedance', 'measured', [0.0])
    source = (folder / 'dynamics' / 'aubo_i5_library.c').read_text()
    assert 'frame_stiffness[6] = {30.0, 30.0, 30.0, 800.0, 800.0, 300.0}' in source
    assert 'frame_largest_wrench[2] = {0.0, 15.0}' in source
    assert '.frame = "ee_link"' in source and '.axes = "base_link"' in source
    include = ROOT / 'robot_dynamics_controllers' / 'include'
    strict = '-std=c99', '-trigraphs', '-Wall', '-Wextra', '-Wpedantic', '-Wconversion', '-Werror', '-fsyntax-only'
    subprocess.run(['gcc', *strict, '-I', include, folder / 'dynamics' / 'aubo_i5_library.c'], check=True)
    renamed = (folder / 'CMakeLists.txt').read_text()
    header = (folder / 'dynamics' / 'aubo_i5_dynamics.h').read_text()
    functions = re.findall(r'^bool (\w+)\(', header, re.MULTILINE)
    assert len(functions) == 6 and all(f'        {it}={it}_fma' in renamed for it in functions)


@pytest.mark.compiled
def test_the_package_of_an_arm_with_operational_space_control(command, tmp_path, capsys):
    folder, values = tmp_path / 'new', {'control_law': 'operational_space', 'bandwidth': 12.0, 'largest_mass': 60.0}
    command('aubo_i5', folder, '--impedance', gains(tmp_path, **values))
    unused = {*GAINS} - {'control_law', 'impedance_frame', 'stiffness', 'damping'}
    (note,) = capsys.readouterr().err.splitlines()
    assert set(note.partition('there: ')[2].split(', ')) == unused
    own = parameters(folder)['feedforward_effort_controller']['ros__parameters']
    assert (own['control_law'], own['evaluate_at'], own['stiffness']) == ('operational_space', 'measured', [0.0])
    source = (folder / 'dynamics' / 'aubo_i5_library.c').read_text()
    assert '.name = "operational_space"' in source and '.largest_mass = 60.0' in source
    assert '.commands = 0' in source and '.directions = 6' in source
    with pytest.raises(SystemExit, match='bandwidth: at 10 Hz damping times period over inertia'):
        command(
            'aubo_i5', tmp_path / 'slow', '--rate', '10', '--impedance', gains(tmp_path, **values, damping_ratio=1.0)
        )
    assert not (tmp_path / 'slow').exists()


@pytest.mark.compiled
@pytest.mark.parametrize(
    ('values', 'arguments', 'said'),
    [
        (
            {'rotational_stiffness': [-1.0]},
            [],
            'rotational_stiffness: not stated; expected three numbers of at least 0',
        ),
        ({'stiffness': [-1.0]}, [], 'stiffness: not stated, and no robot has default gains'),
        ({'impedance_frame': 'hand'}, [], "'hand'"),
        ({'translational_stiffness': [8e7] * 3}, [], 'stiffness.*: at 1000 Hz damping times period over inertia'),
        ({'torque_delay': 0.5}, [], ': at .* Hz damping times period'),
        ({'rest_friction_share': 0.5}, ['--preset', 'ur_direct_torque'], 'rest_friction_share: friction is no term'),
        ({}, ['--preset', 'motor_pd'], '--impedance: with preset motor_pd the PD of the motors'),
        ({'damping_ratio': 1}, [], 'damping_ratio: expected double, got 1'),
        ({'control_law': 'pd'}, [], "control_law: expected cartesian_impedance or operational_space, got 'pd'"),
        ({'gravity': [0.0, 0.0, 9.81]}, [], 'gravity: state it by --gravity, where it is .*the file says'),
        ({'preset': 'franka'}, [], "preset: state it by --preset, where it is ''; the file says 'franka'"),
        ({'gravity_owner': 'robot'}, [], 'gravity_owner: state it in controllers.yaml'),
        ({'tip_link': 'foreArm_Link'}, [], 'tip_link: state it by --tip-link'),
        ({'loops': 'pins.yaml'}, [], "loops: state it by --loops, where it is ''; the file says 'pins.yaml'"),
        ({'model': 'panda.urdf'}, [], "model: state it as robot, where it is 'aubo_i5'; the file says 'panda.urdf'"),
    ],
)
def test_gains_that_no_controller_can_have_are_refused_before_anything_is_written(
    values, arguments, said, command, tmp_path
):
    with pytest.raises(SystemExit, match=f'robot_dynamics_export_controller: .*({said})') as refused:
        command('aubo_i5', tmp_path / 'new', '--impedance', gains(tmp_path, **values), *arguments)
    assert '\n' not in str(refused.value) and not (tmp_path / 'new').exists()


@pytest.mark.parametrize(
    ('arguments', 'said'),
    [
        (['--impedance', 'nowhere.yaml'], 'nowhere.yaml'),
        (['--preset', 'monitor_only'], '--preset monitor_only: such an arm takes no efforts'),
        (['--rate', '0'], '--rate: expected 1 to 100000 Hz, got 0'),
        (['--package', 'My-arm'], "--package: expected lower-case letters, .*, got 'My-arm'"),
        (['--lock', 'wrist3_joint'], "--lock: expected JOINT:POSITION, got 'wrist3_joint'"),
        (['--lock', 'nothing:0.0'], "'nothing'"),
        (['--tip-link', 'nothing'], "'nothing'"),
    ],
)
def test_one_line_says_what_is_wrong(arguments, said, command, tmp_path):
    with pytest.raises(SystemExit, match=f'robot_dynamics_export_controller: .*{said}') as refused:
        command('aubo_i5', tmp_path / 'new', *arguments)
    assert '\n' not in str(refused.value) and not (tmp_path / 'new').exists()


def test_what_no_controller_can_command():
    arm = Robot.named('aubo_i5')
    free = Robot.from_urdf(
        f'<robot name="r">{link("base")}{link("hand", 1.0)}{joint("a", "base", "hand", "planar")}</robot>'
    )
    for robot, said in (
        (free, "joint 'a' is planar, and a controller commands joints of one coordinate"),
        (arm.with_loops([LoopClosure('closed', 'foreArm_Link')]), "aubo_i5, which has closed loops: loop 'closed'"),
        (arm.with_loops([Coupling('wrist3_joint', 'wrist2_joint', (0.0, 1.0))]), "coupling of joint 'wrist3_joint'"),
        (arm.with_payload(Payload(1.0, (0.0, 0.0, 0.0)), 'foreArm_Link'), "the payload on 'foreArm_Link' would become"),
        (arm.with_payload(Payload(1.0, (0.0, 0.0, 0.0))), 'belongs in the description'),
        (Robot.from_urdf('<robot name="r"><link name="base"/></robot>'), 'r: no joint moves'),
    ):
        with pytest.raises(ModelError, match=re.escape(said)):
            controller_library(robot)
    assert controller_library(arm).digest == arm.digest
    assert controller_library(arm).frames == ['wrist3_Link', 'ee_link']
