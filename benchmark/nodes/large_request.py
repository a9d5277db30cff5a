"""Sends the one large request of a kind for busy_process.py: prints a line when it can, and sends after one comes."""

import array
import sys

import numpy as np
import rclpy
from builtin_interfaces.msg import Duration
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robot_dynamics_interfaces.srv import CheckTrajectory, GetInverseDynamics, GetMassMatrix
from robot_dynamics_ros import Robot
from robot_dynamics_ros.nodes.process.discovery import use_profiles

JOINTS = Robot.named('aubo_i5').joint_names
STATES, POINTS = 1_000_000, 90_000


def numbers() -> array.array:
    return array.array('d', np.full(len(JOINTS) * STATES, 0.3).tobytes())


def trajectory() -> JointTrajectory:
    points = [
        JointTrajectoryPoint(
            positions=[0.3 * np.sin(0.001 * k)] * len(JOINTS),
            time_from_start=Duration(sec=k // 100, nanosec=k % 100 * 10_000_000),
        )
        for k in range(POINTS)
    ]
    return JointTrajectory(joint_names=JOINTS, points=points)


def request_of(kind: str):
    if kind == 'mass_matrix':
        return GetMassMatrix, 'dynamics_server/get_mass_matrix', {'positions': numbers()}
    if kind == 'inverse_dynamics':
        fields = {field: numbers() for field in ('positions', 'velocities', 'accelerations')}
        return GetInverseDynamics, 'dynamics_server/get_inverse_dynamics', fields
    if kind == 'check':
        return CheckTrajectory, 'dynamics_server/check_trajectory', {'trajectory': trajectory()}
    transition = Transition(id=Transition.TRANSITION_DEACTIVATE)
    return ChangeState, 'gravity_compensation_node/change_state', {'transition': transition}


def main():
    use_profiles()
    rclpy.init()
    node = rclpy.create_node('large_request')
    service, name, fields = request_of(sys.argv[1])
    client, request = node.create_client(service, name), service.Request(**fields)
    if not client.wait_for_service(60.0):
        return
    rclpy.spin_once(node, timeout_sec=1.0)  # who has just joined the graph may miss answers
    print('ready', flush=True)
    sys.stdin.readline()
    future = client.call_async(request)
    rclpy.spin_until_future_complete(node, future, timeout_sec=60.0)
    print(future.done() and getattr(future.result(), 'success', None), flush=True)


if __name__ == '__main__':
    main()
