"""A law while payload and gravity change: against the same law of a robot with the load in between."""

import sys
import threading

from support.code.bindings import of_binding
from support.code.look_ups import recorded
from support.robots.small_robots import mixed

import numpy as np
import pytest

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.control.law import TORQUE, MeasuredState
from robot_dynamics_ros.control.laws.gravity_law import GravityLaw
from robot_dynamics_ros.control.laws.joint_space_control import LAWS, Hold, JointSpaceControl
from robot_dynamics_ros.control.payload.payload_blending import GravityTorque, PayloadBlender
from robot_dynamics_ros.control.payload.payload_gravity import GravityRamp, PayloadGravity, PayloadRamp
from robot_dynamics_ros.control.terms.compensation import TERMS, Compensation
from robot_dynamics_ros.errors import ArgumentError

ROBOT = Robot.named('aubo_i5')
FRAME = 'ee_link'
OLD = Payload(1.0, (0.0, 0.02, 0.05), np.diag([0.002, 0.002, 0.001]))
NEW = Payload(4.0, (0.1, -0.05, 0.2), np.diag([0.05, 0.06, 0.04]))
DOWN, UP, ASIDE = (0.0, 0.0, -9.81), (0.0, 0.0, 9.81), (1.0, -9.0, 2.0)
SECOND = 1_000_000_000
START, RAMP_TIME = 7 * SECOND, 2.0
DURATION = 2 * SECOND
ENOUGH = 300
RAMP = PayloadRamp({FRAME: OLD}).to(FRAME, NEW, START, RAMP_TIME)
CONSTANT = GravityRamp(DOWN, DOWN)
TILTING = GravityRamp(ASIDE, DOWN, START, DURATION)
Q, QD, QDD, FEEDFORWARD, HELD = np.random.default_rng(5).uniform(-2.0, 2.0, (5, 6))
DESIRED = np.random.default_rng(6).uniform(-2.0, 2.0, (3, 6))


def at(share):
    return START + round(share * DURATION)


def between(share, gravity=DOWN):
    """Return the robot with what it carries in between, by the payload's definition."""
    mix = (1.0 - share) * OLD.ten_parameters + share * NEW.ten_parameters
    m, h = mix[0], mix[1:4]
    c = h / m
    about_origin = np.array([[mix[4], mix[5], mix[6]], [mix[5], mix[7], mix[8]], [mix[6], mix[8], mix[9]]])
    about_centre = about_origin - m * (c @ c * np.eye(3) - np.outer(c, c))
    return ROBOT.with_gravity(gravity).with_payload(Payload(m, c, about_centre), FRAME)


def control(law, terms=TERMS):
    return lambda robot: JointSpaceControl(robot, law, np.full(6, 100.0), np.full(6, 10.0), 5.0, terms)


def hold(robot):
    return Hold(robot, np.full(6, 100.0), np.full(6, 10.0))


MAKES = {
    'gravity': (GravityTorque, (Q,)),
    'compensation': (lambda robot: Compensation(robot, TERMS), (Q, QD, QDD)),
    'without gravity': (lambda robot: Compensation(robot, ['inertia', 'coriolis']), (Q, QD, QDD)),
    'hold': (hold, (Q, QD, HELD)),
    **{law: (control(law), (Q, QD, DESIRED, FEEDFORWARD)) for law in LAWS},
    'the rest by the robot': (control('computed_torque', ('coriolis', 'inertia')), (Q, QD, DESIRED, FEEDFORWARD)),
}
SHARES = [-0.5, 0.0, 0.3, 0.9, 1.0, 1.5]


def torque(blender, time, *inputs):
    found = np.full(6, np.nan)
    assert blender.torque(time, *inputs, out=found) is None
    return found


def assert_same(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * max(1.0, np.abs(expected).max()))


@pytest.mark.compiled
@pytest.mark.parametrize(('make', 'inputs'), MAKES.values(), ids=MAKES)
@pytest.mark.parametrize('share', SHARES)
def test_the_torque_is_that_of_what_is_carried_in_between(make, inputs, share):
    expected = np.empty(6)
    found = torque(PayloadBlender(make, ROBOT, PayloadGravity(RAMP, CONSTANT)), at(share), *inputs)
    make(between(min(max(share, 0.0), 1.0))).torque(*inputs, out=expected)
    assert_same(found, expected)


@pytest.mark.parametrize(('make', 'inputs'), MAKES.values(), ids=MAKES)
@pytest.mark.parametrize('share', SHARES)
def test_the_torque_is_that_of_gravity_in_between(make, inputs, share):
    expected, part = np.empty(6), min(max(share, 0.0), 1.0)
    found = torque(PayloadBlender(make, ROBOT, PayloadGravity(PayloadRamp(), TILTING)), at(share), *inputs)
    gravity = (1.0 - part) * np.array(DOWN) + part * np.array(ASIDE)
    make(ROBOT.with_gravity(gravity)).torque(*inputs, out=expected)
    assert_same(found, expected)


@pytest.mark.compiled
@pytest.mark.parametrize(('make', 'inputs'), MAKES.values(), ids=MAKES)
@pytest.mark.parametrize('lag', [-0.4, 0.0, 0.7, 1.2], ids='gravity {} s later'.format)
def test_payload_and_gravity_may_change_at_the_same_time(make, inputs, lag):
    """Against the robot with the load in between, whose torque is bilinear in both."""
    load = PayloadGravity(RAMP, GravityRamp(UP, ASIDE, START + round(lag * SECOND), SECOND))
    blender, expected = PayloadBlender(make, ROBOT, load), np.empty(6)
    for seconds in (-0.5, 0.0, 0.1, 0.65, 1.0, 1.9, 2.05, 2.3):
        time = START + round(seconds * SECOND)
        make(load.robot_at(ROBOT, time)).torque(*inputs, out=expected)
        np.testing.assert_allclose(torque(blender, time, *inputs), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize(('make', 'inputs'), MAKES.values(), ids=MAKES)
def test_calls_are_prepared_with_the_law(make, inputs, monkeypatch):
    """The first torque, and the first one after a change, take no longer than others."""
    blender = PayloadBlender(make, ROBOT, PayloadGravity(RAMP, TILTING))
    looked_up = recorded(monkeypatch)
    for share in SHARES:
        torque(blender, at(share), *inputs)
    assert looked_up == []
    ROBOT.with_gravity(UP).gravity_torque(Q)
    assert looked_up, 'look-ups are not seen'


def test_a_load_whose_torques_overflow_is_followed_nevertheless():
    heavy = Payload(1e308, (0.0, 0.0, 0.0), np.zeros((3, 3)))
    blender = PayloadBlender(GravityTorque, ROBOT, PayloadGravity(PayloadRamp(), CONSTANT))
    blender.take(PayloadGravity(PayloadRamp({FRAME: heavy}), CONSTANT))
    with pytest.raises(ArgumentError, match='not finite'):
        torque(blender, 0, Q)


@pytest.mark.parametrize('binding', ['generic', 'own'])
def test_it_does_not_matter_which_kernels_compute(binding):
    blender = PayloadBlender(GravityTorque, of_binding(ROBOT, binding), PayloadGravity(RAMP, TILTING))
    gravity = 0.5 * (np.array(DOWN) + np.array(ASIDE))
    assert_same(torque(blender, at(0.5), Q), between(0.5, gravity).gravity_torque(Q))


def test_without_ramps_and_after_them_it_is_one_law_to_the_bit():
    expected = ROBOT.with_gravity(ASIDE).with_payload(NEW, FRAME).gravity_torque(Q).tolist()
    constant = PayloadBlender(GravityTorque, ROBOT, PayloadGravity(PayloadRamp({FRAME: NEW}), GravityRamp(ASIDE, DOWN)))
    changing = PayloadBlender(GravityTorque, ROBOT, PayloadGravity(RAMP, TILTING))
    for time in (0, at(0.5), at(1.0), at(9.0)):
        assert torque(constant, time, Q).tolist() == expected
    for share in (1.0, 1.5, 9.0):
        assert torque(changing, at(share), Q).tolist() == expected
    start = ROBOT.with_payload(OLD, FRAME).gravity_torque(Q).tolist()
    for share in (-3.0, 0.0):
        assert torque(changing, at(share), Q).tolist() == start


def counting(calls):
    class Counting(GravityTorque):
        def torque(self, q, out):
            calls.append(self)
            super().torque(q, out)

    return Counting


@pytest.mark.parametrize(
    ('load', 'counts'),
    [
        (PayloadGravity(PayloadRamp(), CONSTANT), {-1.0: 1, 0.5: 1, 2.0: 1}),
        (PayloadGravity(RAMP, CONSTANT), {-1.0: 1, 0.0: 1, 0.5: 2, 1.0: 1}),
        (PayloadGravity(PayloadRamp(), TILTING), {-1.0: 1, 0.0: 1, 0.5: 2, 1.0: 1}),
        (PayloadGravity(RAMP, TILTING), {-1.0: 1, 0.5: 4, 1.0: 1}),
        (PayloadGravity(RAMP, GravityRamp(UP, DOWN, START + SECOND, 2 * SECOND)), {0.25: 2, 0.75: 4, 1.25: 2, 2.0: 1}),
    ],
    ids=['none', 'payload', 'gravity', 'both', 'one after the other'],
)
def test_only_what_counts_is_computed(load, counts):
    calls = []
    blender = PayloadBlender(counting(calls), ROBOT, load)
    for share, count in counts.items():
        calls.clear()
        torque(blender, at(share), Q)
        assert len(calls) == count and len(set(map(id, calls))) == count


def test_a_clock_that_jumps_back_after_the_ramps_brings_nothing_back():
    blender = PayloadBlender(GravityTorque, ROBOT, PayloadGravity(RAMP, TILTING))
    torque(blender, at(1.0), Q)
    blender.take(PayloadGravity(RAMP, TILTING).clock_set_back(at(1.0), at(0.25)))
    expected = ROBOT.with_gravity(ASIDE).with_payload(NEW, FRAME).gravity_torque(Q)
    for share in (1.0, 0.5, -1.0):
        np.testing.assert_array_equal(torque(blender, at(share), Q), expected)


def test_a_clock_that_jumps_back_within_the_ramps_keeps_their_progress():
    blender = PayloadBlender(GravityTorque, ROBOT, PayloadGravity(RAMP, TILTING))
    before = torque(blender, at(0.5), Q)
    blender.take(PayloadGravity(RAMP, TILTING).clock_set_back(at(0.5), at(0.25)))
    np.testing.assert_array_equal(torque(blender, at(0.25), Q), before)
    expected = PayloadBlender(GravityTorque, ROBOT, PayloadGravity(RAMP, TILTING))
    np.testing.assert_array_equal(torque(blender, at(0.5), Q), torque(expected, at(0.75), Q))


@pytest.mark.parametrize('share', [0.5, 1.5])
def test_the_progress_is_kept_from_there_on(share):
    expected = PayloadBlender(GravityTorque, ROBOT, PayloadGravity(RAMP, TILTING))
    blender = PayloadBlender(GravityTorque, ROBOT, PayloadGravity(RAMP, TILTING))
    blender.take(PayloadGravity(RAMP, TILTING).clock_set_back(at(share), at(-3.0)))
    for later in (0.0, 0.2):
        np.testing.assert_array_equal(torque(blender, at(-3.0 + later), Q), torque(expected, at(share + later), Q))


def test_a_law_is_made_once_for_the_same_payload_and_gravity():
    made = []

    def make(robot):
        made.append(GravityTorque(robot))
        return made[-1]

    load = PayloadGravity(RAMP, TILTING)
    blender = PayloadBlender(make, ROBOT, load)
    assert len(made) == 4
    # a clock that is set back in mid-ramp and after it; then the same payloads under other gravity
    for later, count in (
        (load.clock_set_back(at(0.5), at(-3.0)), 4),
        (load.clock_set_back(at(1.5), at(-3.0)), 4),
        (PayloadGravity(RAMP, GravityRamp(UP, ASIDE, START, SECOND)), 7),
    ):
        blender.take(later)
        assert len(made) == count
        expected = PayloadBlender(GravityTorque, ROBOT, later)
        for share in (-3.0, -2.8, 0.3, 2.0):
            np.testing.assert_array_equal(torque(blender, at(share), Q), torque(expected, at(share), Q))


def test_the_next_load_blends_from_the_current_one():
    blender = PayloadBlender(GravityTorque, ROBOT, PayloadGravity(RAMP, CONSTANT))
    payload = RAMP.to(FRAME, Payload(0.0, (0.0, 0.0, 0.0)), at(0.5), RAMP_TIME)
    blender.take(PayloadGravity(payload, CONSTANT.to(UP, at(0.5), RAMP_TIME)))
    middle, end = between(0.5).gravity_torque(Q), ROBOT.with_gravity(UP).gravity_torque(Q)
    assert_same(torque(blender, at(0.5), Q), middle)
    # half way down in mass and up in gravity: nothing is felt of either
    assert_same(torque(blender, at(1.0), Q), np.zeros(6))
    assert_same(torque(blender, at(1.5), Q), end)


def test_another_robot_than_six_hinges():
    arm, q = mixed(), np.array([0.3, -0.4, 0.5])
    found = np.empty(3)
    blender = PayloadBlender(
        GravityTorque, arm, PayloadGravity(PayloadRamp({'sledge': NEW}), GravityRamp(UP, DOWN, 0, SECOND))
    )
    blender.torque(SECOND // 4, q, out=found)
    np.testing.assert_allclose(found, 0.5 * arm.with_payload(NEW, 'sledge').gravity_torque(q), rtol=0, atol=1e-12)


def test_the_gravity_law_is_gravity_where_the_arm_is_under_the_payload_of_when_the_state_came():
    law, state, out = (
        GravityLaw(PayloadBlender(GravityTorque, ROBOT, PayloadGravity(RAMP, TILTING))),
        MeasuredState(Q, QD),
        Q * 0.0,
    )
    law.set_back(0)
    law.stop_following()
    for share in (-1.0, 0.3, 2.0):
        state.stamp, state.time = at(share - 0.2), at(share)
        assert law.torque(state, out) is TORQUE  # velocities are not needed
        part = min(max(share, 0.0), 1.0)
        assert_same(out, between(part, (1.0 - part) * np.array(DOWN) + part * np.array(ASIDE)).gravity_torque(Q))


@pytest.fixture
def threads_take_turns_often():
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(usual)


def test_a_load_that_changes_in_the_midst_of_a_torque_counts_from_the_next_one_on():
    """As another thread changes it, at the places where that would be felt."""
    later = PayloadGravity(PayloadRamp({FRAME: OLD}), CONSTANT)
    first = torque(PayloadBlender(GravityTorque, ROBOT, PayloadGravity(RAMP, TILTING)), at(0.7), Q)

    class Changing(PayloadRamp):
        def share(self, time):
            blender.take(later)
            return super().share(time)

    class ChangingLaw(GravityTorque):
        def torque(self, q, out):
            super().torque(q, out)
            blender.take(later)

    for make, ramp in (
        (GravityTorque, Changing(RAMP.after, RAMP.before, RAMP.start, RAMP.duration)),
        (ChangingLaw, RAMP),
    ):
        blender = PayloadBlender(make, ROBOT, PayloadGravity(ramp, TILTING))
        np.testing.assert_array_equal(torque(blender, at(0.7), Q), first)
        np.testing.assert_array_equal(torque(blender, at(0.7), Q), ROBOT.with_payload(OLD, FRAME).gravity_torque(Q))


@pytest.mark.compiled
@pytest.mark.usefixtures('threads_take_turns_often')
def test_loads_may_change_while_torques_are_asked_for():
    """Every torque is that of one load, however the threads meet."""
    blender = PayloadBlender(GravityTorque, ROBOT, PayloadGravity(RAMP, TILTING))
    changes, over = [], threading.Event()

    def change():
        k = len(changes)
        payload = PayloadRamp().to(FRAME, NEW if k % 2 else OLD, at(k % 3 * 0.5), RAMP_TIME * (k % 2))
        blender.take(PayloadGravity(payload, TILTING if k % 2 else CONSTANT))
        changes.append(k)

    def keep_changing():
        while not over.is_set():
            change()

    right = []
    for _ in range(6):
        change()
        right.append(torque(blender, at(0.7), Q))
    thread = threading.Thread(target=keep_changing)
    thread.start()
    try:
        asked = 0
        while thread.is_alive() and (asked < ENOUGH or len(changes) < ENOUGH):
            asked += 1
            assert (np.abs(torque(blender, at(0.7), Q) - right).max(axis=1) < 1e-9).any()
    finally:
        over.set()
        thread.join()
    assert asked >= ENOUGH and len(changes) >= ENOUGH
