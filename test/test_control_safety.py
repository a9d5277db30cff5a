"""The gate that every torque passes, and how old a state may be."""

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.safety import AgeLimit, TorqueGate

SECOND = 1_000_000_000  # ns
MS = 1_000_000  # ns


def test_a_torque_beyond_its_limit_is_clamped_in_place_and_counted():
    torque = np.array([11.0, -6.0, 1.5])
    gate = TorqueGate(np.array([10.0, 5.0, 2.0]), torque)
    assert gate.admit() is True
    assert torque.tolist() == [10.0, -5.0, 1.5]
    assert (gate.saturations, gate.rejections) == (1, 0)


def test_a_torque_within_its_limit_is_left_alone():
    torque = np.zeros(2)
    gate = TorqueGate(np.array([10.0, 5.0]), torque)
    for given in ([10.0, -5.0], [-10.0, 5.0], [0.0, 0.0], [9.999, -4.999]):
        torque[:] = given
        assert gate.admit() and torque.tolist() == given
    assert (gate.saturations, gate.rejections) == (0, 0)


def test_an_unknown_limit_never_clamps():
    torque = np.array([-1e300, 3.0])
    assert TorqueGate(np.array([np.nan, 1.0]), torque).admit()
    assert torque.tolist() == [-1e300, 1.0]
    assert TorqueGate(np.full(6, np.nan), np.full(6, 1e308)).admit()


def test_a_limit_of_zero_never_clamps():
    """Neither where a URDF states it (most that state 0 do not know), nor where it comes from elsewhere."""
    axis = '<axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="1" effort="0"/>'
    robot = Robot.from_urdf(
        f'<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="revolute"><parent link="a"/>'
        f'<child link="b"/>{axis}</joint></robot>'
    )
    for limit in (robot.limits.effort, np.zeros(1)):
        torque = np.array([7.0])
        assert TorqueGate(limit, torque).admit() and torque.tolist() == [7.0]


@pytest.mark.parametrize('value', [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_stopped_and_counted(value):
    torque = np.array([1.0, value, 50.0])
    gate = TorqueGate(np.array([10.0, np.nan, 2.0]), torque)
    assert gate.admit() is False
    assert torque[[0, 2]].tolist() == [1.0, 50.0]  # nothing is repaired
    torque[:] = value
    assert not gate.admit()
    assert (gate.saturations, gate.rejections) == (0, 2)
    torque[:] = 1.0
    assert gate.admit()  # and the gate goes on


def test_the_gate_of_the_arm_holds_its_rated_torques():
    torque = np.full(6, -1000.0)
    assert TorqueGate(Robot.named('aubo_i5').limits.effort, torque).admit()
    assert torque.tolist() == [-133.0, -133.0, -133.0, -13.5, -13.5, -13.5]


def test_a_stated_age_limit_holds_whatever_the_period():
    for gap in (MS, SECOND, 0):
        age = AgeLimit(0.05)
        for k in range(5):
            stamp = SECOND + k * gap
            assert age.admits(stamp, stamp) and age.admits(stamp, stamp + 50 * MS)
            assert not age.admits(stamp, stamp + 50 * MS + 1)


def regular(period, count=20, start=SECOND):
    """Return an AgeLimit that has seen ``count`` states, each at once, and the last one's stamp."""
    age = AgeLimit(0.0)
    assert all(age.admits(start + k * period, start + k * period) for k in range(count))
    return age, start + (count - 1) * period


@pytest.mark.parametrize('period', [MS, 5 * MS, 20 * MS])
def test_without_one_it_is_three_measured_periods(period):
    assert AgeLimit.PERIODS == 3
    age, last = regular(period)
    assert age.period == pytest.approx(period * 1e-9)
    for _ in range(10):
        last += period
        assert age.admits(last, last + 3 * period)
        last += period
        assert not age.admits(last, last + 3 * period + 2)


def test_two_states_make_a_period():
    age = AgeLimit(0.0)
    assert age.period == 0.0
    age.admits(SECOND, SECOND)
    assert age.period == 0.0
    age.admits(SECOND + 5 * MS, SECOND + 5 * MS)
    assert age.period == pytest.approx(0.005)
    assert not age.admits(SECOND + 10 * MS, SECOND + 10 * MS + 16 * MS)


def test_the_period_is_smoothed():
    """A period that changes from 5 to 10 ms is followed by a tenth of the difference at a time."""
    age, last = regular(5 * MS)
    for k in range(1, 30):
        last += 10 * MS
        age.admits(last, last)
        assert age.period == pytest.approx(0.010 - 0.005 * 0.9**k)


def test_a_stamp_seen_twice_or_out_of_order_is_no_period():
    age, last = regular(5 * MS)
    for stamp in (last, last, last - 5 * MS):
        assert age.admits(stamp, last)
    assert age.period == pytest.approx(0.005)


def test_after_a_pause_an_old_state_is_still_too_old():
    """The pause is no period: after it a state may not be a second old when the input comes each 5 ms."""
    age, last = regular(5 * MS)
    last += 10 * SECOND
    age.admits(last, last)
    assert not age.admits(last + 5 * MS, last + 5 * MS + SECOND)
