"""Records, tables and plots of the demo: a record that lacks samples is refused, and any arm has its table and plot."""

from types import SimpleNamespace

from support.control.tracking_experiment import tracked

import numpy as np
import pytest

from robot_dynamics_ros.errors import DynamicsError
from robot_dynamics_ros.tools import demo
from robot_dynamics_ros.tools.demonstration import tracking_comparison
from robot_dynamics_ros.tools.demonstration.completed_arm import RATE
from robot_dynamics_ros.tools.demonstration.demo_arm import demo_arm
from robot_dynamics_ros.tools.demonstration.motions import LECTURE
from robot_dynamics_ros.tools.demonstration.tracking import Record, Tracking
from robot_dynamics_ros.tools.processes import ProcessError

START = 5_000_000_000


def record(times):
    tracking = Tracking.__new__(Tracking)  # without its graph
    tracking._samples = [(START + round(t * 1e9), np.zeros(6), np.ones(6)) for t in times]
    return tracking._record(LECTURE, START)


def test_a_whole_record_holds_the_desired_motion_of_an_arm_that_stands_still_at_zero():
    whole = record(np.linspace(0.0, 2.2, 111))
    assert len(whole.time) == 111
    assert whole.error[-1] == pytest.approx(LECTURE.positions[-1])


@pytest.mark.parametrize('times', [[], [2.2], [0.0, 0.1, 0.9, 1.0], [-0.2, -0.1]])
def test_a_record_with_a_gap_is_refused(times):
    with pytest.raises(ProcessError, match='joint states with gaps'):
        record(times)


class InProcess:
    """Stands in for what the demo starts: a simulated arm in this process, worse than it is by a factor."""

    def __init__(self, *_):
        self.arm, self.worse = None, {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def play(self, motion, law):
        assert (motion.positions == self.arm.motion.positions).all()
        found = tracked(self.arm.robot, law, self.arm.gains, motion.trajectory(), self.arm.effort_limit, RATE)
        return Record(found.time, found.error * self.worse.get(law, 1.0), found.torque)


@pytest.fixture
def played(monkeypatch, tmp_path, capsys):
    """Run the command for a slide with an arm; return what it printed, and the folder of its output."""
    stand_in = InProcess()
    for name, made in (('Processes', InProcess), ('Client', InProcess), ('Tracking', lambda *_: stand_in)):
        monkeypatch.setattr(tracking_comparison, name, made)
    file = tmp_path / 'crane.urdf'
    file.write_text(CRANE)
    arguments = ['--model', str(file), '--effort-limit', '200, .inf', '--output', str(tmp_path / 'output')]

    def run(**worse):
        stand_in.arm, stand_in.worse = demo_arm(str(file), effort_limit=[200.0, np.inf]), worse
        monkeypatch.setattr('sys.argv', ['demo', *arguments])
        try:
            demo.main()
        except SystemExit as error:
            return SimpleNamespace(printed=capsys.readouterr().out, error=str(error), folder=tmp_path / 'output')
        return SimpleNamespace(printed=capsys.readouterr().out, error='', folder=tmp_path / 'output')

    return run


CRANE = """<robot name="crane"><link name="base"/>
  <link name="car"><inertial><mass value="3"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="rail" type="prismatic"><parent link="base"/><child link="car"/><axis xyz="1 0 0"/>
    <limit lower="-0.5" upper="0.5" effort="100" velocity="1"/></joint>
  <link name="boom"><inertial><mass value="2"/><origin xyz="0.3 0 0"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="lift" type="continuous"><parent link="car"/><child link="boom"/><axis xyz="0 1 0"/></joint></robot>"""


def test_an_arm_of_a_description_has_a_table_and_a_plot_with_its_units(played):
    run = played()
    assert run.error == ''
    rows = [line.split() for line in run.printed.splitlines() if line.startswith(('rail', 'lift'))]
    assert [row[:2] for row in rows] == [['rail', '(mm)'], ['lift', rows[1][1]]]
    # PD + gravity and PD + feedforward, RMS, then their ratio
    for row in (rows[0][2:], rows[1][1:]):
        assert float(row[6]) == pytest.approx(float(row[4]) / float(row[2]), abs=0.01)
        assert float(row[6]) < 1.0 / 3.0
    assert (run.folder / 'tracking_motion.png').stat().st_size > 10_000
    assert 'rotor inertias that the description lacks' in run.printed
    assert 'joints without an effort limit: lift' in run.printed


def test_the_demo_of_an_arm_fails_where_feedforward_is_worth_too_little(played):
    run = played(pd_feedforward=5.0)
    assert run.error.startswith(
        'robot_dynamics_demo: RMS error of a joint: expected PD + feedforward / PD + gravity <= 0.333'
    )
    assert DynamicsError.__name__ not in run.printed
