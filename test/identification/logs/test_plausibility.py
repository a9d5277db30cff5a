"""Faults of logs are found before anything is identified, by the column and the likely reason, or do little harm."""

import re
from dataclasses import replace
from functools import cache

from support.logs import excited_logs as logs
from support.logs.logs import DATA
from support.matrices import matrix
from support.robots.example_robots import example_urdfs

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.identification import Log, check_log, differentiate, identify, validate

ARM, WRONG = logs.arm(), logs.wrong_masses()
NAMES = ARM.joint_names
DESCRIPTIONS = {'true masses': ARM, 'half the masses': WRONG}


@cache
def good() -> Log:
    return logs.log(ARM, 1, duration=10.0, rate=100.0)


@cache
def another() -> Log:
    return logs.log(ARM, 7, noise=0.0, duration=10.0, rate=50.0)


def scaled(name, factors):
    """Multiply columns of a signal: all, or one for each joint."""
    return lambda log: replace(log, **{name: getattr(log, name) * np.asarray(factors)})


def swapped(name, *joints):
    """Exchange columns of a signal."""
    order = np.arange(6)
    order[list(joints)] = joints[::-1]
    return lambda log: replace(log, **{name: getattr(log, name)[:, order]})


def one(joint, factor):
    return np.where(np.arange(6) == joint, factor, 1.0)


def late(name, delay):
    """Delay a signal."""
    shifted = lambda log: np.stack([np.interp(log.t - delay, log.t, it) for it in getattr(log, name).T], axis=1)  # noqa: E731
    return lambda log: replace(log, **{name: shifted(log)})[50:-50]


def times(factor):
    return lambda log: replace(log, t=factor * log.t)


def in_bursts(log):
    """Times of reception, ten at once."""
    number = np.arange(len(log))
    return replace(log, t=0.1 * (number // 10) + 1e-5 * (number % 10))


def plain_differences(log):
    """Velocities and accelerations by differences of positions of an encoder, without a filter."""
    q = np.round(log.q / 1e-4) * 1e-4
    qd = np.diff(q, axis=0, prepend=q[:1]) / 0.01
    return replace(log, q=q, qd=qd, qdd=np.diff(qd, axis=0, prepend=qd[:1]) / 0.01)[2:]


def slower(log):
    """Velocities and accelerations are consistent, and all of them too large: a time in half its unit."""
    return replace(log, t=log.t / 4.0, qd=4.0 * log.qd, qdd=16.0 * log.qdd)


DEGREES = 180.0 / np.pi
VELOCITIES, FIRST, FIFTH = 'velocities are ', "joint 'shoulder_joint'", "joint 'wrist2_joint'"
ALL = 'joints ' + ', '.join(map(repr, NAMES))
MOTION_FAULTS = {
    'velocities in deg/s': (scaled('qd', DEGREES), 'log', '57.3 times .*positions: the velocity is in degrees'),
    'velocity in deg/s': (scaled('qd', one(4, DEGREES)), FIFTH, '57.3 times .* position: the velocity is in degrees'),
    'velocities in rpm': (scaled('qd', 30.0 / np.pi), 'log', '9.55 times .* in rotations per minute'),
    'velocities in mrad/s': (scaled('qd', 1e3), 'log', '1e.03 times .* the velocity is in thousandths'),
    'velocities reversed': (scaled('qd', -1.0), 'log', '-1 times .*: one of the two is of the other sign'),
    'velocity reversed': (scaled('qd', one(0, -1.0)), FIRST, '-1 times .*: one of the two is of the other sign'),
    'position reversed': (scaled('q', one(0, -1.0)), FIRST, '-1 times .*: one of the two is of the other sign'),
    'reversed in deg/s': (scaled('qd', one(0, -DEGREES)), FIRST, '-57.3 times .* degrees, and one .* the other sign'),
    'velocities doubled': (scaled('qd', 2.0), 'log', '2 times .*: times or one of the two has another scale'),
    'velocity halved': (scaled('qd', one(4, 0.5)), FIFTH, '0.5 times .*: one of the two has another scale'),
    'no velocities': (scaled('qd', 0.0), ALL, 'velocity is 0 in all samples, while their position changes'),
    'no velocity': (scaled('qd', one(4, 0.0)), FIFTH, 'velocity is 0 in all samples, while its position changes'),
    'velocities of two joints swapped': (swapped('qd', 0, 4), FIRST, "that of 'wrist2_joint' does: the order"),
    'positions of two joints swapped': (swapped('q', 0, 4), FIFTH, "that of 'shoulder_joint' does: the order"),
    'velocities of another time': (late('qd', 1.3), "joint 'wrist3_joint'", 'velocity does not belong to its position'),
    'velocities late': (late('qd', 0.03), ALL, 'velocity is 30 ms late'),
    'positions late': (late('q', 0.03), ALL, 'velocity is 30 ms early'),
    'half the time scale': (times(0.5), 'log', '0.5 times .*: times or one of the two has another scale'),
    'times in ms': (times(1e3), 'log', '1e.03 times .*the velocity is in thousandths'),
    'times in bursts': (in_bursts, 'log', 'times come in bursts, as those of reception do'),
    'consistent, and too fast': (slower, FIRST, 'position changes by .*velocity limit is .*: times or positions may'),
    'positions in degrees': (scaled('q', one(4, DEGREES)), FIFTH, '0.0175 times .* the position is in degrees'),
    'accelerations in deg/s2': (scaled('qdd', DEGREES), 'log', 'accelerations are 57.3 times .* velocities'),
    'acceleration reversed': (scaled('qdd', one(4, -1.0)), FIFTH, 'acceleration is -1 times'),
    'no accelerations': (scaled('qdd', 0.0), ALL, 'acceleration is 0 in all samples'),
    'accelerations swapped': (swapped('qdd', 0, 4), FIRST, "acceleration .* that of 'wrist2_joint' does: the order"),
    'differences without a filter': (plain_differences, ALL, 'acceleration is noise for the most part'),
}
EFFORT_FAULTS = {
    'efforts reversed': (scaled('tau', -1.0), FIRST, 'its effort is reversed: .* R2 0.0., and with .* sign to (0.9|1)'),
    'effort reversed': (scaled('tau', one(4, -1.0)), FIFTH, 'its effort is reversed'),
    'efforts swapped': (
        swapped('tau', 1, 4),
        FIFTH,
        "motion of joint 'upperArm_joint' explains its effort to R2 (0.9|1)",
    ),
    'efforts in mN m': (scaled('tau', 1e3), 'log', 'in the efforts is .*: efforts have another unit'),
    'efforts in another unit': (scaled('tau', 0.05), 'log', 'in the efforts is .*: efforts have another unit'),
    'effort in mN m': (scaled('tau', one(4, 1e3)), FIFTH, 'effort reaches .*, its limit is .*: its unit may be'),
    'no effort': (scaled('tau', one(4, 0.0)), FIFTH, 'no effort: it is 0 in all samples'),
    'effort of something else': (late('tau', 3.3), FIRST, 'no motion explains its effort|explains its effort to R2'),
}


def assert_is_named(found, where, text):
    assert any(it.where == where and re.search(text, it.message) for it in found), [*map(str, found)]


@pytest.mark.parametrize(('change', 'where', 'text'), MOTION_FAULTS.values(), ids=MOTION_FAULTS)
def test_a_fault_of_the_motion_is_named_with_its_reason(change, where, text):
    assert_is_named(check_log(ARM, change(good())), where, text)


@pytest.mark.parametrize('robot', DESCRIPTIONS.values(), ids=DESCRIPTIONS)
@pytest.mark.parametrize(('change', 'where', 'text'), EFFORT_FAULTS.values(), ids=EFFORT_FAULTS)
def test_a_fault_of_efforts_is_named_with_its_reason(robot, change, where, text):
    assert_is_named(check_log(robot, change(good())), where, text)


@pytest.mark.parametrize('seed', range(3))
def test_a_good_log_has_no_findings(seed):
    log = logs.log(ARM, seed, duration=10.0, rate=100.0)
    assert check_log(ARM, log) == ()
    (found,) = check_log(WRONG, log)  # masses of less than half
    assert found.severity == 'warning' and 'the gravity torque in the efforts is 2.' in found.message


# The scale of an effort that no motion betrays


@pytest.mark.parametrize(('robot', 'joint', 'factor'), [(ARM, 1, 0.5), (WRONG, 1, 2.0), (WRONG, 2, 0.5), (ARM, 3, 2.0)])
def test_an_effort_of_another_scale_is_found_by_those_of_the_other_joints(robot, joint, factor):
    found = [it for it in check_log(robot, scaled('tau', one(joint, factor))(good())) if it.where != 'log']
    assert [it.where for it in found] == [f'joint {NAMES[joint]!r}']
    size = float(re.search('its effort is ([0-9.]+) times what those of the other joints tell', found[0].message)[1])
    assert size == pytest.approx(factor, rel=0.15)


@pytest.mark.parametrize('factor', [0.4, 2.5])
def test_efforts_that_all_have_another_scale_are_a_warning(factor):
    (found,) = check_log(ARM, scaled('tau', factor)(good()))
    share = float(re.search('in the efforts is ([0-9.]+) times the one of', found.message)[1])
    assert share == pytest.approx(factor, rel=0.1) and found.severity == 'warning'


def test_the_effort_of_a_wrist_of_another_scale_harms_no_other_joint():
    """Its links weigh too little to show in the other joints, so that nothing is found."""
    found = identify(ARM, scaled('tau', one(5, 2.0))(good())).robot
    assert validate(found, scaled('tau', one(5, 2.0))(another())).r2.min() > 0.99


# Faults that remain, and how far they go


def quantised(name, step):
    return lambda log: replace(log, **{name: np.round(getattr(log, name) / step) * step})


def from_positions(log):
    """A log as a bag without velocities has it: derivatives of positions, low-passed."""
    qd = differentiate(log.t, log.q)
    return replace(log, qd=qd, qdd=differentiate(log.t, qd)).low_pass(5.0)


def held(log):
    """Each state four times, as from a controller with a quarter of the driver's rate."""
    rows = np.arange(len(log)) // 4 * 4
    signals = {name: getattr(log, name)[rows] for name in ('q', 'qd', 'qdd', 'tau')}
    return replace(log, **signals).low_pass(5.0)


def with_jitter(log):
    return replace(log, t=log.t + 0.002 * np.random.default_rng(0).uniform(-1.0, 1.0, len(log)))


def with_losses(log):
    return from_positions(log[np.random.default_rng(0).random(len(log)) < 0.8])


def with_gaps(log):
    moving = np.ones(len(log), bool)
    moving[300:500] = moving[700:800] = False
    return from_positions(log[moving])


BOUNDED = {
    'positions in steps of 0.01 degrees': lambda log: from_positions(quantised('q', 1.7e-4)(log)),
    'positions in steps of a degree': lambda log: from_positions(quantised('q', np.radians(1.0))(log)),
    'efforts in steps of 1 N m': lambda log: quantised('tau', 1.0)(log).low_pass(5.0),
    'times in ms': quantised('t', 1e-3),
    'times with jitter of 2 ms': with_jitter,
    'a fifth of the samples lost': with_losses,
    'gaps of 2 and 1 s': with_gaps,
    'states repeated four times': held,
    'velocities with noise': lambda log: replace(
        log, qd=log.qd + 0.05 * np.random.default_rng(0).normal(size=log.qd.shape)
    ).low_pass(5.0),
}


@pytest.mark.parametrize('fault', matrix(BOUNDED, [*BOUNDED][::4]))
def test_a_fault_without_a_finding_does_little_harm(fault):
    log = BOUNDED[fault](good())
    assert not any(it.severity == 'error' for it in check_log(ARM, log))
    found = identify(ARM, log, prior=WRONG).robot
    assert validate(found, another()).r2.min() > 0.99


def test_what_is_too_short_or_not_excited_is_not_judged():
    assert check_log(ARM, good()[:15]) == ()
    still = Log(good().t, *(0.0 * getattr(good(), name) + 0.1 for name in ('q', 'qd', 'qdd')), good().tau)
    assert not any('reversed' in it.message or 'order' in it.message for it in check_log(ARM, still))


# Measured logs of real arms


MEASURED = {
    'aubo_i5': ('aubo_i5_measured_traj1.csv', None, None),
    'ur10': ('ur10_exciting_trajectory.db3', 'ur10_robot.urdf', 10.0),
    'panda': ('panda_exciting_trajectory.db3', 'panda.urdf', 5.0),
}


@pytest.mark.parametrize(('file', 'urdf', 'cutoff'), MEASURED.values(), ids=MEASURED)
def test_a_measured_log_has_no_findings_and_each_reversed_effort_one(file, urdf, cutoff):
    if not (DATA / file).is_file():
        pytest.skip(f'{file} is not beside the clone: its licence keeps it out')
    if urdf is None:
        robot = Robot.named('aubo_i5')
        log = Log.from_csv(DATA / file, robot)
    else:
        robot = Robot.from_urdf(
            next(path for path in example_urdfs() if path.endswith(f'/{urdf}')),
            tip_link='panda_link8' if urdf == 'panda.urdf' else None,
        )
        names = [f'fer_joint{k}' for k in range(1, 8)] if urdf == 'panda.urdf' else robot.joint_names
        log = Log.from_bag(DATA / file, names, cutoff=cutoff)
    assert check_log(robot, log) == ()
    for j in (0, robot.nv - 1):
        wrong = replace(log, tau=np.where(np.arange(robot.nv) == j, -1.0, 1.0) * log.tau)
        (found,) = check_log(robot, wrong)
        assert found.where == f'joint {robot.joint_names[j]!r}' and 'its effort is reversed' in found.message
