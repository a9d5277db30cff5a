"""Inverse dynamics of every formulation: against the kernels, printed torques, and the closed form of the 2R arm."""

from support.matrices import crossed, matrix
from support.robots import chains
from support.robots.printed_torques import CURVES, GOLDEN, GRASP, NOTEBOOK_TORQUES, lecture_arm, notebook_model, quintic
from support.robots.printed_torques import rigid_body as golden_model

import numpy as np
import pytest

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.formulations import kane, lagrange, newton_euler, operators, screws, spatial, stacked

ALL = (newton_euler, screws, stacked, spatial, operators, kane)
"""Those of any chain; ``lagrange`` has three joints at most."""

AGREED = 1e-10  # relative


def name_of(it) -> str:
    """Return the name of a formulation, or what else a test varies."""
    return it.__name__.rpartition('.')[2] if it in ALL else str(it)


every_formulation = pytest.mark.parametrize('formulation', ALL, ids=name_of)
any_formulation = pytest.mark.parametrize(
    'formulation',
    (*ALL, pytest.param(lagrange, marks=pytest.mark.compiled)),
    ids=lambda it: it.__name__.rpartition('.')[2],
)


@pytest.mark.compiled
@pytest.mark.parametrize(('formulation', 'name'), crossed(ALL, list(chains.arms())), ids=name_of)
def test_inverse_dynamics_of_arms(formulation, name):
    robot = chains.arms()[name]
    for seed in range(20):
        motion = chains.random_motion(robot, seed)
        expected = chains.expected_torques(robot, *motion)
        assert chains.disagreement(formulation.inverse_dynamics(robot, *motion), expected) < AGREED


@any_formulation
@pytest.mark.parametrize('count', matrix([25, 100], [25]))
def test_inverse_dynamics_of_random_chains(formulation, count):
    """Chains of revolute and prismatic joints with rotors, wrench at the tip, gravity from any side."""
    compared = 0
    for seed in chains.SEEDS[:count]:
        robot = chains.random_chain(seed)
        if formulation is lagrange and robot.nv > lagrange.LARGEST:
            continue
        motion = chains.random_motion(robot, seed)
        expected = chains.expected_torques(robot, *motion)
        assert chains.disagreement(formulation.inverse_dynamics(robot, *motion), expected) < AGREED, seed
        compared += 1
    assert compared > count // 4 if formulation is lagrange else compared == count


@pytest.mark.compiled
@any_formulation
def test_planar_arm_at_200_states(formulation):
    arm = lagrange.PlanarArm(L1=0.7, L2=0.5, m1=2.0, m2=1.5)
    robot = arm.robot()
    q, qd, qdd = np.random.default_rng(2).uniform(-3.0, 3.0, (3, 200, 2))
    closed = arm.inverse_dynamics(q, qd, qdd)
    assert chains.disagreement(closed, robot.inverse_dynamics(q, qd, qdd)) < 1e-12
    each = [formulation.inverse_dynamics(robot, *state) for state in zip(q, qd, qdd, strict=True)]
    assert chains.disagreement(closed, each) < 1e-12


@every_formulation
def test_planar_6r_arm_along_its_motion(formulation):
    """The arm of the paper on spatial operator algebra, every joint moving as sin(t), to 1e-11."""
    robot, wrench = chains.planar_6r((3.0, -9.0, 0.0)), np.array([1.0, -2.0, 3.0, 10.0, -20.0, 5.0])
    for t in np.linspace(0.0, 6.0, 7):
        motion = chains.sine_motion(t)
        expected = chains.expected_torques(robot, *motion, wrench)
        assert chains.disagreement(formulation.inverse_dynamics(robot, *motion, wrench), expected) < 1e-11


@pytest.mark.compiled
@pytest.mark.parametrize(('formulation', 'inertials'), crossed(ALL, ['official', 'ros1', 'lecture']), ids=name_of)
def test_golden_torques(formulation, inertials):
    robot, rest = Robot(golden_model(inertials), GOLDEN['gravity']), np.zeros(6)
    for state in GOLDEN['states']:
        tau = formulation.inverse_dynamics(robot, state['q'], state['qd'], state['qdd'])
        g = formulation.inverse_dynamics(robot, state['q'], rest, rest)
        assert tau == pytest.approx(state['tau'][inertials], rel=1e-9, abs=1e-9)
        assert g == pytest.approx(state['g'][inertials], rel=1e-9, abs=1e-9)


@every_formulation
@pytest.mark.parametrize('sign', NOTEBOOK_TORQUES)
def test_torques_of_the_lectures_notebook(formulation, sign):
    q = sign * np.array([0.0, np.pi / 2.0, 0.0, np.pi / 2.0, 0.0, 0.0])
    tau = formulation.inverse_dynamics(
        Robot(notebook_model()), q, np.zeros(6), np.array([0.0, 2.0, 0.0, 0.0, 0.0, 0.0])
    )
    assert tau == pytest.approx(NOTEBOOK_TORQUES[sign], abs=1e-9)


@pytest.mark.compiled
@pytest.mark.parametrize(('formulation', 'mass'), crossed(ALL, [1.0, 5.0]), ids=name_of)
def test_payload_curves_of_the_lecture(formulation, mass):
    """The figures' payload replaces the last link; a ``Payload`` on an arm without last link is the same."""
    bare = lecture_arm(0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    loaded = bare.with_payload(Payload(mass, GRASP, 1e-4 * np.eye(3)), 'tip')
    tau = [formulation.inverse_dynamics(loaded, *state) for state in zip(*quintic(), strict=True)]
    assert np.abs(tau - np.array(CURVES[f'{mass:.0f}'])).max() < 1e-3  # N m


@any_formulation
def test_refusals_name_the_formulation_and_the_argument(formulation):
    name = formulation.__name__.rpartition('.')[2]
    robot = chains.random_chain(0)  # two joints
    with pytest.raises(ModelError, match=f'{name}: .*no joint that moves'):
        formulation.inverse_dynamics(Robot.named('aubo_i5').chain('base_link', 'base_link'), [], [], [])
    with pytest.raises(ArgumentError, match=r'qd: expected shape \(2,\), got \(3,\)'):
        formulation.inverse_dynamics(robot, [0, 0], [0, 0, 0], [0, 0])
    with pytest.raises(ArgumentError, match=r'tip_wrench: expected shape \(6,\), got \(3,\)'):
        formulation.inverse_dynamics(robot, [0, 0], [0, 0], [0, 0], [1, 2, 3])
