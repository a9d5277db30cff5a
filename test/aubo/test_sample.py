"""Samples: what is asked for, what follows from what is missing, and what is not used."""

import math
from contextlib import suppress

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.aubo import sample as names
from robot_dynamics_ros.aubo.sample import Recipe, Sample
from robot_dynamics_ros.errors import ArgumentError, ControllerError

JOINTS = Robot.named('aubo_i5').joint_names
CONSTANTS = Robot.named('aubo_i5').torque_of_current(np.ones(6))
EVERYTHING = [value for name, value in vars(names).items() if name.isupper() and isinstance(value, str)]


def values_of(recipe, **changed):
    """Values of one message of ``recipe``; those of the joints are different multiples of (1, ..., 6)."""
    scalars = {names.TIME: 12.5, names.ROBOT_MODE: 'Running', names.SAFETY_MODE: 'Normal', names.SIMULATED: False}
    rows = [
        changed.get(name, scalars.get(name, [(k + 1.0) * j for j in range(1, 7)]))
        for k, name in enumerate(recipe.names)
    ]
    return rows


def test_everything_that_the_controller_offers_is_read():
    recipe = Recipe(EVERYTHING, JOINTS, CONSTANTS)
    assert recipe.effort_source == 'joint_torque'
    assert recipe.missing == []
    assert names.CURRENT not in recipe.names
    sample = Sample(6)
    recipe.read(values_of(recipe), sample)
    ones = np.arange(1.0, 7.0)
    for array, name in (
        (sample.position, names.POSITION),
        (sample.velocity, names.VELOCITY),
        (sample.effort, names.TORQUE),
        (sample.gravity, names.GRAVITY),
        (sample.temperature, names.TEMPERATURE),
    ):
        np.testing.assert_array_equal(array, (recipe.names.index(name) + 1) * ones)
    assert (sample.time, sample.robot_mode, sample.safety_mode, sample.simulated) == (12.5, 'Running', 'Normal', False)


def test_without_joint_torques_the_effort_is_current_times_torque_constant_each_time():
    recipe = Recipe(set(EVERYTHING) - {names.TORQUE}, JOINTS, CONSTANTS)
    assert recipe.effort_source == 'current'
    assert recipe.missing == ['R1_joint_torque: efforts are current times torque constant']
    sample = Sample(6)
    for _ in range(2):
        recipe.read(values_of(recipe, **{names.CURRENT: [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}), sample)
    np.testing.assert_allclose(sample.effort, [8.72, 17.44, 26.16, 28.368, 35.46, 42.552], rtol=1e-12)


@pytest.mark.parametrize(
    ('offered', 'constants', 'why'),
    [
        (set(EVERYTHING) - {names.TORQUE}, None, 'the model has no torque constants'),
        (set(EVERYTHING) - {names.TORQUE, names.CURRENT}, CONSTANTS, 'R1_actual_current is missing, too'),
    ],
)
def test_without_a_source_there_are_no_efforts(offered, constants, why):
    recipe = Recipe(offered, JOINTS, constants)
    assert recipe.effort_source == ''
    assert recipe.missing == [f'R1_joint_torque: joint_states has no efforts, since {why}']


def test_the_oldest_controller_streams_positions():
    recipe = Recipe([names.POSITION], JOINTS, CONSTANTS)
    assert recipe.names == [names.POSITION]
    assert [line.split(':')[0] for line in recipe.missing] == list(names.WITHOUT)
    with pytest.raises(ControllerError, match='no R1_actual_q: is this an AUBO arm'):
        Recipe(set(EVERYTHING) - {names.POSITION}, JOINTS, CONSTANTS)


@pytest.mark.parametrize(
    ('name', 'value', 'why'),
    [
        (names.POSITION, [0.0, 0.0, math.nan, 0.0, 0.0, 0.0], "R1_actual_q: the number of joint 'foreArm_joint'"),
        (names.VELOCITY, [0.0, None, 0.0, 0.0, 0.0, 0.0], "R1_actual_qd: the number of joint 'upperArm_joint'"),
        (names.TORQUE, [0.0, 0.0, 0.0, 0.0, 0.0, math.inf], "R1_joint_torque: the number of joint 'wrist3_joint'"),
        (names.POSITION, [0.0, 2.0**40, 0.0, 0.0, 0.0, 0.0], "R1_actual_q: the number of joint 'upperArm_joint'"),
        (names.POSITION, [0.0, -1e300, 0.0, 0.0, 0.0, 0.0], "'upperArm_joint' is not below 1.1e.12 rad"),
        (names.POSITION, ['1.5'] * 6, 'R1_actual_q: expected 6 numbers'),
        (names.TORQUE, [0.0, 0.0, True, 0.0, 0.0, 0.0], 'R1_joint_torque: expected 6 numbers'),
        (names.TEMPERATURE, [False] * 6, 'R1_joint_temperatures: expected 6 numbers'),
        (names.TIME, 1e300, 'timestamp: expected s below 1e.09'),
        (names.TIME, -(2**64), 'timestamp: expected s below 1e.09'),
        (names.VELOCITY, [0.0] * 5, 'R1_actual_qd: expected 6 numbers'),
        (names.VELOCITY, ['a'] * 6, 'R1_actual_qd: expected 6 numbers'),
        (names.POSITION, 1.0, 'R1_actual_q: expected 6 numbers'),
        (names.TIME, None, 'timestamp: expected s below 1e.09'),
        (names.TIME, math.nan, 'timestamp: expected s below 1e.09'),
        (names.TIME, 10**400, 'timestamp: expected s below 1e.09'),
        (names.VELOCITY, [10**400] * 6, 'R1_actual_qd: expected 6 numbers'),
        (names.TIME, True, 'timestamp: expected s below 1e.09'),
    ],
)
def test_a_wrong_number_is_named(name, value, why):
    recipe = Recipe(EVERYTHING, JOINTS, CONSTANTS)
    with pytest.raises(ArgumentError, match=why):
        recipe.read(values_of(recipe, **{name: value}), Sample(6))


def test_a_current_whose_torque_is_not_finite_is_named():
    recipe = Recipe(set(EVERYTHING) - {names.TORQUE}, JOINTS, CONSTANTS)
    with pytest.raises(ArgumentError, match="R1_actual_current: the number of joint 'shoulder_joint' is not finite"):
        recipe.read(values_of(recipe, **{names.CURRENT: [1e308] * 6}), Sample(6))


def test_temperatures_and_gravity_torques_may_be_unknown():
    recipe = Recipe(EVERYTHING, JOINTS, CONSTANTS)
    sample = Sample(6)
    recipe.read(values_of(recipe, **{names.TEMPERATURE: [None] * 6, names.GRAVITY: [math.nan] * 6}), sample)
    assert np.isnan([sample.temperature, sample.gravity]).all()


def test_another_robot_and_another_number_of_values_are_refused():
    recipe = Recipe(EVERYTHING, JOINTS, CONSTANTS)
    with pytest.raises(ControllerError, match='moves 7 joints, the model has 6: another robot'):
        recipe.read(values_of(recipe, **{names.POSITION: [0.0] * 7}), Sample(6))
    with pytest.raises(ArgumentError, match='expected 9 values, got 2'):
        recipe.read([1.0, [0.0] * 6], Sample(6))


def test_what_is_no_sample_is_refused_whatever_it_is():
    """Modes are texts of any content, and everything else is a number or refused."""
    recipe, sample = Recipe(EVERYTHING, JOINTS, CONSTANTS), Sample(6)
    odd = [None, True, -(10**400), 1e308, 'a', '\ud800', [], [[]], {}, {'a': [1]}, [1.0] * 6, ['1'] * 6, [{}] * 6]
    for name in recipe.names:
        for value in odd:
            with suppress(ArgumentError, ControllerError):
                recipe.read(values_of(recipe, **{name: value}), sample)
            sample.robot_mode.encode()  # as a message is
    recipe.read(values_of(recipe, **{names.ROBOT_MODE: 'Run\ud800\n' + 100 * 'x'}), sample)
    assert sample.robot_mode == 'Run??' + 55 * 'x'
