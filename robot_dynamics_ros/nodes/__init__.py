"""ROS 2 nodes: the only place, beside client and tools, that knows rclpy and messages."""
