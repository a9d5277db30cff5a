"""Operational-space control of an exported library: the bits of the nodes' law, and what a controller does with it."""

import re

from support.controllers.controllers_core import MOTION, NONE, RATE, Law, body_numbers, has_compilers
from support.controllers.controllers_frame_laws import (
    FREE,
    LENGTH,
    START,
    STEP,
    TAKING,
    Q,
    held,
    kinds,
    library,
    operational_space_library,
    same,
    states_and_references,
)
from support.matrices import matrix

import numpy as np
import pytest

from robot_dynamics_ros import Payload
from robot_dynamics_ros.control.guards.torque_limiter import TorqueLimiter
from robot_dynamics_ros.control.laws.impedance.frame_law_code import operational_space_code
from robot_dynamics_ros.control.laws.impedance.operational_space import OperationalSpaceControl, SingularDirections
from robot_dynamics_ros.control.laws.impedance.operational_space_limits import OperationalSpaceLimit
from robot_dynamics_ros.control.payload.payload_blending import PayloadBlender
from robot_dynamics_ros.control.payload.payload_gravity import GravityRamp, PayloadGravity, PayloadRamp
from robot_dynamics_ros.control.terms.compensation import TERMS
from robot_dynamics_ros.control.terms.compensation_policy import CompensationPolicy
from robot_dynamics_ros.errors import ArgumentError

pytestmark = [
    pytest.mark.skipif(not has_compilers(), reason='no C and C++ compiler'),
    pytest.mark.compiled,
]
UNLIMITED = {**FREE, 'control_law': 'operational_space'}


def law_of(name: str, **more) -> Law:
    made = Law(operational_space_library(name), kinds()[name].robot.joint_names, **{**UNLIMITED, **more})
    made.activate()
    return made


def expected(name: str, states, references, terms=TERMS) -> np.ndarray:
    """Return the torques (count, n) of the law of the nodes."""
    kind = kinds()[name]
    theirs, out = OperationalSpaceControl(kind.robot, kind.operational_space(), terms), np.empty(states[:, 0].shape)
    nothing = np.zeros(kind.robot.nv)
    for (q, qd), reference, torque in zip(states, references, out, strict=True):
        theirs.torque(q, qd, tuple(reference[:3]), nothing, torque)
    return out


@pytest.mark.parametrize('name', ['aubo_i5', 'seven', 'three'])
def test_the_bits_are_those_of_the_nodes(name):
    states, references = states_and_references(np.random.default_rng(3), 5000, kinds()[name].robot.nv)
    efforts, outcomes = law_of(name).updates(states, references, MOTION)
    assert set(outcomes) == {'sent'}
    same(efforts, expected(name, states, references))


@pytest.mark.parametrize('preset', matrix(['', *TAKING], []))
def test_the_bits_of_every_preset_for_100_000_cycles(preset):
    """The robot that compensates gravity or friction itself gets neither."""
    states, references = states_and_references(np.random.default_rng(5), 100_000, 6)
    efforts, _ = law_of('aubo_i5', preset=preset).updates(states, references, MOTION)
    same(efforts, expected('aubo_i5', states, references, CompensationPolicy(preset, '', ()).terms))


def test_the_bits_while_payload_and_gravity_change():
    """The inertia of the frame is that of the arm without its payload throughout."""
    kind, random, count = kinds()['aubo_i5'], np.random.default_rng(9), 800
    robot, n = kind.robot, kind.robot.nv
    body = Payload(2.0, (0.05, 0.0, 0.1), 0.01 * np.eye(3))
    payload = PayloadRamp({kind.frame: body}, {}, START, LENGTH)
    gravity = GravityRamp((1.0, -7.0, 6.0), tuple(robot.gravity), START + 100 * STEP, LENGTH)
    law = law_of('aubo_i5', rate_limit=[5e4])
    assert law.payload(body_numbers(body), kind.frame, [], START, LENGTH, START)[0]
    assert law.gravity(gravity.after, gravity.before, '', gravity.start, LENGTH, START)[0]
    blender = PayloadBlender(
        lambda it: OperationalSpaceControl(it, kind.operational_space(), unloaded=robot),
        robot,
        PayloadGravity(payload, gravity),
    )
    states, references = states_and_references(random, count, n)
    times = START + STEP * np.arange(count)
    efforts, _ = law.updates(states, references, MOTION, times)
    limiter, theirs = TorqueLimiter(np.full(n, np.inf), np.full(n, 5e4)), np.empty((count, n))
    for time, (q, qd), reference, out in zip(times, states, references, theirs, strict=True):
        blender.torque(int(time), q, qd, tuple(reference[:3]), np.zeros(n), out=out)
        assert limiter.apply(out, 1.0 / RATE)
    same(efforts, theirs)


def test_without_a_reference_the_frame_is_held_where_the_last_one_put_it():
    kind, law = kinds()['plain'], law_of('plain', ramp_time=0.1)
    rest, out = np.zeros(6), np.empty(6)
    (states, _), (_, references) = held(Q + 0.1, 600), held(Q, 600)
    efforts, outcomes = law.updates(states, references, np.where(np.arange(600) < 100, MOTION, NONE))
    assert outcomes[-1] == 'held'
    OperationalSpaceControl(kind.robot, kind.operational_space()).hold(Q + 0.1, rest, Q, out)
    same(efforts[-1:], out[None])


def test_a_frame_near_a_singular_position_is_named():
    """As the node says it."""
    kind, law = kinds()['aubo_i5'], law_of('aubo_i5')
    rest, warned = np.zeros(6), []
    singular = SingularDirections(kind.robot, kind.operational_space())
    theirs = OperationalSpaceControl(kind.robot, kind.operational_space(), TERMS, singular.light)
    for q in (np.array([0.1, -0.7, 1.4, 0.2, 1.4, 0.0]), np.zeros(6)):
        law.updates(*held(q, 3), MOTION)
        theirs.hold(q, rest, q, np.empty(6))
        assert law.warning == singular.warning()
        warned.append(law.warning)
    assert warned[0] == '' and 'is heavier than largest_mass (60 kg) in 3 directions' in warned[1]


def test_messages_change_nothing():
    law = law_of('aubo_i5')
    with pytest.raises(ValueError, match='invalid_argument: only control_law cartesian_impedance has a stiffness'):
        law.want_stiffness([1.0] * 6)
    with pytest.raises(ValueError, match='invalid_argument: only control_law cartesian_impedance has a wrench'):
        law.want_wrench([1.0] * 6)


@pytest.mark.parametrize(
    ('path', 'settings', 'said'),
    [
        (library, {}, 'the library has cartesian_impedance, not operational_space; export it with --impedance'),
        (operational_space_library, {'control_law': 'cartesian_impedance'}, 'has operational_space, not cartesian_'),
        (
            operational_space_library,
            {'update_rate': 5.0},
            'the gains of the library are stable above .* counts as 5 Hz',
        ),
        (operational_space_library, {'torque_delay': 0.2}, r'counts as 1\.\d+ Hz'),
        (operational_space_library, {'preset': 'motor_pd'}, 'with preset motor_pd the PD of the motors'),
        (operational_space_library, {'stiffness': 1.0}, 'stiffness, damping: expected 0 with operational_space'),
    ],
)
def test_what_does_not_fit_is_refused_by_name(path, settings, said):
    with pytest.raises(ValueError, match=f'invalid_argument: .*{said}'):
        Law(path('aubo_i5'), kinds()['aubo_i5'].robot.joint_names, **{**UNLIMITED, **settings})


def test_a_bandwidth_beyond_the_limit_of_sampling_is_not_exported():
    kind = kinds()['aubo_i5']
    settings = kind.operational_space()._replace(bandwidth=300.0)
    rate = 1.0 / OperationalSpaceLimit(kind.robot, settings).period
    said = re.escape(OperationalSpaceLimit(kind.robot, settings).fault(1.0 / (0.9 * rate)))
    with pytest.raises(ArgumentError, match=f'^{said}$'):
        operational_space_code(kind.robot, settings, TERMS, 0.9 * rate)
    assert operational_space_code(kind.robot, settings, TERMS, 1.1 * rate).period == pytest.approx(1.0 / rate)
