"""Times and durations of messages: conversion to ns and back, and the age of a command."""

from robot_dynamics_ros.errors import ArgumentError


def nanoseconds(stamp) -> int:
    """Return a builtin_interfaces Time or Duration in ns."""
    return stamp.sec * 1_000_000_000 + stamp.nanosec


def set_nanoseconds(stamp, value: int) -> None:
    """Set a builtin_interfaces Time or Duration to ``value`` (ns)."""
    stamp.sec, stamp.nanosec = divmod(value, 1_000_000_000)


def check_age(stamp: int, now: int, most: int) -> None:
    """Raise ArgumentError for a command whose ``stamp`` is more than ``most`` before or after ``now``; ns, 0: none."""
    late = now - stamp if stamp else 0
    if abs(late) > most:
        raise ArgumentError(
            f'its stamp is {abs(late) * 1e-9:.3f} s {"ahead" if late < 0 else "old"}; send it when it counts, with a '
            f'stamp of then or none'
        )
