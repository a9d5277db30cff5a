"""Rigid-body dynamics for real-time control: a Python library, and ROS 2 nodes on top of it."""
