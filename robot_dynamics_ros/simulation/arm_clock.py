"""Time of a simulated arm: whole steps, and stamps that never go back."""

from collections.abc import Callable


class ArmClock:
    """Counts the steps that are due, and stamps states in ROS time; all times in ns.

    ``read`` reads the clocks once for everything that follows. ``follow`` sets the stamp to the ROS time, for an arm
    that stands still; ``advance`` moves it on by steps, for an arm that moves. Steps are counted on the steady clock,
    in simulated time on the ROS clock. A stamp is never below an earlier one and never ahead of the ROS time at which
    it was computed; only a simulated ROS time that goes back begins anew.
    """

    def __init__(
        self,
        period: int,
        ros_time: Callable[[], int],
        steady_time: Callable[[], int],
        is_simulated: Callable[[], bool],
    ):
        """Begin at the ROS time; a step takes ``period`` ns."""
        self.period = period
        self._ros_time, self._steady_time, self._is_simulated = ros_time, steady_time, is_simulated
        self.stamp = self._ros = 0
        self._simulated = is_simulated()
        self.read()
        self.follow()

    def now(self) -> int:
        """Return the time of the clock on which steps are counted."""
        return self._ros_time() if self._is_simulated() else self._steady_time()

    def read(self) -> bool:
        """Read the clocks; return whether time begins anew: simulated time went back, or another clock is in use."""
        simulated = self._is_simulated()
        # In this order: a process that loses the processor in between stamps its states late, never ahead of time.
        ros = self._ros_time()
        self.time = ros if simulated else self._steady_time()
        """Of the clock on which steps are counted."""
        went_back = simulated and ros < self._ros
        anew = went_back or simulated != self._simulated
        self._ros, self._simulated = ros, simulated
        if went_back:
            self.stamp = ros
        if anew:
            self.follow()
        return anew

    def follow(self) -> None:
        """Set the stamp to the ROS time that was read, unless it is later already; count steps from here."""
        self.stamp = max(self.stamp, self._ros)
        self._began = self.time
        self._steps = 0
        self.steps_lost = 0

    def due(self) -> int:
        """Return how many steps the arm is behind the time that was read."""
        return (self.time - self._began) // self.period - self._steps - self.steps_lost

    def advance(self, steps: int, lost: int = 0) -> None:
        """Move the stamp on by ``steps``; ``lost`` further steps are never done."""
        self.stamp += steps * self.period
        self._steps += steps
        self.steps_lost += lost
