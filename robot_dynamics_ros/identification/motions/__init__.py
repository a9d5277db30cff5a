"""Motions that let parameters be identified."""
