"""The largest gravity torque of a joint: closed forms of small arms, random positions of real ones."""

from support.robots.driven_mechanisms import closed, driven_robot
from support.robots.example_robots import example_urdfs
from support.robots.mechanisms import actuated, geared_four_bar

import numpy as np
import pytest

from robot_dynamics_ros import Coupling, Payload, Robot
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot, in_driven_joints
from robot_dynamics_ros.control.arm.static_torque import check_static_torque, largest_static_torque
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.robot.summary.low_discrepancy import low_discrepancy

AUBO = Robot.named('aubo_i5')
G = 9.81
BODY = (
    '<inertial><mass value="{}"/><origin xyz="{} 0 0"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    '</inertial>'
)


def joint(name, parent, child, kind, origin, axis, limit):
    return f"""<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>
        <origin xyz="{origin} 0 0"/><axis xyz="{axis}"/>{limit}</joint>"""


def arm(first='', second='', kind='continuous', axis='0 1 0') -> Robot:
    """Return an arm in the vertical plane: 2 kg at 0.3 m, and 1 m on another link with 1 kg at 0.2 m."""
    return Robot.from_urdf(f"""<robot name="two"><link name="base"/>
        <link name="upper">{BODY.format(2.0, 0.3)}</link><link name="fore">{BODY.format(1.0, 0.2)}</link>
        {joint('shoulder', 'base', 'upper', 'revolute' if first else 'continuous', 0, '0 1 0', first)}
        {joint('elbow', 'upper', 'fore', kind, 1, axis, second)}</robot>""")


def limit(lower, upper, effort=100.0):
    return f'<limit lower="{lower}" upper="{upper}" effort="{effort}" velocity="1"/>'


@pytest.mark.compiled
def test_a_stretched_arm_needs_the_most():
    found = largest_static_torque(arm())
    np.testing.assert_allclose(found.torque, [G * (2.0 * 0.3 + 1.2), G * 0.2], rtol=1e-12)
    np.testing.assert_allclose(np.abs(np.cos(found.positions[0])), 1.0, rtol=1e-9)


@pytest.mark.compiled
def test_limits_keep_it_from_the_horizontal():
    # the upper arm is at least 0.5 rad off the horizontal, the elbow bent by 1 rad or more
    robot = arm(limit(0.5, 1.2), limit(1.0, 2.0, 5.0), 'revolute')
    grid = np.stack(np.meshgrid(np.linspace(0.5, 1.2, 701), np.linspace(1.0, 2.0, 1001)), -1).reshape(-1, 2)
    found = largest_static_torque(robot)
    np.testing.assert_allclose(found.torque, np.abs(robot.gravity_torque(grid)).max(0), rtol=1e-6)
    assert (found.positions >= [0.5, 1.0]).all() and (found.positions <= [1.2, 2.0]).all()


@pytest.mark.compiled
def test_a_slide_reaches_its_end():
    found = largest_static_torque(arm('', limit(-0.1, 0.7), 'prismatic', '1 0 0'))
    np.testing.assert_allclose(found.torque, [G * (0.6 + 1.0 + 0.7 + 0.2), G], rtol=1e-12)
    unlimited = largest_static_torque(arm('', limit(0.0, 0.0), 'prismatic', '1 0 0'))
    np.testing.assert_allclose(unlimited.torque, [G * (0.6 + 1.0 + 0.2), G], rtol=1e-12)


def robots():
    known = {path.rsplit('/', 1)[-1]: path for path in example_urdfs()}
    for name in ('ur5_robot.urdf', 'panda.urdf', 'kinova.urdf', 'tiago_no_hand.urdf'):
        yield pytest.param(Robot.from_urdf(known[name]), id=name)
    yield pytest.param(AUBO.with_gravity((3.0, -6.0, 5.0)), id='tilted')


@pytest.mark.compiled
@pytest.mark.parametrize('robot', robots())
def test_no_random_position_needs_more_and_what_is_found_is_attained(robot):
    robot = robot.with_payload(Payload(3.0, (0.02, 0.0, 0.1)), robot.link_names[-1])
    found = largest_static_torque(robot)
    lower, upper = (
        np.where(np.isfinite(limits), limits, turn)
        for limits, turn in ((robot.limits.lower, -np.pi), (robot.limits.upper, np.pi))
    )
    q = np.random.default_rng(0).uniform(lower, upper, (20_000, robot.nv))
    assert (found.torque >= np.abs(robot.gravity_torque(q)).max(0) - 1e-9).all()
    assert (found.positions >= lower - 1e-12).all() and (found.positions <= upper + 1e-12).all()
    attained = np.abs(robot.gravity_torque(found.positions)[np.arange(robot.nv), np.arange(robot.nv)])
    np.testing.assert_allclose(found.torque, attained, rtol=1e-12, atol=1e-12)


def carried(robot, mass, link='fore'):
    return robot.with_payload(Payload(mass, (0.2, 0.0, 0.0)), link)


@pytest.mark.compiled
def test_the_joint_that_cannot_hold_is_named_with_both_torques():
    robot = arm(limit(-3.0, 3.0, 40.0), limit(-2.0, 2.0, 5.0), 'revolute')
    check_static_torque(robot, carried(robot, 1.5), 'mass')
    with pytest.raises(ArgumentError) as error:
        check_static_torque(robot, carried(robot, 2.0), 'mass: 2 kg')
    assert str(error.value) == (
        "mass: 2 kg: joint 'elbow' would need 5.886 N m (prismatic: N) to hold the arm against gravity at its worst "
        'position, 1.962 of it without the payload; its effort limit is 5; choose a smaller payload, or set the '
        'parameter payload_limit or effort_limit'
    )


@pytest.mark.compiled
@pytest.mark.parametrize('effort', ['0', '-1'])
def test_a_joint_of_unknown_effort_limit_does_not_limit(effort):
    robot = arm(limit(-3.0, 3.0, effort), limit(-2.0, 2.0, effort), 'revolute')
    check_static_torque(robot, carried(robot, 1000.0), 'mass')
    with pytest.raises(ArgumentError, match="'shoulder'"):
        robot = arm(limit(-3.0, 3.0, 40.0), limit(-2.0, 2.0, effort), 'revolute')
        check_static_torque(robot, carried(robot, 1000.0), 'mass')


@pytest.mark.compiled
def test_a_joint_that_does_not_carry_the_payload_does_not_limit():
    # the upper arm carries it; the elbow cannot even hold its own link
    robot = arm(limit(-3.0, 3.0, 100.0), limit(-2.0, 2.0, 1.0), 'revolute')
    check_static_torque(robot, carried(robot, 1.0, 'upper'), 'mass')
    with pytest.raises(ArgumentError, match="'elbow'"):
        check_static_torque(robot, carried(robot, 0.01), 'mass')


@pytest.mark.parametrize('dimensions', [1, 2, 6, 12])
def test_samples_fill_the_cube_evenly(dimensions):
    points = low_discrepancy(1024, dimensions)
    assert points.shape == (1024, dimensions) and (points >= 0.0).all() and (points < 1.0).all()
    for column in points.T:
        assert np.abs(np.sort(column) - (np.arange(1024) + 0.5) / 1024).max() < 0.04
    if dimensions == 2:  # each of 64 boxes has its share of 16
        counts = np.histogram2d(*points.T, bins=8, range=[[0, 1], [0, 1]])[0]
        assert counts.min() >= 12 and counts.max() <= 20


@pytest.mark.compiled
@pytest.mark.parametrize('multiplier', [1.0, -2.0, 3.0])
def test_a_joint_that_another_one_follows_is_searched_too(multiplier):
    robot = arm(limit(-2.9, 2.7), limit(-9.0, 9.0), 'revolute').with_gravity((4.0, 0.0, -9.0))
    robot = in_driven_joints(robot.with_loops([Coupling('elbow', 'shoulder', (0.0, multiplier))]))
    found = largest_static_torque(robot)
    grid = np.linspace(-2.9, 2.7, 100_001)[:, None]
    np.testing.assert_allclose(found.torque, np.abs(robot.gravity_torque(grid)).max(0), rtol=1e-4)


@pytest.mark.compiled
@pytest.mark.parametrize('ratio', [0.25, 0.01])
def test_what_follows_a_motor_without_limits_through_a_gear_turns_once(ratio):
    """A linkage, and the fore arm of a tree, whose largest torques are those without a gear, times its ratio."""
    linkage = driven_robot(actuated(geared_four_bar(ratio), ('gear 0 joint',)))
    expected = largest_static_torque(closed('four-bar, revolute')).torque
    np.testing.assert_allclose(largest_static_torque(linkage).torque, ratio * expected, rtol=1e-6)
    assert linkage.following.gear == pytest.approx(1.0 / ratio)
    light = arm(axis='1 0 0')  # the elbow turns about the fore arm
    tree = in_driven_joints(light.with_loops([Coupling('shoulder', 'elbow', (0.0, ratio))]))
    assert isinstance(tree, DrivenRobot) and tree.following.gear == pytest.approx(1.0 / ratio)
    np.testing.assert_allclose(largest_static_torque(tree).torque, [ratio * G * (2.0 * 0.3 + 1.2)], rtol=1e-6)
