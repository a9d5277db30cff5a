"""Payload and gravity that change while an arm moves."""
