"""Lagrange's equations: what SymPy derives against the closed form, the kernels and the energy balance."""

import sys

from support.robots import chains
from support.rounding import bound

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.formulations import lagrange

ARM = lagrange.PlanarArm(L1=0.7, L2=0.5, m1=2.0, m2=1.5)
WRIST = Robot.named('aubo_i5').joint_names[3:]
SMALL = [seed for seed in chains.SEEDS if chains.random_chain(seed).nv <= lagrange.LARGEST][:12]


@pytest.fixture
def sympy():
    return pytest.importorskip('sympy', reason='SymPy, which derives the equations, is not installed')


def test_the_derived_letters_of_the_planar_arm_are_the_closed_form(sympy):
    """Symbol by symbol: the course's M, c and g."""
    derived = lagrange.derive(ARM.robot(), letters=True)
    symbols = {str(it): it for matrix in (derived.M, derived.c, derived.g) for it in matrix.free_symbols}
    variables = ('m_1', 'm_2', 'theta_1', 'theta_2', 'thetadot_1', 'thetadot_2')
    assert set(symbols) == {*variables, 'c_x1', 'c_x2', 'x_2', 'g_y'}
    L1, L2, g = sympy.symbols('L1 L2 g')
    lengths = {'c_x1': L1, 'x_2': L1, 'c_x2': L2, 'g_y': -g}
    M, c, tau_g = (
        matrix.subs({symbols[name]: it for name, it in lengths.items()}) for matrix in (derived.M, derived.c, derived.g)
    )
    m1, m2, t1, t2, w1, w2 = (symbols[name] for name in variables)
    cos, sin = sympy.cos, sympy.sin
    coupling = m2 * (L2**2 + L1 * L2 * cos(t2))
    closed_M = [[m1 * L1**2 + m2 * (L1**2 + 2 * L1 * L2 * cos(t2) + L2**2), coupling], [coupling, m2 * L2**2]]
    closed_c = [[-m2 * L1 * L2 * sin(t2) * (2 * w1 * w2 + w2**2)], [m2 * L1 * L2 * w1**2 * sin(t2)]]
    outer = m2 * g * L2 * cos(t1 + t2)
    closed_g = [[(m1 + m2) * L1 * g * cos(t1) + outer], [outer]]
    for found, closed in ((M, closed_M), (c, closed_c), (tau_g, closed_g)):
        assert (found - sympy.Matrix(closed)).expand().is_zero_matrix


def test_text_and_latex_of_the_planar_arm():
    derived = lagrange.derive(lagrange.PlanarArm(1.0, 0.8, 2.0, 1.5, g=10.0).robot())
    assert derived.text().splitlines() == [
        'M[1,1] = 2.4*cos(theta_2) + 4.46',
        'M[1,2] = 1.2*cos(theta_2) + 0.96',
        'M[2,1] = 1.2*cos(theta_2) + 0.96',
        'M[2,2] = 0.96',
        'c[1] = -2.4*thetadot_1*thetadot_2*sin(theta_2) - 1.2*thetadot_2**2*sin(theta_2)',
        'c[2] = 1.2*thetadot_1**2*sin(theta_2)',
        'g[1] = 35*cos(theta_1) + 12*cos(theta_1 + theta_2)',
        'g[2] = 12*cos(theta_1 + theta_2)',
    ]
    M, c, g = derived.latex().splitlines()
    assert M.startswith(r'M(\theta) = \left[\begin{matrix}2.4 \cos{\left(\theta_{2} \right)} + 4.46 &')
    assert r'1.2 \dot{\theta}_{1}^{2} \sin{\left(\theta_{2} \right)}' in c
    assert g.endswith(r'12 \cos{\left(\theta_{1} + \theta_{2} \right)}\end{matrix}\right]')


@pytest.mark.parametrize('letters', [False, True])
def test_what_is_printed_is_what_is_evaluated(letters, sympy):
    """The text, read by SymPy, has the numbers of ``evaluate``."""
    robot = Robot.named('aubo_i5').with_locked_joints(dict.fromkeys(('foreArm_joint', *WRIST), 0.4))
    derived = lagrange.derive(robot, letters)
    q, qd, *_ = chains.random_motion(robot, 5)
    state = {f'theta_{i}': value for i, value in enumerate(q, start=1)}
    state |= {f'thetadot_{i}': value for i, value in enumerate(qd, start=1)}
    values = {**state, **derived.parameters}
    assert bool(derived.parameters) == letters
    printed = dict(line.split(' = ') for line in derived.text(digits=15).splitlines())
    M, c, g = derived.evaluate(q, qd)
    expected = {f'M[{i + 1},{j + 1}]': M[i, j] for i in range(2) for j in range(2)}
    expected |= {f'{name}[{i + 1}]': vector[i] for name, vector in (('c', c), ('g', g)) for i in range(2)}
    assert set(printed) == set(expected)
    for name, value in expected.items():
        assert float(sympy.sympify(printed[name]).subs(values)) == pytest.approx(value, rel=1e-12, abs=1e-12), name


@pytest.mark.parametrize('letters', [False, True])
def test_the_first_three_joints_of_the_aubo_i5(letters):
    robot = Robot.named('aubo_i5').with_locked_joints(dict.fromkeys(WRIST, 0.0))
    derived = lagrange.derive(robot, letters)
    for seed in range(10):
        q, qd, *_ = chains.random_motion(robot, seed)
        M, c, g = derived.evaluate(q, qd)
        assert chains.disagreement(M, robot.mass_matrix(q)) < 1e-12
        assert chains.disagreement(c, robot.coriolis_torque(q, qd)) < 1e-12
        assert chains.disagreement(g, robot.gravity_torque(q)) < 1e-12


@pytest.mark.compiled
@pytest.mark.parametrize('seed', SMALL)
def test_terms_of_random_chains(seed):
    robot = chains.random_chain(seed)
    q, qd, *_ = chains.random_motion(robot, seed)
    M, c, g = lagrange.derive(robot).evaluate(q, qd)
    scale = np.abs(c).max() + np.abs(g).max()
    assert chains.disagreement(M, robot.mass_matrix(q)) < 1e-11
    assert (np.linalg.eigvalsh(M) > 0.0).all()
    assert np.abs(c - robot.coriolis_torque(q, qd)).max() < 1e-11 * scale
    assert np.abs(g - robot.gravity_torque(q)).max() < 1e-11 * scale


def test_coriolis_torques_do_no_work(sympy):
    """thetadot' (Mdot thetadot - 2 c) = 0, as expressions."""
    derived = lagrange.derive(ARM.robot(), letters=True)
    theta, rate = (sympy.Matrix(sympy.symbols(f'{name}_1:3', real=True)) for name in ('theta', 'thetadot'))
    M_dot = sum((derived.M.diff(theta[i]) * rate[i] for i in range(2)), sympy.zeros(2))
    (work,) = rate.T * (M_dot * rate - 2 * derived.c)
    assert derived.c.norm() != 0
    assert sympy.expand(work) == 0


@pytest.mark.rounding
def test_the_closed_form_of_a_batch():
    q, qd, qdd = np.random.default_rng(3).uniform(-3.0, 3.0, (3, 4, 5, 2))
    tau = ARM.inverse_dynamics(q, qd, qdd)
    assert tau.shape == (4, 5, 2)
    assert chains.disagreement(tau[1, 2], ARM.inverse_dynamics(q[1, 2], qd[1, 2], qdd[1, 2])) < bound(20, 4)
    M = ARM.mass_matrix(q)
    assert (np.swapaxes(M, -1, -2) == M).all()
    assert (np.linalg.eigvalsh(M) > 0.0).all()
    assert chains.disagreement(M, ARM.robot().mass_matrix(q)) < bound(20, 4)
    # the course's figure 4.1 b: the outer link is vertical
    assert ARM.gravity_torque([0.0, np.pi / 2.0]) == pytest.approx([(2.0 + 1.5) * 0.7 * 9.81, 0.0])
    with pytest.raises(ArgumentError, match=r'qd: expected shape \(..., 2\), got \(3,\)'):
        ARM.coriolis_torque([0.0, 0.0], [0.0, 0.0, 0.0])
    with pytest.raises(ArgumentError, match=r'q\[1\]: nan is not finite'):
        ARM.gravity_torque([0.0, np.nan])


def test_a_longer_chain_is_refused_by_name():
    message = 'lagrange: expected at most 3 joints, got 6'
    with pytest.raises(ModelError, match=message):
        lagrange.derive(Robot.named('aubo_i5'))
    with pytest.raises(ModelError, match=message):
        lagrange.inverse_dynamics(Robot.named('aubo_i5'), *np.zeros((3, 6)))


def test_without_sympy_the_closed_form_works_and_a_derivation_says_what_is_missing(monkeypatch):
    for name in [name for name in sys.modules if name.startswith('sympy') or name.endswith('formulations.derivation')]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, 'sympy', None)
    # an attribute of the package is found without an import
    monkeypatch.delattr('robot_dynamics_ros.formulations.derivation')
    assert ARM.gravity_torque([0.0, 0.0])[1] == pytest.approx(1.5 * 9.81 * 0.5)
    with pytest.raises(ModelError, match='lagrange: a derivation needs SymPy'):
        lagrange.derive(ARM.robot())
