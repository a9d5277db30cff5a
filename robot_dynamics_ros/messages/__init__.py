"""Bytes and ROS messages to arrays, and back."""
