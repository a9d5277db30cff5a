"""The wrench of external torques: it is found where the arm can move, and singular directions are named."""

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.observers.external_wrench import DAMPING, LENGTH, UNDETERMINED, ExternalWrench
from robot_dynamics_ros.errors import UnknownNameError

ROBOT = Robot.named('aubo_i5')
Q = np.array([0.2, -0.5, 0.7, 0.3, 0.6, 0.1])
SCALE = np.array([LENGTH] * 3 + [1.0] * 3)


def twin(J, tau):
    """The damped least-squares solution by its normal equations, of 6-vectors in N."""
    scaled = SCALE[:, None] * J
    return SCALE * np.linalg.solve(scaled @ scaled.T + DAMPING**2 * np.eye(6), scaled @ tau)


@pytest.mark.parametrize('frame', ['', 'foreArm_Link', 'ee_link'])
def test_it_is_the_solution_of_the_normal_equations_in_the_axes_of_the_frame(frame):
    made = ExternalWrench(ROBOT, frame)
    assert made.frame == (frame or ROBOT.link_names[-1])
    for q, tau in np.random.default_rng(0).uniform(-2.0, 2.0, (10, 2, 6)):
        expected = twin(ROBOT.jacobian(q, made.frame, 'local'), tau)
        np.testing.assert_allclose(made.update(q, tau), expected, rtol=1e-6, atol=1e-7)


def test_a_wrench_that_acts_on_the_arm_is_found():
    made, wrench = ExternalWrench(ROBOT), np.array([0.5, -1.0, 0.3, 5.0, -10.0, 20.0])
    found = made.update(Q, ROBOT.jacobian(Q, made.frame, 'local').T @ wrench)
    np.testing.assert_allclose(found, wrench, atol=0.3)
    assert made.undetermined() == []


def test_singular_directions_are_named_and_have_no_component():
    """With the fifth joint at 0 the axes of two joints are parallel, and the stretched arm cannot reach further."""
    made = ExternalWrench(ROBOT)
    stretched = np.array([0.3, 0.5, 0.0, 0.2, 0.0, 0.4])
    made.update(stretched, np.zeros(6))
    lost = np.linalg.svd(SCALE[:, None] * ROBOT.jacobian(stretched, made.frame, 'local'))
    count = int((lost[1] < UNDETERMINED).sum())
    assert count >= 1 and len(made.undetermined()) == count
    assert all('force' in name or 'moment' in name for name in made.undetermined())
    # a push along a lost direction moves no joint, and none is found
    direction = lost[0][:, -1]
    tau = ROBOT.jacobian(stretched, made.frame, 'local').T @ (SCALE * direction * 100.0)
    assert abs(direction @ (made.update(stretched, tau) / SCALE)) < 20.0


def test_an_arm_of_fewer_joints_has_the_least_wrench_and_says_which_directions_it_does_not_feel():
    short = ROBOT.chain(tip_link='foreArm_Link')
    made = ExternalWrench(short)
    q, tau = Q[:3], np.array([1.0, -2.0, 3.0])
    found = made.update(q, tau)
    np.testing.assert_allclose(short.jacobian(q, made.frame, 'local').T @ found, tau, atol=0.1)
    assert len(made.undetermined()) == 3


def test_an_unknown_frame_is_refused_by_name():
    with pytest.raises(UnknownNameError, match="'nobody'"):
        ExternalWrench(ROBOT, 'nobody')
