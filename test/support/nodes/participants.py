"""DDS participants that nodes of earlier tests have left in this process.

A node is part of cycles of references. Until these are collected, its participant stays in the graph with the node's
name, topics and services: a later test may take it for its own node, and processes from the 33rd participant on are not
discovered (``nodes/process/discovery.py``).
"""

import gc

from support.nodes.own_domain import DOMAIN

from robot_dynamics_ros.nodes.process import discovery


class Collection:
    """Destroys participants that nobody uses any more.

    Those that the last collection has left are still used: to collect again after each test, for their sake alone,
    would take several seconds each where much is imported.
    """

    def __init__(self):
        self._used = 0

    def __call__(self, most: int) -> None:
        """Collect where this process has more than ``most``, and more than are still used."""
        count = len(discovery.participant_numbers(DOMAIN))
        self._used = min(self._used, count)
        if count > max(most, self._used):
            gc.collect()
            self._used = len(discovery.participant_numbers(DOMAIN))


collect = Collection()
