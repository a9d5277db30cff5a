"""Multipliers of loops against 60-digit arithmetic: constraints that are dependent, nearly dependent, badly scaled."""

import dataclasses
from types import SimpleNamespace

from support.robots import random_trees as trees
from support.robots.mechanisms import MECHANISMS, closed, four_bar, loop_step, parallelogram, pose, projected
from support.rounding import bound
from support.twins import closed_chains as chains

import mpmath
import numpy as np
import pytest

from robot_dynamics_ros import LoopClosure
from robot_dynamics_ros.kernels.closed_loops import multipliers
from robot_dynamics_ros.model.closed_loops.loop_types import LEAST_TOLERANCE

DIGITS = 60


def solved(V, target, tolerance=LEAST_TOLERANCE) -> np.ndarray:
    """Return V lam of the kernels for rows V' (m, n) whose natural length is the one they have."""
    n, m = V.shape
    rows, columns = -(-n // 4) * 4, -(-m // 8) * 8
    padded = np.pad(V, ((0, rows - n), (0, columns - m)))
    sizes, share = (V**2).sum(0), np.full((m, columns), np.nan)
    work = SimpleNamespace(V=padded, V_share=share, V_weight=sizes, d=np.ones(n + 1))
    work.tau, work.scale = np.zeros((2, n))
    multipliers.orthogonalise_constraints.py_func(SimpleNamespace(loop_tolerance=[tolerance]), work)
    multipliers.solve_multipliers.py_func(work, target.copy())
    return work.tau


def exact(V, rank):
    """Return a vector in the span of the first ``rank`` independent columns of V, and V' times it, by 60 digits."""
    with mpmath.workdps(DIGITS):
        A = mpmath.matrix(V.tolist())
        basis = A[:, :rank]
        wanted = basis * mpmath.matrix(np.random.default_rng(rank).normal(size=rank).tolist())
        y = basis * mpmath.lu_solve(basis.T * basis, basis.T * wanted)
        return np.array(y.tolist(), float)[:, 0], np.array((A.T * y).tolist(), float)[:, 0]


def error_of(V, rank) -> float:
    y, target = exact(V, rank)
    return trees.relative_error(solved(V, target), y)


def random_constraints(seed, n=12, rank=5):
    return np.random.default_rng(seed).normal(size=(n, rank))


@pytest.mark.parametrize('redundant', [1, 5, 45])
def test_many_redundant_constraints(redundant):
    V = random_constraints(redundant)
    V = np.hstack([V, V @ random_constraints(1, 5, redundant)])
    assert error_of(V, 5) < 1e-13


def test_badly_scaled_constraints_and_masses():
    """Twelve powers of ten between constraints, or between joints."""
    V, rng = random_constraints(0), np.random.default_rng(3)
    V = np.hstack([V, V @ random_constraints(1, 5, 10)])
    assert error_of(V * 10.0 ** rng.uniform(-6.0, 6.0, 15), 5) < 1e-12
    assert error_of(V * 10.0 ** rng.uniform(-3.0, 3.0, (12, 1)), 5) < 1e-12


@pytest.mark.rounding
@pytest.mark.parametrize('power', [1, 2, 3, 4, 5, 6])
def test_nearly_dependent_constraints(power):
    """The error is that of rounding, magnified by how near to dependent the constraints are; redundant ones follow."""
    V, rng = random_constraints(power), np.random.default_rng(power)
    last = V @ rng.normal(size=5) + 10.0**-power * rng.normal(size=12)
    V = np.column_stack([V, last])
    V = np.hstack([V, V @ rng.normal(size=(6, 4))])
    assert error_of(V, 6) < bound(40, 6, 10.0**power)


@pytest.mark.parametrize('power', range(7, 13))
def test_constraints_on_both_sides_of_the_rank_test(power):
    """A consistent target is met to 1e-7 whether a nearly dependent constraint takes part or not."""
    V, rng = random_constraints(power), np.random.default_rng(power)
    V = np.column_stack([V, V @ rng.normal(size=5) + 10.0**-power * rng.normal(size=12)])
    assert error_of(V, 6) < 1e-7


@pytest.mark.rounding
@pytest.mark.parametrize('tolerance', [1e-8, 1e-5, 1e-2])
@pytest.mark.parametrize('part', [1e-3, 0.5, 0.99, 1.01, 2.0, 1e3])
def test_a_nearly_dependent_constraint_takes_part_wholly_or_not_at_all(tolerance, part):
    """Its target, which contradicts those of the others, is met above the tolerance, and has no effect below it."""
    V, rng = random_constraints(0), np.random.default_rng(1)
    shares, away = rng.normal(size=5), np.linalg.qr(np.column_stack([V, rng.normal(size=12)]))[0][:, 5]
    dependent = V @ shares
    V = np.column_stack([V, dependent + part * tolerance * np.linalg.norm(dependent) * away])
    target = rng.normal(size=6)
    found = solved(V, target, tolerance)
    if part < 1.0:
        assert np.array_equal(found, solved(V, np.append(target[:5], 0.0), tolerance))
        assert trees.relative_error(found, solved(V[:, :5], target[:5], tolerance)) < 1e-13
    else:
        with mpmath.workdps(DIGITS):
            A = mpmath.matrix(V.tolist())
            exact_one = np.array((A * mpmath.lu_solve(A.T * A, mpmath.matrix(target.tolist()))).tolist(), float)[:, 0]
        assert trees.relative_error(found, exact_one) < bound(50, 6, 1.0 / (part * tolerance))


@pytest.mark.parametrize(('angle', 'tolerance'), [(1.2, 1e-12), (1.0, 1e-10), (0.6, 1e-5), (0.3, 1e-2)])
def test_constraints_after_kahan(angle, tolerance):
    """Twenty constraints that are nearly dependent while none is nearly dependent on those before it.

    Their smallest singular values are 4e-4, 5e-6, 9e-11 and 1e-16 of the largest; an SVD is off by 1e-8 for the last.
    """
    c, s, n = np.cos(angle), np.sin(angle), 20
    K = np.diag(s ** np.arange(n)) @ (np.eye(n) - c * np.triu(np.ones((n, n)), 1))
    assert error_of(np.linalg.qr(random_constraints(0, n, n))[0] @ K, n) < tolerance


def exact_acceleration(robot, q, qd, tau) -> np.ndarray:
    """Return qdd of our matrices by 60 digits, for independent constraints."""
    M, J, torques, target = chains.equations(robot, q, qd, tau)
    matrix = np.block([[M, -J.T], [J, np.zeros((len(J),) * 2)]])
    with mpmath.workdps(DIGITS):
        found = mpmath.lu_solve(mpmath.matrix(matrix.tolist()), mpmath.matrix([*torques, *target]))
    return np.array(found.tolist(), float)[: len(M), 0]


@pytest.mark.rounding
@pytest.mark.parametrize('angle', [1e-1, 1e-3, 7e-5])
def test_near_a_singular_position(angle):
    """A parallelogram that is nearly flat: at 7e-5 rad its smallest singular value is 2e-5 of the largest."""
    robot = parallelogram().robot.with_loops(parallelogram().loops, gain=0.0)
    q = closed(robot, np.array([angle, -angle, angle]))
    qd = np.array([1.0, -1.0, 1.0])
    sizes = np.linalg.svd(robot.loop_jacobian(q))[1]
    assert 0.2 < sizes[-1] / sizes[0] / angle < 0.3
    tau = np.array([1.0, -2.0, 3.0])
    expected = exact_acceleration(robot, q, qd, tau)
    assert trees.relative_error(robot.forward_dynamics(q, qd, tau), expected) < bound(20, 5, 1.0 / angle)


def test_a_rank_that_changes_along_a_motion():
    """A parallelogram through its flat position: there it can begin to move in two ways, and forces do not choose.

    The constraints that are left keep the links along each other; its mobility is 2 there, and results are finite.
    """
    mechanism = parallelogram()
    robot = mechanism.robot.with_loops(mechanism.loops, gain=0.0, tolerance=1e-8)
    tau, mobilities = np.array([0.5, 0.0, 0.0]), []
    for angle in (-0.2, -1e-3, -1e-6, 0.0, 1e-6, 1e-3, 0.2):
        q = np.array([angle, -angle, angle])
        qdd = robot.forward_dynamics(q, np.zeros(3), tau)
        assert np.abs(robot.loop_jacobian(q) @ qdd).max() < 1e-9
        mobilities.append(int(robot.mobility(q)))
        if angle:
            # it stays a parallelogram
            assert np.abs(qdd - qdd[0] * np.array([1.0, -1.0, 1.0])).max() < 1e-6 * np.abs(qdd).max()
            moved = qdd[0]
    assert mobilities == [1, 1, 1, 2, 1, 1, 1]
    assert mechanism.robot.mobility(np.array([1e-6, -1e-6, 1e-6])) == 2  # within the tolerance by default
    flat = robot.forward_dynamics(np.zeros(3), np.zeros(3), tau)
    assert trees.relative_error(flat, chains.by_elimination(robot, np.zeros(3), np.zeros(3), tau)) < 1e-11
    # free in one more direction, it gives way further to the same torque
    assert tau @ flat > tau[0] * moved


@pytest.mark.parametrize('offset', [1e-6, 1e-2])
def test_a_constraint_in_a_direction_without_motion_has_no_effect(offset):
    """A linkage in space whose hinges are apart along their axes, which nothing can change."""
    mechanism = MECHANISMS['floating four-bar']
    (hinge,) = mechanism.loops
    moved = LoopClosure('moved', hinge.link_a, hinge.pose_a @ pose((0.0, 0.0, offset)), hinge.link_b, hinge.pose_b,
                        'revolute')  # fmt: skip
    robot = mechanism.open.with_loops([moved])
    for seed in range(4):
        state = mechanism.state(seed)
        found = robot.forward_dynamics(*state)
        assert trees.relative_error(found, mechanism.robot.forward_dynamics(*state)) < 1e-13
        assert robot.mobility(state[0]) == 7


def test_removing_a_redundant_constraint_changes_the_multipliers_alone():
    linkage = MECHANISMS['delta of parallelograms']
    q, qd, tau = linkage.state(1)
    fewer = linkage.open.with_loops([it for it in linkage.loops if it.name != 'parallelogram 2'])
    # two points instead of the hinge of a parallelogram: one of six constraints less than two
    hinge = next(it for it in linkage.loops if it.name == 'parallelogram 2')
    planar = LoopClosure('planar', hinge.link_a, hinge.pose_a, hinge.link_b, hinge.pose_b, 'planar_point')
    same = linkage.open.with_loops([*fewer.model.loops.closures, planar])
    assert len(same.loop_errors(q)) == len(linkage.robot.loop_errors(q)) - 3
    qdd = linkage.robot.forward_dynamics(q, qd, tau)
    assert trees.relative_error(same.forward_dynamics(q, qd, tau), qdd) < 1e-11
    twice = linkage.open.with_loops([*linkage.loops, planar])
    assert trees.relative_error(twice.forward_dynamics(q, qd, tau), qdd) < 1e-11
    forces = [robot.loop_jacobian(q).T @ robot.constraint_forces(q, qd, tau) for robot in (linkage.robot, same, twice)]
    assert all(trees.relative_error(force, forces[0]) < 1e-10 for force in forces)
    assert np.linalg.norm(fewer.forward_dynamics(q, qd, tau) - qdd) > 1e-3 * np.linalg.norm(qdd)


def test_heavy_and_light_links_of_unequal_lengths():
    """Lengths of 100 : 1 and masses of 1e6 : 1 in a linkage."""
    for factors in ((1e6, 1.0, 1.0), (1.0, 1e6, 1.0), (1.0, 1.0, 1e6), (1e-6, 1.0, 1.0)):
        linkage = four_bar('point', (0.5, 0.005, 0.55, 0.4), (1.0, -0.22, 1.84))
        joints = tuple(
            dataclasses.replace(joint, inertia=joint.inertia * factor)
            for joint, factor in zip(linkage.joints, factors, strict=True)
        )
        linkage = dataclasses.replace(linkage, joints=joints, reach=0.02)
        state = linkage.state(2)
        expected = chains.by_elimination(linkage.robot, *state)
        assert trees.relative_error(linkage.robot.forward_dynamics(*state), expected) < 1e-9


def test_a_step_changes_the_constraints_as_asked_with_the_least_kinetic_energy():
    for mechanism in MECHANISMS.values():
        robot, q = mechanism.robot, mechanism.q
        J, M = robot.loop_jacobian(q), robot.mass_matrix(q)
        change = J @ np.random.default_rng(0).normal(size=robot.nv)
        step = loop_step(robot, q, change)
        assert np.abs(J @ step - change).max() < 1e-12 * np.abs(change).max()
        along = projected(robot, q, np.random.default_rng(1).normal(size=robot.nv))
        assert abs(along @ M @ step) < 1e-12 * np.sqrt((along @ M @ along) * (step @ M @ step))
