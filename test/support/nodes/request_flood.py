"""Calls a service as fast as it can on request, as a process of its own: ``request_flood.py KIND``.

A line on standard input begins a flood, the next one ends it; then the number of its answers is printed.
"""

import select
import sys

import rclpy
from builtin_interfaces.msg import Duration
from rcl_interfaces.srv import SetParameters
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robot_dynamics_interfaces.srv import CheckTrajectory, GetMassMatrix
from robot_dynamics_ros import Robot

UNDER_WAY = 4
"""Requests without an answer yet."""
NAMES = list(Robot.named('aubo_i5').joint_names)
COUNT = 50
"""Of the states and points in a request."""
POINTS = [
    JointTrajectoryPoint(positions=[0.01 * k] * len(NAMES), time_from_start=Duration(sec=k)) for k in range(COUNT)
]
PARAMETERS = [Parameter('age_limit', value=value).to_parameter_msg() for value in (1.0, -1.0)] * 10
KINDS = {
    'requests': (GetMassMatrix, 'dynamics_server/get_mass_matrix', {'positions': [0.3] * len(NAMES) * COUNT}),
    'plans': (
        CheckTrajectory,
        'dynamics_server/check_trajectory',
        {'trajectory': JointTrajectory(joint_names=NAMES, points=POINTS)},
    ),
    'parameters': (SetParameters, 'gravity_compensation_node/set_parameters', {'parameters': PARAMETERS}),
}


def main():
    service, name, fields = KINDS[sys.argv[1]]
    rclpy.init()
    node = rclpy.create_node('request_flood')
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    client, request = node.create_client(service, name), service.Request(**fields)
    client.wait_for_service()
    # who has just joined the graph may miss answers
    answered = False
    while not answered:
        first = client.call_async(request)
        executor.spin_until_future_complete(first, 1.0)
        answered = first.done()
    # unbuffered: select does not see what has been read ahead
    with open(0, 'rb', buffering=0, closefd=False) as told:
        while told.readline():
            answers, futures = 0, []
            while not select.select([told], [], [], 0.0)[0]:
                futures += [client.call_async(request) for _ in range(UNDER_WAY - len(futures))]
                executor.spin_once(timeout_sec=0.1)
                answers += sum(future.done() for future in futures)
                futures = [future for future in futures if not future.done()]
            told.readline()
            for future in futures:
                executor.spin_until_future_complete(future, 10.0)
            sys.stdout.write(f'{answers}\n')
            sys.stdout.flush()
    executor.shutdown()
    node.destroy_node()
    rclpy.shutdown()


if __name__ == '__main__':
    main()
