"""The residual torque: its features, its bound, and its place among the torque terms."""

from support.robots.small_robots import AUBO, mixed

import numpy as np
import pytest

from robot_dynamics_ros.control.terms.compensation import TERMS, Compensation, checked_terms
from robot_dynamics_ros.control.terms.feedforward_terms import TorqueTerms, mismatch
from robot_dynamics_ros.control.terms.residual_torque import ResidualTorque
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.formats.yaml_files.residual_yaml import WEIGHTS
from robot_dynamics_ros.model.residual import FEATURES, ResidualModel

RANDOM = np.random.default_rng(4)
N = np.array([121.0, 121.0, 0.0, 101.0, 101.0, 101.0])
MODEL = ResidualModel(
    AUBO.digest, tuple(AUBO.joint_names), N, np.full(6, 2.0), np.repeat([30.0, 4.0], 3), RANDOM.normal(size=(6, 13))
)
Q, QD = RANDOM.normal(size=(2, 6))


def expected(model, q, qd):
    """The sum of the features by name, joint by joint."""
    total = np.zeros(len(q))
    for i, (N, fastest) in enumerate(zip(model.gear_ratio, model.fastest, strict=True)):
        qd_i = np.clip(qd[i], -fastest, fastest)
        s = qd_i / np.hypot(qd_i, 0.02)
        sin, cos, root = np.sin, np.cos, np.sqrt(np.abs(qd_i))
        angles = q[i], N * q[i]
        by_name = {'s': s, 's sqrt|qd|': s * root, 'qd': qd_i, 's sin q': s * sin(q[i]), 's cos q': s * cos(q[i])}
        for name, angle in zip(('q', 'Nq'), angles, strict=True):
            by_name |= {f'sin {name}': sin(angle), f'cos {name}': cos(angle)}
            by_name |= {f'sin 2{name}': sin(2.0 * angle), f'cos 2{name}': cos(2.0 * angle)}
        total[i] = sum(weight * by_name[name] for weight, name in zip(model.weights[i], FEATURES, strict=True))
    return np.clip(total, -model.bound, model.bound)


def test_features_are_what_their_names_say():
    assert len(FEATURES) == WEIGHTS
    torque = np.arange(6.0)
    ResidualTorque(AUBO, MODEL).add(Q, QD, torque)
    assert np.abs(torque - np.arange(6.0) - expected(MODEL, Q, QD)).max() < 1e-11


def test_the_torque_is_bounded_at_any_velocity():
    bounded = MODEL._replace(bound=np.full(6, 0.5))
    found = []
    for qd in (QD, 1e3 * QD, -1e300 * QD):
        torque = np.zeros(6)
        ResidualTorque(AUBO, bounded).add(Q, qd, torque)
        found.append(torque)
        assert np.abs(torque - expected(bounded, Q, qd)).max() < 1e-11
    assert np.abs(found).max() == 0.5
    fast, faster = np.zeros((2, 6))
    term = ResidualTorque(AUBO, MODEL)
    term.add(Q, np.full(6, 2.0), fast)
    term.add(Q, np.full(6, 9.0), faster)
    assert np.array_equal(fast, faster)  # beyond what was fitted nothing grows


def test_it_is_one_more_term_of_the_compensation():
    with_it, without = np.zeros((2, 6))
    Compensation(AUBO, [*TERMS, 'residual'], MODEL).torque(Q, QD, QD, with_it)
    Compensation(AUBO, TERMS).torque(Q, QD, QD, without)
    assert np.abs(with_it - without - expected(MODEL, Q, QD)).max() < 1e-10


@pytest.mark.parametrize(
    ('terms', 'model', 'reason'),
    [
        (['gravity', 'residual'], MODEL, 'needs the term friction'),
        ([*TERMS, 'residual'], None, 'residual_file: the term residual needs a file'),
        (TERMS, MODEL, 'residual_file: compensation lacks the term residual'),
        ([*TERMS, 'residual'], MODEL._replace(model_digest='0'), 'residual: it was fitted to another model'),
        ([*TERMS, 'residual'], MODEL._replace(joint_names=MODEL.joint_names[::-1]), 'residual model is for joints'),
    ],
)
def test_a_residual_that_does_not_belong_is_refused(terms, model, reason):
    with pytest.raises(ArgumentError, match=reason):
        Compensation(AUBO, terms, model)


def test_terms_come_in_one_order_and_residual_only_where_asked_for():
    assert checked_terms(['residual', 'friction', 'gravity']) == ('gravity', 'friction', 'residual')
    assert 'residual' not in TERMS


def test_a_consumer_adds_it_with_friction_alone():
    needed = TorqueTerms(('a',), TERMS, 'node', 'd', (0.0, 0.0, 0.0), ())
    assert mismatch(needed._replace(terms=(*TERMS, 'residual')), needed) == ''
    without = needed._replace(terms=TERMS[:3])
    assert mismatch(needed._replace(terms=('gravity', 'residual')), without).startswith('it contains residual')


def test_it_serves_turning_and_sliding_joints():
    robot = mixed()
    model = ResidualModel(robot.digest, tuple(robot.joint_names), np.zeros(3), np.ones(3), np.ones(3), np.ones((3, 13)))
    torque = np.zeros(3)
    ResidualTorque(robot, model).add(Q[:3], QD[:3], torque)
    assert np.abs(torque - expected(model, Q[:3], QD[:3])).max() < 1e-11


def test_a_bound_beyond_a_share_of_the_effort_limit_is_refused():
    bound = 0.2 * AUBO.limits.effort
    ResidualTorque(AUBO, MODEL._replace(bound=bound.copy()))
    bound[4] = 0.31 * AUBO.limits.effort[4]
    with pytest.raises(
        ArgumentError, match=r"joint 'wrist2_joint': its bound of .* more than 30 % of the effort limit"
    ):
        ResidualTorque(AUBO, MODEL._replace(bound=bound.copy()))
