"""Which findings of a description a node refuses, and which it logs as warnings: what its torques need decides."""

import re

from support.nodes.loader_stand_in import StandIn
from support.robots.facade_robots import TREE

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import DynamicsError
from robot_dynamics_ros.model.audit import AFFECTED
from robot_dynamics_ros.nodes.lifecycle import robot_log
from robot_dynamics_ros.nodes.lifecycle.robot_loader import load_robot
from robot_dynamics_ros.nodes.lifecycle.robot_log import RobotLog
from robot_dynamics_ros.nodes.lifecycle.robot_requirements import requirements_of

GRAVITY = requirements_of('gravity_compensation_node').needs
# no body has the inertia of the sledge, on which the tool is fixed: 0.12 > 0.02 + 0.02
FLAWED = TREE.replace('iyy="0.03"', 'iyy="0.12"')
MASSLESS = re.sub('<inertial>.*?</inertial>', '', TREE, flags=re.DOTALL)


def test_gravity_needs_no_inertia_and_other_nodes_refuse_one_that_no_body_has():
    gravity = StandIn(GRAVITY)
    robot = load_robot(gravity, FLAWED)
    assert not gravity.lines['error']
    assert any("warning: link 'sledge': its principal moments" in line for line in gravity.lines['warning'])
    q = np.linspace(-0.5, 0.5, 3)
    assert robot.gravity_torque(q).tolist() == Robot.from_urdf(TREE).gravity_torque(q).tolist()
    with pytest.raises(DynamicsError, match=r"1 error\(s\), first error: link 'sledge': .* model_findings to accept$"):
        load_robot(StandIn(), FLAWED)
    accepting = StandIn(model_findings='accept')
    assert load_robot(accepting, FLAWED).digest == robot.digest
    assert not accepting.lines['error'] and accepting.lines['warning'] == gravity.lines['warning']


def test_a_yaml_file_of_the_corrected_robot_is_accepted(tmp_path):
    path = tmp_path / 'corrected.yaml'
    path.write_text(Robot.from_urdf(FLAWED).with_consistent_inertias().to_yaml())
    node = StandIn()
    load_robot(node, str(path))
    assert not node.lines['error']


def test_inertias_are_judged_after_joints_are_locked():
    """The boom, 3 kg, makes up for the sledge that is held on it."""
    node = StandIn(locked_joints=['m_slide: 0.1'])
    load_robot(node, FLAWED)
    assert any("warning: link 'sledge': its principal moments" in line for line in node.lines['warning'])
    # the sledge as the base does not matter either
    load_robot(StandIn(locked_joints=['m_slide: 0.1', 'z_turn: 0.0']), FLAWED)


@pytest.mark.parametrize('needs', [AFFECTED, GRAVITY])
def test_a_description_without_inertials_is_told_so_first(needs):
    node = StandIn(needs)
    with pytest.raises(DynamicsError, match=r"first error: robot 'tree': no link that moves has a mass"):
        load_robot(node, MASSLESS)
    assert len(node.lines['error']) == 1


def test_nodes_of_one_process_log_followers_and_findings_once(monkeypatch):
    """But each says why it refuses the robot."""
    monkeypatch.setattr(robot_log, '_logged', set())
    text = FLAWED.replace('effort="0"/>', 'effort="0"/><mimic joint="z_turn"/>')
    first, second, third = nodes = [StandIn(GRAVITY), StandIn(GRAVITY), StandIn(AFFECTED)]
    for node in nodes:
        node.robot_log = RobotLog(node.robot_log)
    robot = load_robot(first, text)
    assert load_robot(second, text).joint_names == robot.joint_names
    assert len(first.lines['info']) == 1 and len(first.lines['warning']) >= 1
    assert second.lines == {'error': [], 'warning': [], 'info': []}
    with pytest.raises(DynamicsError):
        load_robot(third, text)
    assert len(third.lines['error']) == 1
    load_robot(second, text.replace('name="tree"', 'name="another"'))
    assert len(second.lines['info']) == 1 and len(second.lines['warning']) == len(first.lines['warning'])
