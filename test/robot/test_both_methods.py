"""Both sides of each choice of a method by a robot's size or structure: springs, rotors, payloads, loops, moving bases.

Expected results are matrices of NumPy, of mass matrix, Jacobians and torques at zero acceleration, which have one
method each. A new choice in the table fails until robots are on both sides of it.
"""

import dataclasses
from functools import cache
from types import SimpleNamespace

from support.robots import random_trees as trees
from support.robots.loops_of_trees import closed_at, random_pose
from support.rounding import bound
from support.twins.closed_chains import by_kkt
from support.twins.closed_chains import rounding as rounding_of_loops

import numpy as np
import pytest

from robot_dynamics_ros import Coupling, Payload, Robot
from robot_dynamics_ros.algorithms.choice import MOST_VELOCITIES_IN_A_ROW
from robot_dynamics_ros.algorithms.table import ALGORITHMS, BY_METHOD, OF_A_FRAME, OF_FRAMES, OPERATIONAL_SPACE
from robot_dynamics_ros.jit.decorators import Kernel
from robot_dynamics_ros.model.model import Model
from robot_dynamics_ros.model.regrouping import MOST_LINKS_IN_A_ROW
from robot_dynamics_ros.simulation import simulate

SITUATIONS = ('held', 'floating', 'looped')
SIZES = (9, 10, MOST_VELOCITIES_IN_A_ROW, MOST_VELOCITIES_IN_A_ROW + 1, MOST_LINKS_IN_A_ROW, MOST_LINKS_IN_A_ROW + 1)
"""Numbers of velocities of chains: two for each choice by size."""
SITUATION = pytest.mark.parametrize('situation', SITUATIONS)
SIZE = pytest.mark.parametrize('size', SIZES)
METHODS = (None, 'articulated', 'mass_matrix')
OF_TWO_FRAMES = [size for size in SIZES if size > MOST_VELOCITIES_IN_A_ROW]


@cache
def case(size, situation):
    """Return a chain of so many velocities with everything that acts in it, a state, and its matrices."""
    rng, floating = np.random.default_rng(size), situation == 'floating'
    joints = trees.random_joints(size, count=size - 5 * floating, chain=1.0, prismatic=0.2)
    if floating:
        joints[0] = dataclasses.replace(joints[0], kind='free')
    joints = [
        dataclasses.replace(
            it,
            stiffness=float(rng.uniform(20.0, 200.0)),
            rest=float(rng.uniform(-1.0, 1.0)),
            rotor=0.3,
            spin=float(rng.uniform(-0.02, 0.02)) if it.kind == 'revolute' else 0.0,
        )
        if it.kind != 'free'
        else it
        for it in joints
    ]
    robot = Robot(Model.of(situation, trees.BASE, joints), (1.0, 2.0, -9.0))
    for link in robot.link_names[-1], robot.link_names[3]:
        robot = robot.with_payload(Payload(1.5, (0.1, 0.0, 0.2), 0.1 * np.eye(3)), link)
    q = robot.random(rng)
    qd, tau = rng.normal(size=(2, size))
    if situation == 'looped':
        hinge = closed_at(
            robot, q, 'hinge', trees.BASE, random_pose(rng), robot.link_names[-2], 'revolute',
            stiffness=30.0, damping=2.0, rest=0.4,
        )  # fmt: skip
        robot = robot.with_loops([hinge, Coupling(*robot.joint_names[1:3], (float(q[1] - 0.5 * q[2]), 0.5))])
    return SimpleNamespace(robot=robot, q=q, qd=qd, tau=tau, M=robot.mass_matrix(q), rng=rng)


def choices() -> list[tuple]:
    """Return names and choices of the quantities of which the table has more than one kernel."""
    tables = ALGORITHMS, BY_METHOD, OF_A_FRAME, OPERATIONAL_SPACE, OF_FRAMES
    rows = [row for table in tables for row in table.items()]
    return [(name, it.kernel) for name, it in rows if not isinstance(it.kernel, Kernel)]


def test_the_robots_are_on_both_sides_of_every_choice():
    extremes = [trees.arrays_of(trees.random_joints(0, count=count, chain=1.0)) for count in (1, 60)]
    extremes.append(case(SIZES[0], 'looped').robot.model.arrays)
    used = [case(size, situation).robot.model.arrays for size in SIZES for situation in SITUATIONS]
    assert len(choices()) >= 9
    for name, choose in choices():
        possible = {choose(arrays) for arrays in extremes}
        assert len(possible) > 1 and {choose(arrays) for arrays in used} == possible, name
    models = [case(size, 'held').robot.model for size in SIZES]
    assert len({(it.regrouped.I == it.arrays.I).all() for it in models}) == 2


def acting(c, situation):
    """Return arguments of forward dynamics: wrenches in each form, on a held base and on a moving one."""
    links = c.robot.link_names
    some = c.rng.normal(size=(len(links), 6))
    forms = {}, {'wrenches': {links[-1]: some[0]}}, {'wrenches': {links[2]: some[1], links[-1]: some[0]}}
    yield from (*forms, {'wrenches': some})
    if situation != 'looped':
        base = {'base_velocity': c.rng.normal(size=6), 'base_acceleration': c.rng.normal(size=6)}
        yield from ({**form, **base} for form in forms)


@pytest.mark.rounding
@SITUATION
@SIZE
def test_accelerations_under_springs_wrenches_and_base_motions(size, situation):
    c = case(size, situation)
    robot, q, qd, tau = c.robot, c.q, c.qd, c.tau
    assert np.abs(robot.spring_torque(q, qd)).max() > 1.0
    for more in acting(c, situation):
        # what accelerates, the forces of loops aside
        torque = tau + robot.spring_torque(q, qd) - robot.inverse_dynamics(q, qd, 0.0 * qd, **more)
        if situation == 'looped':
            net = torque + robot.bias_torque(q, qd)
            expected, error = by_kkt(robot, q, qd, net), rounding_of_loops(robot, q, qd, net)
            methods = METHODS[:2]
        else:
            expected, methods = np.linalg.solve(c.M, torque), METHODS
            error = bound(20, size, np.linalg.cond(c.M), np.abs(expected).max())
        for method in methods:
            found = robot.forward_dynamics(q, qd, tau, method=method, **more)
            assert np.abs(found - expected).max() < error, (method, more)


@pytest.mark.rounding
@SITUATION
@SIZE
def test_operational_space_of_a_frame(size, situation):
    """Neither bias nor gravity has the torques of springs; of loops the tree counts. And by singular values."""
    c = case(size, situation)
    robot, q, qd = c.robot, c.q, c.qd
    for link in robot.link_names[-1], robot.link_names[-2]:
        J, expected = robot.jacobian(q, link), of_matrices(c, (link,))
        condition = np.linalg.cond(J @ np.linalg.solve(c.M, J.T))
        for name, matrix in expected.items():
            vectors = (q, qd) if name == 'operational_space_bias' else (q,)
            inputs = robot._weightless if name == 'operational_space_bias' else robot._inputs
            results = [getattr(robot, name)(*vectors, link)]
            results.append(robot._evaluator._by_matrices(name, inputs, (link,), 'local_world_aligned', *vectors))
            for found in results:
                assert np.abs(found - matrix).max() < bound(300, size, condition, np.abs(matrix).max()), name


def of_matrices(c, links) -> dict:
    """Return the quantities of operational space of frames: equations of Khatib 1987."""
    robot, q, qd = c.robot, c.q, c.qd
    J = np.vstack([robot.jacobian(q, link) for link in links])
    dJ_qd = np.concatenate([robot.jacobian_dot_qd(q, qd, link) for link in links])
    W = np.linalg.solve(np.linalg.cholesky(c.M), J.T)
    inertia = np.linalg.inv(W.T @ W)
    inverse = np.linalg.solve(c.M, J.T) @ inertia
    return {
        'operational_space_inertia_inverse': W.T @ W,
        'operational_space_inertia': inertia,
        'consistent_inverse': inverse,
        'operational_space_gravity': inverse.T @ robot.gravity_torque(q),
        'operational_space_bias': inverse.T @ robot.coriolis_torque(q, qd) - inertia @ dJ_qd,
    }


@pytest.mark.rounding
@SITUATION
@pytest.mark.parametrize('size', OF_TWO_FRAMES)
def test_operational_space_of_two_frames(size, situation):
    c = case(size, situation)
    links = c.robot.link_names[-1], c.robot.link_names[-8 if situation != 'floating' else 1]
    J = np.vstack([c.robot.jacobian(c.q, link) for link in links])
    condition = np.linalg.cond(J @ np.linalg.solve(c.M, J.T))
    for name, matrix in of_matrices(c, links).items():
        vectors = (c.q, c.qd) if name == 'operational_space_bias' else (c.q,)
        found = getattr(c.robot, name)(*vectors, links)
        assert np.abs(found - matrix).max() < bound(100, size, condition, np.abs(matrix).max()), name


@pytest.mark.rounding
@SITUATION
@pytest.mark.parametrize('more', [0, 1])
def test_mobility_of_as_many_frames_as_a_workspace_holds_and_of_one_more(situation, more):
    """By propagation of forces up to nv / 2 frames, by the inverse mass matrix beyond."""
    c = case(SIZES[0], situation)
    links = (c.robot.link_names[1:] * 2)[: c.robot.nv // 2 + more]
    J = np.vstack([c.robot.jacobian(c.q, link) for link in links])
    expected = J @ np.linalg.solve(c.M, J.T)
    assert c.robot._evaluator._has_kernel('operational_space_inertia_inverse', links) == (not more)
    found = c.robot.operational_space_inertia_inverse(c.q, links)
    assert np.abs(found - expected).max() < bound(20, c.robot.nv, np.linalg.cond(c.M), np.abs(expected).max())


@pytest.mark.rounding
@SITUATION
@SIZE
def test_regrouped_inertias_have_the_energy_of_the_bodies(size, situation):
    c = case(size, situation)
    energy = c.robot.kinetic_energy(c.q, c.qd)
    assert abs(0.5 * c.qd @ c.M @ c.qd - energy) < bound(20, size**2, 1.0, np.abs(c.M).max() * np.abs(c.qd).max() ** 2)


@pytest.mark.rounding
@SITUATION
def test_compiled_steps_and_steps_from_python_are_the_same_motion(situation):
    c = case(SIZES[0], situation)
    robot = c.robot.with_friction(viscous=0.5, coulomb=0.2)
    qd = robot.impact(c.q, c.qd) if situation == 'looped' else c.qd
    options = {'duration': 0.01, 'friction': True, 'wrenches': {robot.link_names[-1]: c.rng.normal(size=6)}}
    looped = simulate(robot, c.q, qd, c.tau, **options)
    stepped = simulate(robot, c.q, qd, lambda t, q, qd: c.tau, **options)
    assert np.abs(looped.q - stepped.q).max() < bound(100, SIZES[0], scale=np.abs(stepped.q).max())
    assert np.abs(looped.qd - stepped.qd).max() < bound(100, SIZES[0], np.linalg.cond(c.M), np.abs(stepped.qd).max())
    assert np.abs(looped.qd[-1] - qd).max() > 0.01
