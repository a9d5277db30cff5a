"""Joint types: what is not stated, the directions of a joint, and its axis from its columns of S."""

from dataclasses import fields

import numpy as np
import pytest

from robot_dynamics_ros.model.joint_types import Joint, axis_of, directions_of

pytestmark = pytest.mark.plain

NOT_STATED = {
    **dict.fromkeys(('rotor', 'spin', 'pitch', 'viscous', 'coulomb', 'offset', 'stribeck', 'load', 'quadratic'), 0.0),
    **dict.fromkeys(('velocity', 'effort', 'gear_ratio', 'torque_constant'), np.nan),
    **{'lower': -np.inf, 'upper': np.inf, 'transition': 0.01, 'stribeck_velocity': 0.1},
}


def joint(kind='revolute', axis=(0.0, 0.0, 1.0)):
    return Joint('a', 'arm', 'base', kind, np.array(axis), np.eye(3), np.zeros(3), np.zeros(10))


def test_what_is_not_stated_is_zero_or_unknown():
    found = {field.name: getattr(joint(), field.name) for field in fields(Joint) if field.name in NOT_STATED}
    assert found.keys() == NOT_STATED.keys()
    assert list(found.values()) == pytest.approx([NOT_STATED[name] for name in found], abs=0.0, nan_ok=True)


@pytest.mark.parametrize(
    ('axis', 'across'),
    [((0.0, 0.0, 1.0), (1.0, 0.0, 0.0)), ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)), ((0.6, 0.0, 0.8), None)],
)
def test_directions_are_the_axis_and_two_across(axis, across):
    rows = directions_of(joint(axis=axis))
    assert rows @ rows.T == pytest.approx(np.eye(3)) and np.linalg.det(rows) == pytest.approx(1.0)
    assert rows[0] == pytest.approx(axis)
    assert across is None or rows[1] == pytest.approx(across)
    assert directions_of(joint('spherical', axis)) == pytest.approx(np.eye(3))


def test_the_axis_follows_from_the_columns():
    axis = np.array([0.6, 0.0, 0.8])
    turning, sliding = np.concatenate([axis, np.zeros(3)]), np.concatenate([np.zeros(3), axis])
    for kind, S in (
        ('revolute', [turning]),
        ('prismatic', [sliding]),
        ('helical', [turning + 0.2 * sliding]),
        ('cylindrical', [turning, sliding]),
    ):
        assert axis_of(kind, np.array(S)).tolist() == axis.tolist(), kind
    assert axis_of('spherical', np.zeros((3, 6))).tolist() == [0.0, 0.0, 1.0]
