"""What became of the messages of a kind, so that their sender can learn it from the diagnostics."""


class Verdicts:
    """Counts messages that were taken and refused, since the node was configured; ``refused`` is the last reason."""

    def __init__(self, one: str, several: str):
        """Name ``one`` message of the kind and ``several`` in the fields."""
        self._one, self._several = one, several
        self.refused = ''
        self._taken = self._refusals = 0

    def take(self) -> None:
        """Count a message that is followed."""
        self._taken += 1

    def refuse(self, reason: str) -> None:
        """Count a message that is not, and keep the reason."""
        self.refused = reason
        self._refusals += 1

    def report(self) -> dict[str, str]:
        """Return the fields of the diagnostics."""
        return {
            f'{self._several} taken': str(self._taken),
            f'{self._several} refused': str(self._refusals),
            f'{self._one} refused last': self.refused,
        }
