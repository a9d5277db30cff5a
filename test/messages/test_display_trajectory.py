"""MoveIt's DisplayTrajectory: what moves, what rests, and what is refused; stand-ins have its fields."""

from types import SimpleNamespace as Message

from support.nodes import graph as ros

import numpy as np
import pytest
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, MultiDOFJointTrajectory, MultiDOFJointTrajectoryPoint

from robot_dynamics_ros.errors import ArgumentError, UnknownNameError
from robot_dynamics_ros.messages.display_trajectory import plans_of
from robot_dynamics_ros.messages.joint_trajectory import trajectory_of

NAMES = ['a', 'b', 'c']


def displayed(*trajectories, names=(*NAMES, 'finger'), position=(0.1, 0.2, 0.3, 0.4), moving_base=()):
    """Return a DisplayTrajectory of JointTrajectories; the last of them moves ``moving_base``, too."""
    parts = [Message(joint_trajectory=it, multi_dof_joint_trajectory=MultiDOFJointTrajectory()) for it in trajectories]
    if moving_base:
        parts[-1].multi_dof_joint_trajectory = MultiDOFJointTrajectory(
            joint_names=list(moving_base), points=[MultiDOFJointTrajectoryPoint()]
        )
    state = JointState(name=list(names), position=list(position))
    return Message(model_id='arm', trajectory=parts, trajectory_start=Message(joint_state=state))


def way(names, *points):
    return ros.trajectory(names, 0, *points)


def test_a_plan_of_all_joints_is_passed_on_as_it_is():
    zeros = [0.0] * 3
    message = way(['c', 'a', 'b'], (0.0, [3.0, 1.0, 2.0], zeros, zeros), (1.5, [6.0, 4.0, 5.0], zeros, zeros))
    (found,) = plans_of(displayed(message), NAMES)
    assert trajectory_of(NAMES, found).digest == trajectory_of(NAMES, message).digest


def test_joints_that_a_plan_does_not_move_rest_where_the_motion_began():
    message = way(['c', 'a'], (0.0, [3.0, 1.0], [0.0, 0.0], [0.1, 0.2]), (1.0, [4.0, 2.0], [0.5, 0.6]))
    (found,) = plans_of(displayed(message), NAMES)
    assert found.joint_names == ['c', 'a', 'b']
    positions, velocities, accelerations = ([row.tolist() for row in column] for column in found.columns)
    assert positions == [[3.0, 1.0, 0.2], [4.0, 2.0, 0.2]]
    assert velocities == [[0.0, 0.0, 0.0], [0.5, 0.6, 0.0]]
    assert accelerations == [[0.1, 0.2, 0.0], []]


def test_a_later_plan_of_a_sequence_begins_where_the_one_before_has_ended():
    first = way(['a', 'b'], (0.0, [0.1, 0.2]), (1.0, [7.0, 8.0]))
    hand = way(['finger'], (0.0, [0.4]), (1.0, [0.0]))
    found = plans_of(displayed(first, hand, way(['c'], (0.0, [0.3]), (1.0, [9.0]))), NAMES)
    assert [points.joint_names for points in found] == [['a', 'b', 'c'], ['finger', 'a', 'b', 'c'], ['c', 'a', 'b']]
    assert [points.columns[0][-1].tolist() for points in found] == [
        [7.0, 8.0, 0.3],
        [0.0, 7.0, 8.0, 0.3],
        [9.0, 7.0, 8.0],
    ]


def test_a_joint_whose_position_nobody_states_is_missing_later():
    (found,) = plans_of(displayed(way(['a'], (0.0, [0.1])), names=['b'], position=[0.2]), NAMES)
    with pytest.raises(UnknownNameError, match="joint 'c' is missing"):
        trajectory_of(NAMES, found)


def test_a_point_of_a_wrong_length_stays_wrong():
    (found,) = plans_of(displayed(way(['a', 'b'], (0.0, [0.1]))), NAMES)
    with pytest.raises(ArgumentError, match='point 0: expected 3 positions, got 1'):
        trajectory_of(NAMES, found)


REFUSED = {
    'nothing': (displayed(), 'no trajectory with points'),
    'no points': (displayed(JointTrajectory(joint_names=NAMES)), 'no trajectory with points'),
    'a base that moves': (
        displayed(way(NAMES, (0.0, [0.0] * 3)), moving_base=['world_joint']),
        'trajectory 0: it moves joints of several degrees of freedom: world_joint',
    ),
    'a start of another length': (
        displayed(way(NAMES, (0.0, np.zeros(3))), position=[0.1]),
        'trajectory_start: 4 joints have 1 positions',
    ),
}


@pytest.mark.parametrize('case', REFUSED)
def test_what_is_wrong_is_named(case):
    message, culprit = REFUSED[case]
    with pytest.raises(ArgumentError, match=culprit):
        plans_of(message, NAMES)
