"""The nearest consistent inertias: against NumPy's eigenvalues and among random bodies; what is kept and reported."""

import dataclasses

from support.matrices import matrix
from support.robots import random_trees as trees
from support.robots.facade_robots import TREE
from support.rounding import bound

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.model.audit import judged, refusals
from robot_dynamics_ros.model.consistent_inertias import correction, eigenvalues, with_consistent_inertias
from robot_dynamics_ros.model.inertial_parameters import central_parameters, ten_parameters
from robot_dynamics_ros.model.model import Model

pytestmark = pytest.mark.plain

SEED = pytest.mark.parametrize('seed', matrix(range(60), range(12)))
FLAWED = TREE.replace('iyy="0.03"', 'iyy="0.12"')  # the sledge's: 0.12 > 0.02 + 0.02


def moments_of(row):
    """Return the central second moments (3, 3) of ten parameters (10,)."""
    inertia = central_parameters(row)[2]
    return 0.5 * np.trace(inertia) * np.eye(3) - inertia


def random_row(seed, scale=1.0):
    """Return ten parameters of a random symmetric inertia, which most bodies do not have."""
    rng = np.random.default_rng(seed)
    inertia = rng.normal(size=(3, 3))
    return ten_parameters(rng.uniform(0.1, 5.0), rng.normal(size=3) * 0.1, scale * (inertia + inertia.T))


@pytest.mark.rounding
@SEED
def test_eigenvalues_are_those_of_lapack(seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(3, 3)) * 10.0 ** rng.uniform(-8, 4)
    A = A + A.T
    if seed % 3 == 0:
        A[0, 1] = A[1, 0] = A[0, 2] = A[2, 0] = 0.0
    values, vectors = eigenvalues(A)
    scale = np.abs(A).max()
    np.testing.assert_allclose(sorted(values), np.linalg.eigvalsh(A), rtol=0, atol=bound(40, 3, scale=scale))
    V = np.array(vectors).T
    np.testing.assert_allclose(V.T @ V, np.eye(3), rtol=0, atol=bound(40, 3))
    np.testing.assert_allclose(A @ V, V * values, rtol=0, atol=bound(70, 3, scale=scale))


def test_eigenvalues_of_a_diagonal_and_of_nothing():
    assert eigenvalues(np.diag([3.0, 1.0, 2.0]))[0] == [3.0, 1.0, 2.0]
    assert eigenvalues(np.zeros((3, 3)))[0] == [0.0, 0.0, 0.0]


@pytest.mark.rounding
@SEED
def test_no_consistent_body_is_nearer(seed):
    row = random_row(seed)
    P, change = moments_of(row), correction(row)
    values, vectors = np.linalg.eigh(P)
    largest, nearest = bound(40, 3, scale=np.abs(P).max()), vectors * np.maximum(values, 0.0) @ vectors.T
    np.testing.assert_allclose(P + change, nearest, rtol=0, atol=largest)
    rng = np.random.default_rng(seed + 1000)
    for _ in range(20):
        root = rng.normal(size=(3, 3)) * rng.uniform(0.0, 1.0)
        other = P + change + 0.1 * (root @ root.T - (P + change)) * rng.uniform(0.0, 1.0)
        assert np.linalg.norm(other - P) >= np.linalg.norm(change) - largest


@SEED
def test_consistent_bodies_stay_as_they_are(seed):
    model = Model.of('random', trees.BASE, trees.random_joints(seed, count=5))
    assert with_consistent_inertias(model).arrays.I.tolist() == model.arrays.I.tolist()
    # a plate without thickness is consistent, whatever its orientation
    rotation = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    plate = ten_parameters(2.0, [0.0, 0.0, 0.0], rotation @ np.diag([0.01, 0.02, 0.03]) @ rotation.T)
    assert not correction(plate).any()


def test_a_corrected_robot_has_the_same_gravity_and_tells_the_change():
    flawed = Robot.from_urdf(FLAWED)
    robot = flawed.with_consistent_inertias()
    q = np.random.default_rng(0).uniform(-1.0, 1.0, (10, 3))
    assert robot.gravity_torque(q).tolist() == flawed.gravity_torque(q).tolist()
    assert robot.gravity.tolist() == flawed.gravity.tolist() and robot.is_compiled is flawed.is_compiled
    assert robot.digest != flawed.digest
    assert [finding.where for finding in refusals(flawed.findings)] == ["link 'sledge'"]
    assert not refusals(robot.findings)
    (found,) = [finding for finding in robot.findings if finding.where == "link 'sledge'"]
    sledge = flawed.model.arrays.I[2]
    size = np.linalg.norm(correction(sledge))
    assert found.severity == 'warning' and f'was corrected by {size:.3g} kg m^2, ' in found.message
    assert np.linalg.eigvalsh(robot.mass_matrix(q)).min() > 0.0
    # nothing else has changed, and a second time nothing does
    np.testing.assert_array_equal(np.delete(robot.model.arrays.I, 2, 0), np.delete(flawed.model.arrays.I, 2, 0))
    assert robot.with_consistent_inertias().model.arrays.I.tolist() == robot.model.arrays.I.tolist()
    assert Robot.from_urdf(TREE).with_consistent_inertias().findings == Robot.from_urdf(TREE).findings


def finding_of(inertia) -> str:
    """Return the message on a link of 1.6 kg with a corrected inertia (3, 3)."""
    joint = trees.random_joints(0, count=1)[0]
    joint = dataclasses.replace(joint, inertia=ten_parameters(1.6, [0.1, 0.0, 0.0], np.asarray(inertia)))
    (found,) = (it for it in Robot(Model.of('one', trees.BASE, [joint])).with_consistent_inertias().findings
                if 'was corrected' in it.message)  # fmt: skip
    return found.message


def test_a_large_correction_names_the_number_to_look_at():
    """An izz without its decimal point makes the moments about x and y large: it is what was wrong."""
    text = finding_of(np.diag([0.0121, 0.0102, 1.68]))
    assert 'principal moments 0.0102, 0.0121, 1.68 became 0.83905, 0.84095, 1.68 kg m^2' in text
    assert text.endswith(
        '. Look at izz, the moment about the z axis of the link: 1.68 kg m^2, which the correction keeps, is more than '
        'the sum of the other two, 0.0223 kg m^2, and that of 1.6 kg at 1.02 m'
    )
    assert 'Look at ixx, ' in finding_of(np.diag([1.21, 0.0102, 0.0168]))
    assert finding_of(np.diag([0.0121, -0.0102, 0.0168])).endswith(': -0.0102 kg m^2 is negative')
    assert 'Look at iyy, ' in finding_of(np.diag([0.0121, -0.0102, 0.0168]))
    product = np.diag([0.0121, 0.0102, 0.0115])
    product[0, 2] = product[2, 0] = 0.01
    assert ' of the link, or at ixz: 0.0218045 kg m^2, which ' in finding_of(product)
    assert ' Look' not in finding_of(np.diag([0.0121, 0.0102, 0.0224]))  # by rounding


def test_a_body_without_mass_has_no_inertia():
    text = TREE.replace('<mass value="0.5"/>', '<mass value="0"/>')
    robot = Robot.from_urdf(text)
    assert "link 'flag'" in [finding.where for finding in refusals(robot.findings)]
    assert not robot.with_consistent_inertias().model.arrays.I[3].any()
    (found,) = (it for it in robot.with_consistent_inertias().findings if 'was corrected' in it.message)
    assert found.message.endswith('. Look at the mass, which is 0 kg')


def test_a_negative_mass_is_refused_by_name():
    model = Robot.from_urdf(TREE).model
    inertias = model.arrays.I.copy()
    inertias[2, 0] = -1.0
    wrong = dataclasses.replace(model, arrays=model.arrays._replace(I=inertias))
    with pytest.raises(ModelError, match=r"^link 'sledge': its mass of -1 kg is negative"):
        with_consistent_inertias(wrong)


def test_errors_on_inertials_are_warnings_where_the_body_that_moves_is_possible():
    # a link that another one, fixed to it, makes a possible body
    lumped = Robot.from_urdf(TREE.replace('iyy="0.03"', 'iyy="0.07"'))
    assert [finding.severity for finding in lumped.findings if 'sledge' in finding.where] == ['warning']
    model = Robot.from_urdf(FLAWED).model
    assert [finding.severity for finding in judged(model) if 'sledge' in finding.where] == ['error']
    held = Robot.from_urdf(FLAWED).with_locked_joints({'m_slide': 0.1})
    assert [finding.severity for finding in held.findings if 'sledge' in finding.where] == ['warning']
    on_base = Robot.from_urdf(FLAWED).chain('sledge', 'tool', (0.0, 0.0, -9.81))
    assert [finding.severity for finding in on_base.findings if 'sledge' in finding.where] == ['warning']
    # and an error again where that base moves
    mounted = Robot.from_urdf(TREE).with_attached(on_base, 'flag', prefix='b_')
    found = [finding for finding in mounted.findings if 'b_sledge' in finding.where]
    assert [finding.severity for finding in found] == ['error']
