"""Rotors that turn on the link before their joint, against trees in which every rotor is a body of its own.

There the rotor of joint i is one more link on the parent, at the angle N q_i, and qd of the large tree is G qd. In the
robot itself the parent's inertia holds the rotor as if it were locked.
"""

import dataclasses
import pickle
from functools import cache, partial
from types import SimpleNamespace

from support.code.robots_code import loop_of
from support.code.traces import trace
from support.matrices import matrix
from support.robots import random_trees as trees
from support.twins import naive

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.algorithms.program import program_of
from robot_dynamics_ros.codegen.llvm import of_one_state
from robot_dynamics_ros.codegen.straight_line import StraightLine, count
from robot_dynamics_ros.kernels.crba_forward import crba_forward
from robot_dynamics_ros.kernels.mass_matrix_inverse import mass_matrix_inverse
from robot_dynamics_ros.model.inertial_parameters import moved, ten_parameters
from robot_dynamics_ros.model.joint_types import KINDS, Joint
from robot_dynamics_ros.model.model import Model
from robot_dynamics_ros.model.regrouping import regrouped

pytestmark = pytest.mark.plain

TOLERANCE = 1e-11  # of the largest magnitude in the quantity; 2e-13 was the worst found
SEEDS = range(24)
FEW = (0, 1, 2, 5, 7, 17, 19)  # rotors on links of every kind
SEED = pytest.mark.parametrize('seed', matrix(SEEDS, FEW))
DRAWN = pytest.mark.parametrize('seeds', [FEW, pytest.param(SEEDS, marks=pytest.mark.slow)], ids=['few', 'all'])


@cache
def case(seed):
    """Return a random tree with rotors and its state, and of the large tree joints, q, wrenches and G."""
    rng = np.random.default_rng([seed, 2])
    joints = trees.random_joints(seed, count=2 + seed % 9, prismatic=0.2, general=0.4 * (seed % 2))
    # Pinocchio knows planar joints about z alone
    joints = [dataclasses.replace(joint, rotor=0.0) for joint in trees.with_planar_about_z(joints)]
    s, numbers = trees.random_state(joints, seed), {joint.link: k for k, joint in enumerate(joints)}
    bodies, q, G = [], [*s.q], [*np.eye(len(s.qd))]
    geared = list(joints)
    for k, (of_q, of_v) in enumerate(naive.places(joints)):
        joint = joints[k]
        if joint.kind != 'revolute' or rng.random() < 0.2:
            continue
        ratio, (axial, across, mass, height) = rng.choice([-1.0, 1.0]) * rng.uniform(2, 30), rng.uniform(0.01, 0.2, 4)
        # a body that is round about the joint's axis, anywhere on the parent
        z, origin = joint.rotation @ joint.axis, rng.uniform(-0.3, 0.3, 3)
        rotation = np.column_stack([*naive.across(z), z])
        body = ten_parameters(mass, [0.0, 0.0, height], np.diag([across, across, axial]))
        up = np.array([0.0, 0.0, 1.0])
        bodies.append(Joint(f'rotor {k}', f'rotor {k}', joint.parent, 'revolute', up, rotation, origin, body))
        q.append(ratio * s.q[of_q.start])
        G.append(ratio * np.eye(len(s.qd))[of_v.start])
        geared[k] = dataclasses.replace(geared[k], rotor=ratio**2 * axial, spin=ratio * axial)
        if joint.parent in numbers:
            p = numbers[joint.parent]
            geared[p] = dataclasses.replace(geared[p], inertia=geared[p].inertia + moved(body, rotation, origin))
    f_ext = np.concatenate([s.f_ext, np.zeros((len(bodies), 6))])
    arrays = trees.arrays_of(geared)
    return SimpleNamespace(
        joints=geared, arrays=arrays, s=s, large=[*joints, *bodies], q=np.array(q), G=np.array(G), f_ext=f_ext
    )


@DRAWN
def test_the_trees_have_rotors_on_links_of_every_kind(seeds):
    """On the base, on moving links of all kinds and on top of each other; turning either way; and joints without."""
    drawn = [case(seed) for seed in seeds]
    spins = np.concatenate([c.arrays.spin[1:] for c in drawn])
    assert min(sum(spins > 0.0), sum(spins < 0.0), sum(spins == 0.0)) > len(seeds) // 2
    parents = [c.arrays.parent[i] for c in drawn for i in np.flatnonzero(c.arrays.geared)]
    assert parents.count(0) > len(seeds) // 3 and len(parents) - parents.count(0) > len(seeds)
    carriers = {c.joints[p - 1].kind for c in drawn for p in c.arrays.parent[np.flatnonzero(c.arrays.geared)] if p}
    assert carriers == set(KINDS)


@DRAWN
def test_the_spin_of_rotors_changes_torques(seeds):
    shares = []
    for c in map(case, seeds):
        motion = (c.s.q, c.s.qd, c.s.qdd, c.s.gravity, c.s.f_ext)
        without = trees.arrays_of([dataclasses.replace(joint, spin=0.0) for joint in c.joints])
        shares.append(
            trees.relative_error(trees.inverse_dynamics(without, *motion), trees.inverse_dynamics(c.arrays, *motion))
        )
    assert np.median(shares) > 0.01


@pytest.mark.compiled
@SEED
def test_rnea(seed):
    c, s = case(seed), case(seed).s
    tau = trees.inverse_dynamics(c.arrays, s.q, s.qd, s.qdd, s.gravity, s.f_ext)
    expected = c.G.T @ naive.inverse_dynamics(c.large, c.q, c.G @ s.qd, c.G @ s.qdd, s.gravity, c.f_ext)[0]
    assert trees.relative_error(tau, expected) < TOLERANCE


@pytest.mark.compiled
@SEED
def test_mass_matrix(seed):
    c = case(seed)
    expected = c.G.T @ naive.mass_matrix(c.large, c.q) @ c.G
    assert trees.relative_error(trees.mass_matrix(c.arrays, c.s.q), expected) < TOLERANCE


@SEED
def test_accelerations(seed):
    """M qdd + h = tau with M and h of the large tree, by either algorithm."""
    c, s = case(seed), case(seed).s
    M = c.G.T @ naive.mass_matrix(c.large, c.q) @ c.G
    h = c.G.T @ naive.inverse_dynamics(c.large, c.q, c.G @ s.qd, 0.0 * c.G @ s.qd, s.gravity, c.f_ext)[0]
    expected = np.linalg.solve(M, s.tau - h)
    qdd = trees.forward_dynamics(c.arrays, s.q, s.qd, s.tau, s.gravity, s.f_ext)
    assert trees.relative_error(qdd, expected) < 1e-9
    arrays, qdd = regrouped(c.arrays), np.full((1, len(qdd)), np.nan)
    loop_of(crba_forward)(
        arrays, trees.nan_workspace(arrays), s.q[None], s.qd[None], s.tau[None], s.gravity, s.f_ext[None], qdd
    )
    assert trees.relative_error(qdd[0], expected) < 1e-9


@SEED
def test_inverse_of_the_mass_matrix(seed):
    c = case(seed)
    work, inverse = trees.nan_workspace(c.arrays), np.full((len(c.s.qd),) * 2, np.nan)
    loop_of(mass_matrix_inverse)(c.arrays, work, c.s.q[None], inverse[None])
    expected = np.linalg.inv(c.G.T @ naive.mass_matrix(c.large, c.q) @ c.G)
    assert trees.relative_error(inverse, expected) < 1e-9


@SEED
def test_derivatives_with_rotors(seed):
    """By complex steps of ``rnea`` and ``aba``, wrenches and all kinds of carriers included."""
    c, s = case(seed), case(seed).s
    acting = {'gravity': s.gravity, 'f_ext': s.f_ext}
    for derivatives, function, x in (
        (trees.inverse_dynamics_derivatives, trees.inverse_dynamics, s.qdd),
        (trees.forward_dynamics_derivatives, trees.forward_dynamics, s.tau),
    ):
        found = derivatives(c.arrays, s.q, s.qd, x, s.gravity, s.f_ext)
        expected = trees.complex_steps(partial(function, c.arrays, **acting), c.joints, s.q, s.qd, x)
        assert trees.worst_error(found, expected) < 1e-10


@SEED
def test_kinetic_energy(seed):
    c = case(seed)
    expected = naive.kinetic_energy(c.large, c.q, c.G @ c.s.qd)
    # rotors on the base are whole bodies there
    assert trees.kinetic_energy(c.arrays, c.s.q, c.s.qd) == pytest.approx(expected, rel=TOLERANCE)


@SEED
def test_identities_with_rotors(seed):
    """Forward dynamics undoes inverse dynamics, T = qd' M qd / 2, and power in is energy gained."""
    c, s = case(seed), case(seed).s
    tau = trees.inverse_dynamics(c.arrays, s.q, s.qd, s.qdd, s.gravity, s.f_ext)
    assert trees.relative_error(trees.forward_dynamics(c.arrays, s.q, s.qd, tau, s.gravity, s.f_ext), s.qdd) < 1e-9
    T = trees.kinetic_energy(c.arrays, s.q, s.qd)
    half = 0.5 * s.qd @ trees.mass_matrix(c.arrays, s.q) @ s.qd
    assert half == pytest.approx(T, rel=TOLERANCE)
    if all(joint.kind in ('revolute', 'prismatic', 'helical', 'cylindrical') for joint in c.joints):
        # dT/dt by complex step along q + qd t, qd + qdd t
        tau = trees.inverse_dynamics(c.arrays, s.q, s.qd, s.qdd, trees.no_gravity(), trees.no_wrenches(c.joints))
        rate = trees.kinetic_energy(c.arrays, s.q + 1e-30j * s.qd, s.qd + 1e-30j * s.qdd).imag / 1e-30
        assert tau @ s.qd == pytest.approx(rate, rel=1e-10, abs=1e-10 * T)


@SEED
def test_momentum(seed):
    """About the centre of mass, as in the large tree; but what a rotor on the base weighs does not move here."""
    c, s = case(seed), case(seed).s
    on_base = [joint for joint in c.large if joint.name.startswith('rotor') and joint.parent == trees.BASE]
    light = [dataclasses.replace(it, inertia=_spinning_only(it)) if it in on_base else it for it in c.large]
    momentum = naive.momentum(light, c.q, c.G @ s.qd)
    center = trees.center_of_mass(c.arrays, s.q)
    momentum[:3] -= np.cross(center, momentum[3:])
    A = trees.centroidal_momentum_matrix(c.arrays, s.q)
    assert trees.relative_error(A @ s.qd, momentum) < TOLERANCE
    assert trees.relative_error(trees.centroidal_momentum(c.arrays, s.q, s.qd), momentum) < TOLERANCE


def _spinning_only(rotor):
    """Return a rotor's ten parameters without its mass: it moves no mass of the base."""
    inertia = np.zeros(10)
    inertia[9] = rotor.inertia[9]
    return inertia


@SEED
def test_pinocchio_agrees(seed):
    pin = pytest.importorskip('pinocchio', reason='the second oracle, Pinocchio (package pin), is not installed')
    c, s = case(seed), case(seed).s
    model, links, order = trees.pinocchio_tree(c.large)
    model.gravity.linear = s.gravity
    data, q = model.createData(), trees.pinocchio_positions(c.large, links, c.q)
    f_ext = pin.StdVec_Force()
    for wrench in c.f_ext[[0, *(links + 1)]]:
        f_ext.append(pin.Force(wrench[3:], wrench[:3]))
    G = c.G[order]
    expected = G.T @ pin.rnea(model, data, q, G @ s.qd, G @ s.qdd, f_ext)
    tau = trees.inverse_dynamics(c.arrays, s.q, s.qd, s.qdd, s.gravity, s.f_ext)
    assert trees.relative_error(tau, expected) < 1e-10
    M = np.triu(pin.crba(model, data, q))
    expected = G.T @ (M + np.triu(M, 1).T) @ G
    assert trees.relative_error(trees.mass_matrix(c.arrays, s.q), expected) < 1e-10


@SEED
def test_regrouping_leaves_torques_as_they_are(seed):
    c, s = case(seed), case(seed).s
    fewer = regrouped(c.arrays)
    assert (fewer.spin == c.arrays.spin).all()
    motion = (s.q, s.qd, s.qdd, s.gravity, s.f_ext)
    expected = trees.inverse_dynamics(c.arrays, *motion)
    assert trees.relative_error(trees.inverse_dynamics(fewer, *motion), expected) < 1e-12


# robots with rotors, changed and compiled


@cache
def arm():
    """Return four joints in a chain with a rotor each, one of them turning backwards."""
    joints = trees.random_joints(5, count=4, prismatic=0.0, chain=1.0)
    robot = Robot(Model.of('arm', trees.BASE, joints))
    names = robot.joint_names
    figures = {
        'gear_ratio': dict(zip(names, (10.0, 20.0, 15.0, 8.0), strict=True)),
        'motor_inertia': dict(zip(names, (2e-3, 4e-3, 1e-3, 3e-3), strict=True)),
        'rotor_direction': dict(zip(names, (1, -1, 1, 1), strict=True)),
        'torque_constant': dict(zip(names, (1.0, 2.0, 3.0, 4.0), strict=True)),
    }
    robot = robot.with_actuators(figures)
    assert robot.rotor_spin == pytest.approx([0.02, -0.08, 0.015, 0.024])
    return robot


Q, QD, X = np.random.default_rng(3).uniform(-2.0, 2.0, (3, 5, 4))


@pytest.mark.compiled
@pytest.mark.parametrize('method', ['inverse_dynamics', 'mass_matrix', 'forward_dynamics'])
def test_specialised_code_yields_the_bits_of_the_generic_kernels(method):
    generic = arm().chain(tip_link='link_3')
    compiled = generic.compiled()
    assert compiled.is_compiled and compiled.rotor_spin == pytest.approx([0.02, -0.08, 0.015])
    for state in np.stack([Q, QD, X], axis=1)[:, :, :3].copy():
        arguments = state[:1] if method == 'mass_matrix' else state
        assert (getattr(compiled, method)(*arguments) == getattr(generic, method)(*arguments)).all()


def test_coriolis_forces_and_regressors_leave_only_rotors_out():
    robot = arm()
    C = robot.coriolis_matrix(Q, QD)
    assert (C @ QD[..., None])[..., 0] == pytest.approx(robot.coriolis_torque(Q, QD), abs=1e-10)
    step = 1e-6 * QD
    M_dot = (robot.mass_matrix(Q + step) - robot.mass_matrix(Q - step)) / 2e-6
    skew = M_dot - 2.0 * C
    assert skew == pytest.approx(-np.swapaxes(skew, -1, -2), abs=1e-6)
    bodies = Robot(
        Model.of('arm', trees.BASE, [dataclasses.replace(it, rotor=0.0, spin=0.0) for it in joints_of(robot)])
    )
    without = robot.torque_regressor(Q, QD, X) @ robot.inertial_parameters
    assert without == pytest.approx(bodies.inverse_dynamics(Q, QD, X), abs=1e-9)


def joints_of(robot):
    """Return the joints of a robot's model."""
    return robot._model.joints


def test_a_held_joint_keeps_no_rotor_and_the_others_keep_theirs():
    robot = arm()
    held = robot.with_locked_joints({'joint_2': Q[0, 1]})
    free = [0, 2, 3]
    assert held.rotor_spin == pytest.approx([0.02, 0.015, 0.024])
    assert held.actuators.torque_constant.tolist() == [1.0, 3.0, 4.0]
    q, qd, x = Q[0], np.where(np.arange(4) == 1, 0.0, QD[0]), np.where(np.arange(4) == 1, 0.0, X[0])
    tau = robot.inverse_dynamics(q, qd, x)[free]
    assert held.inverse_dynamics(q[free], qd[free], x[free]) == pytest.approx(tau, rel=1e-11)
    assert held.kinetic_energy(q[free], qd[free]) == pytest.approx(robot.kinetic_energy(q, qd), rel=1e-11)


def test_an_attached_robot_brings_its_rotors_and_a_cut_one_keeps_them():
    """What turned on the other's base turns on the link that carries it."""
    robot = arm()
    joined = robot.with_attached(robot, 'link_4', prefix='second ')
    assert joined.rotor_spin == pytest.approx([*robot.rotor_spin, *robot.rotor_spin])
    assert joined.actuators.gear_ratio.tolist() == [10.0, 20.0, 15.0, 8.0] * 2
    q, qd = Q[:2].ravel(), QD[:2].ravel()
    # T of the second's base rotor: spin qd z . w of the first's last link
    still = joined.with_actuators(
        {'rotor_direction': {name: float(name != 'second joint_1') for name in joined.joint_names}}
    )
    assert still.rotor_spin[4] == 0.0
    turned = joined.with_actuators({'rotor_direction': {name: 1.0 for name in joined.joint_names}})
    pose, first = joined.link_pose(q, 'second link_1'), joints_of(joined)[4]
    z = pose[:3, :3] @ first.axis
    more = turned.kinetic_energy(q, qd) - still.kinetic_energy(q, qd)
    assert more == pytest.approx(0.02 * qd[4] * z @ joined.link_velocity(q, qd, 'link_4')[:3], rel=1e-9)
    back = joined.chain('second ' + trees.BASE, gravity=robot.gravity)
    assert back.rotor_spin == pytest.approx(robot.rotor_spin)
    assert back.mass_matrix(Q) == pytest.approx(robot.mass_matrix(Q), rel=1e-12, abs=1e-12)


def test_yaml_and_pickles_keep_rotors():
    robot = arm()
    for back in (Robot.from_yaml(robot.to_yaml()), pickle.loads(pickle.dumps(robot))):
        assert back.rotor_spin == pytest.approx(robot.rotor_spin, rel=1e-15)
        assert back.inverse_dynamics(Q, QD, X) == pytest.approx(robot.inverse_dynamics(Q, QD, X), rel=1e-13)
        assert back.actuators.torque_constant.tolist() == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.compiled
def test_without_spin_nothing_is_computed_for_it():
    """Inertias alone: the same operations and the same bits as of a robot that knows no directions."""
    directionless = {'rotor_direction': dict.fromkeys(arm().joint_names, 0)}
    still, plain = arm().with_actuators(directionless)._evaluator.arrays, arm()._evaluator.arrays
    for name in ('inverse_dynamics', 'mass_matrix', 'forward_dynamics'):
        here, there = (count(trace(arrays, name)) for arrays in (still, plain))
        assert here.multiplications < there.multiplications and here.additions < there.additions
        emptied = still._replace(spin=np.full_like(still.spin, np.nan))
        texts = [of_one_state(StraightLine.of(program_of(it, name), it)) for it in (emptied, still)]
        assert texts[0] == texts[1]
