"""A process that runs nodes until it is asked to stop."""

import gc
import sys

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor


def run(*node_classes) -> None:
    """Make one node of each class, start those with ``autostart``, and spin until SIGINT or SIGTERM."""
    try:
        rclpy.init()
    except Exception as error:  # a parameter file that is missing or broken, an argument that ROS does not know
        sys.exit(' '.join(f'not started: {error}'.split()))
    nodes: list = []
    try:
        nodes.extend(node_class() for node_class in node_classes)
        executor = SingleThreadedExecutor()
        for node in nodes:
            executor.add_node(node)
            if node.value('autostart'):
                node.start()
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        pass  # asked to stop
    finally:
        for node in nodes:
            node.fall_silent()
        rclpy.try_shutdown()
        # the process is at its end; to look for garbage in it would take 0.4 s (2026-11-20)
        gc.freeze()
