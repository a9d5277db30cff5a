"""A wrong name of a joint or link brings the nearest one that the robot has."""

from support.robots.facade_robots import robot_of

import numpy as np
import pytest

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.errors import LONGEST_NAME, DynamicsError, alternatives, nearest

ROBOT = robot_of('aubo_i5')
Q = np.zeros(6)
LINK, JOINT = 'wrist3_link', 'shoulder_jiont'
WRONG = {
    'link_pose': lambda: ROBOT.link_pose(Q, LINK),
    'jacobian': lambda: ROBOT.jacobian(Q, LINK),
    'with_payload': lambda: ROBOT.with_payload(Payload(1.0, (0.0, 0.0, 0.1)), LINK),
    'wrenches': lambda: ROBOT.inverse_dynamics(Q, Q, Q, wrenches={LINK: np.zeros(6)}),
    'chain': lambda: ROBOT.chain(tip_link=LINK),
    'with_attached': lambda: ROBOT.with_attached(ROBOT, LINK),
    'with_locked_joints': lambda: ROBOT.with_locked_joints({JOINT: 0.0}),
    'with_actuators': lambda: ROBOT.with_actuators({'rotor_inertia': {JOINT: 1.0}}),
    'actuated': lambda: ROBOT.inverse_dynamics(Q, Q, Q, actuated=[JOINT]),
    'named': lambda: Robot.named('aubo_i6'),
}


@pytest.mark.parametrize('case', WRONG)
def test_the_nearest_name_is_proposed(case):
    with pytest.raises(DynamicsError) as refused:
        WRONG[case]()
    meant = {'named': 'aubo_i5'}.get(case) or ('wrist3_Link' if LINK in str(refused.value) else 'shoulder_joint')
    assert f"did you mean '{meant}'? There are " in str(refused.value)


def test_where_no_name_is_near_all_are_listed():
    assert alternatives('gripper', ['shoulder', 'elbow']) == 'there are shoulder, elbow'
    assert alternatives('gripper', []) == 'there are none'
    assert alternatives('elbw', ['shoulder', 'elbow']) == "did you mean 'elbow'? There are shoulder, elbow"


def test_a_long_name_takes_no_long_time():
    assert nearest('x' * 10**7, ['y' * LONGEST_NAME]) == ''
