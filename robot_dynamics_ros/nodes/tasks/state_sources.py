"""Who publishes the joint states of an arm, and states of other joints alone, such as those of its gripper."""

from collections.abc import Callable

from robot_dynamics_ros.errors import DynamicsError
from robot_dynamics_ros.messages.joint_state import StateInput


class Publishers:
    """Publishers of some states since activation, ``known`` by their identities; the hot path adds them."""

    def __init__(self):
        """Begin with none."""
        self.known: set[str] = set()
        self._last: dict | None = None

    def clear(self) -> None:
        """Begin again, as at an activation."""
        self.known.clear()
        self._last = None

    def add(self, info: dict | None) -> None:
        """Add who has published a message; ``info`` is what rclpy knows of it."""
        if info is not None and (gid := info.get('publisher_gid')) != self._last:
            self._last = gid
            self.known.add(str(gid))


class StateSources:
    """Publishers of states with the joints of the ``arm``, and of ``measured`` joints, which others may report.

    Parameters
    ----------
    state : StateInput
        What reads the messages.
    reject : callable
        Counts a rejected message by its reason.
    refuse : callable
        Has a reason logged.
    """

    def __init__(self, state: StateInput, reject: Callable[[str], object], refuse: Callable[[str], object]):
        self.arm, self.measured = Publishers(), Publishers()
        self._state, self._reject, self._refuse = state, reject, refuse

    def clear(self) -> None:
        """Begin again, as at an activation."""
        self.arm.clear()
        self.measured.clear()

    def add(self, info: dict | None) -> None:
        """Add who has published a state of the arm; ``info`` is what rclpy knows of its message."""
        self.arm.add(info)
        if self._state.reported:
            self.measured.add(info)

    def report(self, data: bytes, info: dict | None, now: int) -> bool:
        """Use the positions of measured joints in a state of other joints alone; return whether it has such joints.

        Wrong ones are refused by name; ``now`` is the time, ns.
        """
        try:
            reports = self._state.report(data, now)
        except DynamicsError as error:
            self._reject(str(error))
            self._refuse(f'report refused: {error}')
            return True
        if self._state.reported:
            self.measured.add(info)
        return reports
