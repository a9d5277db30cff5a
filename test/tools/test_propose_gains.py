"""The command that proposes gains: what it prints is a parameter file of torque_controller."""

import re
import sys
from itertools import product
from pathlib import Path

from support.matrices import matrix
from support.nodes import graph  # noqa: F401  (sets the domain)
from support.robots.example_robots import example_urdfs
from support.robots.gripper import FINGER, arm_with_gripper
from support.robots.small_robots import seven_joints

import numpy as np
import pytest
import rclpy
import yaml

from robot_dynamics_ros import Robot
from robot_dynamics_ros.algorithms.position_search import search_size
from robot_dynamics_ros.control.laws import gain_limits
from robot_dynamics_ros.control.laws.gain_limits import propose_gains as proposal
from robot_dynamics_ros.control.laws.impedance.cartesian_impedance import Impedance
from robot_dynamics_ros.control.laws.impedance.impedance_limits import ImpedanceLimit
from robot_dynamics_ros.nodes.executables.torque_controller import TorqueController
from robot_dynamics_ros.nodes.lifecycle.robot_loader import load_robot
from robot_dynamics_ros.tools import propose_gains
from robot_dynamics_ros.tools.check_model import StandIn

pytestmark = pytest.mark.compiled  # long without
PAGE = Path(__file__).parents[2].joinpath('doc', 'how_to', 'gains.md').read_text(encoding='utf-8')
ROWS = re.findall(r'^\| `(\S+)` \| `(\S+)` \| (\d+) \| (\S+) \| (\S+) \| (\S+) \|$', PAGE, re.MULTILINE)


@pytest.fixture
def command(monkeypatch, capsys):
    """Return a function that runs the command with arguments and returns what it prints."""

    def call(*arguments):
        monkeypatch.setattr(sys, 'argv', ['robot_dynamics_propose_gains', *arguments])
        propose_gains.main()
        return capsys.readouterr().out

    return call


def test_it_prints_a_parameter_file_with_gains(command):
    printed = command('aubo_i5', '--rate', '50', '--bandwidth', '20')
    values = yaml.safe_load(printed)['/**/torque_controller']['ros__parameters']
    expected = proposal(Robot.named('aubo_i5'), 50.0, 20.0)
    np.testing.assert_allclose(values['stiffness'], expected.stiffness, rtol=5e-3)
    np.testing.assert_allclose(values['damping'], expected.damping, rtol=5e-3)
    assert {type(value) for value in values['stiffness'] + values['damping']} == {float}
    assert '# slower than asked, for the rate: ' in printed
    assert '# no rotor inertia is known for upperArm_joint: ' in printed  # those of the others are
    assert 'slower' not in command('aubo_i5', '--rate', '1000', '--bandwidth', '5')


def test_with_a_delay_gains_are_those_of_the_rate_as_which_it_counts(command):
    printed = command('aubo_i5', '--rate', '200', '--bandwidth', '10', '--delay', '0.01')
    values = yaml.safe_load(printed)['/**/torque_controller']['ros__parameters']
    undelayed = proposal(Robot.named('aubo_i5'), 200.0, 10.0)
    expected = proposal(Robot.named('aubo_i5'), 1.0 / (np.sqrt(2.0) * (0.005 + 0.02)), 10.0)
    np.testing.assert_allclose(values['damping'], expected.damping, rtol=5e-3)
    assert values['torque_delay'] == 0.01 and (expected.damping < 0.9 * undelayed.damping).any()
    assert printed.startswith('# aubo_i5 at 200 Hz, 0.01 s late; ')


def test_the_page_shows_what_it_prints(command):
    assert 'robot_dynamics_propose_gains aubo_i5 --rate 500 --bandwidth 10\n' in PAGE
    assert command('aubo_i5', '--rate', '500', '--bandwidth', '10') in PAGE


@pytest.mark.parametrize(
    ('description', 'tip_link', 'rate', 'printed'),
    matrix([(*row[:3], row[3:]) for row in ROWS], [(*row[:3], row[3:]) for row in ROWS[-1:]]),
)
def test_the_table_of_arms_is_what_it_prints(command, description, tip_link, rate, printed):
    file = {Path(it).name: it for it in example_urdfs()}.get(description, description)
    for delay, expected in zip(('0', '0.002', '0.005'), printed, strict=True):
        said = command(file, '--tip-link', tip_link, '--rate', rate, '--delay', delay)
        (found,) = re.findall(r'stable below (\S+) N/m', said)
        assert float(found) == pytest.approx(float(expected), rel=0.02)
    assert len(ROWS) == 7


def test_the_largest_stiffness_of_the_tool_is_at_the_limit_of_sampling(command):
    arm, still = Robot.named('aubo_i5'), np.zeros(6)
    printed = command('aubo_i5', '--rate', '200', '--delay', '0.01')
    (found,) = re.findall(r'stable below (\S+) N/m and (\S+) N m/rad', printed)
    translation, rotation = map(float, found)
    assert translation == pytest.approx(25.0 * rotation, rel=0.01)
    impedance = Impedance(np.repeat([rotation, translation], 3), still, still, 0.7)
    limit = ImpedanceLimit(arm.with_friction(viscous=0.0), impedance)
    assert limit.period == pytest.approx(np.sqrt(2.0) * (0.005 + 0.02), rel=0.01)


def parameters_of(printed):
    return yaml.safe_load(printed)['/**/torque_controller']['ros__parameters']


ARMS = [
    ('aubo_i5', '', 'ee_link'),
    ('aubo_i5', '', 'foreArm_Link'),  # joints behind it need a posture
    ('ur10_robot.urdf', 'tool0', 'tool0'),
    ('panda.urdf', 'panda_link8', 'panda_link8'),
    ('xarm7.urdf', 'link7', 'link7'),
]


@pytest.fixture
def arm_file(tmp_path):
    """Return a function of a description's name: what the command and the node call it."""
    paths = {Path(it).name: it for it in example_urdfs()}
    tmp_path.joinpath('seven_joints.yaml').write_text(seven_joints().to_yaml(), encoding='utf-8')
    paths['seven_joints.yaml'] = str(tmp_path / 'seven_joints.yaml')
    return lambda name: paths.get(name, name)


@pytest.mark.ros
@pytest.mark.parametrize(
    ('arm', 'delay'),
    matrix(
        product([*ARMS, ('seven_joints.yaml', '', 'link_6')], [0.0, 0.004]),
        [(ARMS[1], 0.0)],
    ),
    ids=str,
)
def test_the_node_accepts_the_impedance_that_it_prints(command, arm_file, tmp_path, arm, delay):
    description, tip_link, frame = arm
    file, tip = arm_file(description), ['--tip-link', tip_link] if tip_link else []
    printed = command(file, *tip, '--rate', '500', '--impedance-frame', frame, '--delay', str(delay))
    values = parameters_of(printed)
    (found,) = re.findall(r'stable below (\S+) N/m', printed)
    assert values['translational_stiffness'][0] == pytest.approx(min(0.25 * float(found), 800.0), rel=0.02)
    assert values['rotational_stiffness'][0] == pytest.approx(values['translational_stiffness'][0] / 25.0, rel=0.01)
    assert min(values['translational_damping']) > 0.0  # an axis may become free
    has_posture = len(values['stiffness']) == 7 or frame == 'foreArm_Link'
    assert (np.array([values['stiffness'], values['damping']]) > 0.0).all() == has_posture
    assert values.get('torque_delay', 0.0) == delay and values['state_rate'] == 500.0
    path = tmp_path / 'printed.yaml'
    path.write_text(printed, encoding='utf-8')
    stated = [f'model:={file}', f"tip_link:='{tip_link}'", 'await_payload_gravity:=false', 'effort_limit:=[.inf]']
    context = rclpy.Context()
    context.init(args=['--ros-args', '--params-file', str(path), *(word for it in stated for word in ('-p', it))])
    node = TorqueController(context=context)
    try:
        node.start()
        assert node.active, node.silence
        assert float(node.task.report()['period limit of the gains, s']) > 1.49 / 500.0
    finally:
        node.fall_silent()
        node.destroy_node()
        context.try_shutdown()


PALLETIZER = str(Path(__file__).parents[2] / 'examples' / 'mechanisms' / 'palletizer.yaml')
ARM_JOINTS = list(Robot.named('aubo_i5').joint_names)
ACTUATED = ['column_joint', 'upper_arm_joint', 'lever_joint', 'tool_joint']


@pytest.mark.parametrize(
    ('description', 'locked', 'joint_names'),
    [
        (PALLETIZER, {}, ACTUATED),
        ('arm_with_gripper.urdf', {}, [*ARM_JOINTS, FINGER]),
        ('arm_with_gripper.urdf', {FINGER: 0.02}, ARM_JOINTS),
    ],
)
def test_gains_are_those_of_the_driven_joints_of_the_node(
    command, tmp_path, monkeypatch, description, locked, joint_names
):
    monkeypatch.setattr(gain_limits, 'SAMPLES', 64)
    monkeypatch.setattr(gain_limits, 'search_size', lambda joints: search_size(joints, 1.0 / 64.0))
    tmp_path.joinpath('arm_with_gripper.urdf').write_text(arm_with_gripper(), encoding='utf-8')
    path = str(tmp_path / description)
    entries = [f'{joint}:{position}' for joint, position in locked.items()]
    printed = command(path, '--rate', '500', *(word for entry in entries for word in ('--lock', entry)))
    assert f'# no rotor inertia is known for {", ".join(joint_names)}: state it' in printed
    values = parameters_of(printed)
    of_node = load_robot(StandIn('torque_controller', {'locked_joints': entries}), path)
    assert list(of_node.joint_names) == joint_names
    limit = gain_limits.SamplingLimit(of_node, values['stiffness'], values['damping'])
    assert limit.fault(1.0 / 500.0) == ''


def test_the_page_shows_the_impedance_that_it_prints(command):
    assert 'robot_dynamics_propose_gains aubo_i5 --rate 500 --impedance-frame ee_link\n' in PAGE
    assert command('aubo_i5', '--rate', '500', '--impedance-frame', 'ee_link') in PAGE


def test_one_line_says_what_is_wrong(command):
    with pytest.raises(SystemExit, match=r"^robot_dynamics_propose_gains: .*'aubo_i6'"):
        command('aubo_i6', '--rate', '500')
    with pytest.raises(SystemExit, match=r'^robot_dynamics_propose_gains: rate: expected a positive number of Hz'):
        command('aubo_i5', '--rate', '-1')
    with pytest.raises(SystemExit, match=r'^robot_dynamics_propose_gains: delay: expected a number of s of at least 0'):
        command('aubo_i5', '--rate', '500', '--delay', '-0.1')
    with pytest.raises(SystemExit, match=r'^robot_dynamics_propose_gains: rate: expected a positive number of Hz'):
        command('aubo_i5', '--rate', '0', '--impedance-frame', 'ee_link')
    with pytest.raises(SystemExit, match=r"^robot_dynamics_propose_gains: no link 'nose'"):
        command('aubo_i5', '--rate', '500', '--impedance-frame', 'nose')
