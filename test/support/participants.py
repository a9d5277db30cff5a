"""DDS participants that nodes of earlier tests have left in this process.

A node is part of cycles of references. Until these are collected, its participant stays in the graph with the node's
name, topics and services: a later test may take it for its own node, and processes from the 33rd participant on are not
discovered (``nodes/discovery.py``).
"""

import gc

from support.own_domain import DOMAIN

from robot_dynamics_ros.nodes import discovery


def count() -> int:
    """Return how many participants this process has in the domain of the tests."""
    first = discovery.FIRST_PORT + discovery.DOMAIN_GAIN * DOMAIN
    ports = range(first, first + discovery.DOMAIN_GAIN, discovery.PROCESS_GAIN)
    return sum(port in ports for port in set(discovery._udp_ports()))


def collect(most: int) -> None:
    """Destroy participants that nobody uses any more where there are more than ``most``."""
    if count() > most:
        gc.collect()
