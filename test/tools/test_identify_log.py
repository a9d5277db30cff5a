"""Logs that do not suit an identification are refused by name; rests at their ends are cut, and what is cut is said."""

from dataclasses import replace
from functools import cache

from support.logs.motion_logs import bag_of, csv_of, motion, standing

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.identification import Log, LogError
from robot_dynamics_ros.tools.identify_log import Source, check, read_all

ROBOT = Robot.named('aubo_i5')
NAMES = ROBOT.joint_names
PLAIN = Source(NAMES, '/joint_states', None, None)


@cache
def good():
    return motion(ROBOT)


def motion_of(folder, log, robot, said=lambda _: None):
    """The motion that is read from a CSV file of the log, and checked."""
    path = csv_of(folder / 'some.csv', log)
    read = read_all(PLAIN, [path], robot, False, said)
    check([path], read, robot, standing=False, force=True)
    return read


def changed(name, joint, value):
    """The good log with a value in place of one joint's."""
    column = np.array(getattr(good(), name))
    column[:, joint] = value
    return replace(good(), **{name: column})


def test_a_good_log_is_read_as_it_is_and_low_passed_on_request(tmp_path):
    said = []
    log = PLAIN.read(csv_of(tmp_path / 'log.csv', good()), ROBOT, said.append)
    assert len(motion_of(tmp_path, log, ROBOT, said.append)) == len(log)
    np.testing.assert_allclose(log.tau, good().tau, rtol=1e-12)
    assert any('480 samples, 12.0 s' in line for line in said) and any('effort at rest: ' in line for line in said)
    said.clear()
    PLAIN.read(csv_of(tmp_path / 'moving.csv', good()[good().t > 4.0]), ROBOT, said.append)
    assert any('has not stood still for 0.5 s: unchecked, efforts count as torque (--effort)' in line for line in said)
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
        tau=np.r_[log.tau, np.tile(ROBOT.gravity_torque(log.q[-1]), (len(still), 1))],
    )
    said = []
    part = motion_of(tmp_path, ends, ROBOT, said.append)
    assert part.t[0] == pytest.approx(6.5, abs=0.1) and part.t[-1] == pytest.approx(19.5, abs=0.1)
    assert [line for line in said if line.startswith('cut')] == [
        'cut a rest of 6.5 s at the start',
        'cut a rest of 2.6 s at the end',
    ]
    assert len(motion_of(tmp_path, part, ROBOT)) == len(part)


def test_several_logs_are_one_whose_rests_are_cut_one_by_one(tmp_path):
    """Each is too short for an identification, and in the second one a joint hardly moves."""
    log, said = motion(ROBOT, duration=4.0, rest=3.0), []
    share = np.where(np.arange(6) == 5, 0.01, 1.0)
    slow = replace(log, **{name: share * getattr(log, name) for name in ('q', 'qd', 'qdd')})
    paths = [csv_of(tmp_path / f'{k}.csv', it) for k, it in enumerate((log, slow, log))]
    both = read_all(PLAIN, paths, ROBOT, False, said.append)
    assert len(both.segments()) == 3 and said.count('cut a rest of 2.5 s at the start') == 3
    assert both.t[-1] == pytest.approx(2.5 + 3 * 4.5 + 2 * 10.0, abs=0.2)
    with pytest.raises(LogError, match=r'0\.csv: too short: the arm moves for [34]\.\d s'):
        check(paths[:1], read_all(PLAIN, paths[:1], ROBOT, False, said.append), ROBOT, standing=False, force=False)
    with pytest.raises(LogError, match=r"1\.csv, .*1\.csv: not excited: joint 'wrist3_joint' moves by 0\.0"):
        check(paths[1:2] * 2, read_all(PLAIN, paths[1:2] * 2, ROBOT, False, said.append), ROBOT, False, force=False)


def test_a_gap_is_said_and_is_no_motion(tmp_path):
    log, said = motion(ROBOT, duration=6.0), []
    parts = [log[:80], log[-80:]]
    gap = Log.joined([parts[0], replace(parts[1], t=parts[1].t + 60.0)])
    with pytest.raises(LogError, match=r'too short: the arm moves for [34]\.\d s'):
        motion_of(tmp_path, gap, ROBOT, said.append)
    assert any('a gap of 6' in line and 'splits the log' in line for line in said)


UNSUITABLE = {
    'too short': (lambda: good()[:120], r'too short: the arm moves for 3\.\d s, expected at least 5 s'),
    'never moves': (lambda: replace(good(), qd=0.0 * good().qd), 'too short: the arm moves for 0.0 s'),
    'a joint stands': (lambda: changed('q', 4, 0.2), "not excited: joint 'wrist2_joint' moves by 0 rad"),
    'a joint is slow': (lambda: changed('qd', 4, 0.01), "not excited: joint 'wrist2_joint' moves by .* at 0.01 rad/s"),
}


@pytest.mark.parametrize(('log', 'reason'), UNSUITABLE.values(), ids=UNSUITABLE)
def test_an_unsuitable_motion_is_refused_by_name(tmp_path, log, reason):
    with pytest.raises(LogError, match=rf'some\.csv: {reason}'):
        motion_of(tmp_path, log(), ROBOT)


def test_an_implausible_log_is_refused_unless_by_force(tmp_path):
    """All faults are named at once, before anything is identified."""
    paths = [tmp_path / 'a.csv', tmp_path / 'b.csv']
    wrong = changed('tau', [1, 4], -good().tau[:, [1, 4]])
    with pytest.raises(LogError) as caught:
        check(paths, wrong, ROBOT, standing=False, force=False)
    first, *others = str(caught.value).splitlines()
    assert first == f'{paths[0]}, {paths[1]}: implausible; --force identifies all the same'
    assert [line.split(': ')[0] for line in others] == ["  joint 'upperArm_joint'", "  joint 'wrist2_joint'"]
    assert all('its effort is reversed' in line for line in others)
    assert [it.severity for it in check(paths, wrong, ROBOT, standing=False, force=True)] == ['error'] * 2
    assert check(paths, good(), ROBOT, standing=False, force=False) == ()


def test_velocities_of_zero_are_not_a_motion_that_is_too_short(tmp_path):
    path = csv_of(tmp_path / 'log.csv', replace(good(), qd=0.0 * good().qd, qdd=0.0 * good().qdd))
    log = read_all(PLAIN, [path], ROBOT, False, lambda _: None)
    with pytest.raises(
        LogError, match=r"implausible.*\n  joints 'shoulder_joint', .*: their velocity is 0 in all samples"
    ):
        check([path], log, ROBOT, standing=False, force=False)


def test_a_meaning_that_fits_by_chance_comes_with_what_the_motion_tells(tmp_path):
    log = motion(ROBOT, rest=3.0)
    path = csv_of(tmp_path / 'log.csv', replace(log, tau=log.tau[:, [0, 2, 1, 3, 4, 5]]))
    reason = (
        r"torque_without_gravity, not torque; .*\n  but joint 'upperArm_joint': the motion of joint 'foreArm_joint'"
    )
    with pytest.raises(LogError, match=reason):
        PLAIN.read(path, ROBOT, lambda _: None)


def test_of_standing_poses_velocities_alone_are_judged(tmp_path):
    poses = np.random.default_rng(1).uniform(-1.0, 1.0, (4, 6))
    log = standing(ROBOT, poses)
    assert check([tmp_path], replace(log, tau=-log.tau), ROBOT, standing=True, force=False) == []
    with pytest.raises(LogError, match=r'velocities are 57\.3 times the derivative of the positions: .* in degrees'):
        check([tmp_path], replace(log, qd=np.degrees(log.qd)), ROBOT, standing=True, force=False)


def test_a_description_with_wrong_masses_makes_no_log_implausible(tmp_path):
    lecture = Robot.named('aubo_i5_lecture')
    assert len(motion_of(tmp_path, good(), lecture)) == len(good())
    (found,) = check([tmp_path], good(), lecture, standing=False, force=False)
    assert found.severity == 'warning' and 'a payload, wrong masses, or another scale' in found.message
