"""Base parameters two ways: by grouping rules and by QR decomposition of regressors at random states."""

from functools import cache

from support.robots import random_trees as trees

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.model.base_parameters import base_parameters, base_parameters_of_regressors
from robot_dynamics_ros.model.joint_types import Joint
from robot_dynamics_ros.model.regrouping import regrouped

pytestmark = pytest.mark.plain

TOLERANCE = 1e-9
STATES = 60  # more equations than the largest robot here has parameters
DOWN, ASIDE, TILTED, NONE = (0.0, 0.0, -9.81), (0.0, -9.81, 0.0), (1.0, 2.0, -9.0), (0.0, 0.0, 0.0)
X, Y, Z = np.eye(3)


def arm(*kinds_and_axes):
    """Return the arrays of a chain; links are 0.3 m to 0.5 m apart in all directions."""
    joints = []
    for i, (kind, axis) in enumerate(kinds_and_axes):
        parent, origin = f'link_{i - 1}' if i else 'base', np.array([0.3, 0.4, 0.5])
        joints.append(Joint(f'joint_{i}', f'link_{i}', parent, kind, axis, np.eye(3), origin, np.zeros(10)))
    return trees.arrays_of(joints)


def turning(*axes):
    return [('revolute', axis) for axis in axes]


def sliding(*axes):
    return [('prismatic', axis) for axis in axes]


AUBO = Robot.named('aubo_i5')._model.arrays
CASES = {
    # arrays, gravity, how many base parameters
    'aubo_i5': (AUBO, DOWN, 36),  # 7 a joint, but of link 1 only zz
    'aubo_i5 on the ceiling': (AUBO, (0.0, 0.0, 9.81), 36),
    'aubo_i5 on a wall': (AUBO, ASIDE, 38),  # and x, y of link 1's first moment
    'aubo_i5 tilted': (AUBO, TILTED, 38),
    'aubo_i5 without gravity': (AUBO, NONE, 34),  # nor x, y of link 2's, whose origin rests
    'one joint upright': (arm(*turning(Z)), DOWN, 1),
    'one joint level': (arm(*turning(Y)), DOWN, 3),
    'one slide': (arm(*sliding(X)), DOWN, 1),
    'plane, lying': (arm(*turning(Z, Z)), DOWN, 4),  # zz of both, x, y of the outer first moment
    'plane, standing': (arm(*turning(Y, Y)), DOWN, 6),
    'plane of three, lying': (arm(*turning(Z, Z, Z)), DOWN, 7),
    'gantry': (arm(*sliding(X, Y, Z)), DOWN, 3),  # three masses
    'two slides along one line': (arm(*sliding(X, X)), ASIDE, 2),
    'SCARA': (arm(*turning(Z, Z), *sliding(Z), *turning(Z)), DOWN, 8),
    'slide, then two turns': (arm(*sliding(X), *turning(Z, Y)), DOWN, 11),
    'turn, then slide outwards': (arm(*turning(Z), *sliding(X)), DOWN, 4),
    'cross': (arm(*turning(Z, X)), DOWN, 8),
}
for seed in range(6):
    tree = trees.random_joints(40 + seed, count=1 + seed, prismatic=0.4)
    CASES[f'tree {seed}'] = trees.arrays_of(tree), trees.random_state(tree, seed).gravity, None


@cache
def regressors(case, seed=0):
    """Return torque regressors at random states, (STATES n, 10 n)."""
    arrays, gravity, _ = CASES[case]
    n = len(arrays.parent) - 1
    states = np.random.default_rng(seed).normal(size=(STATES, 3, n))
    return np.concatenate([trees.torque_regressor(arrays, *state, np.array(gravity)) for state in states])


@cache
def both(case):
    arrays, gravity, _ = CASES[case]
    return base_parameters(arrays, gravity), base_parameters_of_regressors(regressors(case))


ALL = pytest.mark.parametrize('case', CASES)


@ALL
def test_both_ways_find_as_many_as_the_regressors_have_rank(case):
    sizes = np.linalg.svd(regressors(case), compute_uv=False)
    counts = {len(found.independent) for found in both(case)}
    assert counts == {np.sum(sizes > 1e-8 * sizes[0])} == {np.sum(sizes > 1e-12 * sizes[0])}
    assert CASES[case][2] in (None, *counts)


@pytest.mark.compiled
@ALL
def test_base_parameters_give_the_same_torques(case):
    Y = regressors(case, seed=1)
    for found in both(case):
        for pi in np.random.default_rng(2).normal(size=(5, Y.shape[1])):
            tau = Y @ pi
            assert np.abs(Y[:, found.independent] @ (found.regrouping @ pi) - tau).max() < TOLERANCE * abs(tau).max()


@ALL
def test_the_columns_that_stay_are_independent_and_count_themselves(case):
    for found in both(case):
        kept = regressors(case, seed=1)[:, found.independent]
        assert np.linalg.cond(kept / np.linalg.norm(kept, axis=0)) < 1e4
        assert (found.regrouping[:, found.independent] == np.eye(len(found.independent))).all()
        assert (np.diff(found.independent) > 0).all()


@ALL
def test_both_ways_group_alike(case):
    """The base parameters of one way follow from those of the other."""
    one, two = both(case)
    for a, b in ((one, two), (two, one)):
        assert np.abs(a.regrouping[:, b.independent] @ b.regrouping - a.regrouping).max() < TOLERANCE


@pytest.mark.parametrize('seed', range(5))
def test_fewer_parameters_of_the_kernels_have_the_same_base_parameters(seed):
    joints = trees.random_joints(seed, count=6)
    arrays, fewer = trees.arrays_of(joints), regrouped(trees.arrays_of(joints))
    assert np.abs(fewer.I - arrays.I).max() > 0.1
    regrouping = base_parameters(arrays, TILTED).regrouping
    expected = regrouping @ arrays.I[1:].ravel()
    assert trees.relative_error(regrouping @ fewer.I[1:].ravel(), expected) < 1e-12


def test_the_aubo_i5_keeps_the_parameters_of_the_book():
    """Of a link that turns about its z: all but m, m c_z and J_yy; of the upright first one J_zz."""
    kept = Robot.named('aubo_i5').base_parameters().independent
    by_link = [(kept[kept // 10 == link] % 10).tolist() for link in range(6)]
    assert by_link == [[9], *[[1, 2, 4, 5, 6, 8, 9]] * 5]


def test_a_robot_uses_its_own_gravity():
    robot = Robot.named('aubo_i5')
    assert len(robot.base_parameters().independent) == 36
    assert len(robot.with_gravity(ASIDE).base_parameters().independent) == 38
    assert robot.base_parameters().regrouping.shape == (36, 60)


def test_angles_of_few_digits_need_a_tolerance():
    """The AUBO-i5 as a description would have it that writes 1.5708: hardly parallel axes count only if asked to."""
    slip = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, -3.7e-6], [0.0, 3.7e-6, 1.0]])
    rounded = AUBO._replace(**{name: getattr(AUBO, name) @ slip for name in ('E0', 'Ec', 'Es')})
    assert len(base_parameters(rounded, DOWN).independent) > 36
    found = base_parameters(rounded, DOWN, 1e-4)
    assert len(found.independent) == 36
    q, qd, qdd, pi = np.random.default_rng(0).normal(size=(4, 60))
    Y = trees.torque_regressor(rounded, q[:6], qd[:6], qdd[:6], np.array(DOWN))
    assert np.abs(Y[:, found.independent] @ (found.regrouping @ pi) - Y @ pi).max() < 1e-4 * np.abs(Y @ pi).max()


def test_a_robot_without_joints_has_none():
    found = Robot.from_urdf('<robot name="stone"><link name="stone"/></robot>').base_parameters()
    assert found.independent.shape == (0,) and found.regrouping.shape == (0, 0)


@pytest.mark.parametrize(('gravity', 'expected'), [(DOWN, 36), (ASIDE, 38), (NONE, 34)])
def test_regressors_of_pinocchio_have_that_rank(gravity, expected):
    pin = pytest.importorskip('pinocchio', minversion='3.4', reason='Pinocchio (package pin) is not installed')
    from robot_dynamics_ros.formats.library import named_urdf  # noqa: PLC0415

    model = pin.buildModelFromUrdf(str(named_urdf('aubo_i5')))
    model.gravity.linear = np.array(gravity)
    data = model.createData()
    states = np.random.default_rng(0).normal(size=(STATES, 3, 6))
    stacked = [pin.computeJointTorqueRegressor(model, data, *state).copy() for state in states]
    assert np.linalg.matrix_rank(np.concatenate(stacked), tol=1e-8) == expected
