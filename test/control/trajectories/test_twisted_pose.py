"""The pose to which velocities lead a frame: how far, in whose axes, how far ahead of the arm, and when anew."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robot_dynamics_ros.control.trajectories.twisted_pose import TwistedPose
from robot_dynamics_ros.errors import ArgumentError

MS = 1_000_000
SPEED, FREE = (0.25, 1.0), (np.inf, np.inf)
UP = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.2])


def pose(vector=(0.3, -0.5, 0.7), place=(0.4, 0.1, 0.5)):
    found = np.eye(4)
    found[:3, :3], found[:3, 3] = Rotation.from_rotvec(vector).as_matrix(), place
    return found


START = pose()


def led(twisted, twist, times, is_local=False, measured=START):
    """Return the pose after velocities at times, ms."""
    for time in times:
        found = twisted.moved(np.asarray(twist), is_local, time * MS, START, measured)
        twisted.keep(found)
    return found


@pytest.mark.parametrize('is_local', [False, True])
@pytest.mark.parametrize('rotation', [(0.3, -0.2, 0.5), (0.0, 0.0, 0.0), (0.0, 0.9, 0.0)])
def test_it_moves_as_the_velocity_says_in_the_axes_of_base_or_frame(is_local, rotation):
    """The rotation of a constant velocity is one rotation vector; in the base's axes the place moves straight."""
    linear = np.array([0.1, -0.15, 0.05])
    found = led(TwistedPose(SPEED, FREE), [*rotation, *linear], [1000, 1010, 1130, 1330, 1500], is_local)
    turn, begin = Rotation.from_rotvec(0.5 * np.array(rotation)), Rotation.from_matrix(START[:3, :3])
    expected = begin * turn if is_local else turn * begin
    np.testing.assert_allclose(found[:3, :3], expected.as_matrix(), atol=1e-12)
    if not is_local:
        np.testing.assert_allclose(found[:3, 3], START[:3, 3] + 0.5 * linear, atol=1e-12)
    elif not any(rotation):
        np.testing.assert_allclose(found[:3, 3], START[:3, 3] + 0.5 * begin.apply(linear), atol=1e-12)


@pytest.mark.parametrize('times', [[1000], [1000, 1251], [1000, 1100, 1351], [1000, 1100, 1050]])
def test_the_first_one_and_one_after_a_gap_or_out_of_order_move_nothing(times):
    assert np.array_equal(led(TwistedPose(SPEED, FREE), UP, times), START)


def test_a_gap_begins_at_the_pose_that_leads_then():
    twisted, elsewhere = TwistedPose(SPEED, FREE), pose(place=(0.0, 0.0, 1.0))
    assert led(twisted, UP, [1000, 1200])[2, 3] == pytest.approx(0.54)
    twisted.keep(twisted.moved(UP, False, 2000 * MS, elsewhere, elsewhere))
    assert twisted.moved(UP, False, 2100 * MS, START, elsewhere)[2, 3] == pytest.approx(1.02)
    twisted.begin_anew()
    assert np.array_equal(twisted.moved(UP, False, 2200 * MS, START, START), START)


def test_a_pose_that_was_not_kept_is_not_gone_on_from():
    """As where the joints do not reach it: a velocity back moves the frame at once."""
    twisted = TwistedPose(SPEED, FREE)
    led(twisted, UP, [1000])
    for time in range(1100, 3000, 100):
        twisted.moved(UP, False, time * MS, START, START)
    assert twisted.moved(-UP, False, 3000 * MS, START, START)[2, 3] == pytest.approx(0.48)


@pytest.mark.parametrize('turns', [False, True])
def test_ahead_of_an_arm_that_is_held_it_waits_and_goes_back_at_once(turns):
    twisted, twist = TwistedPose(SPEED, (0.5, 0.1)), np.roll(5.0 * UP, 3) if turns else UP
    found = led(twisted, twist, range(1000, 5000, 100))
    if turns:
        angle = (Rotation.from_matrix(found[:3, :3]) * Rotation.from_matrix(START[:3, :3]).inv()).magnitude()
        assert 0.4 - 1e-9 <= angle <= 0.5 + 1e-9
    else:
        assert 0.58 - 1e-9 <= found[2, 3] <= 0.6 + 1e-9
    back = twisted.moved(-twist, False, 5000 * MS, START, START)
    assert not np.array_equal(back, found)
    # where the arm has been moved away from it, it may come nearer
    twisted.keep(found)
    nearer = twisted.moved(-twist, False, 5100 * MS, START, pose((0.3, -0.5, -0.7), (0.4, 0.1, 0.0)))
    assert not np.array_equal(nearer, found)


@pytest.mark.parametrize(
    ('twist', 'reason'),
    [
        ([0, 0, 0, 0.2, 0.2, 0], r'^linear: 0\.282843 m/s is above the speed limit, 0\.25 m/s'),
        ([0, 0.8, 0.8, 0, 0, 0], r'^angular: 1\.13137 rad/s is above the speed limit, 1 rad/s'),
    ],
)
def test_a_velocity_above_the_speed_limit_is_refused_and_does_not_count(twist, reason):
    twisted = TwistedPose(SPEED, FREE)
    led(twisted, UP, [1000])
    with pytest.raises(ArgumentError, match=reason):
        twisted.moved(np.array(twist, float), False, 1100 * MS, START, START)
    assert twisted.moved(UP, False, 1200 * MS, START, START)[2, 3] == pytest.approx(0.54)
