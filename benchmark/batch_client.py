"""The load of node_latency.py: asks dynamics_server for batches of 1,000 mass matrices as fast as it can."""

import array

import numpy as np
import rclpy
from rclpy.executors import ExternalShutdownException

from robot_dynamics_interfaces.srv import GetMassMatrix


def main():
    rclpy.init()
    node = rclpy.create_node('batch_client')
    client = node.create_client(GetMassMatrix, 'dynamics_server/get_mass_matrix')
    positions = array.array('d', np.random.default_rng(0).normal(size=6000).tobytes())
    answers = 0
    try:
        client.wait_for_service()
        while True:
            future = client.call_async(GetMassMatrix.Request(positions=positions))
            rclpy.spin_until_future_complete(node, future)
            answers += future.result().success
    except (KeyboardInterrupt, ExternalShutdownException):
        print(answers)
    finally:
        rclpy.try_shutdown()


if __name__ == '__main__':
    main()
