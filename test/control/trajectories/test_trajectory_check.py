"""Checks of trajectories: against single states one by one, against robots with a solution in closed form."""

from support.robots.small_robots import general, joint, link, robot

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.trajectories import trajectory_check
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.control.trajectories.trajectory_check import FASTEST, MOST_SAMPLES, SLOWEST, check, sampled
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.model.inertial_parameters import ten_parameters
from robot_dynamics_ros.model.joint_types import Joint
from robot_dynamics_ros.model.model import Model

TIMES = np.array([0.0, 0.4, 1.0, 1.13, 2.5])
REST = np.zeros(2)
LIFT = ('0 0 1', 20.0)  # axis and weight (N) of a slide of 2 kg under gravity of 10 m/s^2


def arm(effort=np.inf, velocity=np.inf, **friction) -> Robot:
    """Return two joints that swing under gravity, with limits (one for both, or two) and friction."""
    joints = []
    for k, (parent, child) in enumerate([('base', 'upper'), ('upper', 'lower')]):
        inertia = ten_parameters(2.0 - k, [0.3, 0.0, 0.1], 0.02 * np.eye(3))
        known = {
            name: limit
            for name, limit in (
                ('effort', np.broadcast_to(effort, 2)[k]),
                ('velocity', np.broadcast_to(velocity, 2)[k]),
            )
            if np.isfinite(limit)
        }
        turn = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]) if k == 0 else np.eye(3)
        origin = np.array([0.4 * k, 0.0, 0.0])
        axis = np.array([0.0, 0.0, 1.0])
        joints.append(Joint(f'j{k}', child, parent, 'revolute', axis, turn, origin, inertia, **known, **friction))
    return Robot(Model.of('arm', 'base', joints))


RUBBING = {'viscous': 0.8, 'coulomb': 0.7, 'stribeck': 0.5, 'stribeck_velocity': 0.2, 'load': 0.1, 'offset': 0.1}


def slide(axis='1 0 0', limit='', friction=''):
    """Return a slide of 2 kg along ``axis``."""
    inside = f'<limit lower="-9" upper="9" {limit}/>' + (f'<dynamics {friction}/>' if friction else '')
    made = robot(
        link('base'),
        link('sledge', 2.0, '0 0 0', (0.1, 0, 0, 0.1, 0, 0.1)),
        joint('a', 'base', 'sledge', 'prismatic', axis, inside=inside),
    )
    return made.with_gravity((0.0, 0.0, -10.0))


def random_trajectory(seed, kinds=(2, 2, 1, 1, 0)):
    """Return a trajectory of two joints, and its points; ``kinds`` are how many rates each point states."""
    rng = np.random.default_rng(seed)
    q, qd, qdd = rng.uniform(-1.0, 1.0, (3, len(TIMES), 2))
    qd[np.array(kinds) < 1], qdd[np.array(kinds) < 2] = np.nan, np.nan
    return Trajectory(TIMES, q, qd, qdd), (q, qd, qdd)


def stretched(points, factor):
    """Return the motion of ``random_trajectory`` with its times multiplied by ``factor``."""
    q, qd, qdd = points
    return Trajectory(factor * TIMES, q, qd / factor, qdd / factor**2)


def gone(distance=1.0, duration=1.0):
    """Return a slide's way from rest to rest by a cubic: its acceleration is +- 6 distance / duration^2 at the ends."""
    return Trajectory([0.0, duration], [[0.0], [distance]], np.zeros((2, 1)))


# samples


def test_samples_are_the_trajectory():
    trajectory, _ = random_trajectory(0)
    motion = sampled(trajectory, 0.07)
    out = np.empty((3, 2))
    for k, t in enumerate(motion.times):
        # the end of a segment is what is reached just before the next one begins
        trajectory.sample(t if motion.last[k] else t - 1e-9, *out)
        tolerance = 1e-12 if motion.last[k] else 1e-4
        for row, expected in zip((motion.q[k], motion.qd[k], motion.qdd[k]), out, strict=True):
            assert row == pytest.approx(expected, abs=tolerance)
    assert np.count_nonzero(~motion.last) == 3


def test_samples_hold_all_points_and_are_no_further_apart_than_asked():
    motion = sampled(random_trajectory(0)[0], 0.07)
    times = motion.times[motion.last]
    assert np.isin(TIMES, times).all()
    gaps = np.diff(times)
    assert (gaps > 0.0).all() and 0.065 < gaps.max() <= 0.07 + 1e-12
    assert len(sampled(random_trajectory(0)[0], 99.0).times) == 8


def test_points_of_the_asked_period_are_the_samples():
    """Their times are multiples that rounding makes a little more or less than one period apart."""
    times = 0.01 * np.arange(101.0)
    assert (np.diff(times) > 0.01).any()
    motion = sampled(Trajectory(times, np.zeros((101, 2)), np.zeros((101, 2))), 0.01)
    assert motion.times[motion.last].tolist() == times.tolist()
    # however short, a segment has both of its ends
    assert sampled(Trajectory([0.0, 1e-9], [REST, REST], [REST, REST]), 0.01).times.tolist() == [0.0, 1e-9]


def test_a_single_point_is_at_zero_velocity():
    found = check(arm(), Trajectory([0.5], [[0.1, 0.2]]), 0.01)
    assert found.motion.times.tolist() == [0.5] and found.motion.last.tolist() == [True]
    assert all(rows.shape == (1, 2) for rows in (found.motion.q, found.motion.qd, found.motion.qdd, found.effort))
    assert found.peak_effort == pytest.approx(arm().gravity_torque([0.1, 0.2]))
    assert found.peak_velocity.tolist() == [0.0, 0.0]


@pytest.mark.parametrize('period', [0.0, -0.1, np.nan, np.inf])
def test_a_period_that_is_none_is_refused(period):
    with pytest.raises(ArgumentError, match=r'^sample_period: expected a positive number'):
        check(arm(), gone(), period)


def test_too_many_samples_are_refused_before_any_is_made():
    with pytest.raises(
        ArgumentError, match=rf'^sample_period: 1e-09 s makes 25\d{{8}} samples of 2.5 s, at most {MOST_SAMPLES}'
    ):
        check(arm(), random_trajectory(0)[0], 1e-9)
    with pytest.raises(ArgumentError, match=r'^sample_period: 0.01 s makes 200000000001 samples of 2e'):
        check(slide(), gone(duration=2e9))


def test_as_many_samples_as_are_returned_are_computed():
    assert len(sampled(gone(duration=MOST_SAMPLES - 1.0), 1.0).times) == MOST_SAMPLES
    with pytest.raises(ArgumentError, match=rf'^sample_period: 1 s makes {MOST_SAMPLES + 1} samples'):
        sampled(gone(duration=float(MOST_SAMPLES)), 1.0)


# peaks


def test_efforts_that_are_not_finite_are_refused():
    # friction under such a load overflows, although gravity itself does not
    heavy = Robot.named('aubo_i5').with_gravity((1e155, 0.0, 0.0)).with_friction(load=1e154)
    with pytest.raises(ArgumentError, match=r'^trajectory: its efforts overflow'):
        check(heavy, Trajectory([0.0, 1.0], [[0.3] * 6, [0.4] * 6]))


@pytest.mark.parametrize('seed', range(3))
def test_peaks_are_those_of_single_states(seed):
    robot, (trajectory, _) = arm(effort=(30.0, np.inf), **RUBBING), random_trajectory(seed)
    found = check(robot, trajectory, 0.05)
    efforts = []
    for q, qd, qdd in zip(*found.motion[1:4], strict=True):
        tau = robot.mass_matrix(q) @ qdd + robot.coriolis_torque(q, qd) + robot.gravity_torque(q)
        efforts.append(tau + robot.friction_torque(qd, tau))
    efforts = np.array(efforts)
    assert found.effort == pytest.approx(efforts, rel=1e-9, abs=1e-9)
    for j in range(2):
        k = max(range(len(efforts)), key=lambda k, j=j: abs(efforts[k, j]))
        assert found.peak_effort[j] == pytest.approx(efforts[k, j])
        assert found.peak_effort_time[j] == found.motion.times[k]
        assert found.peak_velocity[j] == max(abs(qd[j]) for qd in found.motion.qd)
    assert found.effort_margin[0] == pytest.approx(30.0 - abs(found.peak_effort[0]))
    assert np.isnan(found.effort_margin[1])


def test_a_peak_at_the_end_of_a_segment_is_found():
    """A cubic brakes hardest at its end, where the next segment begins without acceleration."""
    brake = Trajectory([0.0, 1.0, 2.0], [[0.0], [1.0], [1.0]], [[1.5], [0.0], [0.0]])
    # q = 1.5 t - 0.5 t^3: -3 m/s^2 at its end
    found = check(slide(), brake, 0.3)
    assert found.peak_effort[0] == pytest.approx(-6.0) and found.peak_effort_time[0] == 1.0


# factors of time


def worst(robot, trajectory, period):
    """Return the largest share of its limit that an effort or a speed takes."""
    found = check(robot, trajectory, period)
    return max((abs(found.effort) / robot.limits.effort).max(), (found.peak_velocity / robot.limits.velocity).max())


@pytest.mark.compiled
@pytest.mark.parametrize('friction', [{}, RUBBING], ids=['smooth', 'rubbing'])
@pytest.mark.parametrize('size', [0.4, 1.0, 3.0])
@pytest.mark.parametrize('seed', range(3))
def test_a_trajectory_stretched_by_the_factor_just_meets_its_limits(seed, size, friction):
    trajectory, points = random_trajectory(seed)
    bare = arm(**friction)
    still = abs(bare.gravity_torque(sampled(trajectory, 0.01).q)).max(axis=0)
    robot = arm(effort=2.5 + still * 1.3 + 5.0 * size, velocity=50.0, **friction)
    factor = check(robot, trajectory, 0.01).time_scaling
    assert FASTEST < factor < SLOWEST
    again = stretched(points, factor)
    assert worst(robot, again, 0.01 * factor) == pytest.approx(1.0, abs=1e-6)
    assert check(robot, again, 0.01 * factor).time_scaling == pytest.approx(1.0, rel=1e-6)


@pytest.mark.compiled
def test_factors_on_both_sides_of_one_occur():
    factors = [check(arm(effort=40.0 * size), random_trajectory(0)[0], 0.01).time_scaling for size in (0.5, 5.0)]
    assert factors[0] > 1.05 and factors[1] < 0.95


@pytest.mark.compiled
def test_the_factor_is_the_smallest_that_a_search_finds():
    """Every factor of a fine grid is tried on a trajectory of its own."""
    trajectory, points = random_trajectory(1)
    robot = arm(effort=20.0, velocity=4.0, **RUBBING)
    found = check(robot, trajectory, 0.02).time_scaling
    grid = np.geomspace(FASTEST, 20.0, 600)
    fitting = [factor for factor in grid if worst(robot, stretched(points, factor), 0.02 * factor) <= 1.0]
    assert 0.2 < found < 10.0
    assert fitting[0] / (grid[1] / grid[0]) < found <= fitting[0]


@pytest.mark.compiled
@pytest.mark.parametrize('seed', range(4))
def test_the_closed_form_without_friction_is_what_steps_and_bisection_find(seed, monkeypatch):
    """Limits between those of an arm at rest and those of the motion: factors on both sides of 1."""
    trajectory, _ = random_trajectory(seed)
    still = np.abs(arm().gravity_torque(sampled(trajectory, 0.01).q)).max(axis=0)
    robot = arm(effort=still + [0.5, 3.0, 20.0, 200.0][seed], velocity=60.0)
    closed = check(robot, trajectory).time_scaling
    monkeypatch.setattr(trajectory_check, 'has_friction', lambda robot: True)
    searched = check(robot, trajectory).time_scaling
    assert FASTEST < closed < SLOWEST
    assert closed == pytest.approx(searched, rel=1e-8)


@pytest.mark.compiled
@pytest.mark.parametrize('viscous', [0.0, 0.6])
def test_pinocchio_agrees_that_the_scaled_motion_just_meets_the_limits(viscous):
    """Their rnea at q, qd / s, qdd / s^2 of a plan of two joints, friction by its formula."""
    pin = pytest.importorskip('pinocchio', reason='the outside source, Pinocchio (package pin), is not installed')
    trajectory, _ = random_trajectory(5, kinds=(2, 2, 2, 2, 2))
    robot = arm(effort=26.0, velocity=60.0, viscous=viscous)
    scaling = check(robot, trajectory, 0.005).time_scaling
    model = pin.buildModelFromXML(robot.to_urdf())
    model.gravity.linear = np.asarray(robot.gravity)
    data, motion = model.createData(), sampled(trajectory, 0.005)

    def largest(factor):
        """The largest torque of the motion in time scaled by ``factor``, N m."""
        # the joints turn endlessly: their positions are cosines and sines there
        turns = np.stack([np.cos(motion.q), np.sin(motion.q)], axis=2).reshape(-1, 4)
        rows = zip(turns, motion.qd / factor, motion.qdd / factor**2, strict=True)
        return max(np.abs(pin.rnea(model, data, q, qd, qdd) + viscous * qd).max() for q, qd, qdd in rows)

    assert scaling > 1.05
    assert largest(scaling) == pytest.approx(26.0, rel=1e-6)
    assert largest(0.999 * scaling) > 26.0


def test_without_gravity_and_friction_it_is_the_root_of_the_excess():
    # m a = 2 * 6
    assert check(slide(limit='effort="3"'), gone()).time_scaling == pytest.approx(2.0)
    assert check(slide(limit='effort="48"'), gone()).time_scaling == pytest.approx(0.5)


def test_the_share_of_gravity_is_left_out_of_the_root():
    axis, weight = LIFT
    assert check(slide(axis, f'effort="{weight + 3.0}"'), gone()).time_scaling == pytest.approx(2.0)


def test_a_velocity_limit_counts_by_its_ratio():
    # 6 t (1 - t) is 1.5 m/s in the middle
    found = check(slide(limit='effort="1000" velocity="0.5"'), gone())
    assert found.peak_velocity[0] == pytest.approx(1.5, rel=1e-3)
    assert found.time_scaling == pytest.approx(3.0, rel=1e-3)


def test_gravity_alone_beyond_the_limit_leaves_no_factor():
    axis, weight = LIFT
    found = check(slide(axis, f'effort="{0.9 * weight}"'), gone())
    assert found.time_scaling is None
    # where falling relieves the joint the motion itself may be within the limit, but the arm could not stop
    fall = Trajectory([0.0, 1.0], [[0.0], [-1.0]], [[0.0], [-2.0]], [[-2.0], [-2.0]])
    found = check(slide(axis, f'effort="{0.9 * weight}"'), fall)
    assert found.effort_margin[0] > 0.0
    assert found.time_scaling is None


def test_an_arm_may_stand_still_where_gravity_needs_all_of_its_limit():
    axis, weight = LIFT
    rest = Trajectory([0.0], [[0.3]])
    assert check(slide(axis, f'effort="{weight}"'), rest).time_scaling == FASTEST
    assert check(slide(axis, f'effort="{weight - 1e-9}"'), rest).time_scaling is None


def test_friction_beyond_the_limit_leaves_no_factor():
    found = check(slide(limit='effort="4"', friction='friction="5"'), gone())
    assert found.time_scaling is None


def test_limits_that_are_passed_replace_those_of_the_robot():
    robot = slide(limit='effort="3"')
    found = check(robot, gone(), effort_limit=[48.0])
    assert found.time_scaling == pytest.approx(0.5) and found.effort_limit.tolist() == [48.0]
    assert found.effort_margin[0] == pytest.approx(36.0)


def test_static_efforts_are_those_of_an_arm_at_rest():
    found = check(slide(LIFT[0], friction='friction="5" damping="3"'), gone())
    assert found.static_effort.shape == found.effort.shape
    assert found.static_effort == pytest.approx(LIFT[1])


def test_an_unknown_limit_is_no_limit():
    found = check(general('revolute'), gone())
    assert found.time_scaling == FASTEST
    assert np.isnan(found.effort_margin).all()


def test_a_velocity_limit_beyond_the_slowest_leaves_no_factor():
    assert check(slide(limit=f'velocity="{1.4 / SLOWEST}"'), gone()).time_scaling is None
    assert check(slide(limit='velocity="0.02"'), gone()).time_scaling == pytest.approx(75.0, rel=1e-3)
