"""Conversion of serialised bytes and ROS messages to arrays, and back."""
