"""Log lines about a robot: nodes of one process, which mostly have the same robot, log each line once."""

MOST_LINES = 1000
"""Number of lines that are remembered; after that many they may be logged again."""
_logged: set[str] = set()


class RobotLog:
    """The log of a node for lines about its robot; the first node of a process logs a line, others do not repeat it."""

    def __init__(self, logger):
        """Log through the ``logger`` of the node."""
        self._logger = logger

    def info(self, line: str) -> None:
        """Log what a node does with the robot."""
        if _is_new(line):
            self._logger.info(line)

    def warning(self, line: str) -> None:
        """Log a finding on the robot."""
        if _is_new(line):
            self._logger.warning(line)

    def error(self, line: str) -> None:
        """Log why the node refuses the robot; each node does."""
        self._logger.error(line)


def _is_new(line: str) -> bool:
    """Return whether no node of this process has logged a line."""
    if line in _logged:
        return False
    if len(_logged) >= MOST_LINES:
        _logged.clear()
    _logged.add(line)
    return True
