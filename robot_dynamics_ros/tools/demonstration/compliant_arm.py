"""Any arm with a compliant tool above a table: start position, stiffness, and the files of the nodes."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.arm.following.closed_mechanism import ClosedMechanism
from robot_dynamics_ros.control.laws.impedance.impedance_proposal import (
    EQUALLY_STIFF,
    ProposedImpedance,
    propose_impedance,
)
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.robot.summary.low_discrepancy import low_discrepancy
from robot_dynamics_ros.tools.demonstration.completed_arm import (
    CONTROL,
    RATE,
    SIMULATION,
    CompletedArm,
    completed_arm,
)
from robot_dynamics_ros.tools.demonstration.tracking_motion import SHARE_OF_EFFORT, joint_ranges

BANDWIDTH = 10.0
"""Of a posture, rad/s."""
HEIGHT = 0.01
"""Of the tool above the table, m."""
SAMPLES = 2048


@dataclass(frozen=True)
class CompliantArm(CompletedArm):
    """An arm whose tool is the ``frame`` and begins at ``start`` (n, rad or m), with its stiffness."""

    impedance: ProposedImpedance
    frame: str
    start: np.ndarray

    def write(self, folder: Path) -> Path:
        """Write model and parameters into ``folder``; return the parameter file."""
        up = upwards(self.robot)
        height = float(up @ self.robot.link_pose(self.start, self.frame)[:3, 3]) - HEIGHT
        contact = {'start': self.start.tolist(), 'surfaces': [*up.tolist(), height], 'contact_frame': self.frame}
        impedance = {'effort_limit': self.effort_limit.tolist(), **self.impedance.parameters(self.frame, RATE)}
        parameters = {'simulated_arm': SIMULATION | contact, 'torque_controller': CONTROL | impedance}
        return self.write_nodes(folder, parameters)


def upwards(robot: Robot | DrivenRobot) -> np.ndarray:
    """Return the direction (3,) against gravity in the axes of the base; z without gravity."""
    gravity = np.array(robot.gravity)
    return -gravity / np.linalg.norm(gravity) if gravity.any() else np.array([0.0, 0.0, 1.0])


def compliant_arm(description: str, **selection) -> CompliantArm:
    """Return the arm of a description whose last link is compliant.

    Arguments and errors are those of ``completed_arm``; ArgumentError names a joint that cannot hold the arm anywhere,
    ModelError a mechanism with closed loops.
    """
    arm = completed_arm(description, **selection)
    if isinstance(arm.robot, DrivenRobot) and isinstance(arm.robot.following, ClosedMechanism):
        raise ModelError(f'{arm.robot.name}: it has closed loops; a compliant tool needs an arm without')
    frame = arm.robot.end_link
    start = start_position(arm, frame)
    impedance = propose_impedance(arm.robot, frame, RATE, BANDWIDTH)
    notes = *arm.notes, f'compliant tool: the last link, {frame!r} (tip_link chooses another one)'
    return CompliantArm(arm.robot, arm.effort_limit, notes, arm.model, impedance, frame, start)


def start_position(arm: CompletedArm, frame: str) -> np.ndarray:
    """Return a position (n, rad or m) far from singular ones, in which the joints hold the arm with its frame above.

    Above is the base; ArgumentError names a joint that can hold the arm in none.
    """
    robot = arm.robot
    middle, reach = joint_ranges(robot)
    q = middle + (2.0 * low_discrepancy(SAMPLES, robot.nv) - 1.0) * reach
    effort = np.abs(robot.gravity_torque(q)) / (SHARE_OF_EFFORT * arm.effort_limit)
    held = q[(effort <= 1.0).all(axis=1)]
    if not len(held):
        j = int(np.argmax(effort.min(axis=0)))
        raise ArgumentError(
            f'joint {robot.joint_names[j]!r}: no position was found in which {SHARE_OF_EFFORT:.0%} of its effort limit '
            'hold the arm; raise effort_limit (.inf: none)'
        )
    above = robot.link_pose(held, frame)[:, :3, 3] @ upwards(robot) > 0.0
    held = held[above] if above.any() else held
    # rotations count by the distance at which their stiffness equals that of translation
    J = np.sqrt(EQUALLY_STIFF)[:, None] * robot.jacobian(held, frame)
    least = np.linalg.svd(J, compute_uv=False)[:, -1]  # of min(6, n) singular values
    return held[int(np.argmax(least))]
