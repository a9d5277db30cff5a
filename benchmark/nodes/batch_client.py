"""Background load of node_latency.py: requests batches of 1,000 mass matrices from dynamics_server continuously."""

import array
import os
import signal

import numpy as np
import rclpy
from rclpy.signals import SignalHandlerOptions

from robot_dynamics_interfaces.srv import GetMassMatrix


def main():
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))  # whatever the benchmark's own is
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node('batch_client')
    client = node.create_client(GetMassMatrix, 'dynamics_server/get_mass_matrix')
    positions = array.array('d', np.random.default_rng(0).normal(size=6000).tobytes())
    answers = 0
    stopped = []
    signal.signal(signal.SIGINT, lambda *_: stopped.append(True))
    try:
        client.wait_for_service()
        while not stopped:
            future = client.call_async(GetMassMatrix.Request(positions=positions))
            rclpy.spin_until_future_complete(node, future)
            answers += future.result().success
        print(answers)
    finally:
        rclpy.try_shutdown()


if __name__ == '__main__':
    main()
