"""Tracking of a motion by a simulated arm under joint-space control, in one process and without ROS.

The loop is that of the nodes: the controller reads a state at each period, its torque is limited to the effort limits
and holds until the next one. The plant is MuJoCo's, with other masses and friction than the model.
"""

from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.control.laws.gain_limits import ProposedGains
from robot_dynamics_ros.control.laws.joint_space_control import JointSpaceControl
from robot_dynamics_ros.control.terms.compensation import TERMS, Compensation
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.simulation.plant.mujoco_arm import MujocoArm
from robot_dynamics_ros.tools.demonstration.tracking_motion import FRICTION_ERROR, MASS_ERROR

STEP = 1e-3
"""Of the plant, s, as in simulated_arm."""
BEFORE, AFTER = 0.5, 0.2
"""Time at the first point, not recorded, and time recorded after the motion, s."""


class Tracked(NamedTuple):
    """One motion under one law, at m times and for n joints."""

    time: np.ndarray  # (m,) s
    error: np.ndarray  # (m, n) desired minus actual position, rad or m
    torque: np.ndarray  # (m, n) N m or N

    @property
    def rms(self) -> np.ndarray:
        """RMS tracking error of each joint (n,)."""
        return np.sqrt(np.mean(self.error**2, axis=0))


def tracked(
    robot: Robot,
    law: str,
    gains: ProposedGains,
    trajectory: Trajectory,
    effort_limit,
    rate: float,
) -> Tracked:
    """Simulate a motion after a time at its first point, where the controller holds the arm.

    Parameters
    ----------
    robot : Robot or DrivenRobot
        The controller's model, with n joints of one degree of freedom. The masses of the plant are ``MASS_ERROR``
        larger, its friction is ``FRICTION_ERROR`` larger.
    law : str
        'pd', 'pd_gravity' or 'pd_feedforward'.
    gains : ProposedGains
    trajectory : Trajectory
        Of the n joints.
    effort_limit : array_like, (n,)
        N m (prismatic joints: N).
    rate : float
        Of the controller, Hz: a divisor of 1000.

    Returns
    -------
    Tracked

    Raises
    ------
    ModelError
        Naming a joint that MuJoCo cannot move.
    """
    steps, n = round(1.0 / (rate * STEP)), robot.nv
    desired, feedforward, limit = np.zeros((3, n)), np.zeros(n), np.asarray(effort_limit, float)
    trajectory.sample(trajectory.start, *desired)
    arm = MujocoArm(robot, STEP, desired[0], MASS_ERROR, FRICTION_ERROR)
    arm.brakes = False
    control = JointSpaceControl(robot, law, gains.stiffness, gains.damping, bandwidth=1.0)
    compensation = Compensation(robot, TERMS)
    first = -round(BEFORE * rate)
    time = trajectory.start + np.arange(first, round((trajectory.duration + AFTER) * rate)) / rate
    error, torque = np.empty((2, len(time), n))
    for k, t in enumerate(time):
        trajectory.sample(max(t, trajectory.start), *desired)
        q, qd = arm.position, arm.velocity
        compensation.torque(desired[0], desired[1], desired[2], out=feedforward)
        control.torque(q, qd, desired, feedforward, out=torque[k])
        np.clip(torque[k], -limit, limit, out=torque[k])
        error[k] = desired[0] - q
        arm.torque[:] = torque[k]
        arm.step(steps)
    return Tracked(time[-first:], error[-first:], torque[-first:])
