"""The core of robot_dynamics_controllers computes the same bits as the laws of the nodes."""

import functools
import itertools

from support.controllers.controllers_core import (
    BOTH,
    EFFORT,
    MOTION,
    NONE,
    Law,
    Terms,
    body_numbers,
    exported,
    has_compilers,
)
from support.matrices import matrix
from support.robots.small_robots import mixed

import numpy as np
import pytest

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.control.guards.fade_in import FadeIn
from robot_dynamics_ros.control.guards.torque_limiter import TorqueLimiter
from robot_dynamics_ros.control.joints.joint_friction import FRICTIONAL, add_friction, frictionless
from robot_dynamics_ros.control.laws.joint_space_control import JointSpaceControl
from robot_dynamics_ros.control.payload.payload_blending import GravityTorque, PayloadBlender
from robot_dynamics_ros.control.payload.payload_gravity import GravityRamp, PayloadGravity, PayloadRamp
from robot_dynamics_ros.control.terms.compensation import TERMS, Compensation, checked_terms
from robot_dynamics_ros.control.terms.compensation_policy import PRESETS, CompensationPolicy

pytestmark = pytest.mark.skipif(not has_compilers(), reason='no C and C++ compiler')
START = 1_700_000_000_000_000_000
LENGTH = 500_000_000
STEP = 1_000_000


@functools.cache
def robots() -> dict:
    """Robots with all kinds of friction; the second has a sliding and a continuous joint, and a turned tool frame."""
    tool = Robot.from_urdf('<robot name="r"><link name="tool"/></robot>')
    pose = np.eye(4)
    pose[:3, :3] = np.array([[2.0, -1.0, 2.0], [2.0, 2.0, -1.0], [-1.0, 2.0, 2.0]]) / 3.0
    pose[:3, 3] = 0.13, -0.07, 0.31
    friction = {'stribeck': 1.5, 'stribeck_velocity': 0.2, 'load': 0.07, 'quadratic': 0.6}
    sliding = (
        mixed()
        .with_attached(tool, 'sledge', pose)
        .with_friction(viscous=1.0, coulomb=2.0, offset=-0.3, transition=0.05, **friction)
    )
    return {
        'aubo_i5': Robot.named('aubo_i5').with_friction(**friction).compiled(),
        'sliding': sliding.compiled(),
    }


@functools.cache
def library(name: str):
    return exported(robots()[name], name)


def inertia(random) -> np.ndarray:
    points = random.normal(size=(5, 3))
    moments = points.T @ points
    return 0.01 * (np.trace(moments) * np.eye(3) - moments)


def body(random) -> Payload:
    return Payload(random.uniform(0.5, 4.0), 0.2 * random.normal(size=3), inertia(random))


def motions(random, count: int, n: int) -> np.ndarray:
    """Return q, qd, qdd and efforts (count, 4, n), some of them zero or large."""
    result = random.normal(size=(count, 4, n)) * np.array([3.0, 2.0, 10.0, 5.0])[:, None]
    result[: count // 50] = np.round(result[: count // 50])
    result[count // 50 : count // 25, 0] *= 1e4
    return result


def ramps(robot: Robot, random, frame: str) -> PayloadGravity:
    """Return payload and gravity that change over half a second, the one a little after the other."""
    last = robot.link_names[-1]
    payload = PayloadRamp({frame: body(random)}, {last: body(random) + body(random)}, START, LENGTH)
    mounted = np.array([1.0, -7.0, 6.0])
    return PayloadGravity(payload, GravityRamp(tuple(mounted), tuple(robot.gravity), START + 100 * STEP, LENGTH))


class WithDesiredFriction:
    """Terms at a state, with friction at the desired velocity: a joint that should stand is not driven by friction."""

    def __init__(self, robot: Robot, terms):
        """Take the terms of ``Compensation``."""
        # the terms without friction are those of a robot without it
        self._rigid = Compensation(robot.with_friction(**dict.fromkeys(FRICTIONAL, 0.0)), terms)
        self._whole = Compensation(robot.with_friction(**dict.fromkeys(FRICTIONAL, 0.0)), TERMS)
        self._friction = np.array(robot.friction if 'friction' in terms else frictionless(robot.friction))

    def torque(self, q, qd, qdd, desired, out) -> None:
        """Write the torque (n) at q, qd and qdd, with friction at ``desired`` velocities (n)."""
        transmitted = np.empty_like(out)
        self._whole.torque(q, qd, qdd, transmitted)
        self._rigid.torque(q, qd, qdd, out)
        add_friction(self._friction, desired, transmitted, out)


def take(law: Law, under: PayloadGravity) -> None:
    payload, gravity = under.payload, under.gravity
    ((frame, after),) = payload.after.items()
    before = [(name, body_numbers(it)) for name, it in payload.before.items()]
    span = {'now': payload.start}
    said = law.payload(body_numbers(after), frame, before, payload.start, payload.duration, **span)
    assert said == (True, False, '')
    assert law.gravity(gravity.after, gravity.before, '', gravity.start, gravity.duration, **span) == said


def same(ours: np.ndarray, expected: np.ndarray) -> None:
    wrong = np.flatnonzero((ours.view(np.uint64) != expected.view(np.uint64)).any(axis=-1))
    assert not len(wrong), (len(wrong), wrong[0], ours[wrong[0]], expected[wrong[0]])


@pytest.mark.parametrize(
    ('preset', 'count'),
    matrix(itertools.product(['', *PRESETS], [500, 10_000]), itertools.product(['', *PRESETS], [500])),
)
def test_terms_of_every_preset(preset, count):
    """States of the AUBO-i5, with load-dependent friction."""
    robot, random = robots()['aubo_i5'], np.random.default_rng(3)
    policy, ours = CompensationPolicy(preset, '', ['']), Terms(library('aubo_i5'), preset)
    assert (ours.owner, tuple(ours.names)) == (policy.gravity_owner, policy.terms)
    assert (ours.takes_commands, ours.motor_pd) == (policy.takes_commands, policy.motor_pd)
    assert ours.fade_in_time == policy.fade_in_time
    carrying = robot.with_gravity((1.0, 2.0, -9.0)).with_payload(body(random), 'ee_link')
    theirs, states = Compensation(carrying, policy.terms), motions(random, count, 6)[:, :3]
    expected = np.empty((count, 6))
    for state, out in zip(states, expected, strict=True):
        theirs.torque(*state, out=out)
    efforts, finite = ours.torques(states, carrying.runtime_inputs)
    assert finite == count
    same(efforts, expected)
    if policy.takes_commands:  # and the whole law
        law = Law(library('aubo_i5'), robot.joint_names, preset, effort_limit=[np.inf], fade_in_time=0.0)
        ((frame, payload),) = carrying.payloads.items()
        assert law.payload(body_numbers(payload), frame)[0] and law.gravity(carrying.gravity, robot.gravity)[0]
        law.activate()
        references = np.concatenate([states, np.zeros((count, 1, 6))], axis=1)
        efforts, outcomes = law.updates(np.zeros((count, 2, 6)), references, MOTION)
        assert set(outcomes) == {'sent'}
        same(efforts, expected)


@pytest.mark.parametrize(
    ('name', 'terms', 'measured'),
    [
        ('aubo_i5', ['gravity', 'coriolis', 'inertia', 'friction'], False),
        ('aubo_i5', ['friction', 'coriolis'], True),
        ('sliding', ['gravity', 'coriolis', 'inertia', 'friction'], True),
        ('sliding', ['gravity', 'friction'], False),
        ('sliding', ['inertia'], False),
    ],
)
def test_efforts_while_payload_and_gravity_change(name, terms, measured):
    """Fade-in, terms, ramps of a payload on a frame and of gravity, added efforts, effort and rate limits."""
    robot, random = robots()[name], np.random.default_rng(5)
    n, frame = robot.nv, 'tool' if name == 'sliding' else 'ee_link'
    under = ramps(robot, random, frame)
    limits, rates = np.full(n, 120.0), np.where(np.arange(n) % 2, 0.0, 5e4)
    law = Law(
        library(name), robot.joint_names, compensation=terms, measured=measured, effort_limit=limits, rate_limit=rates,
        fade_in_time=0.05,
    )  # fmt: skip
    take(law, under)
    last = 3.0 * random.normal(size=n)
    law.activate(last)
    blender = PayloadBlender(lambda it: WithDesiredFriction(it, checked_terms(terms)), robot, under)
    fade_in, limiter = FadeIn(n, 0.05), TorqueLimiter(limits, rates)
    fade_in.restart(last)
    limiter.last[:] = last
    count = 800
    times, states, references = START + STEP * np.arange(count), motions(random, count, n), motions(random, count, n)
    efforts, outcomes = law.updates(states[:, :2], references, np.where(np.arange(count) % 3, MOTION, BOTH), times)
    assert set(outcomes) == {'sent'}
    expected, beyond = np.empty((count, n)), np.zeros(n, bool)
    for k, (time, state, reference, out) in enumerate(zip(times, states, references, expected, strict=True)):
        blender.torque(int(time), *(state if measured else reference)[:2], *reference[2:0:-1], out=out)
        if not k % 3:
            out += reference[3]
        beyond |= np.abs(out) > limits
        np.clip(out, -limits, limits, out=out)  # the effort limit counts before the fade-in, too
        fade_in.apply(out, 1.0 / 1000.0)
        assert limiter.apply(out, 1.0 / 1000.0)
    same(efforts, expected)
    limited = [law.limited(k) for k in range(n)]
    assert limited == (limiter.by_joint | beyond).tolist() and any(limited)


@pytest.mark.parametrize('name', ['aubo_i5', 'sliding'])
@pytest.mark.parametrize('kind', [NONE, EFFORT])
def test_without_a_motion_gravity_is_compensated(name, kind):
    robot, random = robots()[name], np.random.default_rng(7)
    n, under = robot.nv, ramps(robot, random, robot.link_names[-1])
    law = Law(library(name), robot.joint_names, effort_limit=[np.inf])
    take(law, under)
    law.activate()
    blender, count = PayloadBlender(GravityTorque, robot, under), 1000
    times, states, references = START + STEP * np.arange(count), motions(random, count, n), motions(random, count, n)
    efforts, outcomes = law.updates(states[:, :2], references, kind, times)
    assert set(outcomes) == {'gravity_only' if kind == NONE else 'sent'}
    expected = np.empty((count, n))
    for time, state, reference, out in zip(times, states, references, expected, strict=True):
        blender.torque(int(time), state[0], out=out)
        if kind == EFFORT:
            out += reference[3]
    same(efforts, expected)


def test_ramps_that_follow_each_other():
    """Each one is followed as by the nodes, which make a ramp where it does not begin at the value in force."""
    robot, random = robots()['aubo_i5'], np.random.default_rng(11)
    frames, now, replaced = ('ee_link', 'wrist3_Link'), START, 0
    law = Law(library('aubo_i5'), robot.joint_names, effort_limit=[np.inf])
    law.activate()
    held, q = PayloadGravity.of(robot), random.normal(size=(100, 6))
    law.updates(np.zeros((1, 2, 6)))  # in use from now on
    assert law.payload()[0] and law.gravity(robot.gravity, robot.gravity)[0], 'a first message may not ask for a step'
    for k in range(60):
        now += int(random.integers(1, 400)) * STEP
        duration, late = int(random.integers(0, 3)) * LENGTH // 2, int(random.integers(0, 3)) * 40 * STEP
        payload, gravity = held.payload, held.gravity
        if k % 3:
            after = {frames[k % 2]: body(random)} if k % 5 else {}
            before = payload.at(now - late) if k % 4 else {name: body(random) for name in frames}
            told = PayloadRamp(after, before, now - late, duration)
            payload = told.without_step(payload, now)
            numbers = body_numbers(*after.values()) if after else np.zeros(10)
            bodies = [(name, body_numbers(it)) for name, it in before.items()]
            said = law.payload(numbers, frames[k % 2], bodies, told.start, duration, now)
            replaced += payload is not told
            assert said[0] and ('ramp over' in said[2]) == (payload is not told)
        else:
            vector = tuple(gravity.at(now - late) if k % 4 else random.normal(size=3))
            told = GravityRamp(tuple(random.normal(size=3).tolist()), vector, now - late, duration)
            gravity = told.without_step(gravity, now)
            said = law.gravity(told.after, told.before, '', told.start, duration, now)
            replaced += gravity is not told
            assert said[0] and ('ramp over' in said[2]) == (gravity is not told)
        held = PayloadGravity(payload, gravity)
        blender, expected = PayloadBlender(GravityTorque, robot, held), np.empty((100, 6))
        times = now + 5 * STEP * np.arange(100)
        for time, position, out in zip(times, q, expected, strict=True):
            blender.torque(int(time), position, out=out)
        states = np.stack([q, np.zeros_like(q)], axis=1)
        first, _ = law.updates(states[:1], times=times[:1], period=1.0)  # the time between two messages
        others, _ = law.updates(states[1:], times=times[1:], period=5e-9 * STEP)
        same(np.vstack([first, others]), expected)
        now = int(times[-1])
    assert 10 < replaced < 50


def test_a_robot_that_compensates_gravity_gets_none():
    law = Law(library('aubo_i5'), robots()['aubo_i5'].joint_names, preset='franka')
    law.activate()
    efforts, outcomes = law.updates(np.random.default_rng(1).normal(size=(20, 2, 6)))
    assert set(outcomes) == {'gravity_only'} and not efforts.any()


@pytest.mark.parametrize('name', ['aubo_i5', 'sliding'])
def test_a_pd_about_the_reference(name):
    """The law pd_feedforward; the second robot has a continuous joint."""
    robot, random, count = robots()[name], np.random.default_rng(13), 1000
    n = robot.nv
    stiffness, damping = random.uniform(0.0, 500.0, (2, n)) * [[1.0], [0.001]] + [[0.0], [0.5]]
    law = Law(library(name), robot.joint_names, effort_limit=[np.inf], stiffness=stiffness, damping=damping)
    law.activate()
    states, references = motions(random, count, n), motions(random, count, n)
    efforts, outcomes = law.updates(states[:, :2], references, MOTION)
    assert set(outcomes) == {'sent'}
    terms, feedback = Compensation(robot, TERMS), JointSpaceControl(robot, 'pd_feedforward', stiffness, damping, 1.0)
    torque, expected = np.empty(n), np.empty((count, n))
    for state, reference, out in zip(states, references, expected, strict=True):
        terms.torque(*reference[:3], out=torque)
        feedback.torque(*state[:2], reference[:3], torque, out)
    same(efforts, expected)
