"""Torque terms of a published torque: each choice of terms against the sum of the robot's own single terms."""

from itertools import combinations

from support.code.bindings import of_binding
from support.code.look_ups import recorded

import numpy as np
import pytest

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.control.joints.joint_friction import FRICTIONAL, add_friction, frictionless
from robot_dynamics_ros.control.terms.compensation import RIGID_BODY, TERMS, Compensation
from robot_dynamics_ros.errors import ArgumentError

ROBOT = Robot.named('aubo_i5').with_payload(Payload(2.0, (0.0, 0.05, 0.1))).with_gravity((1.0, -3.0, -9.0))
CHOICES = [choice for count in range(1, 5) for choice in combinations(TERMS, count)]
Q, QD, QDD = np.random.default_rng(0).uniform(-2.0, 2.0, (3, 6))
SINGLE = {
    'gravity': ROBOT.gravity_torque(Q),
    'coriolis': ROBOT.coriolis_torque(Q, QD),
    'inertia': ROBOT.inertia_torque(Q, QDD),
    'friction': ROBOT.friction_torque(QD),
}


def test_there_are_four_terms_and_each_counts():
    assert TERMS == ('gravity', 'coriolis', 'inertia', 'friction')
    assert all(abs(SINGLE[term]).max() > 0.1 for term in TERMS) and len(CHOICES) == 15


@pytest.mark.parametrize('binding', ['generic', 'own'])
@pytest.mark.parametrize('choice', CHOICES, ids='+'.join)
def test_any_choice_is_the_sum_of_its_terms(choice, binding):
    chosen, out = Compensation(of_binding(ROBOT, binding), choice), np.full(6, np.nan)
    assert chosen.torque(Q, QD, QDD, out) is None
    assert out == pytest.approx(sum(SINGLE[term] for term in choice), rel=1e-12, abs=1e-12)
    first = out.copy()
    chosen.torque(QD, QDD, Q, out)
    chosen.torque(Q, QD, QDD, out)  # nothing is left over from the call before
    assert out.tolist() == first.tolist()


def test_all_terms_are_the_torque_of_the_motion():
    out = np.empty(6)
    Compensation(ROBOT, TERMS).torque(Q, QD, QDD, out)
    assert out == pytest.approx(ROBOT.inverse_dynamics(Q, QD, QDD) + ROBOT.friction_torque(QD), rel=1e-12)


def test_no_argument_is_changed():
    arguments = Q.copy(), QD.copy(), QDD.copy()
    Compensation(ROBOT, TERMS).torque(*arguments, np.empty(6))
    assert np.array_equal(arguments, (Q, QD, QDD))


@pytest.mark.parametrize('choice', CHOICES, ids='+'.join)
def test_terms_are_in_one_order_however_they_are_stated(choice):
    assert Compensation(ROBOT, reversed(choice)).terms == choice
    assert Compensation(ROBOT, list(choice)).terms == choice


@pytest.mark.parametrize(
    'terms',
    [[], ['gravity', 'drag'], ['gravity', 'gravity'], [''], 'gravity', ['Gravity'], [None], [['gravity']]],
    ids=str,
)
def test_any_other_choice_is_refused(terms):
    with pytest.raises(ArgumentError) as error:
        Compensation(ROBOT, terms)
    expected = 'compensation: expected one or more of gravity, coriolis, inertia, friction, residual, each once, got '
    assert str(error.value) == f'{expected}{list(terms)}'


def test_a_state_that_is_none_is_refused_by_name():
    with pytest.raises(ArgumentError, match=r'^qd\[2\]: nan is not finite$'):
        Compensation(ROBOT, TERMS).torque(Q, np.where(np.arange(6) == 2, np.nan, QD), QDD, np.empty(6))


LOADS = dict(zip(ROBOT.joint_names, (0.1, 0.0, 0.05, 0.2, 0.0, 0.3), strict=True))
LOADED = ROBOT.with_actuators(
    {
        'friction_load': LOADS,
        'friction_stribeck': dict.fromkeys(LOADS, 1.5),
        'friction_stribeck_velocity': dict.fromkeys(LOADS, 0.4),
    }
)


@pytest.mark.parametrize('binding', ['generic', 'own'])
@pytest.mark.parametrize('choice', CHOICES, ids='+'.join)
def test_friction_that_grows_with_the_load_is_that_of_the_whole_torque_in_any_choice(choice, binding):
    """The rotors are the same, so that LOADED is answered by the code that there is for ROBOT."""
    friction = LOADED.friction_torque(QD, LOADED.inverse_dynamics(Q, QD, QDD))
    assert abs(friction - SINGLE['friction']).max() > 1.0
    out, single = np.full(6, np.nan), {**SINGLE, 'friction': friction}
    Compensation(of_binding(LOADED, binding), choice).torque(Q, QD, QDD, out)
    assert out == pytest.approx(sum(single[term] for term in choice), rel=1e-12, abs=1e-12)


def test_without_its_figures_there_is_no_friction():
    assert FRICTIONAL == ('viscous', 'coulomb', 'offset', 'stribeck', 'load', 'quadratic')
    friction, none = LOADED.friction, frictionless(LOADED.friction)
    for name in FRICTIONAL:
        assert not getattr(none, name).any() and getattr(none, name).shape == (6,)
    assert none.transition is friction.transition and none.stribeck_velocity is friction.stribeck_velocity
    assert sorted(RIGID_BODY) == ['coriolis', 'gravity', 'inertia']


def test_friction_is_added_to_what_is_there():
    """In place too: each joint's own torque is what it transmits."""
    transmitted, torque = 10.0 * Q, QDD.copy()
    add_friction(np.array(LOADED.friction), QD, transmitted, torque)
    assert torque == pytest.approx(QDD + LOADED.friction_torque(QD, transmitted), rel=1e-12)
    assert transmitted.tolist() == (10.0 * Q).tolist()
    torque[:] = transmitted
    add_friction(np.array(LOADED.friction), QD, torque, torque)
    assert torque == pytest.approx(transmitted + LOADED.friction_torque(QD, transmitted), rel=1e-12)


def test_calls_are_prepared_with_the_sum(monkeypatch):
    """Those of the whole torque, too, on which friction depends."""
    compensation, out = Compensation(LOADED.with_gravity((0.0, 1.0, -9.0)), ['inertia', 'friction']), np.empty(6)
    looked_up = recorded(monkeypatch)
    compensation.torque(Q, QD, QDD, out)
    assert looked_up == []
