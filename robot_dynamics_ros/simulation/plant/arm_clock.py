"""Clock of a simulated arm: counts the steps that are due and stamps the states, monotonically."""

from collections.abc import Callable


class ArmClock:
    """Counts the steps that are due and stamps states in ROS time; all times in ns.

    Call ``read`` first: it reads the clocks once for the other methods. ``follow`` sets the stamp to the ROS time, for
    an arm on its brakes; ``advance`` adds steps to it, and ``regain`` makes steps that were skipped due again. Steps
    are counted on the steady clock, or on the ROS clock with simulated time. Stamps never decrease and are never later
    than the ROS time at which they are computed; only simulated time that is set back resets the stamp.
    """

    def __init__(
        self,
        period: int,
        ros_time: Callable[[], int],
        steady_time: Callable[[], int],
        is_simulated: Callable[[], bool],
    ):
        """Start at the ROS time, with steps of ``period`` ns."""
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
        """Read the clocks; return whether they were reset: simulated time was set back or switched on or off."""
        simulated = self._is_simulated()
        # in this order: if the process is suspended in between, stamps lag behind the ROS time, never ahead of it
        ros = self._ros_time()
        self.time = ros if simulated else self._steady_time()  # of the clock on which steps are counted
        set_back = simulated and ros < self._ros
        reset = set_back or simulated != self._simulated
        self._ros, self._simulated = ros, simulated
        if set_back:
            self.stamp = ros
        if reset:
            self.follow()
        return reset

    def follow(self) -> None:
        """Set the stamp to the ROS time that was read, unless the stamp is later, and count steps from this time."""
        self.stamp = max(self.stamp, self._ros)
        self._began = self.time
        self._steps = 0
        self.steps_lost = 0

    def due(self) -> int:
        """Return how many steps the arm is behind the time that was read."""
        return (self.time - self._began) // self.period - self._steps - self.steps_lost

    def regain(self, most: int) -> int:
        """Make up to ``most`` skipped steps due again, and return how many."""
        steps = min(most, self.steps_lost)
        self.steps_lost -= steps
        return steps

    def advance(self, steps: int, lost: int = 0) -> None:
        """Add ``steps`` to the stamp; ``lost`` further steps are skipped."""
        self.stamp += steps * self.period
        self._steps += steps
        self.steps_lost += lost
