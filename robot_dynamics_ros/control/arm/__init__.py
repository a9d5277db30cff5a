"""The arm of a node: its robot description, with locked and driven joints."""
