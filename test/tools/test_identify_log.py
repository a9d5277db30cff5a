"""Logs that do not suit an identification are refused by name; rests at their ends are cut, and what is cut is said."""

from dataclasses import replace
from functools import cache

from support.motion_logs import bag_of, csv_of, motion

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.identification import LogError
from robot_dynamics_ros.tools.identify_log import Source, motion_of

ROBOT = Robot.named('aubo_i5').with_binding('generic')
NAMES = ROBOT.joint_names
PLAIN = Source(NAMES, '/joint_states', None, None)


@cache
def good():
    return motion(ROBOT)


def changed(name, joint, value):
    """The good log with a value in place of one joint's."""
    column = np.array(getattr(good(), name))
    column[:, joint] = value
    return replace(good(), **{name: column})


def test_a_good_log_is_read_as_it_is_and_low_passed_on_request(tmp_path):
    said = []
    log = PLAIN.read(csv_of(tmp_path / 'log.csv', good()), ROBOT, said.append)
    assert len(motion_of(tmp_path / 'log.csv', log, ROBOT, said.append)) == len(log)
    np.testing.assert_allclose(log.tau, good().tau, rtol=1e-12)
    assert any('480 samples, 12.0 s' in line for line in said) and any('effort at rest: ' in line for line in said)
    smooth = PLAIN._replace(cutoff=3.0).read(tmp_path / 'log.csv', ROBOT, said.append)
    np.testing.assert_array_equal(smooth.tau, log.low_pass(3.0).tau)
    bag = bag_of(tmp_path / 'bag', good(), [f'arm_{name}' for name in NAMES])
    read = Source([f'arm_{name}' for name in NAMES], 'joint_states', None, None).read(bag, ROBOT, said.append)
    np.testing.assert_allclose(read.tau, good()[4:-4].low_pass(5.0).tau, rtol=0, atol=1e-4)


UNREADABLE = {
    'no effort': (lambda: changed('tau', 2, 0.0), "no effort: that of joint 'foreArm_joint' is 0 in all samples"),
    'degrees': (
        lambda: replace(good(), q=np.degrees(good().q)),
        r"another robot: joint 'shoulder_joint' is between .*, its limits are ",
    ),
    'current': (
        lambda: replace(motion(ROBOT, rest=3.0), tau=motion(ROBOT, rest=3.0).tau / ROBOT.model.torque_constant()),
        'its efforts at rest look like current, not torque; state them by --effort',
    ),
}


@pytest.mark.parametrize(('log', 'reason'), UNREADABLE.values(), ids=UNREADABLE)
def test_an_unsuitable_log_is_refused_by_name(tmp_path, log, reason):
    with pytest.raises(LogError, match=rf'log\.csv: {reason}'):
        PLAIN.read(csv_of(tmp_path / 'log.csv', log()), ROBOT, lambda _: None)


def test_a_meaning_that_is_stated_is_believed(tmp_path):
    said = []
    path = csv_of(tmp_path / 'log.csv', UNREADABLE['current'][0]())
    assert PLAIN._replace(effort='torque').read(path, ROBOT, said.append).effort == 'torque'
    assert any('stated as torque, but it looks like current' in line for line in said)


def test_a_bag_of_another_robot_and_one_with_nan_are_refused(tmp_path):
    with pytest.raises(LogError, match="message 1: joint 'shoulder_joint' is missing; given: joint_1"):
        PLAIN.read(bag_of(tmp_path / 'bag', good(), [f'joint_{k}' for k in range(1, 7)]), ROBOT, lambda _: None)
    log, q = good(), np.array(good().q)
    q[50, 1] = np.nan
    # Log refuses it, so the file is written from parts
    rows = type('Rows', (), {'t': log.t, 'q': q, 'qd': log.qd, 'tau': log.tau})
    with pytest.raises(LogError, match="message 51: position of joint 'upperArm_joint' is not finite"):
        PLAIN.read(bag_of(tmp_path / 'nan', rows, NAMES), ROBOT, lambda _: None)


def test_efforts_with_a_stated_meaning_are_converted(tmp_path):
    log = motion(ROBOT, rest=3.0)
    path = bag_of(tmp_path / 'bag', replace(log, tau=log.tau / ROBOT.model.torque_constant()), NAMES)
    read = PLAIN._replace(effort='current').read(path, ROBOT, lambda _: None)
    np.testing.assert_allclose(read.torque(ROBOT), log[4:-4].low_pass(5.0).tau, rtol=0, atol=1e-3)


def test_rests_at_the_ends_are_cut_and_said(tmp_path):
    log = motion(ROBOT, rest=7.0)
    still = motion(ROBOT, duration=3.0)
    ends = replace(
        log,
        t=np.r_[log.t, log.t[-1] + 0.1 + still.t],
        q=np.r_[log.q, np.tile(log.q[-1], (len(still), 1))],
        qd=np.r_[log.qd, 0.0 * still.qd],
        qdd=np.r_[log.qdd, 0.0 * still.qdd],
        tau=np.r_[log.tau, still.tau],
    )
    said = []
    part = motion_of(tmp_path, ends, ROBOT, said.append)
    assert part.t[0] == pytest.approx(6.5, abs=0.1) and part.t[-1] == pytest.approx(19.5, abs=0.1)
    assert said == ['cut a rest of 6.5 s at the start', 'cut a rest of 2.6 s at the end']
    assert len(motion_of(tmp_path, part, ROBOT, said.append)) == len(part) and len(said) == 2


UNSUITABLE = {
    'too short': (lambda: good()[:120], r'too short: the arm moves for 3\.\d s, expected at least 5 s'),
    'never moves': (lambda: changed('qd', slice(None), 0.0), 'too short: the arm moves for 0.0 s'),
    'a joint stands': (lambda: changed('q', 4, 0.2), "not excited: joint 'wrist2_joint' moves by 0 rad"),
    'a joint is slow': (lambda: changed('qd', 4, 0.01), "not excited: joint 'wrist2_joint' moves by .* at 0.01 rad/s"),
    'reversed': (
        lambda: changed('tau', 1, -good().tau[:, 1]),
        r"reversed: the effort of joint 'upperArm_joint' has a correlation of -(1|0\.[6-9]\d*)",
    ),
}


@pytest.mark.parametrize(('log', 'reason'), UNSUITABLE.values(), ids=UNSUITABLE)
def test_an_unsuitable_motion_is_refused_by_name(tmp_path, log, reason):
    with pytest.raises(LogError, match=rf'some\.bag: {reason}'):
        motion_of(tmp_path / 'some.bag', log(), ROBOT, lambda _: None)


def test_a_description_with_wrong_masses_does_not_make_efforts_reversed(tmp_path):
    lecture = Robot.named('aubo_i5_lecture').with_binding('generic')
    assert len(motion_of(tmp_path, good(), lecture, lambda _: None)) == len(good())
