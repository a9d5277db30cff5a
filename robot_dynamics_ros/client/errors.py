"""Exceptions of the client."""

from robot_dynamics_ros.errors import InputError


class ClientError(InputError, RuntimeError):
    """Base of a client's errors about its node; the message quotes the node's diagnostics where there are any."""


class UnavailableError(ClientError):
    """The node is missing, is not configured, publishes no torques, or has said nothing about a message."""


class RefusedError(ClientError):
    """The node has refused a message; the message of the error is the node's reason."""


class EndedError(ClientError):
    """A motion cannot go on: a stop came, the node publishes no torques, joint states stopped, it was dropped."""
