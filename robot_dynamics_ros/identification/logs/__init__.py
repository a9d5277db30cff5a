"""Logs of a motion: reading, filtering, and what is wrong with one."""
