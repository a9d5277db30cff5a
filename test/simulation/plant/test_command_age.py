"""Age of a command in the arm's own time: that of the state that it answers."""

import pytest

from robot_dynamics_ros.simulation.plant.command_age import CommandAge

LONGEST, STAMP, NOW = 4, 1000, 50


@pytest.fixture
def age():
    return CommandAge(LONGEST)


def test_without_a_command_the_arm_stays_where_it_is(age):
    assert age.room(STAMP, NOW) == 0 and age.quiet(NOW) == float('inf')
    age.receive(STAMP, STAMP, NOW)
    age.reset()
    assert age.room(STAMP, NOW) == 0


def test_the_arm_goes_on_until_the_state_that_is_answered_is_too_old_whenever_the_command_came(age):
    age.receive(STAMP - 3, STAMP, NOW)
    assert age.room(STAMP, NOW) == age.room(STAMP, NOW + 10**9) == 1
    age.receive(STAMP - 5, STAMP, NOW)
    assert age.room(STAMP, NOW) == 0
    assert age.quiet(NOW + 7) == 7
    age.receive(STAMP, STAMP, NOW)
    assert age.room(STAMP, NOW) == LONGEST
    assert age.unnamed == 0


@pytest.mark.parametrize('answered', [0, STAMP + 1], ids=['no state', 'a state that is still to come'])
def test_a_command_that_names_none_of_its_states_is_as_old_as_by_the_clock_and_counted(age, answered):
    age.receive(answered, STAMP, NOW)
    assert age.room(STAMP, NOW) == age.room(STAMP + 2, NOW + LONGEST) == LONGEST
    assert age.room(STAMP, NOW + LONGEST + 1) == 0
    assert age.unnamed == 1
