"""Ways from one position with closed loops to another: none passes a singular position."""

from support.matrices import matrix
from support.robots import mechanisms
from support.robots.driven_mechanisms import SECOND, arm, closed
from support.robots.mechanisms import ACTUATED, MECHANISMS, actuated, start_of

import numpy as np
import pytest

from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.arm.following.closed_mechanism import ClosedMechanism
from robot_dynamics_ros.errors import DynamicsError, LoopError, SingularError

pytestmark = pytest.mark.compiled  # long without


def test_a_way_ends_at_a_singular_position_and_names_the_loop():
    """The parallelogram is flat at 0, where it could become one with crossed sides."""
    flat = closed('parallelogram')
    with pytest.raises(SingularError, match=r"^loop 'closing': .*'crank joint'"):
        flat.gravity_torque([-0.8])
    np.testing.assert_allclose(flat.positions([0.4])[[0, 2]], [0.4, 0.4], atol=1e-12)


@pytest.mark.parametrize('step', [0.001, 0.01, 0.019])
def test_no_step_passes_a_singular_position(step):
    flat = closed('parallelogram')
    nothing = np.full(2, np.nan)
    with pytest.raises(SingularError):
        for k in range(round(1.7 / step)):
            y = np.array([0.8 - k * step])
            flat.following.measure(y, nothing, k * SECOND // 100)
    assert 0.0 < flat.following.measured.y[0] < 0.2


@pytest.mark.parametrize('near', [0.4, 0.2, 0.1, 0.06])
def test_a_start_near_a_singular_position_hides_none(near):
    mechanism = MECHANISMS['parallelogram']
    names = mechanism.robot.joint_names
    robot = mechanism.robot.with_loops(mechanism.loops, near=dict(zip(names, (near, -near, near), strict=True)))
    for step in (0.001, 0.011, 0.019):
        flat, nothing = ClosedMechanism(robot, ['crank joint']), np.full(2, np.nan)
        with pytest.raises(SingularError):
            for k in range(round((near + 0.3) / step)):
                flat.measure(flat.home - k * step, nothing, k * SECOND // 100)
        assert 0.03 < flat.measured.y[0] < near + 1e-9


@pytest.mark.parametrize('name', matrix(['rocker', 'Stewart platform on a leg', 'delta'], ['rocker']))
def test_long_ways_end_where_short_ones_do(name):
    """At the dead points of a rocker positions change with the root of the distance."""
    joints, name = (['rocker joint'], 'four-bar, revolute') if name == 'rocker' else (ACTUATED[name], name)
    reach = 0.2 if 'Stewart' in name else 1.0
    mechanism, rng = ClosedMechanism(actuated(MECHANISMS[name], joints), joints), np.random.default_rng(0)
    begin, compared = mechanism.at_home, 0
    for _ in range(150):
        y = begin.y + reach * rng.uniform(-1.0, 1.0, len(joints)) * rng.choice([0.02, 0.1, 0.5, 1.5])
        try:
            *_, found = mechanism.way(begin, y)
        except (LoopError, SingularError):
            continue
        short = begin
        for share in np.linspace(0.0, 1.0, 400)[1:]:
            *_, short = mechanism.way(short, begin.y + share * (found.y - begin.y))
        np.testing.assert_allclose(np.exp(1j * short.q), np.exp(1j * found.q), atol=1e-7)
        begin, compared = found, compared + 1
    assert compared > 50


def test_a_way_out_of_reach_ends_with_the_name_of_the_loop():
    # the crank of a triple rocker does not turn fully
    short = mechanisms.four_bar('revolute', (0.5, 0.3, 0.2, 0.3), (1.0, -1.3, 1.8))
    robot = short.robot.with_loops(short.loops, near=start_of(short))
    found = DrivenRobot(robot.with_loops([]), ClosedMechanism(robot, ['crank joint']))
    with pytest.raises((LoopError, SingularError), match=r"^loop 'closing'"):
        found.gravity_torque([3.0])


def test_a_mechanism_stays_in_its_assembly_mode_through_the_workspace():
    """A four-bar linkage whose crank turns fully has two positions of the rocker for each; one belongs to each mode."""
    crank = closed('four-bar, revolute')
    for y in np.arange(0.0, 40.0, 0.37):
        q = crank.positions([y])
        ground, length = mechanisms.FOUR_BAR[0], mechanisms.FOUR_BAR[1]
        tip = length * np.array([np.cos(y), np.sin(y)])
        rocker = np.array([np.cos(q[2]), np.sin(q[2])])
        # the rocker's end is always on the same side of the line from the crank's end to its own hinge
        across = np.cross([*(np.array([ground, 0.0]) - tip), 0.0], [*rocker, 0.0])[2]
        assert across > 0.01, y


def test_positions_that_are_no_numbers_are_refused():
    with pytest.raises(DynamicsError, match='finite'):
        arm('palletizer').gravity_torque([0.0, np.nan, 0.0, 0.0])
