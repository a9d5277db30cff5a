"""The pose to which velocities of a frame lead it.

Each velocity counts for the time since the one before. One after a longer time than a stream may pause begins at the
pose that leads the arm, and moves nothing yet.
"""

import numpy as np

from robot_dynamics_ros.control.trajectories.point_stream import LONGEST_GAP_NS
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.model.rotations import from_quaternion


class TwistedPose:
    """Moves a pose by velocities.

    Parameters
    ----------
    speed : tuple of two floats
        Largest speed of the frame, m/s and rad/s.
    farthest : tuple of two floats
        Rotation (rad) and distance (m) by which the pose may be ahead of the arm; inf: no limit.
    """

    def __init__(self, speed: tuple[float, float], farthest: tuple[float, float]):
        self._speed, self._farthest = speed, farthest
        self._pose: np.ndarray | None = None
        self._time = 0

    def begin_anew(self) -> None:
        """Begin with the next velocity: the arm has been led otherwise; any thread."""
        self._pose = None

    def moved(
        self, twist: np.ndarray, is_local: bool, time: int, leading: np.ndarray, measured: np.ndarray
    ) -> np.ndarray:
        """Return the pose (4, 4) to which a velocity leads.

        Parameters
        ----------
        twist : ndarray, (6,)
            rad/s and m/s, rotation first.
        is_local : bool
            Whether it is in the axes of the frame, else in those of the base.
        time : int
            When it counts, ns.
        leading, measured : ndarray, (4, 4)
            Pose that leads the arm, and the arm's own, m.

        Raises
        ------
        ArgumentError
            For a velocity above the largest speed.
        """
        speeds = np.linalg.norm(twist[3:]), np.linalg.norm(twist[:3])
        for name, unit, speed, most in zip(('linear', 'angular'), ('m/s', 'rad/s'), speeds, self._speed, strict=True):
            if speed > most:
                raise ArgumentError(f'{name}: {speed:g} {unit} is above the speed limit, {most:g} {unit}')
        pose, elapsed = self._pose, time - self._time
        self._time = time
        if pose is None or not 0 <= elapsed <= LONGEST_GAP_NS:
            return leading
        rotation, translation = np.split(twist * elapsed * 1e-9, 2)
        angle = float(np.linalg.norm(rotation))
        # exp(w dt) by the quaternion (tan(angle / 2) axis, 1)
        x, y, z = (rotation * (np.tan(0.5 * angle) / angle if angle else 0.5)).tolist()
        turn, moved = from_quaternion(x, y, z, 1.0), pose.copy()
        moved[:3, :3] = pose[:3, :3] @ turn if is_local else turn @ pose[:3, :3]
        moved[:3, 3] += pose[:3, :3] @ translation if is_local else translation
        ahead, before = _distances(moved, measured), _distances(pose, measured)
        is_away = (ahead > self._farthest) & (ahead > before)
        return pose if is_away.any() else moved

    def keep(self, pose: np.ndarray) -> None:
        """Go on from ``pose``, which has been reached by the joints."""
        self._pose = pose


def _distances(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the angle and the distance (2; rad, m) between two poses (4, 4)."""
    trace = np.einsum('ij,ij', one[:3, :3], other[:3, :3])
    angle = np.arccos(np.clip(0.5 * (trace - 1.0), -1.0, 1.0))
    return np.array([angle, np.linalg.norm(one[:3, 3] - other[:3, 3])])
