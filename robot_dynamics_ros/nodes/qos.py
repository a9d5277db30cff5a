"""Quality of service that several nodes use."""

from rclpy.qos import DurabilityPolicy, QoSProfile

TRANSIENT_LOCAL = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""The newest message also reaches late joiners."""
