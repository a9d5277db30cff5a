"""Age of the command of a simulated arm, in the arm's own time."""


class CommandAge:
    """How far the arm may go on under its command; all times in ns.

    A command that names the state that it answers is as old as that state, by the stamps of the arm, however fast it
    came. A command that names none, or one that the arm has not had, counts as an answer to the newest state, and is
    as old as it is by the clock. ``unnamed`` counts these.
    """

    def __init__(self, longest: int):
        """Let the arm go on until its command is ``longest`` old."""
        self.longest = longest
        self.unnamed = 0
        self.reset()

    def reset(self) -> None:
        """Forget the command."""
        self._received: int | None = None
        self._answered: int | None = None

    def receive(self, answered: int, stamp: int, now: int) -> None:
        """Record a command for the state with the stamp ``answered``, 0 for none, at ``now`` of the clock.

        ``stamp`` is that of the newest state.
        """
        self._received = now
        self._answered = answered if 0 < answered <= stamp else None
        self.unnamed += self._answered is None

    def quiet(self, now: int) -> float:
        """Return how long no command has come, infinity where none has."""
        return float('inf') if self._received is None else now - self._received

    def room(self, stamp: int, now: int) -> int:
        """Return by how much the arm may go on from ``stamp``."""
        if self._answered is not None:
            return max(0, self._answered + self.longest - stamp)
        return self.longest if self.quiet(now) <= self.longest else 0
