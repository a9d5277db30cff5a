"""Outputs of nodes: topics."""
