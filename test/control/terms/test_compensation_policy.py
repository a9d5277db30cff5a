"""Nothing is compensated twice: whose gravity and friction are, by preset and by statement."""

import re
from pathlib import Path

import pytest

from robot_dynamics_ros.control.terms.compensation import TERMS
from robot_dynamics_ros.control.terms.compensation_policy import PRESETS, CompensationPolicy
from robot_dynamics_ros.errors import ArgumentError

WITHOUT_GRAVITY = ('coriolis', 'inertia', 'friction')
RIGID_WITHOUT_GRAVITY = ('coriolis', 'inertia')
DOCUMENT = Path(__file__).resolve().parents[3] / 'doc' / 'concepts' / 'presets.md'


@pytest.mark.parametrize(
    ('preset', 'owner', 'terms', 'commands'),
    [
        ('', 'node', TERMS, True),
        ('sim', 'node', TERMS, True),
        ('effort_controller', 'node', TERMS, True),
        ('motor_pd', 'node', TERMS, True),
        ('franka', 'robot', RIGID_WITHOUT_GRAVITY, True),
        ('ur_direct_torque', 'robot', RIGID_WITHOUT_GRAVITY, True),
        ('kuka_fri', 'robot', RIGID_WITHOUT_GRAVITY, True),
        ('monitor_only', 'node', TERMS, False),
    ],
)
def test_a_preset_says_who_adds_what(preset, owner, terms, commands):
    policy = CompensationPolicy(preset, '', [''])
    assert (policy.gravity_owner, policy.terms, policy.takes_commands) == (owner, terms, commands)
    assert policy.robot_terms == set(TERMS) - set(terms)


def test_there_are_the_seven_presets():
    assert set(PRESETS) == {
        'sim',
        'effort_controller',
        'motor_pd',
        'franka',
        'ur_direct_torque',
        'kuka_fri',
        'monitor_only',
    }


def test_motors_with_a_pd_are_those_of_one_preset_whose_torque_fades_in():
    with_pd = {name for name in PRESETS if CompensationPolicy(name, '', ['']).motor_pd}
    fading = {name: CompensationPolicy(name, '', ['']).fade_in_time for name in PRESETS}
    assert with_pd == {'motor_pd'}
    assert fading == {**dict.fromkeys(PRESETS, 0.0), 'motor_pd': 1.0}


def test_the_document_has_the_terms_of_every_preset_with_its_sources():
    rows = re.findall(r'^\| `(\w+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$', DOCUMENT.read_text(encoding='utf-8'), re.M)
    assert [name for name, *_ in rows] == list(PRESETS)
    for name, robot, node, source in rows:
        policy = CompensationPolicy(name, '', [''])
        assert {term for term in TERMS if term in robot} == policy.robot_terms
        assert tuple(term for term in TERMS if term in node) == policy.terms
        assert not policy.robot_terms or 'http' in source


def test_friction_switched_off_at_the_robot_is_added_where_only_gravity_is_stated_as_the_robots():
    assert 'friction' in CompensationPolicy('', 'robot', ['']).terms
    assert CompensationPolicy('', 'robot', ['']).robot_terms == {'gravity'}


def test_an_owner_may_be_stated_without_a_preset_or_with_one_that_agrees():
    assert CompensationPolicy('', 'robot', ['']).terms == WITHOUT_GRAVITY
    assert CompensationPolicy('franka', 'robot', ['']).terms == ('coriolis', 'inertia')
    assert CompensationPolicy('sim', 'node', ['']).terms == TERMS


def test_chosen_terms_are_kept():
    assert CompensationPolicy('', '', ['inertia', 'gravity']).terms == ('inertia', 'gravity')
    assert CompensationPolicy('kuka_fri', '', ['inertia']).terms == ('inertia',)


@pytest.mark.parametrize(
    ('preset', 'owner', 'wanted', 'culprit'),
    [
        ('frank', '', [''], "preset: expected one of sim, .*, got 'frank'"),
        ('', 'nobody', [''], "gravity_owner: expected one of node, robot, got 'nobody'"),
        ('franka', 'node', [''], 'gravity_owner node contradicts preset franka, whose gravity_owner is robot'),
        ('sim', 'robot', [''], 'gravity_owner robot contradicts preset sim, whose gravity_owner is node'),
        ('franka', '', ['inertia', 'gravity'], 'gravity would be added twice: with preset franka'),
        ('franka', '', ['friction'], 'friction would be added twice: with preset franka'),
        ('ur_direct_torque', '', ['friction'], 'friction would be added twice: with preset ur_direct_torque'),
        ('kuka_fri', '', ['friction'], 'friction would be added twice: with preset kuka_fri'),
        ('', 'robot', list(TERMS), 'gravity would be added twice: with gravity_owner robot'),
    ],
)
def test_what_is_ambiguous_is_refused(preset, owner, wanted, culprit):
    with pytest.raises(ArgumentError, match=culprit):
        CompensationPolicy(preset, owner, wanted)
