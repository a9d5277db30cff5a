"""The arm that a description, and parameters beside it, make of a robot."""
