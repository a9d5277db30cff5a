"""The Cartesian impedance of an exported library: the bits of the nodes' law, and what a controller does with it."""

import itertools
import re

from support.controllers.controllers_core import (
    EFFORT,
    MOTION,
    NONE,
    RATE,
    Law,
    body_numbers,
    exported,
    has_compilers,
    linked,
)
from support.controllers.controllers_frame_laws import (
    FREE,
    LENGTH,
    START,
    STEP,
    TAKING,
    Q,
    content,
    held,
    kinds,
    library,
    same,
    states_and_references,
)
from support.matrices import matrix

import numpy as np
import pytest

from robot_dynamics_ros import Payload
from robot_dynamics_ros.codegen.c.library import library_source
from robot_dynamics_ros.control.guards.torque_limiter import TorqueLimiter
from robot_dynamics_ros.control.laws.impedance.cartesian_impedance import CartesianImpedance
from robot_dynamics_ros.control.payload.payload_blending import PayloadBlender
from robot_dynamics_ros.control.payload.payload_gravity import GravityRamp, PayloadGravity, PayloadRamp
from robot_dynamics_ros.control.terms.compensation import TERMS
from robot_dynamics_ros.control.terms.compensation_policy import CompensationPolicy

pytestmark = [
    pytest.mark.skipif(not has_compilers(), reason='no C and C++ compiler'),
    pytest.mark.compiled,
]
UNLIMITED = {**FREE, 'control_law': 'cartesian_impedance'}


def law_of(name: str, **more) -> Law:
    made = Law(library(name), kinds()[name].robot.joint_names, **{**UNLIMITED, **more})
    made.activate()
    return made


def expected(name: str, states, references, terms=TERMS) -> np.ndarray:
    """Return the torques (count, n) of the law of the nodes."""
    kind = kinds()[name]
    impedance, stiffness = kind.made()
    theirs, out = CartesianImpedance(kind.robot, impedance, terms, stiffness), np.empty(states[:, 0].shape)
    nothing = np.zeros(kind.robot.nv)
    for (q, qd), reference, torque in zip(states, references, out, strict=True):
        stiffness.elapse(1.0 / RATE)
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
    name = 'aubo_i5' if 'friction' in CompensationPolicy(preset, '', ()).terms else 'seven'
    states, references = states_and_references(np.random.default_rng(5), 100_000, kinds()[name].robot.nv)
    efforts, _ = law_of(name, preset=preset).updates(states, references, MOTION)
    same(efforts, expected(name, states, references, CompensationPolicy(preset, '', ()).terms))


@pytest.mark.parametrize('name', ['aubo_i5', 'three'])
def test_the_bits_while_payload_and_gravity_change(name):
    """Each corner of both ramps has an impedance of its own mass matrix; springs and tank are one."""
    kind, random, count = kinds()[name], np.random.default_rng(9), 800
    robot, n = kind.robot, kind.robot.nv
    body = Payload(2.0, (0.05, 0.0, 0.1), 0.01 * np.eye(3))
    payload = PayloadRamp({kind.frame: body}, {}, START, LENGTH)
    gravity = GravityRamp((1.0, -7.0, 6.0), tuple(robot.gravity), START + 100 * STEP, LENGTH)
    law = law_of(name, rate_limit=[5e4])
    assert law.payload(body_numbers(body), kind.frame, [], START, LENGTH, START)[0]
    assert law.gravity(gravity.after, gravity.before, '', gravity.start, LENGTH, START)[0]
    impedance, stiffness = kind.made()
    blender = PayloadBlender(
        lambda it: CartesianImpedance(it, impedance, TERMS, stiffness), robot, PayloadGravity(payload, gravity)
    )
    states, references = states_and_references(random, count, n)
    times = START + STEP * np.arange(count)
    efforts, _ = law.updates(states, references, MOTION, times)
    limiter, theirs = TorqueLimiter(np.full(n, np.inf), np.full(n, 5e4)), np.empty((count, n))
    for time, (q, qd), reference, out in zip(times, states, references, theirs, strict=True):
        stiffness.elapse(1.0 / RATE)
        blender.torque(int(time), q, qd, tuple(reference[:3]), np.zeros(n), out=out)
        assert limiter.apply(out, 1.0 / RATE)
    same(efforts, theirs)


def test_the_bits_while_the_stiffness_changes():
    """Softer, an axis free, stiff again as far as the tank reaches; another activation begins with the library's."""
    kind, n = kinds()['aubo_i5'], 6
    states, references = states_and_references(np.random.default_rng(11), 1500, n)
    states, references = 0.02 * states + [Q, np.zeros(6)], 0.02 * references
    references[:, 0] += Q
    law, (impedance, stiffness) = law_of('aubo_i5'), kind.made()
    theirs, largest = CartesianImpedance(kind.robot, impedance, TERMS, stiffness), np.array(kind.stiffness)
    for k, wanted in enumerate((0.5 * largest, largest * [1.0, 1.0, 1.0, 0.0, 1.0, 1.0], largest)):
        law.want_stiffness(wanted)
        stiffness.want(wanted)
        efforts, _ = law.updates(states[500 * k :][:500], references[500 * k :][:500], MOTION)
        assert (law.stiffness == wanted).all()
        out = np.empty((500, n))
        for state, reference, torque in zip(states[500 * k :], references[500 * k :], out, strict=False):
            stiffness.elapse(1.0 / RATE)
            theirs.torque(*state, tuple(reference[:3]), np.zeros(n), torque)
        same(efforts, out)
    law.want_stiffness(0.5 * largest)
    law.activate()
    efforts, _ = law.updates(states, references, MOTION)
    same(efforts, expected('aubo_i5', states, references))
    assert (law.stiffness == largest).all()


@pytest.mark.parametrize(
    ('axis', 'value', 'frame', 'said'),
    [
        (5, 300.1, '', 'translational z: expected a stiffness of at most 300, that of the library, got 300.1'),
        (0, -1.0, '', 'rotational x: expected a stiffness of at least 0, got -1'),
        (4, np.nan, '', 'translational y: expected a stiffness of at least 0, got nan'),
        (
            1,
            0.0,
            'ee_link',
            'rotational y: expected a stiffness of at least 0.03, for nothing else would brake this axis',
        ),
        (2, 1e-9, '', 'rotational z: expected a stiffness of at least 0.02, for nothing else would brake this axis'),
        (3, 0.0, 'base_link', "frame_id: expected 'ee_link', whose axes the stiffness has, got 'base_link'"),
    ],
)
def test_a_stiffness_that_the_arm_must_not_have_is_refused(axis, value, frame, said):
    law, wanted = law_of('aubo_i5'), np.array(kinds()['aubo_i5'].stiffness)
    wanted[axis] = value
    with pytest.raises(ValueError, match=f'invalid_argument: {re.escape(said)}'):
        law.want_stiffness(wanted, frame)
    law.updates(*held(Q, 1), MOTION)
    assert law.stiffness.tolist() == list(kinds()['aubo_i5'].stiffness)


def test_only_an_active_law_with_an_impedance_takes_a_stiffness():
    law = law_of('aubo_i5')
    law.deactivate()
    with pytest.raises(ValueError, match='the controller is not active'):
        law.want_stiffness([1.0] * 6)
    law.activate()
    law.request_stop()
    law.updates(held(Q, 1)[0])
    with pytest.raises(ValueError, match='the controller is asked to stop: down to zero'):
        law.want_stiffness([1.0] * 6)
    with pytest.raises(ValueError, match='only control_law cartesian_impedance has a stiffness'):
        law_of('aubo_i5', control_law='pd_feedforward').want_stiffness([1.0] * 6)


def test_a_force_moves_the_tool_by_force_over_stiffness():
    """An arm without friction, pushed by 12 N along an axis of its tool."""
    kind, law = kinds()['plain'], law_of('plain')
    robot, q, qd = kind.robot, Q.copy(), np.zeros(6)
    _, references = held(Q, 1)
    pushed = robot.jacobian(Q, kind.frame, 'local').T @ [0.0, 0.0, 0.0, 0.0, 0.0, 12.0]
    for _ in range(3000):
        (effort,), _ = law.updates([[q, qd]], references, MOTION)
        qd += robot.forward_dynamics(q, qd, effort + pushed) / RATE
        q = q + qd / RATE
    T, T_pushed = robot.link_pose(Q, kind.frame), robot.link_pose(q, kind.frame)
    moved = T[:3, :3].T @ (T_pushed[:3, 3] - T[:3, 3])
    assert np.abs(qd).max() < 1e-3
    assert moved == pytest.approx([0.0, 0.0, 12.0 / 800.0], abs=0.02 * 12.0 / 800.0)


def test_without_a_reference_the_frame_is_held_where_the_last_one_put_it():
    """As the node holds it, with the same bits; before the first one where it is. Nothing steps meanwhile."""
    robot, law = kinds()['plain'].robot, law_of('plain', ramp_time=0.1)
    away, count = Q + 0.1, 800
    states, _ = held(away, count)
    _, references = held(Q, count)
    first, outcomes = law.updates(states[:50], references[:50], NONE)
    assert set(outcomes) == {'held'}
    same(first[-1:], robot.gravity_torque(away)[None])
    kind = np.where(np.arange(count) < 250, MOTION, NONE)
    efforts, outcomes = law.updates(states, references, kind)
    assert [it for it, _ in itertools.groupby(outcomes)] == ['sent', 'held']
    impedance, stiffness = kinds()['plain'].made()
    theirs = np.empty(6)
    CartesianImpedance(robot, impedance, TERMS, stiffness).hold(away, np.zeros(6), Q, theirs)
    same(efforts[-1:], theirs[None])
    pulled = np.abs(theirs - first[-1]).max()
    assert pulled > 10.0, 'springs pull'
    assert np.abs(np.diff(np.vstack([first[-1:], efforts]), axis=0)).max() < 1.1 * pulled / (0.1 * RATE)


def test_a_tool_that_a_hand_lets_go_after_references_have_stopped_comes_back_with_the_energy_of_its_springs():
    kind, law = kinds()['plain'], law_of('plain')
    robot, q, qd = kind.robot, Q.copy(), np.zeros(6)
    _, references = held(Q, 1)
    J = robot.jacobian(Q, kind.frame)
    away = Q + np.linalg.solve(J, [0.0, 0.0, 0.0, 0.0, 0.1, 0.0])
    law.updates(*held(Q, 200), MOTION)
    law.updates([[away, qd]] * 500, references.repeat(500, axis=0), NONE)
    q, energies = away.copy(), []
    for _ in range(2000):
        (effort,), _ = law.updates([[q, qd]])
        qd = qd + robot.forward_dynamics(q, qd, effort) / RATE
        q = q + qd / RATE
        energies.append(robot.kinetic_energy(q, qd))
    assert max(energies) < 0.5 * 800.0 * 0.1**2
    assert np.abs(q - Q).max() < 0.01


@pytest.mark.parametrize('how', ['at first', 'in motion', 'after a pause', 'after states were lost'])
def test_a_joint_that_a_hand_left_at_its_limit_is_not_pushed_out_where_the_arm_is_held_anew(how):
    robot, law = kinds()['aubo_i5'].robot, law_of('aubo_i5', ramp_time=0.05, reference_timeout=10.0)
    near = Q.copy()
    near[2] = robot.limits.upper[2] - 0.05
    states, references = held(near, 400)
    if how != 'at first':
        law.updates(*held(Q, 100), MOTION)
    if how == 'after a pause':
        law.updates(states[:1], references[:1], MOTION, period=1.5)
    if how == 'after states were lost':
        law.updates(np.full((1200, 2, 6), np.nan))
    efforts, _ = law.updates(states, references, MOTION)
    springs = efforts[-1] - robot.gravity_torque(near)
    assert (abs(springs[2]) > 5.0) == (how == 'in motion')


def test_a_controller_above_that_changes_between_two_cycles_makes_no_step():
    """Its first reference is where the arm is, and the springs are stretched by then."""
    law, ramp_time = law_of('aubo_i5', ramp_time=0.1), 0.1
    stretched, _ = held(Q + 0.1, 300)
    _, references = held(Q, 300)
    before, _ = law.updates(stretched, references, MOTION)
    law.deactivate()
    law.resume()
    _, references = held(Q + 0.1, 300)
    after, _ = law.updates(stretched, references, MOTION)
    change = np.abs(after[-1] - before[-1]).max()
    assert change > 10.0
    assert np.abs(np.diff(np.vstack([before[-1:], after]), axis=0)).max() < 1.1 * change / (ramp_time * RATE)


def test_pauses_within_the_limit_of_the_gains_do_not_swing_the_arm():
    """Cycles of 30 ms, where the gains are stable up to 46 ms: each is one of a slower control."""
    robot, law = kinds()['plain'].robot, law_of('plain')
    q, qd, speeds, since = Q + 0.05, np.zeros(6), [], 0.001
    _, references = held(Q, 1)
    for k in range(1500):
        (effort,), _ = law.updates([[q, qd]], references, MOTION, period=since)
        since = 0.03 if k % 5 == 0 else 0.001
        for _ in range(round(since / 0.001)):
            qd = qd + 0.001 * robot.forward_dynamics(q, qd, effort)
            q = q + 0.001 * qd
        speeds.append(np.abs(qd).max())
    assert max(speeds[-100:]) < 0.01 * max(speeds[:100])


def test_a_reference_whose_torque_is_not_finite_leaves_nothing_behind():
    law, count = law_of('three'), 20
    states, references = states_and_references(np.random.default_rng(4), count, 3)
    references[5, 1, 2] = 1e308  # of a sliding joint
    efforts, outcomes = law.updates(states, references, MOTION)
    assert [k for k, it in enumerate(outcomes) if it != 'sent'] == [5] and outcomes[5] == 'reference_refused'
    law.updates(states[:1], references[:1], MOTION)
    assert np.isfinite(efforts).all() and (law.stiffness == kinds()['three'].stiffness).all()


def test_after_a_pause_springs_that_were_stretched_in_it_pull_without_a_step():
    robot, law = kinds()['aubo_i5'].robot, law_of('aubo_i5')
    states, references = held(Q, 100)
    before, _ = law.updates(states, references, MOTION)
    moved, _ = held(Q + 0.1, 100)
    after, _ = law.updates(moved[:1], references[:1], MOTION, period=0.4)
    assert np.abs(after[0] - before[-1]).max() < 1.0
    efforts, _ = law.updates(np.repeat(moved, 3, axis=0), np.repeat(references, 3, axis=0), MOTION)
    assert np.abs(efforts[-1] - robot.gravity_torque(Q + 0.1)).max() > 10.0
    assert np.abs(np.diff(efforts, axis=0)).max() < 2.0


@pytest.mark.parametrize('broken', ['q', 'qd', 'reference'])
def test_what_is_not_finite_reaches_no_joint(broken):
    law = law_of('aubo_i5')
    states, references = held(Q, 20)
    if broken == 'reference':
        references[5:, 0, 3] = np.nan
    else:
        states[5:, 0 if broken == 'q' else 1, 3] = np.nan
    efforts, outcomes = law.updates(states, references, MOTION)
    assert np.isfinite(efforts).all()
    assert outcomes[10] == ('reference_refused' if broken == 'reference' else 'state_lost')


@pytest.mark.parametrize(
    ('settings', 'said'),
    [
        ({'control_law': 'pd'}, 'control_law: the library has cartesian_impedance, not pd; export it with --impedance'),
        ({'update_rate': 10.0}, 'are stable above .* Hz, and update_rate with torque_delay counts as 10 Hz; raise'),
        ({'torque_delay': 0.1}, r'counts as 3\.\d+ Hz'),
        ({'preset': 'motor_pd'}, 'control_law: with preset motor_pd the PD of the motors would be added to it'),
        ({'damping': 1.0}, 'stiffness, damping: expected 0 with cartesian_impedance'),
        ({'compensation': ['gravity']}, 'control_law: the rest_friction_share of the library needs friction'),
    ],
)
def test_what_does_not_fit_is_refused_by_name(settings, said):
    with pytest.raises(ValueError, match=f'invalid_argument: .*{said}'):
        law_of('aubo_i5', **settings)


@pytest.fixture(scope='module')
def dynamics(tmp_path_factory):
    """The object file of a robot's dynamics, which stays where its library is changed."""
    source = library('three').with_suffix('') / 'r_dynamics.c'
    return linked(tmp_path_factory.mktemp('three') / 'dynamics.o', '-c', source)


WRONG = [
    (r'\.name = "cartesian_impedance"', '.name = ""', 'frame_law.name: expected a name, got an empty text'),
    (r'\.frame = "sledge"', '.frame = ""', 'frame_law.frame: expected a name, got an empty text'),
    (r'\.longest_period = [^,]*', '.longest_period = 0.0', 'frame_law.longest_period: expected a number above 0'),
    (r'\.memory = \d+', '.memory = 0', 'frame_law.memory: expected 1 to 100000, got 0'),
    (r'\.anew = \d+', '.anew = 1000', 'frame_law.anew: expected at most 138, got 1000'),
    (r'\.initial_memory = (\w+)', r'.initial_memory = 0 ? \1 : 0',
     'frame_law.initial_memory: expected an array, got nothing'),
    (r'\.elapse = (\w+)', r'.elapse = 0 ? \1 : 0', 'frame_law.elapse: expected a function, got nothing'),
    (r'\.torque = (\w+)', r'.torque = 0 ? \1 : 0', 'frame_law.torque: expected a function, got nothing'),
    (r'\.directions = 0,\s*\.light = 0', '.directions = 6, .light = 138', 'frame_law.light: expected 1'),
    (r'\.axes = "sledge"', '.axes = ""', 'commands.axes: expected a name, got an empty text'),
    (r'\.stiffness = (\w+)', r'.stiffness = 0 ? \1 : 0', 'commands.stiffness: expected 6 numbers, got nothing'),
    (r'\.least_stiffness = (\w+)', r'.least_stiffness = 0 ? \1 : 0',
     'commands.least_stiffness: expected 6 numbers, got nothing'),
    (r'\.largest_wrench = (\w+)', r'.largest_wrench = 0 ? \1 : 0',
     'commands.largest_wrench: expected 2 numbers, got nothing'),
    (r'\.wrench_age = [^,]*', '.wrench_age = 0.0', 'commands.wrench_age[0]: expected a finite number above 0'),
    (r'\.wanted_stiffness = \d+', '.wanted_stiffness = 133', 'commands.wanted_stiffness: expected 6'),
    (r'\.stiffness_in_force = \d+', '.stiffness_in_force = 103', 'commands.stiffness_in_force: expected 36'),
    (r'\.tank = \d+', '.tank = 4000000000u', 'commands.tank: expected 2 numbers of the memory, got place 4'),
    (r'\.wanted_wrench = \d+', '.wanted_wrench = 127', 'commands.wanted_wrench: expected 12 numbers of the memory'),
    (r'\.until = \d+', '.until = 138', 'commands.until: expected 1 numbers of the memory, got place 138'),
    (r'\.wrench_in_force = \d+', '.wrench_in_force = 127', 'commands.wrench_in_force: expected 12 numbers'),
]  # fmt: skip


# a library is compiled for each
@pytest.mark.parametrize(('pattern', 'replacement', 'said'), matrix(WRONG, WRONG[1::5]))
def test_an_impedance_that_a_controller_cannot_use_is_named(pattern, replacement, said, dynamics, tmp_path):
    text, count = re.subn(pattern, replacement, library_source(content('three')))
    assert count == 1
    (tmp_path / 'changed.c').write_text(text)
    sources = library('three').with_suffix('')
    path = linked(tmp_path / 'changed.so', '-O0', '-I', sources, tmp_path / 'changed.c', dynamics)
    with pytest.raises(ValueError, match=f'LibraryError: .*{re.escape(said)}'):
        Law(path, kinds()['three'].robot.joint_names, **UNLIMITED)


def test_a_library_without_an_impedance_says_how_to_get_one():
    robot = kinds()['three'].robot
    plain = exported(robot, 'without_impedance')
    with pytest.raises(ValueError, match=re.escape('has no cartesian_impedance; export it with --impedance')):
        Law(plain, robot.joint_names, **UNLIMITED)
    one, other = (
        Law(path, robot.joint_names, **{**UNLIMITED, 'control_law': 'pd_feedforward'})
        for path in (plain, library('three'))
    )
    states, references = states_and_references(np.random.default_rng(1), 50, 3)
    for law in (one, other):
        law.activate()
    same(one.updates(states, references, MOTION)[0], other.updates(states, references, MOTION)[0])


def test_efforts_alone_are_added_to_gravity():
    robot, law = kinds()['aubo_i5'].robot, law_of('aubo_i5')
    states, references = held(Q, 3)
    references[:, 3] = 1.5
    efforts, _ = law.updates(states, references, EFFORT)
    same(efforts[-1:], (robot.gravity_torque(Q) + 1.5)[None])
