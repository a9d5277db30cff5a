"""Whether the measured joints of a mechanism tell its assembly mode: only one solution is as near to them.

At the same positions of the actuated joints let q and q + d be closed, J the Jacobian of the constraints for the other
joints at q, and dJ what it differs by in the mean on the way between: 0 = (J + dJ) d, so d = -J^+ dJ d. By magnitudes
|d| <= R |d|, where R is the largest |J^+ dJ| for which d is in a box. If the eigenvalues of R are below 1, R^k vanishes
(Perron and Frobenius), and d with it: in this box q is the only solution.
"""

import numpy as np

from robot_dynamics_ros.robot import Robot

FARTHEST = 0.5
"""rad, m: half of the longest side of a box: in a longer one the Jacobian can change by more than it does at its sides.
"""


def is_only_solution(robot: Robot, places: np.ndarray, q: np.ndarray, reach: np.ndarray) -> bool:
    """Return whether loops that are closed at q (n) are so at no other position with the other joints within ``reach``.

    Joints have one coordinate each; those at ``places`` stay where they are, and the others have a ``reach`` (rad, m),
    each its own. The mean change of the Jacobian counts as the sum of what each joint alone changes it by at the end of
    its reach, which is twice as much to second order. False where it is not known.
    """
    if not reach.max(initial=0.0) <= FARTHEST:
        return False
    others = np.delete(np.arange(robot.nv), places)
    steps = reach[:, None] * np.eye(robot.nv)[others]
    J, *moved = robot.loop_jacobian(np.concatenate([q[None], q + steps, q - steps]))[..., others]
    changes = np.abs(np.linalg.pinv(J) @ (np.array(moved) - J)).reshape(2, len(others), *[len(others)] * 2)
    largest = changes.max(axis=0).sum(axis=0)
    return bool(np.abs(np.linalg.eigvals(largest)).max() < 1.0)
