"""Checks between a joint state and a torque, and what becomes of the torque where one fails."""
