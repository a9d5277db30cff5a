"""Mechanisms in the demo: their motions stay within reach, nodes read what is written, and what is refused."""

from functools import cache
from pathlib import Path

from support.control.tracking_experiment import tracked
from support.matrices import matrix
from support.nodes.loader_stand_in import StandIn
from support.robots.mechanisms import MECHANISMS, four_bar
from support.robots.mechanisms import actuated as with_motors

import numpy as np
import pytest
import yaml

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.arm.following.closed_mechanism import ClosedMechanism
from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.nodes.lifecycle.robot_loader import load_robot
from robot_dynamics_ros.tools.demonstration.completed_arm import RATE
from robot_dynamics_ros.tools.demonstration.compliant_arm import compliant_arm
from robot_dynamics_ros.tools.demonstration.demo_arm import demo_arm
from robot_dynamics_ros.tools.demonstration.mechanism_reach import LEAST_DISTANCE, is_within_reach
from robot_dynamics_ros.tools.demonstration.tracking_motion import joint_ranges

EXAMPLES = Path(__file__).parents[3] / 'examples' / 'mechanisms'
JOINTS = {
    'palletizer': ('column_joint', 'upper_arm_joint', 'lever_joint', 'tool_joint'),
    'delta': ('arm_0_joint', 'arm_1_joint', 'arm_2_joint'),
    'arm_with_gripper': (
        'base_joint', 'shoulder_joint', 'elbow_joint', 'wrist_1_joint', 'wrist_2_joint', 'wrist_3_joint',
        'left_crank_joint',
    ),
}  # fmt: skip
NAMES = pytest.mark.parametrize('name', matrix([*JOINTS], ['delta']))


@cache
def arm_of(name: str):
    return demo_arm(str(EXAMPLES / f'{name}.yaml'))


@NAMES
def test_a_motion_stays_within_limits_and_reach(name):
    arm = arm_of(name)
    assert arm.robot.joint_names == JOINTS[name]
    limits, following = arm.robot.limits, arm.robot.following
    before = following.at_home
    for y in (arm.motion.positions[0], arm.motion.positions[1]):
        assert (limits.lower <= y).all() and (y <= limits.upper).all()
        way = [*following.way(before, y)]
        assert min(found.distance for found in way) >= LEAST_DISTANCE
        before = way[-1]
    assert np.ptp(arm.motion.positions, axis=0).min() > 0.1
    assert arm.motion.ratio < 1.0 / 3.0


@NAMES
def test_the_nodes_read_the_mechanism_that_the_demo_writes(name, tmp_path):
    arm = arm_of(name)
    written = yaml.safe_load(arm.write(tmp_path).read_text())
    robot = load_robot(StandIn(), written['/**']['ros__parameters']['model'])
    assert isinstance(robot.following, ClosedMechanism)
    assert robot.joint_names == arm.robot.joint_names
    assert (robot.rotor_inertia > 0.0).all()
    np.testing.assert_allclose(robot.rotor_inertia, arm.robot.rotor_inertia)
    passive = np.setdiff1d(np.arange(robot.robot.nv), robot.following.places)
    assert not robot.robot.rotor_inertia[passive].any()


@NAMES
def test_feedforward_leaves_a_third_of_the_error_at_most(name):
    """The plant in MuJoCo with the laws of the nodes, in this process."""
    arm = arm_of(name)
    gravity, feedforward = (
        tracked(arm.robot, law, arm.gains, arm.motion.trajectory(), arm.effort_limit, RATE)
        for law in ('pd_gravity', 'pd_feedforward')
    )
    ratio = np.sqrt(np.mean(feedforward.error**2, axis=0) / np.mean(gravity.error**2, axis=0))
    assert ratio.max() < 1.0 / 3.0


def test_the_examples_are_consistent():
    for name, joints in JOINTS.items():
        robot = Robot.from_description(str(EXAMPLES / f'{name}.yaml'))
        assert not [it for it in robot.findings if it.severity == 'error']
        home = ClosedMechanism(robot, robot.loops.actuated).at_home
        assert np.abs(robot.loop_errors(home.q)).max() < 1e-7
        near = {joint: home.y[k] for k, joint in enumerate(joints)}
        for joint in set(joints) & set(robot.loops.near):
            assert near[joint] == pytest.approx(robot.loops.near[joint], abs=1e-3), joint


def crank(lengths, near, limits):
    """Return a four-bar linkage whose crank has these limits, and whose rocker has none."""
    linkage = four_bar('revolute', lengths, near)
    robot = with_motors(linkage, ('crank joint',))
    text = robot.to_yaml()
    content = yaml.safe_load(text)
    content['joints'][0]['limits'] = dict(zip(('lower', 'upper', 'velocity', 'effort'), limits, strict=True))
    return Robot.from_yaml(yaml.safe_dump(content))


def test_a_middle_that_is_not_reached_is_replaced_by_where_the_loops_are_closed_first():
    robot = crank((0.5, 0.3, 0.2, 0.3), (1.0, -1.3, 1.8), (0.5, 5.0, 2.0, 50.0))
    driven = DrivenRobot(robot.with_loops([]), ClosedMechanism(robot, robot.loops.actuated))
    home = driven.neutral()
    assert not is_within_reach(driven, [[2.75]])
    middle, reach = joint_ranges(driven)
    np.testing.assert_array_equal(middle, home)
    assert reach == pytest.approx(0.8 * (home - 0.5), abs=1e-12)


def test_limits_of_joints_without_a_motor_end_the_reach():
    robot = crank((0.5, 0.2, 0.55, 0.4), (1.0, -0.2, 1.6), (-3.0, 3.0, 2.0, 50.0))
    following = ClosedMechanism(robot, robot.loops.actuated)
    assert is_within_reach(DrivenRobot(robot.with_loops([]), following), [following.home + 0.5])
    content = yaml.safe_load(robot.to_yaml())
    rocker = following.at_home.q[2]
    content['joints'][2]['limits'] = {'lower': float(rocker - 0.05), 'upper': float(rocker + 0.05)}
    narrow = Robot.from_yaml(yaml.safe_dump(content))
    following = ClosedMechanism(narrow, narrow.loops.actuated)
    assert not is_within_reach(DrivenRobot(narrow.with_loops([]), following), [following.home + 0.5])


def test_a_compliant_tool_of_a_mechanism_is_refused():
    with pytest.raises(ModelError, match='delta: it has closed loops; a compliant tool needs an arm without'):
        compliant_arm(str(EXAMPLES / 'delta.yaml'))


def test_limits_belong_to_their_joints_behind_one_of_several_coordinates():
    delta = MECHANISMS['delta']
    robot = with_motors(delta, ('arm 0 joint', 'arm 1 joint', 'arm 2 joint'))
    content = yaml.safe_load(robot.to_yaml())
    for row in content['joints']:
        if row['name'].startswith('arm'):
            row['limits'] = {'lower': -0.8, 'upper': 0.6, 'velocity': 6.0, 'effort': 25.0}
    robot = Robot.from_yaml(yaml.safe_dump(content))
    driven = DrivenRobot(robot.with_loops([]), ClosedMechanism(robot, robot.loops.actuated))
    assert [column.tolist() for column in driven.limits] == [[-0.8] * 3, [0.6] * 3, [6.0] * 3, [25.0] * 3]
