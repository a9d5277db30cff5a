"""``compare``: its tables, files and page, and what it refuses."""

import csv
import re
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from support.project.browser import Watched
from support.robots import small_robots
from support.robots.small_robots import general, link, mixed

import matplotlib.image
import numpy as np
import pytest

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.formulations import spatial
from robot_dynamics_ros.tools import compare
from robot_dynamics_ros.tools.comparison import comparison, comparison_figures
from robot_dynamics_ros.tools.comparison.comparison_motions import LECTURE, motion_of
from robot_dynamics_ros.tools.figures import figure_files

FIGURES = {
    *('position', 'velocity', 'acceleration', 'torque', 'torque_1_kg', 'torque_5_kg'),
    *('zero_torque_acceleration', 'zero_torque_position'),
    *('random_torque', 'random_torque_acceleration', 'random_torque_position'),
    *('fall_zero_torque', 'fall_random_torque'),
    *('method_position_error', 'method_energy_error'),
}
DRAWN = 'torque_1_kg', 'method_energy_error'
"""Figures that are drawn, as drawing takes most of the time; the others are empty files."""
ARM = Robot.named('aubo_i5')
BODY = (1.0, '0.1 0.2 0.3', (0.1, 0, 0, 0.1, 0, 0.1))
TREE = (
    *(link('base'), link('trunk', *BODY), link('left', *BODY), link('right', *BODY)),
    small_robots.joint('turn', 'base', 'trunk'),
    small_robots.joint('first', 'trunk', 'left', axis='0 1 0', origin='0.3 0 0'),
    small_robots.joint('second', 'trunk', 'right', axis='1 0 0', origin='-0.3 0 0'),
)
"""A trunk with two branches."""


@pytest.fixture(scope='module')
def compared(tmp_path_factory):
    """Return the folder of the figures and what is printed, for the AUBO-i5 and the motion of the course."""
    folder = tmp_path_factory.mktemp('compare')

    def write_some(path, figure, write=figure_files.write_png):
        write(path, figure) if figure.name in DRAWN else path.touch()

    with redirect_stdout(StringIO()) as printed, pytest.MonkeyPatch.context() as patch:
        patch.setattr(figure_files, 'write_png', write_some)
        compare.main(['--output', str(folder), '--states', '29'])
    return folder, printed.getvalue().splitlines()


@pytest.fixture
def empty_pictures(monkeypatch):
    """Pictures are empty files, for a test that looks at other results: drawing them takes most of the time."""
    monkeypatch.setattr(figure_files, 'write_png', lambda path, figure: path.touch())


def columns(path):
    """Return the columns of a CSV file by their headings."""
    with path.open(encoding='utf-8') as file:
        heading, *rows = csv.reader(file)
    return dict(zip(heading, np.array(rows, float).T, strict=True))


def test_each_figure_is_a_picture_and_a_table(compared):
    folder, lines = compared
    assert {path.name for path in folder.iterdir()} == {
        *(f'{name}.{kind}' for name in FIGURES for kind in ('png', 'csv')),
        'index.html',
    }
    assert all(matplotlib.image.imread(folder / f'{name}.png').shape == (550, 1100, 4) for name in DRAWN)
    assert lines[-1] == f'30 files in {folder}, all figures in {folder / "index.html"}'


def test_compared_formulations_agree(compared):
    """Each pair is in the table, to 1e-12 of the largest torque; Lagrange's equations are left out for six joints."""
    _, lines = compared
    begin = next(i for i, line in enumerate(lines) if line.startswith('largest difference'))
    rows = lines[begin + 1 : begin + 8]
    values = [float(text) for row in rows for text in re.findall(r'\d\.\de-\d\d', row)]
    assert len(values) == 28 and 0.0 < max(values) < 1e-12
    assert [row.split('  ')[0] for row in rows] == [
        *('Newton-Euler', 'Kane', 'screws', 'stacked', 'spatial vectors', 'spatial operators', 'global form'),
    ]
    assert 'left out: lagrange: expected at most 3 joints, got 6' in lines


def test_times_and_operations_of_each_way(compared):
    _, lines = compared
    begin = next(i for i, line in enumerate(lines) if line.startswith('a state'))
    rows = {line[:20].strip(): line[20:].split() for line in lines[begin + 1 : begin + 9]}
    assert list(rows)[-1] == 'compiled kernels' and rows['compiled kernels'][1] == '1'
    products = {name: int(row[2]) for name, row in rows.items() if name != 'global form'}
    assert rows['global form'][2:] == ['-', '-']
    assert min(products, key=products.get) == 'compiled kernels'
    assert max(products, key=products.get) == 'stacked'
    assert all(float(row[1]) > 20 for name, row in rows.items() if name != 'compiled kernels')
    n = 6  # Hollerbach's recursion
    printed = f'printed: Lagrange, recursive, six joints: {412 * n - 277} products, {320 * n - 201} sums'
    assert any(line.startswith(printed) for line in lines)
    assert any('66271 products, 51548 sums' in line for line in lines)


def test_the_table_of_the_documentation_is_current(compared):
    """Its counts are those of the run; its bound of all differences holds."""
    _, lines = compared
    text = (Path(__file__).parents[2] / 'doc' / 'formulations' / 'index.md').read_text(encoding='utf-8')
    begin = next(i for i, line in enumerate(lines) if line.startswith('a state'))
    for line in lines[begin + 1 : begin + 9]:
        *_, products, sums = line[20:].split()
        assert f'| {line[:20].strip()} | {products} | {sums} |' in text
    assert max(float(number) for line in lines for number in re.findall(r'\d\.\de-\d\d', line)) < 1e-14
    assert 'by more than 1e-14' in text


def test_progress_is_shown(compared):
    _, lines = compared
    told = [line.partition('] ')[2] for line in lines if re.match(r'\[ *\d+\.\d s\] ', line)]
    assert told[:3] == ['Lagrange', 'Newton-Euler', 'Kane'] and told[-1] == 'PNG, CSV and page'


@pytest.mark.parametrize(('name', 'mass'), [('torque', 0.0), ('torque_1_kg', 1.0), ('torque_5_kg', 5.0)])
def test_torques_are_those_of_the_payload(compared, name, mass):
    folder, _ = compared
    q, qd, qdd = (columns(folder / f'{figure}.csv') for figure in ('position', 'velocity', 'acceleration'))
    states = [np.array([table[f'{joint} [{unit}]'] for joint in ARM.joint_names]).T for table, unit in (
        (q, 'rad'), (qd, 'rad/s'), (qdd, 'rad/s²'))]  # fmt: skip
    assert np.allclose(states[0][[0, -1]], LECTURE, rtol=0.0, atol=1e-12)
    arm = ARM.with_payload(Payload(mass, (0.0, 0.0, 0.1))) if mass else ARM
    tau = columns(folder / f'{name}.csv')
    shown = np.array([tau[f'{joint} [N m]'] for joint in ARM.joint_names]).T
    assert np.allclose(shown, arm.inverse_dynamics(*states), rtol=0.0, atol=1e-9)


def test_accelerations_are_those_of_the_simulated_motion(compared):
    """Second differences of the positions at zero torque."""
    folder, _ = compared
    q, qdd = (columns(folder / f'zero_torque_{name}.csv') for name in ('position', 'acceleration'))
    h = np.diff(q['time [s]'])[0]
    for joint in ARM.joint_names:
        found = np.diff(q[f'{joint} [rad]'], 2) / h**2
        shown = qdd[f'{joint} [rad/s²]']
        assert np.allclose(found, shown[1:-1], rtol=0.0, atol=2e-2 * np.abs(shown).max() + 1e-6)


def test_higher_orders_have_smaller_errors_at_equal_cost(compared):
    folder, _ = compared
    errors = columns(folder / 'method_position_error.csv')
    last = {name.partition(' [')[0]: values[-1] for name, values in errors.items()}
    assert last['explicit Euler'] > 1e3 * last['RK4'] and last['RK4'] > 10.0 * last['adaptive']


def test_the_page_shows_all_figures_and_their_values(compared, browser):
    """In a real browser: the value under the pointer is that of the CSV file; a joint has one colour everywhere."""
    folder, _ = compared
    watched = Watched(browser, offline=True, color_scheme='light')
    watched.page.goto((folder / 'index.html').as_uri())
    page = watched.page
    shown = page.locator('.plot')
    assert {shown.nth(i).get_attribute('id') for i in range(shown.count())} == FIGURES
    page.locator('#torque_5_kg').scroll_into_view_if_needed()
    box = page.locator('#torque_5_kg .nsewdrag').bounding_box()
    page.mouse.move(1, 1)
    page.mouse.move(box['x'] + 0.5 * box['width'], box['y'] + 0.5 * box['height'])
    texts = page.locator('#torque_5_kg .hoverlayer .legend text')
    texts.first.wait_for()
    head, *values = texts.all_text_contents()
    table = columns(folder / 'torque_5_kg.csv')
    time = float(re.fullmatch(r'time = ([\d.]+) s', head)[1])
    row = int(np.argmin(np.abs(table['time [s]'] - time)))
    assert values == [f'{joint} : {table[f"{joint} [N m]"][row]:.5g} N m' for joint in ARM.joint_names]

    def colours(figure):
        lines = page.locator(f'#{figure} .scatterlayer .js-line').all()
        return [line.evaluate('line => getComputedStyle(line).stroke') for line in lines]

    of_joints = colours('position')
    assert len(set(of_joints)) == 6
    assert all(colours(figure) == of_joints for figure in FIGURES if not figure.startswith('method'))
    assert not set(colours('method_position_error')) & set(of_joints)
    assert watched.requests == [(folder / 'index.html').as_uri()] and watched.console == []


@pytest.mark.parametrize('motion', ['cubic', 'trapezoidal', 'fourier'])
@pytest.mark.usefixtures('empty_pictures')
def test_other_robots_and_motions(motion, tmp_path, capsys):
    """A chain of three joints with a slide: Lagrange's equations are compared, too."""
    path = tmp_path / 'arm.urdf'
    path.write_text(SLIDING_ARM, encoding='utf-8')
    compare.main([str(path), '--motion', motion, '--payload', '2', '--states', '5', '--output', str(tmp_path / 'out')])
    printed = capsys.readouterr().out
    assert 'Lagrange ' in printed and 'left out' not in printed
    assert '[N]' not in printed
    heading = (tmp_path / 'out' / 'torque_2_kg.csv').read_text(encoding='utf-8').partition('\n')[0]
    assert heading == 'time [s],turn [N m or N],slide [N m or N],bend [N m or N]'


@pytest.mark.parametrize(
    ('arguments', 'culprit'),
    [
        (['nobody'], "robot 'nobody' is not part of the package"),
        (['missing.urdf'], 'missing.urdf'),
        (['--step', '0'], '--step'),
        (['--payload', '-1'], '--payload: expected positive masses in kg, got -1'),
        (['--start', '0', '0', '--end', '1', '1'], r'--start: expected shape \(6,\), got \(2,\)'),
        (['--start', '0'], '--start and --end: give both or none'),
        (['--duration', '0'], '--duration: expected a positive time in s, got 0'),
        (['--states', '1'], '--states: expected 2 to 100,000, got 1'),
        (['--duration', '0.05'], "joint 'shoulder_joint' leaves its velocity limits"),
        (['--end', *'700000', '--start', *'000000'], "joint 'shoulder_joint' leaves its position limits"),
        (['--tip-wrench', *['nan'] * 6], '--tip-wrench.*nan is not finite'),
        (['--payload', '1', '1.0'], '--payload: expected different masses, got 1 kg twice'),
        (['--loops', 'missing.yaml'], r'missing\.yaml: cannot be read'),
        (['--seed', '-1'], '--seed: expected at least 0, got -1'),
        (['--states', '1000000000000'], '--states: expected 2 to 100,000, got 1000000000000'),
        (['--tip-link', 'base_link'], 'robot: aubo_i5 has no joint that moves'),
        (['--base-link', 'upperArm_Link'], "gravity: joint 'upperArm_joint' moves between"),
        (['--base-link', 'wrist3_Link', '--gravity', '0', '0', '-9.81'], 'robot: aubo_i5 has no joint that moves'),
    ],
)
def test_a_wrong_option_gets_one_clear_line(arguments, culprit, tmp_path):
    with pytest.raises(SystemExit) as ended:
        compare.main([*arguments, '--output', str(tmp_path / 'out')])
    assert re.search(culprit, str(ended.value)) and str(ended.value).startswith('robot_dynamics_compare: ')
    assert '\n' not in str(ended.value) and not (tmp_path / 'out').exists()


@pytest.mark.parametrize(
    ('arguments', 'culprit'),
    [(['--payload', 'two'], "--payload: invalid float value: 'two'"), (['--motion', 'jump'], "invalid choice: 'jump'")],
)
def test_an_option_that_is_no_number_or_choice_gets_one_line_too(arguments, culprit, capsys):
    with pytest.raises(SystemExit) as ended:
        compare.main(arguments)
    line = capsys.readouterr().err
    assert (
        ended.value.code == 1
        and culprit in line
        and line.startswith('robot_dynamics_compare: ')
        and line.count('\n') == 1
    )


def test_a_file_in_place_of_the_folder_is_found_before_the_work(capsys):
    with pytest.raises(SystemExit, match=r'^robot_dynamics_compare: --output: .*test_compare\.py is a file; expected'):
        compare.main(['--output', f'{__file__}/out'])
    assert capsys.readouterr().out == ''


@pytest.mark.parametrize('package', compare.PACKAGES)
def test_a_missing_package_is_named_before_the_work(package, monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(SystemExit, match=f'^robot_dynamics_compare: this needs {package}, which is not installed'):
        compare.main(['--output', str(tmp_path / 'out')])
    assert capsys.readouterr().out == '' and not (tmp_path / 'out').exists()


def test_an_interrupt_ends_without_a_traceback(monkeypatch, tmp_path):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(compare, 'compare', interrupted)
    with pytest.raises(SystemExit, match=r'^robot_dynamics_compare: interrupted$'):
        compare.main(['--output', str(tmp_path / 'out')])
    assert not (tmp_path / 'out').exists()


@pytest.mark.usefixtures('empty_pictures')
def test_figures_of_a_simulation_that_fails_are_left_out_with_a_true_hint(monkeypatch, tmp_path, capsys):
    """A light finger leaves all numbers; the tables and the other figures are finished."""
    steps = []

    def fail(robot, q, qd, torque=None, duration=1.0, step=None, *_, **named):
        steps.append(step)
        raise ArgumentError('simulation: the state is not finite; choose a smaller step than 0.0005 s')

    monkeypatch.setattr(comparison_figures, 'simulate', fail)
    monkeypatch.setattr(comparison, 'FORMULATIONS', {'spatial vectors': spatial})
    compare.main(['--states', '2', '--step', '0.0005', '--output', str(tmp_path)])
    printed = capsys.readouterr().out
    assert 'largest difference' in printed
    expected = {f'{name}.png' for name in FIGURES if not name.startswith(('zero_', 'random_', 'fall_', 'method_'))}
    assert {path.name for path in tmp_path.glob('*.png')} == expected
    left_out = re.findall('left out: (.*)', printed)
    assert [line.partition(':')[0] for line in left_out] == [
        'motion without torque',
        'motion under random torque',
        'fall of 10 s',
        'Euler, RK4 and adaptive steps at equal cost',
    ]
    assert steps[:3] == [0.0005] * 3
    assert ['choose a smaller step' in line for line in left_out] == [True, True, True, False]


@pytest.mark.parametrize('kind', ['planar', 'free'])
def test_a_joint_that_figures_have_no_unit_for_is_named(kind):
    with pytest.raises(ArgumentError, match=f"joint 'a' of r is {kind}; expected revolute or prismatic joints"):
        motion_of(general(kind), 'quintic', None, None, 1.0, 5, 0)


def test_a_tree_is_compared_by_spatial_vectors():
    """The page of formulations says that they represent trees; the others are left out, the joint named."""
    tree = small_robots.robot(*TREE)
    states = np.random.default_rng(0).uniform(-1.0, 1.0, (3, 4, tree.nv))
    compared = comparison.compare(tree, *states, np.arange(6.0), lambda _: None)
    assert [way.name for way in compared.ways] == ['Kane', 'spatial vectors', 'global form', 'compiled kernels']
    assert compared.disagreements()['spatial vectors', 'compiled kernels'] < 1e-14
    assert len(compared.refused) == 5
    assert all("joint 'second' begins a branch" in reason for reason in compared.refused.values())


def test_a_long_chain_is_compared_without_the_operations_of_stacked_vectors(monkeypatch):
    monkeypatch.setattr(comparison, 'MOST_STACKED', 1)
    states = np.random.default_rng(0).uniform(-1.0, 1.0, (3, 2, 3))
    ways = {way.name: way for way in comparison.compare(mixed(), *states, np.arange(6.0), lambda _: None).ways}
    assert ways['stacked'].multiplications is None and ways['screws'].multiplications > 0
    assert f'{"-":>12}' in compare.table_of_ways(comparison.Comparison(list(ways.values()), {}))


@pytest.mark.usefixtures('empty_pictures')
def test_the_motion_is_played_back_on_request(tmp_path, monkeypatch):
    """``--view`` hands motion, torques and URDF to the viewer."""
    shown = []
    view = sys.modules.get('robot_dynamics_ros.tools.view') or __import__(
        'robot_dynamics_ros.tools.view', fromlist=['x']
    )
    monkeypatch.setattr(view, 'view', lambda *arguments: shown.append(arguments))
    compare.main(['--view', '--states', '3', '--payload', '2', '--output', str(tmp_path)])
    ((robot, t, q, torque, urdf),) = shown
    assert len(t) == 3 and urdf == 'aubo_i5'
    assert {link: payload.mass for link, payload in robot.payloads.items()} == {'wrist3_Link': 2.0}
    assert np.allclose(torque, robot.inverse_dynamics(q, 0.0 * q, 0.0 * q), atol=5.0)
    assert np.allclose(q[[0, -1]], LECTURE)


SLIDING_ARM = """<robot name="sliding_arm">
  <link name="base"/>
  <link name="a"><inertial><origin xyz="0.1 0 0"/><mass value="2"/>
    <inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="b"><inertial><origin xyz="0 0 0.1"/><mass value="1"/>
    <inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="c"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
    <inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="turn" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/></joint>
  <joint name="slide" type="prismatic"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/><origin xyz="0.2 0 0"/>
    <limit lower="-0.3" upper="0.3" effort="50" velocity="3"/></joint>
  <joint name="bend" type="revolute"><parent link="b"/><child link="c"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="20" velocity="20"/></joint>
</robot>"""


def test_a_circle_is_one_and_the_last_link_does_not_turn():
    motion = motion_of(ARM, 'circle', None, None, 8.0, 41, 0)
    poses = ARM.link_pose(motion.q, 'wrist3_Link')
    p = poses[:, :3, 3]
    centre = 0.5 * (p[0] + p[20])
    assert np.allclose(np.linalg.norm(p - centre, axis=1), 0.1, rtol=0.0, atol=1e-9)
    assert np.allclose(p[:, 2], p[0, 2], rtol=0.0, atol=1e-9) and np.allclose(p[0], p[-1], rtol=0.0, atol=1e-9)
    assert np.allclose(poses[:, :3, :3], poses[0, :3, :3], rtol=0.0, atol=1e-9)
    assert np.degrees(motion.q[0]) == pytest.approx([20, -40, 60, 30, 90, 10]) and not motion.qd[[0, -1]].any()
    # rates are derivatives: Hermite's rule over a step, exact up to the fourth derivative
    step = motion.t[1]
    change = 0.5 * step * (motion.qd[:-1] + motion.qd[1:]) + step**2 / 12.0 * (motion.qdd[:-1] - motion.qdd[1:])
    assert np.abs(np.diff(motion.q, axis=0) - change).max() < 1e-4 * np.abs(motion.q).max()


def test_a_circle_beyond_reach_is_refused():
    with pytest.raises(ArgumentError, match=r"^--motion circle: 'wrist3_Link' does not reach"):
        motion_of(ARM, 'circle', LECTURE[1], LECTURE[0], 8.0, 41, 0)
