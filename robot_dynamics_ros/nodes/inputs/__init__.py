"""Inputs of nodes: topics, and what each of them refuses."""
