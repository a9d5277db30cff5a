"""``~/check_trajectory`` of a running dynamics_server: results in the order of the request, and the motion again."""

import re
from itertools import pairwise

from support.nodes import graph as ros
from support.robots.small_robots import mixed

import numpy as np
import pytest

from robot_dynamics_interfaces.srv import CheckTrajectory
from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.joints.position_limits import PositionLimits
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.control.trajectories.trajectory_check import check
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.formats.library import named_urdf
from robot_dynamics_ros.nodes.tasks.trajectory_service import check_trajectory

NODE = 'dynamics_server'
ROBOT = Robot.named('aubo_i5')
NAMES = list(ROBOT.joint_names)
ORDER = [4, 2, 0, 5, 1, 3]
Q, QD, QDD = np.random.default_rng(5).uniform(-1.0, 1.0, (3, 3, 6))
TIMES = (0.0, 0.7, 2.0)
PER_JOINT = ('peak_effort', 'peak_effort_time', 'effort_limit', 'effort_margin', 'peak_velocity', 'velocity_limit')


@pytest.fixture(scope='module')
def graph(file_graph):
    file_graph.start(NODE)
    return file_graph


def points(order=slice(None)):
    return [(t, Q[k][order], QD[k][order], QDD[k][order]) for k, t in enumerate(TIMES)]


def ask(graph, message, **more):
    request = CheckTrajectory.Request(trajectory=message, **more)
    return graph.client.call(CheckTrajectory, f'{NODE}/check_trajectory', request)


def test_figures_are_those_of_the_check_in_the_order_of_the_request(graph):
    names = [NAMES[k] for k in ORDER]
    response = ask(graph, ros.trajectory(names, 5 * ros.SECOND, *points(ORDER)), sample_period=0.05)
    assert response.success, response.message
    assert response.message == ''
    assert response.joint_names == names
    found = check(ROBOT, Trajectory(TIMES, Q, QD, QDD), 0.05)
    for field in ('peak_effort', 'peak_effort_time', 'effort_margin', 'peak_velocity'):
        assert getattr(response, field).tolist() == pytest.approx(getattr(found, field)[ORDER].tolist())
    assert response.effort_limit.tolist() == ROBOT.limits.effort[ORDER].tolist()
    assert response.velocity_limit.tolist() == ROBOT.limits.velocity[ORDER].tolist()
    assert response.feasible
    assert response.time_scaling == pytest.approx(found.time_scaling)
    assert response.resampled.points == []
    assert response.resampled.joint_names == names


def test_the_motion_is_returned_with_its_efforts(graph):
    names = [NAMES[k] for k in ORDER]
    message = ros.trajectory(names, 5 * ros.SECOND, *points(ORDER))
    response = ask(graph, message, sample_period=0.05, resample=True)
    resampled = response.resampled
    assert resampled.header == message.header
    times = [ros.nanoseconds(point.time_from_start) for point in resampled.points]
    assert all(0 < later - earlier <= 50_000_001 for earlier, later in pairwise(times))
    assert {round(t * ros.SECOND) for t in TIMES} <= set(times)
    trajectory, out = Trajectory(TIMES, Q, QD, QDD), np.empty((3, 6))
    for t, point in zip(times, resampled.points, strict=True):
        trajectory.sample(t / ros.SECOND, *out)
        effort = ROBOT.inverse_dynamics(*out) + ROBOT.friction_torque(out[1])
        for found, wanted in zip(
            (point.positions, point.velocities, point.accelerations, point.effort), (*out, effort), strict=True
        ):
            assert found.tolist() == pytest.approx(wanted[ORDER].tolist(), rel=1e-6, abs=1e-6)
    largest = np.abs([point.effort for point in resampled.points]).max(axis=0)
    assert largest == pytest.approx(np.abs(response.peak_effort), rel=1e-9)


def test_the_period_left_out_is_a_hundredth_of_a_second(graph):
    response = ask(graph, ros.trajectory(NAMES, 0, *points()), resample=True)
    assert len(response.resampled.points) == 201


def test_the_returned_motion_is_the_same_motion(graph):
    """But for times, which are whole nanoseconds."""
    first = ask(graph, ros.trajectory(NAMES, 0, *points()), resample=True)
    again = ask(graph, first.resampled)
    assert again.time_scaling == pytest.approx(first.time_scaling, rel=1e-4)
    assert again.peak_effort.tolist() == pytest.approx(first.peak_effort.tolist(), rel=2e-3)


def test_what_no_stretching_helps_is_reported_without_nan(graph):
    """The shoulder is too weak to hold the arm, and of a wrist no limit is known."""
    urdf = named_urdf('aubo_i5').read_text(encoding='utf-8')
    weak = urdf.replace('effort="133"', 'effort="5"', 2).replace('effort="13.5"', 'effort="0"', 1)
    with graph.parameters(NODE, robot_description=weak):
        response = ask(graph, ros.trajectory(NAMES, 0, *points()))
    assert response.success, response.message
    assert not response.feasible
    assert response.time_scaling == 0.0
    assert min(response.effort_margin) < 0.0
    assert (response.effort_limit[3], response.effort_margin[3]) == (0.0, 0.0)
    assert all(np.isfinite(getattr(response, field)).all() for field in PER_JOINT)


def test_effort_limits_that_are_stated_replace_those_of_the_description(graph):
    """Without them a motion of an arm whose limits nobody knows is feasible."""
    unknown = re.sub('effort="[^"]*"', 'effort="0"', named_urdf('aubo_i5').read_text(encoding='utf-8'))
    message, stated = ros.trajectory(NAMES, 0, *points()), [150.0, 10.0, 0.0, 150.0, 150.0, float('inf')]
    with graph.parameters(NODE, robot_description=unknown):
        assert ask(graph, message).feasible
        with graph.parameters(NODE, effort_limit=stated):
            response = ask(graph, message)
    assert response.effort_limit.tolist() == [150.0, 10.0, 0.0, 150.0, 150.0, 0.0]
    assert response.effort_margin[0] == pytest.approx(150.0 - abs(response.peak_effort[0]))
    assert response.success and not response.feasible and response.effort_margin[1] < 0.0


WRONG = {
    'no points': (ros.trajectory(NAMES, 0), {}, 'no points'),
    'unknown joint': (ros.trajectory(['nose', *NAMES[1:]], 0, (0.0, Q[0])), {}, "'nose'"),
    'missing joint': (ros.trajectory(NAMES[:5], 0, (0.0, Q[0, :5])), {}, repr(NAMES[5])),
    'short point': (ros.trajectory(NAMES, 0, (0.0, Q[0]), (1.0, Q[1, :5])), {}, 'point 1'),
    'time that stands': (ros.trajectory(NAMES, 0, (1.0, Q[0]), (1.0, Q[1])), {}, 'point 1'),
    'no number': (ros.trajectory(NAMES, 0, (0.0, Q[0] * np.nan)), {}, 'point 0'),
    'a period below 0': (ros.trajectory(NAMES, 0, *points()), {'sample_period': -1.0}, 'sample_period'),
    'no number of a period': (ros.trajectory(NAMES, 0, *points()), {'sample_period': np.nan}, 'sample_period'),
    'too many samples': (ros.trajectory(NAMES, 0, *points()), {'sample_period': 1e-9}, 'sample_period'),
    'too long': (ros.trajectory(NAMES, 0, (0.0, Q[0]), (2e9, Q[1])), {}, 'sample_period'),
    'too large': (
        ros.trajectory(NAMES, 0, (0.0, Q[0], 1e200 * QD[0]), (1.0, Q[1], 1e200 * QD[1])),
        {},
        'between points 0 and 1',
    ),
}


@pytest.mark.parametrize('case', WRONG)
def test_a_wrong_field_is_named_and_the_node_stays_active(graph, case):
    message, more, culprit = WRONG[case]
    response = ask(graph, message, **more)
    assert not response.success
    assert culprit in response.message
    assert 'internal error' not in response.message
    assert all(len(getattr(response, field)) == 0 for field in PER_JOINT)
    assert response.resampled.points == []
    assert ask(graph, ros.trajectory(NAMES, 0, *points())).success


def test_a_continuous_joint_that_jumps_by_a_turn_is_refused():
    arm, ends = mixed(), ((0.0, [3.1, 0.0, 0.0]), (0.1, [-3.1, 0.0, 0.0]))
    request = CheckTrajectory.Request(trajectory=ros.trajectory(arm.joint_names, 0, *ends))
    with pytest.raises(ArgumentError, match=r"^trajectory: joint 'turn' moves by -6\.2 rad between points 0 and 1"):
        check_trajectory(arm, PositionLimits(arm, 0.2), request, CheckTrajectory.Response())
