"""trajectory_effort_node while the payload changes, and plans of which only the efforts exceed a limit."""

import time

from support.nodes import graph as ros
from support.nodes.payload_gravity_followers import set_payload
from support.nodes.planned_motions import END, NAMES, REST, ROBOT, START, plan, starter

import numpy as np
import pytest

from robot_dynamics_ros import Payload
from robot_dynamics_ros.control.trajectories.plan_limits import check_plan
from robot_dynamics_ros.control.trajectories.trajectory_check import check
from robot_dynamics_ros.messages.joint_trajectory import trajectory_of
from robot_dynamics_ros.nodes.executables.dynamics_server import DynamicsServer

COM = (0.0, 0.0, 0.05)
LADEN = ROBOT.with_payload(Payload(4.0, COM), 'ee_link')
LOWEST, SWING = np.array([0.0, np.pi, 0.0, 0.0, 0.0, 0.0]), np.array([0.0, 0.4, 0.0, 0.0, 0.0, 0.0])
SECOND = 1_000_000_000


@pytest.fixture
def make(process):
    """A function that starts a node with parameters, and returns it with its ``Outputs`` once it knows the payload."""
    started = starter(process)

    def informed(**parameters):
        node = started(**parameters)
        process.spin_until(lambda: not node.node.silence, 'payload and gravity')
        return node

    return informed


@pytest.fixture
def server(process):
    """A dynamics_server of an arm that carries 4 kg."""
    server = process.node(DynamicsServer)
    server.start()
    change(process, server, 4.0, com=list(COM))
    return server


def change(process, server, mass, **fields):
    """Set the payload, and wait until the ramp has ended."""
    set_payload(server, mass, ramp_time=1e-3, **fields)
    now = server.get_clock().now().nanoseconds
    process.spin_until(lambda: server.get_clock().now().nanoseconds > now + 2_000_000, 'the end of the ramp')


def at_rest(robot, q):
    return robot.gravity_torque(q) + robot.friction_torque(REST)


def stamped(seconds, **fields):
    """Return a plan whose stamp is ``seconds`` after now."""
    message = plan(**fields)
    stamp = message.header.stamp
    stamp.sec, stamp.nanosec = divmod(time.time_ns() + round(seconds * SECOND), SECOND)
    return message


def test_during_a_ramp_to_a_smaller_payload_the_larger_one_counts(make, process, server):
    trajectory = trajectory_of(NAMES, plan())
    both = check_plan([ROBOT, LADEN], trajectory, 0.01, None)
    light, heavy = (np.abs(check(robot, trajectory).peak_effort) for robot in (ROBOT, LADEN))
    limit = ROBOT.limits.effort.copy()
    limit[1] = 0.5 * (light[1] + heavy[1])
    node, asked = make(effort_limit=limit.tolist()), make(effort_limit=limit.tolist(), publish_infeasible=True)
    set_payload(server, 0.0, ramp_time=600.0)
    assert node.send(plan()) is None
    (report,), (line,) = node.reports, node.lines
    assert report.peak_effort.tolist() == pytest.approx(both.peak_effort.tolist()) and not report.published
    assert line.startswith(f'plan not published: joint {NAMES[1]!r} needs {both.peak_effort[1]:.4g} N m')
    # by request, and limited
    assert asked.send(plan()) is not None and asked.reports[0].published
    # after the ramp it is within its limits
    change(process, server, 0.0)
    assert node.send(plan()) is not None
    assert np.abs(node.reports[0].peak_effort) == pytest.approx(light)


def test_a_plan_that_begins_after_the_ramp_meets_the_payload_after_it_alone(make, server):
    node = make(effort_limit=[300.0])
    set_payload(server, 0.0, ramp_time=600.0)
    found = node.send(stamped(700.0))
    assert found.points[0].effort == pytest.approx(at_rest(ROBOT, START))
    expected = check(ROBOT, trajectory_of(NAMES, plan())).peak_effort
    assert node.reports[0].peak_effort.tolist() == pytest.approx(expected.tolist())


def test_points_before_now_get_the_payload_in_force_now(make, process):
    """Their stamp lies before the ramp from no payload, which has ended."""
    server = process.node(DynamicsServer)
    server.start()
    node = make(effort_limit=[300.0], sample_period=1.0)
    change(process, server, 4.0, com=list(COM))
    found = node.send(stamped(-3600.0, duration=7200.0))
    assert found.points[0].effort == pytest.approx(at_rest(LADEN, START))
    assert found.points[1].effort == pytest.approx(at_rest(LADEN, END))
    (report,) = node.reports
    assert [body.mass for body in report.payloads] == [4.0]
    expected = check(LADEN, trajectory_of(NAMES, plan(7200.0)), 1.0).peak_effort
    assert report.peak_effort.tolist() == pytest.approx(expected.tolist())


def test_a_plan_whose_efforts_would_be_limited_is_beyond_its_limits(make):
    """A swing through the lowest position: gravity does a part of the work, which inertia alone needs."""
    swing = ros.trajectory(NAMES, 0, *((t, LOWEST + offset, REST, REST) for t, offset in ((0.0, -SWING), (0.6, SWING))))
    found = check(ROBOT, trajectory_of(NAMES, swing))
    motion = found.motion
    inertia = np.max([abs(ROBOT.mass_matrix(q) @ qdd)[1] for q, qdd in zip(motion.q, motion.qdd, strict=True)])
    total = max(abs(found.peak_effort[1]), np.abs(found.static_effort[:, 1]).max())
    assert inertia > 1.05 * total
    limit = np.full(6, 500.0)
    limit[1] = 0.5 * (inertia + total)
    anywhere = {'position_limit_tolerance': 10.0}
    given = {'effort_limit': limit.tolist(), 'compensation': ['inertia'], 'resample': True, **anywhere}
    node = make(**given)
    assert node.send(swing) is None
    (report,), (line,) = node.reports, node.lines
    assert report.smallest_margin > 0.0 and report.feasible and not report.published
    assert line.startswith('plan not published: the terms of compensation need ') and repr(NAMES[1]) in line
    assert node.node.task.report()['efforts limited'] == '0'
    asked = make(**given, publish_infeasible=True)
    assert asked.send(swing) is not None and asked.reports[0].published
    assert int(asked.node.task.report()['efforts limited']) > 0
    # no effort is sent, none is limited
    stripped = make(**given, point_effort='strip')
    assert stripped.send(swing) is not None and stripped.lines == []
