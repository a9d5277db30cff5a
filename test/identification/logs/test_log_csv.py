"""A CSV log is read as it is, or refused with the file and the line or column that is wrong."""

from support.logs.logs import COLUMNS, DATA, NAMES, table, written
from support.robots import random_trees as trees

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.identification import Log, LogError
from robot_dynamics_ros.identification.logs.log import EDGE
from robot_dynamics_ros.model.model import Model


def test_csv_in_any_column_order_with_columns_that_do_not_matter(tmp_path):
    values = table()
    order = [3, 8, 0, 1, 7, 5, 2, 6, 4]
    rows = [[*row[order].tolist(), 'free text'] for row in values]
    log = Log.from_csv(written(tmp_path / 'log.csv', [*(COLUMNS[k] for k in order), 'remark'], rows), len(NAMES))
    np.testing.assert_allclose(log.t, values[:, 0] - 5.0, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(log.q, values[:, 1:3])
    np.testing.assert_array_equal(log.qd, values[:, 3:5])
    np.testing.assert_array_equal(log.qdd, values[:, 5:7])
    np.testing.assert_allclose(log.tau, values[:, 7:9] * 1e-3, rtol=1e-15)
    assert log.effort == 'current' and log.temperature is None


@pytest.mark.parametrize('effort', ['torque', 'torque_without_gravity'])
def test_csv_with_torques_and_temperatures(tmp_path, effort):
    header = [*COLUMNS[:7], 'tau1_Nm', 'tau2_Nm', 'T1_degC', 'T2_degC']
    values = np.column_stack([table(), np.full(30, 40.0), np.arange(30.0)])
    log = Log.from_csv(written(tmp_path / 'log.csv', header, values.tolist()), len(NAMES), effort)
    np.testing.assert_array_equal(log.tau, values[:, 7:9])
    np.testing.assert_array_equal(log.temperature, values[:, 9:])
    assert log.effort == effort


def test_an_effort_that_the_columns_are_not_is_refused(tmp_path):
    currents = written(tmp_path / 'current.csv', COLUMNS, table().tolist())
    torques = written(tmp_path / 'torque.csv', [*COLUMNS[:7], 'tau1_Nm', 'tau2_Nm'], table().tolist())
    assert Log.from_csv(currents, 2, 'current').effort == 'current' and Log.from_csv(torques, 2).effort == 'torque'
    for path, effort in ((currents, 'torque'), (currents, 'curent'), (torques, 'current')):
        with pytest.raises(ArgumentError, match=rf'effort of .*{path.name}: expected one of '):
            Log.from_csv(path, 2, effort)
    both = written(tmp_path / 'both.csv', [*COLUMNS, 'tau1_Nm'], [[*row, 0.0] for row in table().tolist()])
    with pytest.raises(LogError, match=r'both\.csv, line 1: it has currents and torques'):
        Log.from_csv(both, 2)


def test_csv_of_a_spreadsheet_begins_with_a_byte_order_mark(tmp_path):
    path = written(tmp_path / 'log.csv', [*COLUMNS, 'remark'], [[*row, 'none'] for row in table().tolist()])
    path.write_bytes(b'\xef\xbb\xbf' + path.read_bytes().replace(b'none', 'spät'.encode()))
    assert len(Log.from_csv(path, len(NAMES))) == 30


@pytest.mark.parametrize('left_out', [('qdd',), ('qd', 'qdd')])
def test_derivatives_that_are_no_columns_are_computed_as_those_of_bags(tmp_path, left_out):
    t = 5.0 + 0.01 * np.arange(1000)
    q, qd, qdd = (np.stack([f(2.0 * t), f(3.0 * t)], 1) for f in (np.sin, np.cos, lambda x: -np.sin(x)))
    qd, qdd = qd * (2.0, 3.0), qdd * (4.0, 9.0)
    columns = {'q': q, **({} if 'qd' in left_out else {'qd': qd}), 'i': 1e3 * q}
    units = {'q': 'rad', 'qd': 'rad_s', 'i': 'mA'}
    header = ['t_s', *(f'{name}{k}_{units[name]}' for name in columns for k in (1, 2))]
    rows = np.column_stack([t, *columns.values()]).tolist()
    path = written(tmp_path / 'log.csv', header, rows)
    log = Log.from_csv(path, 2)
    assert len(log) == 1000 - 2 * EDGE
    part = slice(EDGE, -EDGE)
    np.testing.assert_allclose(log.qd, qd[part], rtol=0.0, atol=1e-5)
    np.testing.assert_allclose(log.qdd, qdd[part], rtol=0.0, atol=1e-3)
    np.testing.assert_allclose(log.tau, q[part], rtol=1e-12, atol=1e-12)


def changed(row, column, value):
    def change(header, rows):
        rows[row][header.index(column)] = value

    return change


def cut(row, count):
    def change(header, rows):
        del rows[row][count:]

    return change


def without(column):
    def change(header, rows):
        place = header.index(column)
        for row in (header, *rows):
            del row[place]

    return change


def with_joint_7(header, rows):
    for row, value in zip((header, *rows), ['q7_rad', *[0.0] * len(rows)], strict=True):
        row.append(value)


def twice(header, rows):
    for row in (header, *rows):
        row.append(row[1])


def all_gone(header, rows):
    header.clear()
    rows.clear()


def test_times_in_bursts_are_refused_or_replaced_by_even_ones(tmp_path):
    values = table(rows=200)
    values[:, 0] = 3.0 + 0.1 * np.floor(np.arange(200) / 10.0) + 1e-4 * (np.arange(200) % 10)
    path = written(tmp_path / 'log.csv', COLUMNS, values.tolist())
    with pytest.raises(LogError, match=r'log\.csv: stamps come in bursts, .* mean one is 0\.0095. s.*--even-times'):
        Log.from_csv(path, len(NAMES))
    log = Log.from_csv(path, len(NAMES), even_times=True)
    assert np.ptp(np.diff(log.t)) < 1e-9 and np.diff(log.t).mean() == pytest.approx(0.01, rel=0.02)
    np.testing.assert_array_equal(log.q, values[:, 1:3])


# what is done to the log: what the error must say beside the file's name; row k is on line k + 2
BAD_TABLES = {
    'cut short': (cut(29, 4), 'line 31: expected '),
    'a value too many': (lambda header, rows: rows[4].append(1.0), 'line 6'),
    'NaN': (changed(10, 'qd2_rad_s', 'nan'), 'line 12: qd2_rad_s is nan'),
    'infinite': (changed(10, 'i1_mA', 'inf'), 'line 12: i1_mA is inf'),
    'empty cell': (changed(3, 'q1_rad', ''), 'line 5: q1_rad'),
    'text': (changed(0, 'i2_mA', 'broken'), "line 2: i2_mA is 'broken'"),
    'underscore': (changed(0, 'i2_mA', '1_000'), "line 2: i2_mA is '1_000', not a number"),
    'time beyond all clocks': (changed(-1, 't_s', 1e300), 't_s is 1e+300, expected less than 9e+09 s'),
    'time goes back': (changed(20, 't_s', 5.05), 'line 22: time does not increase'),
    'time stands still': (changed(20, 't_s', 5.19), 'line 22: time does not increase'),
    'column missing': (without('qdd1_rad_s2'), "line 1: column 'qdd1_rad_s2'"),
    'velocities missing': (
        lambda header, rows: [without(name)(header, rows) for name in ('qd1_rad_s', 'qd2_rad_s')],
        "line 1: column 'qd1_rad_s' is missing",
    ),
    'joint missing': (without('q2_rad'), "line 1: column 'q2_rad'"),
    'column twice': (twice, "line 1: column 'q1_rad' occurs twice"),
    'unknown joint': (with_joint_7, "line 1: column 'q7_rad' is of an unknown joint"),
    'too short': (lambda header, rows: rows.__delitem__(slice(19, None)), 'got 19'),
    'header only': (lambda header, rows: rows.clear(), 'got 0'),
    'empty': (all_gone, 'line 1'),
}


@pytest.fixture
def bad_csv(tmp_path):
    def make(change):
        header, rows = list(COLUMNS), table().tolist()
        change(header, rows)
        return written(tmp_path / 'bad_log.csv', header, rows)

    return make


@pytest.mark.parametrize(('change', 'culprit'), BAD_TABLES.values(), ids=BAD_TABLES)
def test_bad_csv_is_refused_with_file_and_line(bad_csv, change, culprit):
    path = bad_csv(change)
    with pytest.raises(LogError) as caught:
        Log.from_csv(path, len(NAMES))
    assert str(path) in str(caught.value)
    assert culprit in str(caught.value)


@pytest.mark.parametrize(
    'content',
    [b'\x00\x01\x02' * 50, b't_s,q1_rad\n\xff\xfe\n', b'SQLite format 3\x00' + bytes(100), b'"' + b'x' * 200_000],
    ids=['binary', 'not UTF-8', 'a bag by another name', 'a cell without end'],
)
def test_csv_that_is_none_is_refused(tmp_path, content):
    path = tmp_path / 'none.csv'
    path.write_bytes(content)
    with pytest.raises(LogError, match=r'none\.csv'):
        Log.from_csv(path, len(NAMES))


def test_csv_that_is_not_utf_8_further_down_is_refused(tmp_path):
    path = written(tmp_path / 'log.csv', COLUMNS, table().tolist())
    path.write_bytes(path.read_bytes() + b'\xff\xfe,1,2\n')
    with pytest.raises(LogError, match=r'log\.csv'):
        Log.from_csv(path, len(NAMES))


@pytest.mark.parametrize('name', ['nowhere.csv', 'nowhere.db3', 'nowhere'])
def test_missing_file_is_refused(tmp_path, name):
    with pytest.raises(LogError, match=name):
        Log.from_csv(tmp_path / name, 2) if name.endswith('.csv') else Log.from_bag(tmp_path / name, NAMES)


def test_currents_need_torque_constants(tmp_path):
    path = written(tmp_path / 'log.csv', COLUMNS, table().tolist())
    robot = Robot(Model.of('two', trees.BASE, trees.random_joints(0, count=2)))
    with pytest.raises(ModelError, match="joint 'joint_1': no torque constant is known"):
        Log.from_csv(path, robot).torque(robot)


def test_the_model_explains_the_measured_currents_of_the_aubo_i5():
    path = DATA / 'aubo_i5_measured_traj1.csv'
    if not path.is_file():
        pytest.skip(f'{path.name} is not beside the clone: its licence keeps it out')
    robot = Robot.named('aubo_i5')
    log = Log.from_csv(path, robot)
    tau = robot.inverse_dynamics(log.q, log.qd, log.qdd)
    current = robot.motor_current(tau + robot.friction_torque(log.qd, tau))
    measured = log.tau
    share = np.var(measured - current, axis=0) / np.var(measured, axis=0)
    # what config/aubo_i5.yaml says of its figures
    assert 1.0 - share == pytest.approx([0.9948, 0.9902, 0.9927, 0.9905, 0.9945, 0.9925], abs=2e-4)
    assert np.abs(measured).max(axis=0) == pytest.approx([8.6, 10.4, 6.3, 1.4, 0.9, 0.85], abs=0.1)  # A
