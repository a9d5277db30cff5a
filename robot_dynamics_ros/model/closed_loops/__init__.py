"""Closed loops of joints: records, editing, model check."""
