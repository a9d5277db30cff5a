"""What controllers are made of: arrays in, arrays out, no ROS."""
