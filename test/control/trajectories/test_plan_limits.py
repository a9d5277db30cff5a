"""What a plan uses of its limits, and the line that says what exceeds one."""

import numpy as np
import pytest

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.control.trajectories.plan_limits import check_plan, exceeded, limit_use, limited
from robot_dynamics_ros.control.trajectories.planned_efforts import PlannedEfforts
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.control.trajectories.trajectory_check import MOST_SAMPLES, check

ROBOT = Robot.named('aubo_i5')
NAMES = ROBOT.joint_names
REST = np.zeros(6)


def swing(duration):
    """From rest to rest, the whole arm stretched out and lifted."""
    ends = [REST, [0.4, -0.6, 0.3, 0.0, 0.2, 0.0]]
    return Trajectory([0.0, duration], ends, np.zeros((2, 6)), np.zeros((2, 6)))


def checked(duration, limit=None):
    return check_plan([ROBOT], swing(duration), 0.01, ROBOT.limits.effort if limit is None else limit)


def test_a_plan_within_its_limits_has_no_line():
    found = checked(2.0)
    assert exceeded(found, NAMES) == ''
    use = limit_use(found)
    assert use.effort == pytest.approx(np.abs(found.peak_effort) / ROBOT.limits.effort)
    assert use.velocity == pytest.approx(found.peak_velocity / ROBOT.limits.velocity)
    assert use.largest[2] == max(*use.effort, *use.velocity) < 1.0


@pytest.mark.compiled
def test_a_plan_that_just_meets_a_limit_may_be_executed():
    limit = ROBOT.limits.effort.copy()
    limit[1] = np.abs(checked(2.0).peak_effort[1])
    found = checked(2.0, limit)
    assert limit_use(found).largest == (1, False, 1.0)
    assert exceeded(found, NAMES) == ''
    # but for gravity, which a motion may relieve
    text = exceeded(found._replace(time_scaling=None), NAMES)
    assert text.startswith('within the limits as planned')


@pytest.mark.compiled
def test_the_line_names_joint_time_torque_limit_and_the_scaling_that_fits():
    limit = ROBOT.limits.effort.copy()
    limit[1] = 60.0
    found = checked(0.55, limit)
    joint, is_velocity, use = limit_use(found).largest
    assert (NAMES[joint], is_velocity) == ('upperArm_joint', False) and use > 1.0
    text = exceeded(found, NAMES)
    scaling = float(text.split('times multiplied by ')[1].split()[0])
    assert f"joint 'upperArm_joint' needs {found.peak_effort[1]:.4g} N m at {found.peak_effort_time[1]:.3f} s" in text
    assert 'its effort limit is 60 N m' in text
    # the factor of the line fits, a slightly smaller one does not
    assert exceeded(checked(0.55 * scaling, limit), NAMES) == ''
    assert exceeded(checked(0.55 * (scaling - 0.003), limit), NAMES) != ''


@pytest.mark.compiled
def test_the_scaling_is_judged_at_the_samples_of_the_scaled_plan():
    """A coarse check misses a peak that the check of the scaled plan finds."""
    limit = ROBOT.limits.effort.copy()
    limit[1] = 50.0
    plan, period = swing(0.55), 0.14
    coarse = check(ROBOT, plan, period, limit)
    found = check_plan([ROBOT], plan, period, limit)
    assert found.time_scaling > coarse.time_scaling * 1.01
    assert found.time_scaling == check(ROBOT, plan, period / coarse.time_scaling, limit).time_scaling
    np.testing.assert_array_equal(found.effort, coarse.effort)
    # one that is lower there does not replace that of the plan's samples
    coarse = check(ROBOT, plan, 0.11, limit).time_scaling
    assert check(ROBOT, plan, 0.11 / coarse, limit).time_scaling < coarse
    assert check_plan([ROBOT], plan, 0.11, limit).time_scaling == coarse
    # where there would be too many samples the scaling of the plan's own stays
    many = 0.55 / (MOST_SAMPLES - 1.0)
    assert check_plan([ROBOT], plan, many, limit).time_scaling > 1.0


def test_a_velocity_limit_is_named_as_such():
    found = checked(0.3, np.full(6, np.inf))
    text = exceeded(found, NAMES)
    assert 'rad/s, its velocity limit is' in text and 'would fit' in text
    assert limit_use(found).effort.tolist() == [0.0] * 6


def test_gravity_beyond_a_limit_is_named_whether_or_not_the_motion_exceeds_it():
    limit = ROBOT.limits.effort.copy()
    limit[1] = 5.0
    text = exceeded(checked(2.0, limit), NAMES)
    assert 'no time scaling fits: at rest at' in text and "joint 'upperArm_joint' would need" in text
    # falling relieves the joint: only standing still exceeds the limit
    found = checked(2.0)
    still = found._replace(static_effort=2.0 * found.static_effort + 1e3, time_scaling=None)
    assert exceeded(still, NAMES).startswith('within the limits as planned; no time scaling fits')


def test_friction_in_the_way_is_said():
    found = checked(0.3)._replace(time_scaling=None)
    assert exceeded(found, NAMES).endswith('up to 100 fits: friction or a velocity limit is in the way')


@pytest.mark.compiled
def test_with_two_payloads_the_larger_use_of_each_joint_counts():
    """In whatever order they come."""
    heavy = ROBOT.with_payload(Payload(4.0, (0.0, 0.0, 0.05)))
    upside_down = ROBOT.with_gravity((0.0, 3.0, 9.0))
    robots, limit = [ROBOT, heavy, upside_down], np.array([80.0, 70.0, 40.0, 6.0, 6.0, 6.0])
    each = [check_plan([robot], swing(0.55), 0.01, limit) for robot in robots]
    for order in ((0, 1, 2), (2, 1, 0)):
        found = check_plan([robots[k] for k in order], swing(0.55), 0.01, limit)
        np.testing.assert_array_equal(abs(found.peak_effort), np.max([abs(it.peak_effort) for it in each], axis=0))
        for j, peak in enumerate(found.peak_effort):
            assert (peak, found.peak_effort_time[j]) in [(it.peak_effort[j], it.peak_effort_time[j]) for it in each]
        np.testing.assert_array_equal(found.effort_margin, limit - abs(found.peak_effort))
        np.testing.assert_array_equal(abs(found.effort), np.max([abs(it.effort) for it in each], axis=0))
        np.testing.assert_array_equal(abs(found.static_effort), np.max([abs(it.static_effort) for it in each], axis=0))
        scalings = [it.time_scaling for it in each]
        assert found.time_scaling == (None if None in scalings else max(scalings))
    assert len({float(abs(it.peak_effort[1])) for it in each}) == 3
    wide = np.array([200.0, 90.0, 60.0, 13.0, 13.0, 13.0])
    scalings = [check_plan([robot], swing(0.55), 0.01, wide).time_scaling for robot in robots[:2]]
    assert scalings[0] < scalings[1]
    for order in (robots[:2], robots[1::-1]):
        assert check_plan(order, swing(0.55), 0.01, wide).time_scaling == scalings[1]


@pytest.mark.compiled
def test_a_payload_that_the_arm_cannot_hold_makes_the_plan_infeasible():
    limit = ROBOT.limits.effort.copy()
    limit[1] = 1.05 * np.abs(checked(2.0).static_effort[:, 1]).max()
    assert check_plan([ROBOT], swing(2.0), 0.01, limit).time_scaling is not None
    heavy = ROBOT.with_payload(Payload(4.0, (0.0, 0.0, 0.05)))
    for robots in ([heavy, ROBOT], [ROBOT, heavy]):
        found = check_plan(robots, swing(2.0), 0.01, limit)
        assert found.time_scaling is None
        assert 'no time scaling fits: at rest at' in exceeded(found, NAMES)


def test_efforts_that_were_limited_are_named():
    wanted = np.array([[1.0, 2.0], [1.0, -5.0], [3.5, 2.0]])
    found = PlannedEfforts(np.array([0.0, 0.1, 0.2]), np.clip(wanted, -3.0, 3.0), wanted, np.array([3.0, 3.0]))
    assert limited(found, ['hip', 'knee']).startswith(
        "the terms of compensation need -5 N m of joint 'knee' at 0.100 s, its effort limit is 3 N m"
    )
    assert limited(found._replace(wanted=found.effort), ['hip', 'knee']) == ''
