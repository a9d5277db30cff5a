"""Tracking of arms that nobody tuned, in one process: stable, and as the motion's prediction says.

``benchmark/accuracy/any_arm.py`` does the same for any description.
"""

import pytest

pytest.importorskip('mujoco')

from support.control.tracking_experiment import AFTER, tracked
from support.robots.example_robots import example_urdfs

import numpy as np

from robot_dynamics_ros.tools.demonstration.completed_arm import RATE
from robot_dynamics_ros.tools.demonstration.demo_arm import demo_arm
from robot_dynamics_ros.tools.demonstration.tracking_motion import LARGEST_RATIO

PATHS = {path.rsplit('/', 1)[-1]: path for path in example_urdfs()}


@pytest.mark.parametrize('name', ['so101.urdf', 'panda.urdf', 'ur5_gripper.urdf'])
def test_feedforward_leaves_a_third_of_the_error_of_gravity_alone_at_most(name):
    arm = demo_arm(PATHS[name])
    trajectory = arm.motion.trajectory()
    gravity, feedforward = (
        tracked(arm.robot, law, arm.gains, trajectory, arm.effort_limit, RATE)
        for law in ('pd_gravity', 'pd_feedforward')
    )
    ratio = feedforward.rms / gravity.rms
    assert ratio.max() <= LARGEST_RATIO
    # the prediction, by which the motion was chosen, includes the delay of two processes, which this loop lacks
    assert 0.3 * arm.motion.ratio < ratio.max() < 1.3 * arm.motion.ratio
    assert abs(gravity.error).max() < 0.3
    # it comes to rest: what is left is the sag of masses that are 10 % too large
    last = feedforward.time > trajectory.duration + 0.9 * AFTER
    assert np.ptp(feedforward.error[last], axis=0).max() < 0.02 * abs(gravity.error).max()
    # and before the motion it has come to the sag that it ends with
    assert feedforward.time[0] == 0.0
    assert abs(feedforward.error[0] - feedforward.error[-1]).max() < 0.1 * abs(feedforward.error[-1]).max()
    assert (abs(feedforward.torque) <= arm.effort_limit).all()
    assert abs(feedforward.torque / arm.effort_limit).max() < 1.0
