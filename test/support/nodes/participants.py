"""DDS participants that nodes of earlier tests have left in this process.

A node is part of cycles of references. Until these are collected, its participant stays in the graph with the node's
name, topics and services: a later test may take it for its own node, and processes from the 33rd participant on are not
discovered (``nodes/process/discovery.py``).
"""

import gc

from support.nodes.own_domain import DOMAIN

from robot_dynamics_ros.nodes.process import discovery


def collect(most: int) -> None:
    """Destroy participants that nobody uses any more where this process has more than ``most``."""
    if len(discovery.participant_numbers(DOMAIN)) > most:
        gc.collect()
