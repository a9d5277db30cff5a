"""trajectory_effort_node: plans in, peak torques and plans with efforts out; nodes of this process.

Plans go to the node's callback, as the executor calls it; one test sends them over DDS.
"""

import importlib.util
import time
from types import SimpleNamespace

from support.nodes import graph as ros
from support.nodes.planned_motions import END, NAMES, REST, ROBOT, START, plan, starter
from support.robots.facade_robots import TREE

import numpy as np
import pytest
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, MultiDOFJointTrajectory

from robot_dynamics_interfaces.msg import TrajectoryTorques
from robot_dynamics_ros.control.trajectories.trajectory_check import check
from robot_dynamics_ros.messages.joint_trajectory import trajectory_of
from robot_dynamics_ros.nodes.executables.dynamics_server import DynamicsServer
from robot_dynamics_ros.nodes.executables.trajectory_effort_node import TrajectoryEffortNode
from robot_dynamics_ros.nodes.inputs import plan_input

MIMICKING = TREE.replace(
    '<limit lower="-2" upper="2" velocity="2" effort="0"/>',
    '<limit lower="-2" upper="2" velocity="2" effort="0"/><mimic joint="z_turn" multiplier="-2" offset="0.3"/>',
)
SHUFFLED = [3, 0, 5, 1, 4, 2]


@pytest.fixture
def make(process):
    """A function that starts a node with parameters, and returns it with its ``Outputs``; there is no server."""
    return starter(process)


def motion_of(message):
    """Return the rows q, qd and qdd of a message's points."""
    return (
        np.array([getattr(p, field) for p in message.points]) for field in ('positions', 'velocities', 'accelerations')
    )


def test_points_of_the_plan_get_the_efforts_of_an_arm_at_rest_at_its_ends(make):
    message = plan(names=[NAMES[k] for k in SHUFFLED])
    message.header.frame_id, message.header.stamp.sec = 'cell', int(time.time())
    message.points[0].effort = [1e9] * 6
    found = make().send(message)
    for point, q in zip(message.points, (START, END), strict=True):
        point.effort = (ROBOT.gravity_torque(q) + ROBOT.friction_torque(REST))[SHUFFLED].tolist()
        assert found.points.pop(0).effort.tolist() == pytest.approx(point.effort.tolist(), rel=1e-9)
    assert (found.header, found.joint_names) == (message.header, message.joint_names)


@pytest.mark.parametrize(
    ('preset', 'terms'),
    [('effort_controller', ['gravity', 'coriolis', 'inertia', 'friction']), ('franka', ['coriolis', 'inertia'])],
)
def test_resampled_plans_hold_the_terms_that_the_arm_lacks(make, preset, terms):
    node = make(preset=preset, resample=True, sample_period=0.05)
    found = node.send(plan())
    assert len(found.points) == 41
    q, qd, qdd = motion_of(found)
    bare = ROBOT.inverse_dynamics(q, qd, qdd)
    whole = bare + ROBOT.friction_torque(qd, bare)
    efforts = np.array([point.effort for point in found.points])
    assert efforts == pytest.approx(whole if 'gravity' in terms else bare - ROBOT.gravity_torque(q), rel=1e-6, abs=1e-6)
    (report,) = node.reports
    assert report.terms == terms and report.interpolation_error.tolist() == [0.0] * 6
    # whoever adds them, peaks are those of all terms
    assert np.abs(report.peak_effort) == pytest.approx(np.abs(whole).max(axis=0), rel=1e-6)


def test_motors_that_multiply_a_torque_get_a_part_of_it(make):
    scale = [1.0, 4.0, 2.0, 1.0, 1.0, 0.5]
    limit = [60.0, 20.0, 60.0, 13.0, 13.0, 13.0]
    given = {'resample': True, 'effort_limit': limit, 'publish_infeasible': True}
    plain, scaled = (make(**given, **more) for more in ({}, {'torque_scale': scale}))
    whole, parts = (np.array([point.effort for point in node.send(plan()).points]) for node in (plain, scaled))
    assert np.abs(whole[:, 1]).max() == 20.0  # the limit is that of the joint
    assert parts * scale == pytest.approx(whole)
    assert scaled.reports[0].peak_effort == plain.reports[0].peak_effort
    assert scaled.node.task.report()['torque scale'] == '1 4 2 1 1 0.5'


def test_the_report_is_that_of_the_check(make):
    node = make()
    node.send(plan())
    (report,) = node.reports
    trajectory = trajectory_of(NAMES, plan())
    found = check(ROBOT, trajectory)
    for field in (
        'peak_effort',
        'peak_effort_time',
        'effort_limit',
        'effort_margin',
        'peak_velocity',
        'velocity_limit',
    ):
        assert getattr(report, field).tolist() == pytest.approx(getattr(found, field).tolist())
    assert (report.feasible, report.time_scaling) == (True, pytest.approx(found.time_scaling))
    assert report.trajectory == trajectory.digest and report.published and report.joint_names == NAMES
    assert report.effort_use == pytest.approx(np.abs(found.peak_effort) / ROBOT.limits.effort)
    assert report.velocity_use == pytest.approx(found.peak_velocity / ROBOT.limits.velocity)
    assert report.smallest_margin == pytest.approx(1.0 - max(*report.effort_use, *report.velocity_use))
    assert report.limiting_joint == NAMES[int(np.argmax([report.effort_use, report.velocity_use])) % 6]
    assert (report.header.frame_id, report.gravity.z, report.payloads) == (ROBOT.link_names[0], -9.81, [])


def test_efforts_between_the_points_of_a_coarse_plan_are_said_to_be_wrong(make):
    node = make()
    assert node.send(plan(0.8)) is not None
    (line,) = node.lines
    assert 'set resample' in line and 'off by' in line
    assert max(node.reports[0].interpolation_error) > 5.0
    node = make(resample=True)
    assert node.send(plan(0.8)) is not None
    assert node.lines == []


def test_a_plan_beyond_a_limit_is_reported_and_not_published(make):
    limit = [60.0, 60.0, 60.0, 13.0, 13.0, 13.0]
    node = make(effort_limit=limit)
    assert node.send(plan(0.6)) is None
    (report,), (line,) = node.reports, node.lines
    assert not report.published and report.feasible and report.smallest_margin < 0.0
    k = int(np.argmin(report.effort_margin))
    assert line.startswith(f'plan not published: joint {NAMES[k]!r} needs {report.peak_effort[k]:.4g} N m at ')
    assert f'its effort limit is {limit[k]:g} N m; times multiplied by ' in line
    # as the line says
    scaling = float(line.split('multiplied by ')[1].split()[0])
    assert scaling == pytest.approx(report.time_scaling, abs=2e-3)
    assert node.send(plan(0.6 * scaling)) is not None and node.reports[0].published
    fields = node.node.task.report()
    assert [fields[f'plans {name}'] for name in ('checked', 'published', 'refused')] == ['2', '1', '0']
    assert fields['plan refused last'] == ''


def test_by_request_it_is_published_with_limited_efforts(make):
    limit = [60.0, 60.0, 60.0, 13.0, 13.0, 13.0]
    node = make(effort_limit=limit, publish_infeasible=True, resample=True)
    found = node.send(plan(0.6))
    efforts = np.abs([point.effort for point in found.points])
    assert (efforts <= limit).all() and (efforts.max(axis=0) == limit).any()
    assert 'plan published by publish_infeasible: joint' in node.lines[0]
    assert node.reports[0].published and int(node.node.task.report()['efforts limited']) > 0


def test_gravity_that_no_time_scaling_helps_is_said(make):
    node = make(effort_limit=[60.0, 5.0, 60.0, 13.0, 13.0, 13.0])
    assert node.send(plan()) is None
    assert (node.reports[0].feasible, node.reports[0].time_scaling) == (False, 0.0)
    assert 'no time scaling fits: at rest at' in node.lines[0]


def test_efforts_can_be_stripped(make):
    node = make(preset='monitor_only', point_effort='strip')
    message = plan()
    expected = plan()
    message.points[0].effort = [1.0] * 6
    assert node.send(message) == expected
    assert node.reports[0].published and node.lines == []


def test_an_arm_that_accepts_no_torque_gets_no_efforts(process):
    overrides = [Parameter('preset', value='monitor_only')]
    node = process.node(TrajectoryEffortNode, parameter_overrides=overrides)
    node.start()
    assert "the arm accepts no torque; with point_effort 'strip' checked plans" in node.silence


def test_a_plan_without_points_is_a_stop_and_is_passed_on(make):
    stop = ros.trajectory([], 3)
    node = make()
    assert node.send(stop) == stop
    assert node.reports == []


def test_a_leader_has_the_effort_of_its_followers(make):
    """A joint that mimics another is published with an effort of 0: it gets no command."""
    node = make(robot_description=MIMICKING, effort_limit=[100.0])
    message = ros.trajectory(['a_wag', 'z_turn', 'm_slide'], 0, (0.0, [0.1, 0.4, -0.1]))
    (point,) = node.send(message).points
    driven = node.node.robot
    assert driven.joint_names == ('z_turn', 'm_slide')
    expected = driven.gravity_torque([0.4, -0.1]) + driven.friction_torque(np.zeros(2))
    assert point.effort.tolist() == pytest.approx([0.0, *expected])
    assert np.abs(expected).max() > 1.0


def test_locked_joints_are_published_without_effort(make):
    node = make(locked_joints=[f'{NAMES[-1]}: 0.0'], resample=True, sample_period=0.5)
    message = plan()
    found = node.send(message)
    assert found.joint_names == NAMES and len(found.points) == 5
    q, qd, qdd = motion_of(found)
    assert q[-1] == pytest.approx(END) and qd[2][-1] != 0.0
    robot = ROBOT.with_locked_joints({NAMES[-1]: 0.0})
    bare = robot.inverse_dynamics(q[:, :5], qd[:, :5], qdd[:, :5])
    efforts = np.array([point.effort for point in found.points])
    assert efforts[:, :5] == pytest.approx(bare + robot.friction_torque(qd[:, :5], bare), rel=1e-6, abs=1e-6)
    assert not efforts[:, 5].any()
    message.points[1].positions[-1] = np.nan
    assert node.send(message) is None
    assert 'point 1: position is not finite' in node.refusal
    node = make(locked_joints=[f'{NAMES[-1]}: 0.0'])
    assert node.send(message) is None
    assert 'point 1: position is not finite' in node.refusal


def test_plans_over_dds(process, make):
    """The report before the plan, and for who joins later."""
    make()
    witness = process.node(DynamicsServer, namespace='elsewhere')
    plans, reports = [], []
    witness.create_subscription(JointTrajectory, '/trajectory_with_effort', plans.append, 10)
    publisher = witness.create_publisher(JointTrajectory, '/planned_trajectory', 10)
    process.spin_until(publisher.get_subscription_count, 'the node')
    process.nodes[0].__dict__.pop('get_logger')
    del process.nodes[0].task._output.publish, process.nodes[0].task._reports.publish
    process.spin_until(lambda: publisher.publish(plan()) or plans, 'a plan with efforts')
    assert plans[0].points[1].effort == pytest.approx(ROBOT.gravity_torque(END) + ROBOT.friction_torque(REST))
    late = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    witness.create_subscription(TrajectoryTorques, '/trajectory_torques', reports.append, late)
    process.spin_until(lambda: reports, 'a report')
    assert reports[0].published


def displayed(*trajectories):
    parts = [
        SimpleNamespace(joint_trajectory=it, multi_dof_joint_trajectory=MultiDOFJointTrajectory())
        for it in trajectories
    ]
    state = JointState(name=[*NAMES, 'finger'], position=[*START, 0.1])
    return SimpleNamespace(trajectory=parts, trajectory_start=SimpleNamespace(joint_state=state))


def test_plans_that_moveit_displays_are_only_checked(make, monkeypatch):
    monkeypatch.setattr(plan_input, 'display_trajectory_type', lambda: JointTrajectory)  # any type will do
    node = make(plan_topic='display_planned_path', preset='monitor_only')
    topics = {publisher.topic_name for publisher in node.node.publishers}
    assert '/trajectory_torques' in topics and '/trajectory_with_effort' not in topics
    back = ros.trajectory(NAMES[:1], 0, (0.0, END[:1], [0.0]), (1.0, START[:1], [0.0]))
    node.send(displayed(plan(), back))
    first, second = node.reports
    assert not first.published and not second.published and node.lines == []
    assert np.abs(first.peak_effort) == pytest.approx(np.abs(check(ROBOT, trajectory_of(NAMES, plan())).peak_effort))
    # five joints rest where the first plan has ended
    assert second.peak_velocity.tolist()[1:] == [0.0] * 5 and second.peak_velocity[0] == pytest.approx(0.6, rel=1e-3)
    node.send(displayed())
    assert 'no trajectory with points' in node.refusal
    node.send(displayed(JointTrajectory()))
    assert 'no trajectory with points' in node.refusal


def test_without_moveit_msgs_a_clear_line_says_what_to_install(process):
    if importlib.util.find_spec('moveit_msgs') is not None:
        pytest.skip('moveit_msgs is installed')
    overrides = [Parameter('plan_topic', value='display_planned_path')]
    node = process.node(TrajectoryEffortNode, parameter_overrides=overrides)
    node.start()
    assert "'display_planned_path' needs the package moveit_msgs, which is not installed" in node.silence
