"""The command identify: from a log to a table, a page, and a robot that predicts the torques of another log."""

import re
from dataclasses import replace
from functools import partial

from support.logs.motion_logs import bag_of, csv_of, motion, standing

import numpy as np
import pytest
import yaml

from robot_dynamics_ros import Robot, identification
from robot_dynamics_ros.identification import gravity_poses, validate
from robot_dynamics_ros.tools import identify
from robot_dynamics_ros.tools.identify_parameters import read_parameters

TRUE = Robot.named('aubo_i5')
DELAY = 0.012


@pytest.fixture(autouse=True)
def two_blocks(monkeypatch):
    """Cross-validate with as few identifications as possible."""
    monkeypatch.setattr(identification, 'cross_validate', partial(identification.cross_validate, folds=2))


@pytest.fixture(scope='module')
def logs(tmp_path_factory):
    folder = tmp_path_factory.mktemp('logs')
    log = motion(TRUE, duration=13.0, rate=30.0, rest=4.0, delay=DELAY, noise=0.05)
    other = motion(TRUE, duration=8.0, rate=50.0, delay=DELAY)
    return bag_of(folder / 'bag', log, TRUE.joint_names), csv_of(folder / 'other.csv', other)


def test_a_bag_becomes_a_better_robot(logs, tmp_path, capsys):
    bag, other = logs
    out = tmp_path / 'out'
    identify.main(['aubo_i5_lecture', str(bag), '--validate', str(other), '--output', str(out)])
    printed = capsys.readouterr().out
    assert re.search(r'cut a rest of [23]\.\d s at the start', printed) and 'cross-validating' in printed
    shifts = [float(found) for found in re.findall(r'lag the motion by ([\d.]+) ms; shifting them', printed)]
    # less than 1 ms is not corrected
    assert shifts[-1] == pytest.approx(1e3 * DELAY, abs=2.0)
    for name in TRUE.joint_names:
        (row,) = re.findall(rf'^{name} .*', printed, re.M)
        r2 = [float(cell) for cell in re.findall(r' (-?\d\.\d{4}) ', row)]
        assert len(r2) == 5 and r2[4] > 0.995  # also on the other log the delay is corrected
    robot = Robot.from_urdf(out / 'robot.urdf').with_actuators(out / 'actuators.yaml')
    again = motion(TRUE, duration=8.0, rate=50.0)
    found = validate(robot, again)
    assert (found.r2 > 0.99).all()
    described = validate(Robot.named('aubo_i5_lecture'), again)
    assert (found.rms < described.rms / 2).all()
    same = Robot.from_yaml(out / 'robot.yaml')
    np.testing.assert_allclose(same.mass_matrix(again.q[7]), robot.mass_matrix(again.q[7]), rtol=1e-9)
    page = (out / 'index.html').read_text()
    for part in ('<pre>', 'identified, other log', 'shoulder_joint', 'Spectrum of the residual', 'base parameters'):
        assert part in page and (part == '<pre>' or part in printed or part.startswith('Spectrum'))
    assert len(re.findall(r'id="torque_\d', page)) == 12 and len(re.findall(r'id="spectrum', page)) == 2
    assert 'no torque depends on mass, ' in printed and 'coulomb friction' in page and 'kg m^2' in page
    read = read_parameters(out / 'parameters.yaml')
    viscous = read['wrist1_joint', 'viscous friction']
    assert viscous.identified == pytest.approx(robot.friction.viscous[3], rel=1e-5)
    assert 0.0 < viscous.standard_deviation < 0.5 and 'mass of foreArm_Link' in read['upperArm_Link', 'm c_x'].sum_with
    compared(out, other, tmp_path, capsys)


def compared(result, log, folder, capsys):
    """A result is compared with one in which the friction of a joint is another one."""
    changed = folder / 'changed'
    changed.mkdir()
    robot = Robot.from_yaml(result / 'robot.yaml')
    viscous = robot.friction.viscous * np.where(np.arange(6) == 3, 2.0, 1.0)
    (changed / 'robot.yaml').write_text(robot.with_friction(viscous=viscous).to_yaml())
    entries = yaml.safe_load((result / 'parameters.yaml').read_text())
    (entry,) = (it for it in entries if (it['of'], it['parameter']) == ('wrist1_joint', 'viscous friction'))
    entry['identified'] *= 2.0
    (changed / 'parameters.yaml').write_text(yaml.safe_dump(entries))
    words = ['aubo_i5_lecture', str(log), '--compare', str(result), str(changed)]
    identify.main(words)
    printed = capsys.readouterr().out
    assert f'1 of {len(entries)} parameters differ' in printed
    assert re.search(r'^wrist1_joint, viscous friction +N m s/rad .* \+- ', printed, re.M)
    rms = [list(map(float, re.findall(r'0\.\d{4} +([\d.]+)', line))) for line in printed.splitlines()[-6:]]
    assert rms[3][1] > 3.0 * rms[3][0] and rms[2][0] == rms[2][1]
    (changed / 'parameters.yaml').write_text('[{of: a}]')
    for more, reason in (
        (['--gravity'], 'leave --validate and --gravity out'),
        ([], r'parameters.yaml: \[0\]: parameter'),
    ):
        with pytest.raises(SystemExit, match=reason):
            identify.main([*words, *more])


def test_several_logs_with_chosen_terms_of_friction(tmp_path, capsys):
    log, out = motion(TRUE, duration=9.0, rate=40.0), tmp_path / 'out'
    paths = [csv_of(tmp_path / f'{k}.csv', part) for k, part in enumerate((log[:190], log[170:]))]
    words = ['aubo_i5_lecture', *map(str, paths), '--friction', 'viscous', 'coulomb', '--weight', '0.1']
    identify.main([*words, '--validate', *map(str, paths), '--output', str(out)])
    printed = capsys.readouterr().out
    assert printed.count('reading') == 4 and 'a payload, wrong masses, or another scale of all efforts' in printed
    warnings = [line.removeprefix('warning: ') for line in printed.splitlines() if 'another scale of all' in line]
    assert (
        len(warnings) == 2 and warnings[1] == f'{paths[0]}, {paths[1]}: {warnings[0]}'
    )  # the other log's has its name
    robot = Robot.from_yaml(out / 'robot.yaml')
    assert robot.friction.coulomb.all() and not robot.friction.offset.any() and not robot.friction.load.any()
    assert '0.csv, 1.csv' in (out / 'index.html').read_text()
    with pytest.raises(SystemExit, match="friction: no term 'sticky'"):
        identify.main([*words[:3], '--friction', 'sticky', '--output', str(out)])
    with pytest.raises(SystemExit, match='constants_deviation: expected currents'):
        identify.main([*words[:3], '--constants-deviation', '0.1', '--output', str(out)])


def test_what_explains_nothing_is_not_written_unless_by_force(tmp_path, capsys, monkeypatch):
    log, out = motion(TRUE, duration=8.0, rate=40.0), tmp_path / 'out'
    tau = np.array(log.tau)
    tau[:, 5] = 9.0 * np.sign(np.sin(0.9 * log.t))  # of something else
    words = ['aubo_i5', str(csv_of(tmp_path / 'log.csv', replace(log, tau=tau))), '--output', str(out)]
    reports, by_motion = [], identify._by_motion
    monkeypatch.setattr(identify, '_by_motion', lambda *args: reports.append(by_motion(*args)) or reports[0])
    with pytest.raises(SystemExit) as ended:
        identify.main(words)
    assert str(ended.value).endswith(
        'explains nothing of wrist3_joint, R2 is 0 or less; see the table, or state --force'
    )
    assert not list(out.iterdir()) and 'no motion explains its effort' in capsys.readouterr().out
    monkeypatch.setattr(identify, '_by_motion', lambda *_: reports[0])
    identify.main([*words, '--force'])
    assert sorted(it.name for it in out.iterdir()) == [
        'actuators.yaml',
        'index.html',
        'parameters.yaml',
        'robot.urdf',
        'robot.yaml',
    ]
    sprung = Robot.from_yaml(
        re.sub(r'(friction: .*\n)', r'\1  spring: {stiffness: 3.0, rest: 0.1}\n', TRUE.to_yaml(), count=1)
    )
    monkeypatch.setattr(identify, '_by_motion', lambda *_: reports[0]._replace(robot=sprung))
    capsys.readouterr()
    identify.main([*words[:2], '--force', '--output', str(tmp_path / 'sprung')])
    assert not (tmp_path / 'sprung' / 'robot.urdf').exists() and (tmp_path / 'sprung' / 'robot.yaml').exists()
    said = "no robot.urdf: joint 'shoulder_joint': a URDF cannot hold a spring; robot.yaml has it"
    assert said in capsys.readouterr().out


def test_standing_poses_become_gravity_torques(tmp_path, capsys):
    described = Robot.named('aubo_i5_lecture')
    poses = gravity_poses(described, 16)
    bag = bag_of(tmp_path / 'bag', standing(TRUE, poses), TRUE.joint_names)
    other = bag_of(tmp_path / 'other', standing(TRUE, 0.8 * poses[::3]), TRUE.joint_names)
    words = ['aubo_i5_lecture', str(bag), '--gravity', '--validate', str(other), '--output', str(tmp_path / 'out')]
    identify.main(words)
    printed = capsys.readouterr().out
    assert re.search(r'shoulder_joint +\d+\.\d+ \+- \d', printed) and '33 poses' in printed
    for name in TRUE.joint_names:
        rms, other_rms = map(float, re.search(rf'{name} .* ([\d.]+) +([\d.]+)\n', printed).groups())
        assert max(rms, other_rms) < 1.0  # static friction is 2 to 14 N m
    robot = Robot.from_urdf(tmp_path / 'out' / 'robot.urdf')
    q = np.random.default_rng(1).uniform(-1.5, 1.5, (50, 6))
    true = TRUE.gravity_torque(q)
    # without noise, the prior alone keeps some of its masses
    error = np.abs(robot.gravity_torque(q) - true).max(axis=0) / np.abs(true).max(axis=0).clip(1.0)
    assert (error < 0.03).all()
    assert 'id="poses_6_other_log"' in (tmp_path / 'out' / 'index.html').read_text()
    read = read_parameters(tmp_path / 'out' / 'parameters.yaml')
    friction = read['upperArm_joint', 'static friction']
    assert friction.identified == pytest.approx(TRUE.friction.coulomb[1], rel=0.05)
    lumped = read['upperArm_Link', 'm c_x']
    assert lumped.sum_with['mass of foreArm_Link'] == pytest.approx(0.408) and lumped.standard_deviation < 0.1
    # of six joints, and ten base parameters of gravity
    assert len(read) == 6 + 10 and 'static friction' in (tmp_path / 'out' / 'index.html').read_text()


def test_what_does_not_suit_ends_with_the_reason(logs, tmp_path):
    bag, other = logs
    log = motion(TRUE, duration=8.0, rate=50.0)
    tau = log.tau * (np.arange(6) < 5)
    fixed = bag_of(tmp_path / 'fixed', replace(log, tau=tau)[:150], TRUE.joint_names)
    millis = csv_of(tmp_path / 'millis.csv', replace(log, tau=1e3 * log.tau))
    bursts = csv_of(
        tmp_path / 'bursts.csv', replace(log, t=0.4 * np.floor(log.t**2 / 8.0 / 0.4) + 1e-4 * np.arange(400))
    )
    for words, reason in (
        (['aubo_i5', 'nowhere'], "File 'nowhere' does not exist"),
        (['aubo_i6', str(bag)], "robot 'aubo_i6' is not part of the package"),
        (['aubo_i5', str(bag), '--topic', '/states'], 'messages on /states, got 0'),
        (['aubo_i5', str(bag), '--joints', 'one'], "joint 'one' is missing"),
        (['aubo_i5', str(other), '--cutoff', '40'], 'cutoff: expected at least'),
        (['aubo_i5', str(other), '--gravity'], 'log: the arm never stands still'),
        (['aubo_i5', str(millis), '--joints', 'one'], '--joints: names in bags, or in CSV files with {joint}'),
        (['aubo_i5', str(bag), '--columns', 'time=t'], '--columns: no log is a CSV file'),
        (['aubo_i5', str(millis), '--columns', 'time=t'], "column 't' is missing: expected t, q1_rad .. q6_rad, "),
        (['aubo_i5', str(bag), '--lock', 'wrist3_joint'], "--lock: expected JOINT:POSITION, got 'wrist3_joint'"),
        (['aubo_i5', str(fixed)], '--lock wrist3_joint:POSITION, or end the arm before it by --tip-link wrist2_Link'),
        (['aubo_i5', str(fixed), '--lock', 'wrist3_joint:0.1'], 'too short: the arm moves'),
        (['aubo_i5', str(fixed), '--tip-link', 'wrist2_Link'], 'too short: the arm moves'),
        (['aubo_i5', str(millis)], 'millis.csv: implausible'),
        (['aubo_i5', str(bursts)], 'or read the log with even_times (--even-times)'),
        (['aubo_i5', str(bursts), '--even-times'], 'bursts.csv: stamps: at '),
        (['aubo_i5', str(millis)], 'efforts have another unit or meaning'),
    ):
        with pytest.raises(SystemExit, match=re.escape(reason)) as ended:
            identify.main([*words, '--output', str(tmp_path / 'out')])
        assert str(ended.value).startswith('robot_dynamics_identify: ')


def test_gravity_of_another_mounting_has_a_name_of_its_own():
    words = ['aubo_i5', 'bag', '--gravity-vector', '0', '9.81', '0']
    options = identify.parser().parse_args(words)
    assert options.gravity == [0.0, 9.81, 0.0] and not options.standing
    assert identify.parser().parse_args(['aubo_i5', 'bag', '--gravity']).standing
