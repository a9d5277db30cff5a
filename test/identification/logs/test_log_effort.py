"""Efforts of a bag become torques as stated, and where the arm stands they are compared with gravity."""

from support.logs.logs import bag, state

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.identification import Log
from robot_dynamics_ros.tools import replay

ROBOT = Robot.named('aubo_i5')
CONSTANTS = ROBOT.model.torque_constant()
TIMES = 0.01 * np.arange(200)


def motion():
    """Stand for 1 s with the arm stretched out, then swing the shoulder and the upper arm."""
    swing = np.where(TIMES < 1.0, 0.0, np.sin(3.0 * (TIMES - 1.0)))[:, None]
    rate = np.where(TIMES < 1.0, 0.0, 3.0 * np.cos(3.0 * (TIMES - 1.0)))[:, None]
    direction = np.array([1.0, 0.5, 0.0, 0.0, 0.0, 0.0])
    return np.array([0.0, -1.5, 0.1, 0.0, 0.3, 0.0]) + swing * direction, rate * direction


Q, QD = motion()
GRAVITY = ROBOT.gravity_torque(Q)
MEASURED = {
    'torque': GRAVITY + 1.0,
    'current': (GRAVITY + 1.0) / CONSTANTS,
    'torque_without_gravity': np.ones_like(GRAVITY),
}


@pytest.mark.parametrize('meaning', MEASURED)
def test_the_torque_is_the_same_whatever_was_measured(meaning):
    log = Log(TIMES, Q, QD, QD, MEASURED[meaning], effort=meaning)
    assert log.torque(ROBOT) == pytest.approx(GRAVITY + 1.0, rel=1e-12, abs=1e-12)
    assert f'agrees with {meaning}; largest difference: ' in log.effort_at_rest(ROBOT).sentence


@pytest.mark.parametrize('meaning', MEASURED)
def test_a_wrong_statement_is_named(meaning):
    stated = 'torque_without_gravity' if meaning == 'torque' else 'torque'
    fits, sentence = Log(TIMES, Q, QD, QD, MEASURED[meaning], effort=stated).effort_at_rest(ROBOT)
    assert fits is False
    assert f'stated as {stated}, but it looks like {meaning}: ' in sentence


def test_a_log_in_which_the_arm_never_stands_says_nothing():
    log = Log(TIMES, Q, QD, QD, GRAVITY)[110:]
    assert log.effort_at_rest(ROBOT) == (None, 'the arm has not stood still for 0.5 s')


def test_replay_takes_the_meaning_of_a_bag_and_refuses_it_for_a_csv(tmp_path, monkeypatch, capsys):
    played = []
    monkeypatch.setattr(replay, 'replay', lambda log, *_: played.append(log))
    names = ROBOT.joint_names
    rows = zip(TIMES, Q, QD, MEASURED['current'], strict=True)
    folder = bag(tmp_path / 'bag', [(100.0 + t, state(100.0 + t, *row, names)) for t, *row in rows])
    replay.main(['aubo_i5', str(folder), '--effort', 'current', '--output', str(tmp_path / 'out')])
    assert 'effort at rest: agrees with current' in capsys.readouterr().out
    replay.main(['aubo_i5', str(folder), '--output', str(tmp_path / 'out')])
    assert 'effort at rest' not in capsys.readouterr().out
    stated, raw = played
    assert stated.t[0] == 0.0 and stated.q == pytest.approx(Log.from_bag(folder, names).q)
    part = np.isin(np.round(TIMES, 9), np.round(Log.from_bag(folder, names).t, 9))
    assert stated.tau == pytest.approx(GRAVITY[part] + 1.0) and raw.tau == pytest.approx(MEASURED['current'][part])
    bare = ROBOT.to_urdf()
    (tmp_path / 'arm.urdf').write_text(bare)
    with pytest.raises(SystemExit, match=r'effort: current: joint .* no torque constant is known'):
        replay.main([str(tmp_path / 'arm.urdf'), str(folder), '--effort', 'current', '--output', str(tmp_path / 'out')])
    columns = [f'{kind}{k}_{unit}' for kind, unit in replay_columns() for k in range(1, 7)]
    table = np.column_stack([0.01 * np.arange(30), np.zeros((30, 24))]).tolist()
    csv = tmp_path / 'log.csv'
    csv.write_text('\n'.join([','.join(['t_s', *columns]), *(','.join(map(str, row)) for row in table)]))
    with pytest.raises(SystemExit, match='--effort: a CSV file has motor currents'):
        replay.main(['aubo_i5', str(csv), '--effort', 'torque', '--output', str(tmp_path / 'out')])


def replay_columns():
    return [('q', 'rad'), ('qd', 'rad_s'), ('qdd', 'rad_s2'), ('i', 'mA')]


def test_other_meanings_are_refused():
    with pytest.raises(ArgumentError, match='effort: expected one of torque'):
        Log(TIMES, Q, QD, QD, GRAVITY, effort='newton')
