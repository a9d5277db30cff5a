"""Export of a robot as C: functions, and a library for controllers of ros2_control."""
