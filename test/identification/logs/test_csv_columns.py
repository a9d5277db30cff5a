"""CSV files whose columns have the names of other tools are read by templates, or refused with what there is."""

from support.logs.logs import NAMES, table

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.identification import Log, LogError
from robot_dynamics_ros.identification.logs.csv_files import columns_of

VALUES = table()
TIMES, Q, TAU = VALUES[:, :1], VALUES[:, 1:3], VALUES[:, 7:]


def of_tool(folder, header, columns, separator=','):
    """A CSV file with a header and columns (m, k)."""
    lines = [separator.join(header), *(separator.join(map(repr, map(float, row))) for row in columns)]
    path = folder / 'tool.csv'
    path.write_text('\n'.join(lines) + '\n')
    return path


# header, factor of the times, separator, words of --columns, names of the joints
TOOLS = {
    'RTDE recorder of UR': (
        ['timestamp', 'actual_q_0', 'actual_q_1', 'target_moment_0', 'target_moment_1'],
        (1.0, ' '),
        ['time=timestamp', 'position=actual_q_{index}', 'effort=target_moment_{index}'],
        NAMES,
    ),
    'libfranka': (
        ['time', 'state.q[0]', 'state.q[1]', 'state.tau_J[0]', 'state.tau_J[1]'],
        (1e3, ','),
        ['time=time', 'time_unit=ms', 'position=state.q[{index}]', 'effort=state.tau_J[{index}]'],
        NAMES,
    ),
    'numbered from 1': (
        ['t_ns', 'q_1', 'q_2', 'tau_J_1', 'tau_J_2'],
        (1e9, ';'),
        ['time=t_ns', 'time_unit=ns', 'position=q_{index}', 'effort=tau_J_{index}'],
        NAMES,
    ),
    'PlotJuggler': (
        ['__time', '/joint_states/first/position', '/joint_states/second/position', *('/a/first/e', '/a/second/e')],
        (1.0, ','),
        ['time=__time', 'position=/joint_states/{joint}/position', 'effort=/a/{joint}/e'],
        NAMES,
    ),
    'PlotJuggler, in another order': (
        ['__time', '/j/position[4]', '/j/position[2]', '/j/effort[4]', '/j/effort[2]'],
        (1.0, '\t'),
        ['time=__time', 'position=/j/position[{joint}]', 'effort=/j/effort[{joint}]'],
        ('4', '2'),
    ),
}


@pytest.mark.parametrize(('header', 'kind', 'words', 'names'), TOOLS.values(), ids=TOOLS)
def test_columns_of_other_tools_are_read_by_templates(tmp_path, header, kind, words, names):
    factor, separator = kind
    path = of_tool(tmp_path, header, np.hstack([factor * TIMES, Q, TAU]), separator)
    log = Log.from_csv(path, names, columns=columns_of(words))
    usual = of_tool(tmp_path, ['t_s', 'q1_rad', 'q2_rad', 'tau1_Nm', 'tau2_Nm'], np.hstack([TIMES, Q, TAU]))
    expected = Log.from_csv(usual, len(NAMES))
    np.testing.assert_allclose(log.t, expected.t, rtol=0.0, atol=1e-9)
    np.testing.assert_array_equal(log.q, expected.q)
    np.testing.assert_array_equal(log.tau, expected.tau)
    assert log.effort == 'torque'


@pytest.mark.parametrize(('unit', 'factor'), [('ms', 1e3), ('us', 1e6), ('ns', 1e9)])
def test_times_in_another_unit_are_refused_with_what_to_state(tmp_path, unit, factor):
    header = ['t_s', 'q1_rad', 'q2_rad', 'tau1_Nm', 'tau2_Nm']
    path = of_tool(tmp_path, header, np.hstack([factor * (TIMES + 1.7e9), Q, TAU]))  # since 1970
    with pytest.raises(LogError, match=rf'samples a second: is t_s in {unit}\? State time_unit={unit} '):
        Log.from_csv(path, 2)
    read = Log.from_csv(path, 2, columns={'time_unit': unit})
    np.testing.assert_allclose(read.t, TIMES[4:-4, 0] - TIMES[4, 0] + 0.04, rtol=0.0, atol=1e-6)


def test_times_of_a_slow_log_are_read_where_their_unit_is_stated(tmp_path):
    path = of_tool(tmp_path, ['t_s', 'q1_rad', 'q2_rad', 'tau1_Nm', 'tau2_Nm'], np.hstack([100.0 * TIMES, Q, TAU]))
    assert np.diff(Log.from_csv(path, 2, columns={'time_unit': 's'}).t) == pytest.approx(1.0)


def test_a_stated_effort_may_be_a_current_in_ampere(tmp_path):
    path = of_tool(tmp_path, ['t_s', 'q1_rad', 'q2_rad', 'amp_0', 'amp_1'], np.hstack([TIMES, Q, TAU]))
    log = Log.from_csv(path, 2, 'current', columns={'effort': 'amp_{index}'})
    assert log.effort == 'current'
    np.testing.assert_array_equal(log.tau, TAU[4:-4])  # without the ends that derivatives cut


def test_rows_of_other_signals_are_skipped(tmp_path):
    path = of_tool(tmp_path, ['t_s', 'q1_rad', 'q2_rad', 'tau1_Nm', 'tau2_Nm'], np.hstack([TIMES, Q, TAU]))
    expected, lines = Log.from_csv(path, 2), path.read_text().splitlines()
    path.write_text('\n'.join([*lines[:5], '5.035,,,,', *lines[5:], '']))
    np.testing.assert_array_equal(Log.from_csv(path, 2).t, expected.t)


def test_a_wrong_header_is_refused_with_what_there_is_and_the_option(tmp_path):
    header = ['timestamp', *(f'actual_q_{k}' for k in range(6)), 'speed', 'moment']
    path = of_tool(tmp_path, header, np.ones((30, 9)))
    with pytest.raises(LogError) as caught:
        Log.from_csv(path, 6)
    for part in (
        "line 1: column 't_s' is missing",
        'expected t_s, q1_rad .. q6_rad, tau1_Nm .. tau6_Nm',
        'the file has timestamp, actual_q_0 .. actual_q_5, speed, moment',
        '--columns time=timestamp',
    ):
        assert part in str(caught.value)


def test_a_joint_that_the_file_lacks_is_named(tmp_path):
    path = of_tool(tmp_path, ['t_s', 'q1_rad', 'tau1_Nm'], np.ones((30, 3)))
    arm = Robot.from_dh([{'a': 0.5, 'mass': 1.0}, {'a': 0.1, 'mass': 0.1}])
    with pytest.raises(LogError, match=f"column 'q2_rad' of joint {arm.joint_names[1]!r} is missing: expected t_s, "):
        Log.from_csv(path, arm)
    with pytest.raises(LogError, match="column 'q2_rad' is missing"):
        Log.from_csv(path, 2)
    with pytest.raises(LogError, match="column 't_s' is missing"):
        Log.from_csv(of_tool(tmp_path, ['q1_rad', 'tau1_Nm'], np.ones((30, 2))), arm.chain(tip_link=arm.link_names[1]))


def test_what_is_no_log_is_refused_with_the_reason(tmp_path):
    with pytest.raises(LogError) as caught:
        Log.from_csv(tmp_path / 'nowhere.csv', 2)
    assert str(caught.value) == f'{tmp_path / "nowhere.csv"}: cannot be read: No such file or directory'
    text = tmp_path / 'log.txt'
    text.write_text('t_s,q1_rad\n')
    with pytest.raises(LogError, match=r'log\.txt, after 0 messages: .*; expected a CSV file \(\.csv\) or a rosbag2$'):
        Log.from_bag(text, ['first', 'second'])


REFUSED = {
    'no assignment': (['position'], "expected NAME=COLUMN with a name of time, .* got 'position'"),
    'unknown quantity': (['torque=tau_{index}'], "NAME=COLUMN with a name of .*, got 'torque=tau_{index}'"),
    'twice': (['time=a', 'time=b'], 'time is given twice'),
    'no joint': (['position=q'], "position: expected {joint} or {index} in the name, got 'q'"),
    'unknown mark': (['position=q_{number}'], "expected {joint} or {index} in the name, got 'q_{number}'"),
    'unit': (['time_unit=min'], "time_unit: expected one of s, ms, us, ns, got 'min'"),
    'names': (['position=q_{joint}'], 'position: {joint} needs 2 names of joints'),
    'more joints': (['position=p_{index}'], r"column 'p_2' is of an unknown joint: state {joint}, and by .*--joints"),
}


@pytest.mark.parametrize(('words', 'reason'), REFUSED.values(), ids=REFUSED)
def test_templates_that_name_no_columns_are_refused(tmp_path, words, reason):
    path = of_tool(tmp_path, ['t_s', 'p_0', 'p_1', 'p_2', 'tau1_Nm', 'tau2_Nm'], np.ones((30, 6)))
    with pytest.raises((ArgumentError, LogError), match=reason):
        Log.from_csv(path, 2, columns=columns_of(words))
