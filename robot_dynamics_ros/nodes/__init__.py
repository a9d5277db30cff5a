"""ROS 2 nodes: the only place, beside tools, that knows rclpy and messages."""
