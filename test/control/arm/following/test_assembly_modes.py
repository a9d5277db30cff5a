"""Whether measured joints tell the assembly mode, against both modes of four-bar linkages in closed form."""

from contextlib import suppress

from support.robots.driven_mechanisms import SECOND, closed, driven_robot
from support.robots.mechanisms import four_bar

import numpy as np
import pytest

from robot_dynamics_ros.control.arm.following.assembly_modes import FARTHEST, is_only_solution
from robot_dynamics_ros.control.arm.following.closed_mechanism import ClosedMechanism
from robot_dynamics_ros.errors import DynamicsError, LoopError, SingularError

JOINTS = 'crank joint', 'coupler joint', 'rocker joint'
NEAR_A_CHANGE_POINT = (0.6946720946176981, 0.26142292637167847, 0.36410962469782626, 0.5887600397082424), 2.4361795
"""Lengths and angle of the crank of a linkage whose modes differ by less than 0.02 rad, 0.1 from its dead point."""
REACH = 0.05
"""The loop_tolerance of nodes: of positions that are measured where the loops are closed."""


def modes(lengths, angle: float) -> np.ndarray:
    """Return the angles (2, 2) of coupler and rocker in both modes, NaN where there are none."""
    ground, crank, coupler, rocker = lengths
    x, z = ground - crank * np.cos(angle), -crank * np.sin(angle)
    far = np.hypot(x, z)
    # law of cosines
    cosine = (coupler**2 + far**2 - rocker**2) / (2.0 * coupler * far)
    with np.errstate(invalid='ignore'):
        turned = np.arctan2(z, x) + np.array([1.0, -1.0]) * np.arccos(cosine)
    of_rocker = np.arctan2(coupler * np.sin(turned) - z, coupler * np.cos(turned) - x)
    return np.column_stack([turned - angle, of_rocker])


def apart(two: np.ndarray) -> float:
    """Return the largest difference of an angle between both modes."""
    return float(np.abs((two[0] - two[1] + np.pi) % (2.0 * np.pi) - np.pi).max())


def linkage(lengths, angle: float, mode: int = 0) -> ClosedMechanism:
    near = angle, *modes(lengths, angle)[mode]
    robot = four_bar('planar_point', tuple(lengths), near).robot
    stated = dict(zip(JOINTS, map(float, near), strict=True))
    return driven_robot(robot.with_loops(robot.loops.all, actuated=JOINTS[:1], near=stated)).following


def way(of: ClosedMechanism, distance: float):
    """Yield solutions on the way to the dead points of a linkage, as far from these as ``distance``."""
    for turn in (3.1, -3.1):
        with suppress(DynamicsError):
            yield from of.way(of.at_home, of.home + turn, least=distance)


def test_no_second_solution_is_near_an_only_one():
    rng, told, apart_enough = np.random.default_rng(7), 0, 0
    for lengths, angle in zip(10.0 ** rng.uniform(-1.7, 0.5, (60, 4)), rng.uniform(-3.0, 3.0, 60), strict=True):
        if np.isnan(modes(lengths, angle)).any():
            continue
        try:
            of = linkage(lengths, angle)
        except DynamicsError:  # the home is near a dead point
            continue
        for found in [*way(of, 0.05)][::5]:
            between = apart(modes(lengths, found.y[0]))
            apart_enough += between > REACH
            if is_only_solution(of.mechanism, of.places, found.q, np.full(2, REACH)):
                told += 1
                assert between > REACH, f'lengths {lengths.tolist()}, crank at {found.y[0]}'
    assert apart_enough > 250 and told > 0.4 * apart_enough


def test_it_is_not_known_of_longer_boxes():
    of = linkage(*NEAR_A_CHANGE_POINT)
    assert is_only_solution(of.mechanism, of.places, of.at_home.q, np.full(2, 1e-4))
    for reach in (1.01 * FARTHEST, 2.0 * np.pi, np.inf, np.nan):
        assert not is_only_solution(of.mechanism, of.places, of.at_home.q, np.array([1e-4, reach]))


@pytest.mark.parametrize(('name', 'distance'), [('palletizer', 0.6), ('parallelogram', 0.6)])
def test_far_from_singular_positions_the_mode_is_told(name, distance):
    of = closed(name).following
    assert of.at_home.distance > distance
    assert is_only_solution(of.mechanism, of.places, of.at_home.q, np.full(len(of.followers), REACH))


def test_joints_that_fit_both_modes_do_not_tell_which_it_is():
    """The distance from the dead point is more than twice loop_tolerance, but the modes differ by less."""
    lengths, angle = NEAR_A_CHANGE_POINT
    of = linkage(lengths, angle)
    *_, last = (found for found in way(of, 0.1) if found.y[0] > angle)
    assert last.distance > 2.0 * REACH and apart(modes(lengths, last.y[0])) < 0.02
    stamp, unknown = 10.0, np.full(2, np.nan)
    for y in np.arange(angle, last.y[0], 0.002):
        stamp += 0.002
        of.measure(np.array([y]), unknown, round(stamp * SECOND))
    other = max(modes(lengths, last.y[0]), key=lambda it: np.abs(np.exp(1j * it) - np.exp(1j * last.q[1:])).max())
    for k in range(3):  # after lost states, in the other mode
        with pytest.raises((LoopError, SingularError)):
            of.measure(last.y - 1e-6 * k, other, round((stamp + 2.0 + 0.002 * k) * SECOND))
    with pytest.raises(SingularError, match='activate again'):
        of.measure(last.y, other, round((stamp + 2.1) * SECOND))
