"""When an arm counts as standing still, and what is averaged meanwhile."""

import numpy as np
import pytest

from robot_dynamics_ros.control.joints.standstill import DISTANCE, DURATION_NS, SPEED, Standstill

PERIOD = DURATION_NS // 5
STILL = np.zeros(2)


def fed(standstill, count, q=STILL, qd=STILL, effort=STILL, start=0):
    """Whether the arm stands after each of ``count`` samples."""
    return [
        standstill.add(start + k * PERIOD, np.array(q, float), np.array(qd, float), np.array(effort, float))
        for k in range(count)
    ]


def test_an_arm_stands_after_the_duration_and_not_before():
    assert fed(Standstill(2), 7) == [False] * 5 + [True] * 2


def test_position_and_effort_are_means_since_the_arm_stands():
    standstill = Standstill(2)
    fed(standstill, 3, q=[1.0, 1.0], effort=[100.0, 100.0])
    for k, (shift, effort) in enumerate([(0.0, 3.0), (2.0, 5.0), (-2.0, 10.0)]):
        q = np.array([0.0, 2.0 + shift * DISTANCE / 4])
        standstill.add((10 + 3 * k) * PERIOD, q, STILL, np.array([effort, -effort]))
    assert standstill.effort.tolist() == pytest.approx([6.0, -6.0])
    assert standstill.position.tolist() == pytest.approx([0.0, 2.0])


def test_what_is_old_no_longer_counts():
    """After an hour at rest another effort is seen within two durations."""
    standstill = Standstill(2)
    fed(standstill, 200, effort=[1.0, 1.0])
    assert standstill.effort.tolist() == [1.0, 1.0]
    assert all(fed(standstill, 11, effort=[5.0, 5.0], start=200 * PERIOD))
    assert standstill.effort.tolist() == [5.0, 5.0]


@pytest.mark.parametrize('joint', [0, 1])
def test_a_joint_that_moves_begins_the_time_again(joint):
    standstill = Standstill(2)
    moved = np.zeros(2)
    moved[joint] = 1.5 * DISTANCE
    assert fed(standstill, 6)[-1]
    assert standstill.is_new is False
    assert not standstill.add(6 * PERIOD, moved, STILL, STILL)
    assert standstill.is_new and standstill.position.tolist() == moved.tolist()
    assert fed(standstill, 6, q=moved, start=6 * PERIOD) == [False] * 5 + [True]


def test_an_arm_that_creeps_does_not_stand():
    """Less than the distance in each period, but more in all of them."""
    standstill = Standstill(1)
    creeping = [standstill.add(k * PERIOD, np.array([k * DISTANCE / 3]), np.zeros(1), np.zeros(1)) for k in range(20)]
    assert not any(creeping)


def test_an_arm_that_is_fast_does_not_stand_and_one_without_velocities_may():
    assert not any(fed(Standstill(2), 7, qd=[0.0, -1.1 * SPEED]))
    assert fed(Standstill(2), 7, qd=[0.0, 0.9 * SPEED])[-1]
    assert fed(Standstill(2), 7, qd=[np.nan, np.nan])[-1]


def test_a_state_that_comes_twice_counts_once():
    standstill = Standstill(1)
    for stamp, effort in ((0, 1.0), (PERIOD, 2.0), (PERIOD, 2.0), (PERIOD, 2.0)):
        standstill.add(stamp, np.zeros(1), np.zeros(1), np.array([effort]))
    assert standstill.effort.tolist() == [1.5]


def test_a_clock_that_goes_back_and_a_reset_begin_again():
    standstill = Standstill(2)
    assert fed(standstill, 6, start=100 * PERIOD)[-1]
    assert not standstill.add(0, STILL, STILL, STILL)
    assert fed(standstill, 6)[-1]
    standstill.reset()
    assert not standstill.add(100 * PERIOD, STILL, STILL, STILL) and standstill.is_new
