"""Import of SDFormat, the robot description of Gazebo."""
