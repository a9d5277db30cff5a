"""A wrench that messages command, and guiding by hand, in a controller: the bits of the nodes' law, and its rules."""

import ctypes
import itertools
import re

from support.controllers.controllers_core import MOTION, NONE, RATE, Law, body_numbers, has_compilers
from support.controllers.controllers_frame_laws import (
    FREE,
    LENGTH,
    START,
    STEP,
    Q,
    held,
    kinds,
    library,
    same,
    states_and_references,
)
from support.controllers.stand_in_manager import EffortController
from support.matrices import matrix

import numpy as np
import pytest

from robot_dynamics_ros import Payload
from robot_dynamics_ros.control.laws.impedance.cartesian_impedance import CartesianImpedance
from robot_dynamics_ros.control.laws.impedance.commanded_wrench import AGE
from robot_dynamics_ros.control.laws.impedance.held_pose import HeldPose
from robot_dynamics_ros.control.payload.payload_blending import PayloadBlender
from robot_dynamics_ros.control.payload.payload_gravity import GravityRamp, PayloadGravity, PayloadRamp
from robot_dynamics_ros.control.terms.compensation import TERMS

pytestmark = [
    pytest.mark.skipif(not has_compilers(), reason='no C and C++ compiler'),
    pytest.mark.compiled,
]
UNLIMITED = {**FREE, 'control_law': 'cartesian_impedance'}
SECOND = 1_000_000_000
PRESS = np.array([0.0, 0.0, 1.0, 0.0, 3.0, -15.0])


def law_of(name: str, **more) -> Law:
    """Return an active law of an arm that has been held once: a wrench before does not count."""
    made = Law(library(name), kinds()[name].robot.joint_names, **{**UNLIMITED, **more})
    begin(made)
    return made


def begin(law: Law, q=None) -> None:
    law.activate()
    law.updates(*held(np.zeros(law.n) if q is None else q, 1), MOTION)


def pressing(count: int, random, of_kind):
    """Yield which cycles a message comes before, its wrench and whether it is in the axes of the frame."""
    k, largest = 1, np.repeat(of_kind.wrench, 3) / np.sqrt(3.0)
    while k < count:
        yield k, random.uniform(-1.0, 1.0, 6) * largest, bool(random.integers(2))
        # some are too late
        k += int(random.choice([3, 20, 100, 400]))


@pytest.mark.parametrize(('name', 'count'), matrix([(it, n) for it in ('aubo_i5', 'seven') for n in (4000, 100_000)],
                                                   [('aubo_i5', 4000), ('seven', 4000)]))  # fmt: skip
def test_the_bits_are_those_of_the_nodes(name, count):
    """Wrenches in both axes that follow each other, fall as they get old, and brake a frame that is fast."""
    kind, random = kinds()[name], np.random.default_rng(2)
    robot, n = kind.robot, kind.robot.nv
    impedance, stiffness = kind.made()
    law, theirs, wrench = law_of(name), CartesianImpedance(robot, impedance, TERMS, stiffness), impedance.wrench
    states, references = states_and_references(random, count, n)
    times, out = law.now + STEP * np.arange(1, count + 1), np.empty((count, n))
    messages = {k: rest for k, *rest in pressing(count, random, kind)}
    places, efforts, pressed = [0, *messages, count], [], 0
    law.activate()
    for first, last in itertools.pairwise(places):
        if first:
            vector, is_local = messages[first]
            law.want_wrench(vector, law_frame(kind) if is_local else '')
            wrench.want(vector, is_local, 1e-9 * law.now)
        part = slice(first, last)
        efforts.append(law.updates(states[part], references[part], MOTION, times[part])[0])
        for time, (q, qd), reference, torque in zip(
            times[part], states[part], references[part], out[part], strict=True
        ):
            stiffness.elapse(1.0 / RATE)
            wrench.elapse(1.0 / RATE, 1e-9 * float(time))
            theirs.torque(q, qd, tuple(reference[:3]), np.zeros(n), torque)
            pressed += wrench.now.any()
    same(np.concatenate(efforts), out)
    assert pressed > count / 4


def law_frame(kind) -> str:
    return kind.frame or kind.robot.link_names[-1]


def test_the_bits_while_a_payload_changes():
    """Each corner of its ramp has the same wrench, which advances once in a cycle."""
    kind, count = kinds()['aubo_i5'], 300
    robot, n = kind.robot, kind.robot.nv
    body, law = Payload(2.0, (0.05, 0.0, 0.1), 0.01 * np.eye(3)), law_of('aubo_i5')
    payload = PayloadRamp({kind.frame: body}, {}, START, LENGTH)
    gravity = GravityRamp(tuple(robot.gravity), tuple(robot.gravity), START, 0)
    assert law.payload(body_numbers(body), kind.frame, [], START, LENGTH, START)[0]
    impedance, stiffness = kind.made()
    blender = PayloadBlender(
        lambda it: CartesianImpedance(it, impedance, TERMS, stiffness), robot, PayloadGravity(payload, gravity)
    )
    states, references = states_and_references(np.random.default_rng(9), count, n)
    times, out = START + STEP * np.arange(count), np.empty((count, n))
    law.activate()
    efforts = [law.updates(states[:1], references[:1], MOTION, times[:1])[0]]
    law.want_wrench(PRESS)
    efforts.append(law.updates(states[1:], references[1:], MOTION, times[1:])[0])
    for time, (q, qd), reference, torque in zip(times, states, references, out, strict=True):
        stiffness.elapse(1.0 / RATE)
        impedance.wrench.elapse(1.0 / RATE, 1e-9 * float(time))
        blender.torque(int(time), q, qd, tuple(reference[:3]), np.zeros(n), out=torque)
        if time == START:
            impedance.wrench.want(PRESS, False, 1e-9 * START)
    same(np.concatenate(efforts), out)


def test_it_grows_and_falls_evenly_and_counts_for_a_quarter_of_a_second():
    law, (states, references) = law_of('aubo_i5'), held(Q, 1)
    law.want_wrench(PRESS)
    forces = []
    for _ in range(600):
        law.updates(states, references, MOTION)
        forces.append(-law.commands[2, 5])
    steps = np.diff([0.0, *forces])
    largest = 40.0 / 0.1 / RATE * 15.0 / np.linalg.norm(PRESS[3:])  # force_limit in wrench_ramp_time
    assert np.abs(steps).max() == pytest.approx(largest)
    assert np.flatnonzero(np.array(forces) == 15.0)[-1] in round(AGE * RATE) - np.array([1, 2])
    assert forces[-1] == 0.0


@pytest.mark.parametrize(
    ('wrench', 'frame', 'said'),
    [
        ([0.0, 0.0, 0.0, 0.0, 0.0, 40.1], '', 'force: 40.1 N is above force_limit, 40 N'),
        ([3.0, 3.0, 3.0, 0.0, 0.0, 0.0], '', 'moment: 5.196 N m is above moment_limit, 5 N m'),
        ([0.0, 0.0, 0.0, 0.0, np.nan, 0.0], '', 'force: nan N is not finite'),
        ([np.inf, 0.0, 0.0, 0.0, 0.0, 0.0], '', 'moment: inf N m is not finite'),
        (PRESS, 'wrist3_Link', "frame_id: expected 'base_link' or 'ee_link', whose axes the wrench has, got 'wrist3_"),
    ],
)
def test_a_wrench_that_the_arm_must_not_have_is_refused(wrench, frame, said):
    law = law_of('aubo_i5')
    with pytest.raises(ValueError, match=f'invalid_argument: {re.escape(said)}'):
        law.want_wrench(wrench, frame)
    law.updates(*held(Q, 200), MOTION)
    assert not law.commands[2:].any()


@pytest.mark.parametrize(
    ('times', 'said'),
    [
        ({'age': 260_000_000}, 'its stamp is 0.26 s old; send it when it counts'),
        ({'age': -300_000_000}, 'its stamp is 0.3 s ahead'),
        ({'waited': 400_000_000}, 'the executor was busy for 0.4 s since it came'),
    ],
)
def test_one_that_is_late_is_refused(times, said):
    law = law_of('aubo_i5')
    with pytest.raises(ValueError, match=f'invalid_argument: {re.escape(said)}'):
        law.want_wrench(PRESS, **times)
    law.want_wrench(PRESS, age=249_000_000, waited=249_000_000)


def test_without_limits_in_the_library_none_is_taken():
    with pytest.raises(ValueError, match=r'force: 15\.3 N is above force_limit, 0 N'):
        law_of('plain').want_wrench([0.0, 0.0, 0.0, *PRESS[3:]])
    with pytest.raises(ValueError, match='only control_law cartesian_impedance has a wrench'):
        law_of('aubo_i5', control_law='pd_feedforward').want_wrench(PRESS)


def test_it_is_in_the_axes_that_it_names():
    law = law_of('aubo_i5')
    for frame, row in (('', 2), ('base_link', 2), ('ee_link', 3)):
        begin(law)
        law.want_wrench(PRESS, frame)
        law.updates(*held(Q, 200), MOTION)
        np.testing.assert_array_equal(law.commands[row], PRESS)
        assert not law.commands[5 - row].any()


def test_after_a_stop_it_counts_again_once_none_has_come_for_a_while():
    """Also after another activation: whoever sends it on has not noticed the stop."""
    law, states = law_of('aubo_i5'), held(Q, 1)[0]
    law.want_wrench(PRESS)
    law.updates(*held(Q, 200), MOTION)
    law.request_stop()
    stop, said = law.now, 'a stop has come; a wrench counts again after 0.25 s without any'
    for came in range(stop, stop + SECOND, SECOND // 5):
        with pytest.raises(ValueError, match=said):
            law.want_wrench(PRESS, steady=came)
    with pytest.raises(ValueError, match=r'the controller is (asked to stop|stopped)'):
        law.updates(states)
        law.want_wrench(PRESS, steady=came + SECOND)
    begin(law)
    law.updates(*held(Q, 200), MOTION)
    assert not law.commands[2:].any(), 'nothing from before the activation'
    with pytest.raises(ValueError, match=said):
        law.want_wrench(PRESS, steady=came + SECOND // 5)
    law.want_wrench(PRESS, steady=came + SECOND // 2)
    law.updates(*held(Q, 200), MOTION)
    assert law.commands[2].any()


def test_only_an_active_law_takes_one_and_none_outlasts_an_activation():
    law = law_of('aubo_i5')
    law.want_wrench(PRESS)
    law.deactivate()
    with pytest.raises(ValueError, match='the controller is not active'):
        law.want_wrench(PRESS)
    law.activate()
    law.updates(*held(Q, 200), MOTION)
    assert not law.commands[2:].any()


@pytest.mark.parametrize(('pause', 'left'), [(0.2, True), (0.4, False), (1.5, False)])
def test_in_a_pause_of_updates_it_ends_as_in_the_node(pause, left):
    """One that has ended falls in the pause, too; after more than 1 s the arm is held anew, without any."""
    law, (states, references) = law_of('aubo_i5'), held(Q, 1)
    law.want_wrench(PRESS)
    law.updates(*held(Q, 200), MOTION, period=2e-4)
    assert law.commands[2].tolist() == PRESS.tolist()
    law.updates(states, references, MOTION, [law.now + round(pause * SECOND)], period=pause)
    assert law.commands[2].any() == left


def test_a_wrench_that_comes_in_a_long_pause_does_not_count():
    law, (states, references) = law_of('aubo_i5'), held(Q, 1)
    law.want_wrench(PRESS, now=law.now + 1_400_000_000)
    law.updates(states, references, MOTION, [law.now + 1_500_000_000], period=1.5)
    law.updates(*held(Q, 100), MOTION)
    assert not law.commands[2:].any()


@pytest.mark.parametrize('simulated', [False, True])
def test_its_time_is_that_of_the_steady_clock_or_simulated(simulated):
    """The other clock runs a hundred times as fast."""
    law, rest = law_of('aubo_i5'), np.zeros(6)
    controller = EffortController(law, kinds()['aubo_i5'].robot.joint_names)
    controller.activate(0, simulated)
    controller.positions[:] = Q
    found = np.empty((4, 6))

    def force_after(cycles: range) -> float:
        for k in cycles:
            controller.references[:] = Q, rest, rest
            slow, fast = STEP * k, 100 * STEP * k
            controller.update(fast if simulated else slow, 1.0 / RATE, slow if simulated else fast)
        controller.core.law_commands(controller.law, found.ctypes.data_as(ctypes.c_void_p))
        return found[2, 5]

    force_after(range(1, 2))
    law.handle, now = controller.law, STEP
    law.want_wrench(PRESS, now=now)
    law.handle = None
    assert force_after(range(2, 250)) == PRESS[5]
    assert force_after(range(250, 500)) == 0.0


def test_a_clock_that_goes_back_ends_it():
    law, (states, references) = law_of('aubo_i5'), held(Q, 300)
    law.want_wrench(PRESS)
    law.updates(*held(Q, 100), MOTION)
    assert law.commands[2].any()
    law.updates(states, references, MOTION, law.now - SECOND + STEP * np.arange(300))
    assert not law.commands[2].any()


def guided(name: str):
    """Return the law of a library and that of the nodes, with an axis that becomes free."""
    kind = kinds()[name]
    impedance, stiffness = kind.made()
    place = HeldPose(stiffness, kind.robot.nv, kind.reference_frame == 'local')
    return law_of(name), CartesianImpedance(kind.robot, impedance, TERMS, stiffness, place), stiffness


@pytest.mark.parametrize(('name', 'free'), [('aubo_i5', 3), ('seven', 4), ('three', 0)])
def test_the_bits_while_a_hand_guides_the_frame(name, free):
    """The arm is moved by anything while it is held; an axis becomes free, and then has its stiffness again."""
    kind, random, count = kinds()[name], np.random.default_rng(6), 1200
    n = kind.robot.nv
    law, theirs, stiffness = guided(name)
    q = Q if n == 6 else random.uniform(-0.5, 0.5, n)
    law.activate()
    states = np.tile([q, np.zeros(n)], (3 * count, 1, 1))
    states[1:] += 0.02 * random.uniform(-1.0, 1.0, (3 * count - 1, 2, n))
    largest, out, efforts = np.array(kind.stiffness), np.empty((3 * count, n)), []
    for k, wanted in enumerate((largest, largest * (np.arange(6) != free), largest)):
        law.want_stiffness(wanted)
        stiffness.want(wanted)
        part = slice(k * count, (k + 1) * count)
        efforts.append(law.updates(states[part], None, NONE)[0])
        for state, torque in zip(states[part], out[part], strict=True):
            stiffness.elapse(1.0 / RATE)
            theirs.hold(*state, q, torque)
    same(np.concatenate(efforts), out)


def test_a_frame_that_was_guided_is_held_there_and_a_reference_ends_that():
    kind, (law, _, _) = kinds()['aubo_i5'], guided('aubo_i5')
    robot, largest = kind.robot, np.array(kinds()['aubo_i5'].stiffness)
    still = np.zeros(6)
    J = robot.jacobian(Q, kind.frame, kind.reference_frame)
    away = Q + np.linalg.solve(J, [0.0, 0.0, 0.0, 0.005, 0.0, 0.0])
    begin(law, Q)
    pulled = law.updates(held(away, 1)[0])[0] - robot.gravity_torque(away)
    law.want_stiffness(largest * [1.0, 1.0, 1.0, 0.0, 1.0, 1.0])
    law.updates(held(Q, 1500)[0])
    law.updates(held(away, 10)[0])
    law.want_stiffness(largest)
    (*_, stays), _ = law.updates(held(away, 1500)[0])
    assert np.abs(stays - robot.gravity_torque(away)).max() < 0.1 * np.abs(pulled).max()
    law.updates(*held(Q, 1), MOTION)
    (*_, back), _ = law.updates(np.tile([away, still], (1500, 1, 1)))
    assert np.abs(back - robot.gravity_torque(away)).max() > 0.5 * np.abs(pulled).max()
