"""Times and durations of messages to ns, and back."""


def nanoseconds(stamp) -> int:
    """Return a builtin_interfaces Time as ns."""
    return stamp.sec * 1_000_000_000 + stamp.nanosec


def set_nanoseconds(stamp, value: int) -> None:
    """Write ns into a builtin_interfaces Time or Duration."""
    stamp.sec, stamp.nanosec = divmod(value, 1_000_000_000)
