"""Simulated robots (plants) for controllers."""
