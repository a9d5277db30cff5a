"""The torque scale: a motor that executes four times what it is sent is sent a quarter."""

import numpy as np
import pytest

from robot_dynamics_ros import validation
from robot_dynamics_ros.control.terms.torque_scale import bound_command, torque_scales
from robot_dynamics_ros.errors import ArgumentError

TORQUE = np.array([8.0, -2.0, 1.0 / 3.0])
ORDER = np.array([2, 0, 1])


def command(scale, order=ORDER):
    scale, out = np.asarray(scale, float)[order], np.zeros(3)
    bound_command(order, scale)(TORQUE, order, scale, out)
    return out


def test_motors_that_execute_their_scale_times_the_command_execute_the_torque():
    scale = np.array([4.0, 0.5, 1.25])
    executed = scale[ORDER] * command(scale)
    np.testing.assert_allclose(executed, TORQUE[ORDER], rtol=1e-15, atol=0)
    assert command(scale)[1] == TORQUE[0] / 4.0


def test_with_a_scale_of_one_the_command_has_the_bits_of_the_torque():
    np.testing.assert_array_equal(command([1.0, 1.0, 1.0]), TORQUE[ORDER])


def test_one_number_is_for_all_joints():
    assert validation.of_each_joint('torque_scale', [4.0], 3, zero=False).tolist() == [4.0, 4.0, 4.0]
    assert validation.of_each_joint('torque_scale', [1.0, 2.0, 4.0], 3, zero=False).tolist() == [1.0, 2.0, 4.0]
    assert validation.of_each_joint('dead_band', [0.0], 2, zero=True).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    'value', [[], [0.0], [-1.0], [np.nan], [np.inf], [1.0, 2.0], [1.0, 0.0, 1.0], [[1.0, 1.0, 1.0]]], ids=str
)
def test_a_scale_that_is_not_finite_and_positive_is_refused_by_name(value):
    with pytest.raises(ArgumentError, match=r'^torque_scale: expected one finite number > 0 or 3, got '):
        validation.of_each_joint('torque_scale', value, 3, zero=False)


@pytest.mark.parametrize('wrong', [1e-310, 0.00999, 100.1, 1e308])
def test_a_scale_that_no_motor_has_is_refused_by_name(wrong):
    with pytest.raises(ArgumentError, match=r'^torque_scale: expected 0\.01 to 100, got \[1\.0, '):
        torque_scales([1.0, wrong, 1.0], 3)
    assert torque_scales([0.01, 1.0, 100.0], 3).tolist() == [0.01, 1.0, 100.0]
