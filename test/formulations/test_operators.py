"""``operators``: recursion, global operators and factors against the kernels, the paper's 6R arm and identities."""

from support.robots import chains
from support.robots.printed_torques import GOLDEN, rigid_body
from support.rounding import bound

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.formulations import operators, spatial
from robot_dynamics_ros.formulations.kinematic_tree import KinematicTree, skew

ROBOTS = chains.robots()
AGREEMENT = 1e-10
ON_THE_PLANAR_ARM = 1e-11
IN_ITS_PLANE, ALONG_ITS_AXES = (0.0, -9.81, 0.0), (0.0, 0.0, -9.81)
TIP_WRENCH = np.array([0.3, -0.2, 4.0, 5.0, -7.0, 2.0])


def test_torques_agree_with_the_kernels():
    for seed, (name, robot) in enumerate(ROBOTS.items()):
        q, qd, qdd, wrench = chains.random_motion(robot, seed)
        found = operators.inverse_dynamics(robot, q, qd, qdd, wrench)
        expected = chains.expected_torques(robot, q, qd, qdd, wrench)
        assert chains.disagreement(found, expected) < AGREEMENT, name


def test_global_operators_agree_with_the_kernels():
    """M = H phi M phi* H*, C = H phi (M phi* a + b), J = B* phi* H*."""
    for seed, (name, robot) in enumerate(ROBOTS.items()):
        q, qd, _, _ = chains.random_motion(robot, seed)
        assert chains.disagreement(operators.mass_matrix(robot, q), robot.mass_matrix(q)) < AGREEMENT, name
        assert chains.disagreement(operators.bias_torque(robot, q, qd), robot.bias_torque(q, qd)) < AGREEMENT, name
        expected = robot.jacobian(q, robot.link_names[-1])
        assert chains.disagreement(operators.jacobian(robot, q), expected) < AGREEMENT, name


@pytest.mark.parametrize('gravity', [(0.0, 0.0, 0.0), IN_ITS_PLANE, ALONG_ITS_AXES])
def test_the_papers_arm_along_its_motion(gravity):
    """T = M thdd + C + J* f(0), eq. 1, along sin(t)."""
    robot = chains.planar_6r(gravity)
    for t in np.linspace(0.0, 6.0, 13):
        q, qd, qdd = chains.sine_motion(t)
        expected = chains.expected_torques(robot, q, qd, qdd, TIP_WRENCH)
        recursion = operators.inverse_dynamics(robot, q, qd, qdd, TIP_WRENCH)
        assert chains.disagreement(recursion, expected) < ON_THE_PLANAR_ARM
        M, C = operators.mass_matrix(robot, q), operators.bias_torque(robot, q, qd)
        f_0 = -TIP_WRENCH
        closed = M @ qdd + C + operators.jacobian(robot, q).T @ f_0
        assert chains.disagreement(closed, expected) < ON_THE_PLANAR_ARM


def test_the_papers_arm_has_the_inertia_that_is_printed():
    """Its M(2), with L_1 = 1 m and m = 2 kg; joints turn about z, and O_k is 1 m along x of body k + 1."""
    chain = operators.chain_at(KinematicTree.of(chains.planar_6r(), 'operators'), np.zeros(6))
    L, m = 1.0, 2.0
    printed = [
        [0, 0, 0, 0, 0, 0],
        [0, L**2 * m, 0, 0, 0, -L * m],
        [0, 0, L**2 * m, 0, L * m, 0],
        [0, 0, 0, m, 0, 0],
        [0, 0, L * m, 0, m, 0],
        [0, -L * m, 0, 0, 0, m],
    ]
    for k in range(1, 7):
        assert np.array_equal(chain.M[k], printed)
        assert chain.H[k].tolist() == [0, 0, 1, 0, 0, 0]
        assert np.array_equal(chain.phi[k][:3, 3:], skew([1.0, 0.0, 0.0] if k < 6 else np.zeros(3)))


@pytest.mark.rounding
def test_shift_operators_add_up():
    """Phi = (1 - E)^-1; phi(i, j) phi(j, k) = phi(i, k)."""
    for robot in (robot for robot in ROBOTS.values() if robot.nv >= 3):
        chain = operators.chain_at(KinematicTree.of(robot, 'test'), chains.random_motion(robot, 3)[0])
        n = robot.nv
        phi, E = operators.products(chain.phi), np.zeros((6 * n, 6 * n))
        for k in range(1, n):
            E[6 * k : 6 * k + 6, 6 * k - 6 : 6 * k] = chain.phi[k]
        largest = bound(20, n, scale=np.abs(phi).max())
        assert np.abs(phi @ (np.eye(6 * n) - E) - np.eye(6 * n)).max() < largest
        blocks = phi.reshape(n, 6, n, 6).swapaxes(1, 2)
        assert np.abs(blocks[n - 1, 1] @ blocks[1, 0] - blocks[n - 1, 0]).max() < largest


@pytest.mark.rounding
def test_a_shifted_force_has_the_same_power():
    """(phi f) . V(k + 1) = f . (phi* V(k + 1)), and the moment of a pure force is l x f."""
    tree = KinematicTree.of(ROBOTS['aubo_i5'], 'test')
    chain = operators.chain_at(tree, np.full(6, 0.4))
    R, l = tree.placement(3, 0.4)
    force = np.array([1.0, -2.0, 3.0])
    shifted = chain.phi[4] @ [0.0, 0.0, 0.0, *force]
    expected = np.array([*np.cross(l, R @ force), *(R @ force)])
    assert np.abs(shifted - expected).max() < bound(10, 3, scale=np.abs(force).max())


def test_gyroscopic_forces_are_those_of_the_papers_formula():
    """b = Mdot V - phidot(p) M V and a = phidot* V(k + 1) + Hdot* thd, with derivatives written out."""
    robot = ROBOTS['chain 6']
    tree = KinematicTree.of(robot, 'test')
    q, qd, _, _ = chains.random_motion(robot, 6)
    chain = operators.chain_at(tree, q)
    a, b = operators.rates(chain, qd)
    V, zero = [np.zeros(6)], np.zeros((3, 3))
    for i in range(1, tree.n + 1):
        k = tree.n + 1 - i
        V.append(chain.phi[k].T @ V[-1] + chain.H[k] * qd[i - 1])
        w, p, J = V[i][:3], tree.com[i], chain.M[k][:3, :3]
        pdot = skew(np.cross(w, p))
        Jdot = skew(w) @ J - J @ skew(w)
        Mdot = np.block([[Jdot, tree.mass[i] * pdot], [-tree.mass[i] * pdot, zero]])
        phidot = np.block([[zero, pdot], [zero, zero]])
        assert np.allclose(b[k], Mdot @ V[i] - phidot @ chain.M[k] @ V[i], atol=1e-12)
        # ldot: velocity of O_k against O_k+1, in axes of body k + 1
        R = chain.R[k]
        ldot = skew(R @ V[i][3:] - V[i - 1][3:]) @ R
        phidot = np.block([[zero, ldot], [zero, zero]])
        Hdot = np.concatenate([np.cross(w, chain.H[k][:3]), np.cross(w, chain.H[k][3:])])
        assert np.allclose(a[k], phidot.T @ V[i - 1] + Hdot * qd[i - 1], atol=1e-12)


@pytest.mark.rounding
def test_factors_multiply_to_the_mass_matrix_and_its_inverse():
    """M = L D L*, L L^-1 = 1, D > 0; M^-1 M = 1."""
    for seed, (name, robot) in enumerate(ROBOTS.items()):
        q = chains.random_motion(robot, seed)[0]
        L, L_inverse, D = operators.factors(robot, q)
        unit, M = np.eye(robot.nv), robot.mass_matrix(q)
        assert (D > 0.0).all() and np.array_equal(L, np.tril(L)) and (np.diag(L) == 1.0).all()
        assert chains.disagreement((L * D) @ L.T, M[::-1, ::-1]) < AGREEMENT, name
        n, size = robot.nv, np.abs(L).max() * np.abs(L_inverse).max()
        assert np.abs(L @ L_inverse - unit).max() < bound(20, n, scale=size), name
        inverse = operators.mass_matrix_inverse(robot, q)
        assert np.abs(inverse @ M - unit).max() < bound(20, n, np.linalg.cond(M)), name
        assert np.abs(inverse - inverse.T).max() < bound(20, n, scale=np.abs(inverse).max()), name
        assert np.linalg.eigvalsh(M).min() > 0.0


def test_articulated_inertias_are_those_of_the_articulated_body_algorithm():
    """D(1) is what the last joint accelerates, D(n) the inverse of the first entry of M^-1."""
    robot = ROBOTS['payload, wall']
    q = chains.random_motion(robot, 8)[0]
    _, _, D = operators.factors(robot, q)
    M = spatial.mass_matrix(robot, q)
    assert D[0] == pytest.approx(M[-1, -1], rel=1e-13)
    assert D[-1] == pytest.approx(1.0 / np.linalg.inv(M)[0, 0], rel=1e-11)


def test_known_mass_matrices():
    robot = Robot(rigid_body('official'), GOLDEN['gravity'])
    for state in GOLDEN['states']:
        assert np.allclose(operators.mass_matrix(robot, state['q']), state['M_official'], rtol=0.0, atol=1e-9)


def test_bad_input_is_named():
    robot = ROBOTS['aubo_i5']
    with pytest.raises(ArgumentError, match=r'q: expected shape \(6,\), got \(7,\)'):
        operators.mass_matrix(robot, np.zeros(7))
    branched = robot.with_attached(Robot.named('aubo_i5'), 'shoulder_Link', prefix='second_')
    with pytest.raises(ModelError, match='operators: a serial chain is expected'):
        operators.inverse_dynamics(branched, *np.zeros((3, 12)))
