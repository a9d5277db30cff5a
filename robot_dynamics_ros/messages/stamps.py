"""Conversion of times and durations of messages to ns, and back."""


def nanoseconds(stamp) -> int:
    """Return a builtin_interfaces Time or Duration in ns."""
    return stamp.sec * 1_000_000_000 + stamp.nanosec


def set_nanoseconds(stamp, value: int) -> None:
    """Set a builtin_interfaces Time or Duration to ``value`` (ns)."""
    stamp.sec, stamp.nanosec = divmod(value, 1_000_000_000)
