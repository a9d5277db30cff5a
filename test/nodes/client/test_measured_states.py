"""What a client measures of an arm whose gripper reports its fingers in messages of its own."""

from support.nodes import graph as ros
from support.nodes.loader_stand_in import StandIn
from support.robots.gripper import FINGER, FOLLOWER, TIP, arm_with_gripper

import numpy as np
from rclpy.serialization import serialize_message

from robot_dynamics_ros import Robot
from robot_dynamics_ros.client.measured_states import MeasuredStates
from robot_dynamics_ros.nodes.lifecycle.robot_loader import load_robot


def test_a_frame_on_a_finger_is_where_the_gripper_reports_it():
    robot, whole = (
        load_robot(StandIn(locked_joints=[f'{FINGER}: measured from 0.02']), arm_with_gripper()),
        Robot.from_urdf(arm_with_gripper()),
    )
    states, q = MeasuredStates(robot), np.linspace(-0.5, 0.5, 6)

    def send(names, positions, stamp):
        states.on_state(serialize_message(ros.joint_state(names, stamp, positions, 0.0 * np.array(positions))))

    send(robot.joint_names, q, 10 * ros.SECOND)
    send([FINGER, FOLLOWER], [np.nan, 0.05], 10 * ros.SECOND)  # is not used
    send([FINGER, FOLLOWER], [0.05, 0.05], 10 * ros.SECOND)
    found = states.state(TIP)
    assert found.stamp == states.stamp == 10 * ros.SECOND
    full = dict(zip(whole.joint_names, whole.neutral(), strict=True))
    full |= {**dict(zip(robot.joint_names, q, strict=True)), FINGER: 0.05, FOLLOWER: 0.05}
    np.testing.assert_allclose(found.pose, whole.link_pose(list(full.values()), TIP), rtol=0, atol=1e-12)
