"""What every node has: lifecycle, parameters, a robot and its log."""
