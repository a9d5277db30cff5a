"""What ``print(robot)`` and notebooks show, and limits that are changed."""

from xml.etree import ElementTree

from support.robots.facade_robots import robot_of
from support.robots.mechanisms import MECHANISMS

import numpy as np
import pytest

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.control.arm.static_torque import largest_static_torque
from robot_dynamics_ros.errors import ArgumentError


def test_the_table_has_a_row_for_each_joint_with_what_it_carries():
    robot = Robot.named('aubo_i5').with_payload(Payload(2.0, (0.0, 0.0, 0.1)))
    about, head, *rows = str(robot).splitlines()
    gravity = largest_static_torque(robot).torque
    masses = robot.inertial_parameters.reshape(-1, 10)[:, 0]
    assert about.startswith('aubo_i5: 6 joints on ') and about.endswith('payload on wrist3_Link 2 kg')
    assert f'moving mass {masses.sum():.4g} kg' in about
    assert head.startswith('joint ') and head.endswith('mass, kg  carried, kg')
    for k, row in enumerate(rows):
        assert row.split()[0] == robot.joint_names[k] and f'{robot.limits.effort[k]:.4g}' in row.split()
        needed = gravity[k] if gravity[k] > 1e-9 else 0.0
        share = round(100.0 * needed / robot.limits.effort[k])
        shown, percent, sign, link = row.split()[-6:-2]
        # the number that check_model has
        assert shown == f'{needed:.4g}' and (percent, sign) == (str(share), '%')
        assert link == robot.link_names[k + 1]
        assert row.split()[-2:] == [f'{masses[k]:.4g}', f'{masses[k:].sum():.4g}']
    assert len(rows) == 6


def test_unknown_limits_and_joints_of_several_coordinates_have_a_dash():
    text = str(robot_of('tree'))
    assert '-2 .. 2' in text and text.splitlines()[-1].split()[6] == '-'
    assert text.splitlines()[-1].split()[8] == '-', 'share of an unknown limit'
    delta = str(MECHANISMS['delta'].robot)
    assert '6 closed loops' in delta.splitlines()[0]
    assert delta.splitlines()[2].split()[:5] == ['platform', 'joint', 'free', '-', '-']


@pytest.mark.parametrize('name', ['delta', 'palletizer'])
def test_closed_loops_have_no_gravity_of_each_joint(name):
    _, head, *rows = str(MECHANISMS[name].robot).splitlines()
    gravity, share = head.index('gravity'), head.index('share')
    assert {(row[gravity], row[share]) for row in rows} == {('-', '-')}


def test_notebooks_get_the_same_cells():
    robot = Robot.named('aubo_i5')
    root = ElementTree.fromstring(f'<all>{robot._repr_html_()}</all>')
    cells = [cell.text for cell in root.iter() if cell.tag in ('th', 'td')]
    assert [word for cell in cells for word in cell.split()] == ' '.join(str(robot).splitlines()[1:]).split()


def test_limits_change_and_others_stay():
    robot = Robot.named('aubo_i5')
    changed = robot.with_limits(velocity=1.5, lower=[-1.0, -2.0, -3.0, -1.0, -2.0, -3.0], effort=np.inf)
    assert changed.limits.velocity.tolist() == [1.5] * 6 and changed.limits.lower.tolist() == [-1, -2, -3, -1, -2, -3]
    assert changed.limits.upper.tolist() == robot.limits.upper.tolist() and np.isinf(changed.limits.effort).all()
    assert changed.digest == robot.digest


WRONG = {
    'crossed': ({'lower': 4.0}, r"^lower of joint 'shoulder_joint': 4 is above upper, 3\.0"),
    'zero': ({'velocity': [1, 1, 0, 1, 1, 1]}, r"^velocity of joint 'foreArm_joint': expected above 0, got 0"),
    'shape': ({'effort': [1.0, 2.0]}, r'^effort: expected a number or \(6,\) of them'),
    'NaN': ({'effort': np.nan}, r'^effort: expected a number'),
    'name': ({'torque': 1.0}, r"^limits: expected one of lower, upper, velocity, effort, got 'torque'"),
}


@pytest.mark.parametrize(('limits', 'said'), WRONG.values(), ids=WRONG)
def test_wrong_limits_are_refused_by_name(limits, said):
    with pytest.raises(ArgumentError, match=said):
        Robot.named('aubo_i5').with_limits(**limits)
