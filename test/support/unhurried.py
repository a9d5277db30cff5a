"""Settings of hypothesis: the same examples in each run, and no deadline."""

from hypothesis import HealthCheck, settings


def examples(count: int) -> settings:
    """Return settings for ``count`` examples at most."""
    return settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
