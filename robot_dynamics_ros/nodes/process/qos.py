"""Quality of service that several nodes use."""

from rclpy.duration import Duration
from rclpy.qos import DurabilityPolicy, LivelinessPolicy, QoSProfile

TRANSIENT_LOCAL = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""The newest message also reaches late joiners."""
LEASE = Duration(seconds=0.75)
"""Time in which the middleware of a publisher must have shown that its process is alive."""
WITH_LIVELINESS = QoSProfile(
    depth=1,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
    liveliness=LivelinessPolicy.AUTOMATIC,
    liveliness_lease_duration=LEASE,
)
"""Likewise, and a subscriber learns within ``LEASE`` that the publisher's process has died, however it did."""
