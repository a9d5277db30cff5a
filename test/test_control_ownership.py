"""Nothing is compensated twice: whose gravity and friction are, by preset and by statement."""

import pytest

from robot_dynamics_ros.control.compensation import TERMS
from robot_dynamics_ros.control.ownership import PRESETS, Ownership
from robot_dynamics_ros.dynamics.errors import ArgumentError

WITHOUT_GRAVITY = ('coriolis', 'inertia', 'friction')


@pytest.mark.parametrize(
    ('preset', 'owner', 'terms', 'commands'),
    [
        ('', 'node', TERMS, True),
        ('sim', 'node', TERMS, True),
        ('effort_controller', 'node', TERMS, True),
        ('franka', 'robot', ('coriolis', 'inertia'), True),
        ('ur_direct_torque', 'robot', WITHOUT_GRAVITY, True),
        ('kuka_fri', 'robot', WITHOUT_GRAVITY, True),
        ('monitor_only', 'node', TERMS, False),
    ],
)
def test_a_preset_says_who_adds_what(preset, owner, terms, commands):
    ownership = Ownership(preset, '', [''])
    assert (ownership.gravity_owner, ownership.terms, ownership.takes_commands) == (owner, terms, commands)


def test_there_are_the_six_presets():
    assert set(PRESETS) == {'sim', 'effort_controller', 'franka', 'ur_direct_torque', 'kuka_fri', 'monitor_only'}


def test_an_owner_may_be_stated_without_a_preset_or_with_one_that_agrees():
    assert Ownership('', 'robot', ['']).terms == WITHOUT_GRAVITY
    assert Ownership('franka', 'robot', ['']).terms == ('coriolis', 'inertia')
    assert Ownership('sim', 'node', ['']).terms == TERMS


def test_chosen_terms_are_kept():
    assert Ownership('', '', ['inertia', 'gravity']).terms == ('inertia', 'gravity')
    assert Ownership('kuka_fri', '', ['inertia']).terms == ('inertia',)


@pytest.mark.parametrize(
    ('preset', 'owner', 'wanted', 'culprit'),
    [
        ('frank', '', [''], "preset: expected one of sim, .*, got 'frank'"),
        ('', 'nobody', [''], "gravity_owner: expected node or robot, got 'nobody'"),
        ('franka', 'node', [''], 'gravity_owner node contradicts preset franka, where it is the robot'),
        ('sim', 'robot', [''], 'gravity_owner robot contradicts preset sim, where it is the node'),
        ('franka', '', ['inertia', 'gravity'], 'gravity would be added twice: with preset franka'),
        ('franka', '', ['friction'], 'friction would be added twice: with preset franka'),
        ('', 'robot', list(TERMS), 'gravity would be added twice: with gravity_owner robot'),
    ],
)
def test_what_is_ambiguous_is_refused(preset, owner, wanted, culprit):
    with pytest.raises(ArgumentError, match=culprit):
        Ownership(preset, owner, wanted)
