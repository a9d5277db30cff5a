"""What nodes do between activation and deactivation: loops over messages, and services."""
