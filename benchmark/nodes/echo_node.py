"""Reference of node_latency.py: a typed rclpy node that sends each joint state back, with rclpy's default executor."""

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState


def main():
    rclpy.init()
    node = Node('echo')
    publisher = node.create_publisher(JointState, 'echo/answers', 1)
    node.create_subscription(JointState, 'echo/joint_states', publisher.publish, qos_profile_sensor_data)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    try:
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        rclpy.try_shutdown()


if __name__ == '__main__':
    main()
