"""Results depend neither on what is in the workspace nor on the batch: bit for bit."""

import dataclasses
import re
from functools import cache

from support.code.robots_code import loop_of, loop_writing
from support.robots import random_trees as trees

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels import (
    aba,
    centroidal,
    coriolis_matrix,
    crba,
    crba_forward,
    energy,
    energy_regressors,
    forward_derivatives,
    frame_wrench,
    friction,
    kinematics,
    mass_matrix_inverse,
    operational_space,
    operational_space_propagation,
    poses,
    regressor,
    rnea,
    rnea_derivatives,
    wrenches,
)
from robot_dynamics_ros.model.arrays import Workspace
from robot_dynamics_ros.model.model import Friction

pytestmark = pytest.mark.plain

POINT = np.array([0.1, -0.2, 0.3])
TURN = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


@cache
def case(seed=7, count=12, states=5):
    """Return model arrays, and q, qd, qdd, tau, f_ext of several states of one random tree, and gravity."""
    joints = trees.random_joints(seed, count=count, chain=0.6)
    drawn = [trees.random_state(joints, seed + k) for k in range(states)]
    stacked = [np.ascontiguousarray(np.stack(field)) for field in zip(*drawn, strict=True)]
    q, qd, qdd, tau, _, f_ext = stacked
    return trees.arrays_of(joints), q, qd, qdd, tau, f_ext, drawn[0].gravity


def calls():
    """Return of each algorithm: kernel, loop, the arguments between work and result, the result's shape."""
    _, q, qd, qdd, tau, f_ext, gravity = case()
    n = q.shape[1]
    v_0, a_0 = f_ext[:, 1].copy(), f_ext[:, 2].copy()  # any numbers
    rows = np.random.default_rng(5).normal(size=(len(q), 9 * (n + 1)))
    of_base = [(v_0,), (a_0,)]
    no_changes = np.zeros((1, 0, 0))
    frames = [np.array([11, 4]), np.stack([TURN, TURN.T]), np.stack([POINT, -POINT]), 2]
    frame, none, os = [11, TURN, POINT, 1], np.zeros((len(q), n)), operational_space
    of_a_frame = {
        'operational_space_inertia': (os.operational_space_inertia, [(q,), *frame], (6, 6)),
        'consistent_inverse': (os.consistent_inverse, [(q,), *frame], (n, 6)),
        'operational_space_bias': (os.operational_space_bias, [(q,), (qd,), (none,), gravity, f_ext[:1], *frame], (6,)),
        'operational_space_inertia_inverse': (os.operational_space_inertia_inverse, [(q,), *frame], (6, 6)),
        'inertia_inverse_by_propagation': (
            operational_space_propagation.inertia_inverse_by_propagation,
            [(q,), *frame],
            (6, 6),
        ),
        'inertia_by_propagation': (operational_space_propagation.inertia_by_propagation, [(q,), *frame], (6, 6)),
        'consistent_inverse_by_propagation': (
            operational_space_propagation.consistent_inverse_by_propagation,
            [(q,), *frame],
            (n, 6),
        ),
        'bias_by_propagation': (
            operational_space_propagation.bias_by_propagation,
            [(q,), (qd,), (none,), gravity, f_ext[:1], *frame],
            (6,),
        ),
        'inertia_inverse_of_frames': (
            operational_space_propagation.inertia_inverse_of_frames,
            [(q,), *frames],
            (12, 12),
        ),
        'inertia_of_frames': (
            operational_space_propagation.inertia_of_frames,
            [(q,), *(each[:1] for each in frames[:-1]), 0],
            (6, 6),
        ),
        'response_to_wrenches': (operational_space_propagation.response_to_wrenches, [(q,), *frames], (n, 12)),
    }
    # an argument with a first axis of states is a tuple of one, a shared one is bare
    return {
        'rnea': (rnea.rnea, loop_of(rnea.rnea), [(q,), (qd,), (qdd,), *of_base, gravity, f_ext[:1]], (n,)),
        'crba_forward': (
            crba_forward.crba_forward,
            loop_of(crba_forward.crba_forward),
            [(q,), (qd,), (tau,), *of_base, gravity, f_ext[:1]],
            (n,),
        ),
        'external_wrench': (
            frame_wrench.external_wrench,
            loop_writing('f_ext', frame_wrench.external_wrench),
            [(q,), (v_0,), *frame],
            (n + 1, 6),
        ),
        'changes_of_wrench': (
            frame_wrench.changes_of_wrench,
            loop_writing('D_f', frame_wrench.changes_of_wrench),
            [(q,), (v_0,), frame[0], *frame[2:]],
            (n, n),
        ),
        'wrenches_on_links': (
            wrenches.wrenches_on_links,
            loop_writing('f_ext', wrenches.wrenches_on_links),
            [(q,), (rows,), 1],
            (n + 1, 6),
        ),
        **{name: (kernel, loop_of(kernel), *more) for name, (kernel, *more) in of_a_frame.items()},
        'aba': (aba.aba, loop_of(aba.aba), [(q,), (qd,), (tau,), *of_base, gravity, f_ext[:1]], (n,)),
        'rnea_derivatives': (
            rnea_derivatives.rnea_derivatives,
            loop_of(rnea_derivatives.rnea_derivatives),
            [(q,), (qd,), (qdd,), gravity, f_ext[:1], no_changes],
            (3, n, n),
        ),
        'forward_derivatives': (
            forward_derivatives.forward_derivatives,
            loop_of(forward_derivatives.forward_derivatives),
            [(q,), (qd,), (tau,), gravity, f_ext[:1], no_changes],
            (3, n, n),
        ),
        'crba': (crba.crba, loop_of(crba.crba), [(q,)], (n, n)),
        'coriolis_matrix': (
            coriolis_matrix.coriolis_matrix,
            loop_of(coriolis_matrix.coriolis_matrix),
            [(q,), (qd,)],
            (n, n),
        ),
        'mass_matrix_inverse': (
            mass_matrix_inverse.mass_matrix_inverse,
            loop_of(mass_matrix_inverse.mass_matrix_inverse),
            [(q,)],
            (n, n),
        ),
        'link_poses': (poses.link_poses, loop_of(poses.link_poses), [(q,)], (n + 1, 4, 4)),
        'frame_pose': (kinematics.frame_pose, loop_of(kinematics.frame_pose), [(q,), 9, TURN, POINT], (4, 4)),
        'frame_velocity': (
            kinematics.frame_velocity,
            loop_of(kinematics.frame_velocity),
            [(q,), (qd,), 9, TURN, POINT, 2],
            (6,),
        ),
        'frame_acceleration': (
            kinematics.frame_acceleration,
            loop_of(kinematics.frame_acceleration),
            [(q,), (qd,), (qdd,), 9, TURN, POINT, 2],
            (6,),
        ),
        'jacobian': (kinematics.jacobian, loop_of(kinematics.jacobian), [(q,), 9, TURN, POINT, 0], (6, n)),
        'center_of_mass': (centroidal.center_of_mass, loop_of(centroidal.center_of_mass), [(q,)], (3,)),
        'centroidal_momentum_matrix': (
            centroidal.centroidal_momentum_matrix,
            loop_of(centroidal.centroidal_momentum_matrix),
            [(q,)],
            (6, n),
        ),
        'center_of_mass_jacobian': (
            centroidal.center_of_mass_jacobian,
            loop_of(centroidal.center_of_mass_jacobian),
            [(q,)],
            (3, n),
        ),
        'centroidal_momentum': (
            centroidal.centroidal_momentum,
            loop_of(centroidal.centroidal_momentum),
            [(q,), (qd,)],
            (6,),
        ),
        'total_energy': (energy.total_energy, loop_of(energy.total_energy), [(q,), (qd,), gravity], (1,)),
        'kinetic_energy': (energy.kinetic_energy, loop_of(energy.kinetic_energy), [(q,), (qd,)], (1,)),
        'potential_energy': (energy.potential_energy, loop_of(energy.potential_energy), [(q,), gravity], (1,)),
        'torque_regressor': (
            regressor.torque_regressor,
            loop_of(regressor.torque_regressor),
            [(q,), (qd,), (qdd,), gravity],
            (n, 10 * n),
        ),
        'kinetic_energy_regressor': (
            energy_regressors.kinetic_energy_regressor,
            loop_of(energy_regressors.kinetic_energy_regressor),
            [(q,), (qd,)],
            (10 * n,),
        ),
        'potential_energy_regressor': (
            energy_regressors.potential_energy_regressor,
            loop_of(energy_regressors.potential_energy_regressor),
            [(q,), gravity],
            (10 * n,),
        ),
    }


def alone(name, state, work):
    """Return the result of one state, a batch of one, on a workspace as it comes."""
    _, kernel, arguments, shape = calls()[name]
    result = np.full((1, *shape), np.nan)
    kernel(case()[0], work, *(a[0][state : state + 1] if isinstance(a, tuple) else a for a in arguments), result)
    return result[0]


def same_bits(one, two) -> bool:
    """Return whether two arrays of floats are the same in every bit."""
    return one.shape == two.shape and one.tobytes() == two.tobytes()


@pytest.mark.parametrize('name', calls())
def test_a_batch_has_the_bits_of_single_states(name):
    """State by state, each on a workspace of its own, against one call on one workspace."""
    _, kernel, arguments, shape = calls()[name]
    model, q = case()[:2]
    states = [a[0] if isinstance(a, tuple) else a for a in arguments]
    together = np.full((len(q), *shape), np.nan)
    kernel(model, trees.nan_workspace(case()[0]), *states, together)
    apart = np.stack([alone(name, b, trees.nan_workspace(case()[0])) for b in range(len(q))])
    assert np.all(np.isfinite(apart)) and not same_bits(apart[0], apart[1])
    assert same_bits(together, apart)


def test_a_batch_of_friction_has_the_bits_of_single_states():
    robot = Robot.named('aubo_i5')
    figures = Friction(*np.random.default_rng(0).uniform(0.1, 2.0, (len(Friction._fields), 6)))
    robot = Robot(dataclasses.replace(robot.model, friction=figures))
    qd, tau = np.random.default_rng(1).normal(size=(2, 5, 6))
    apart = np.full(qd.shape, np.nan)
    for b in range(len(qd)):
        friction.friction_torque(np.array(figures), np.zeros((0, 0)), qd[b], tau[b], np.empty(6), apart[b])
    assert np.all(np.isfinite(apart)) and same_bits(robot.friction_torque(qd, tau), apart)


@pytest.mark.compiled
@pytest.mark.parametrize('name', calls())
def test_nothing_in_the_workspace_is_read_before_it_is_written(name):
    """NaN, zeros, or what another algorithm left at another state: the result is the same in every bit."""
    used = Workspace.of(case()[0])
    for other in calls():
        alone(other, 1, used)
    expected = alone(name, 0, Workspace.of(case()[0]))
    assert np.all(np.isfinite(expected))
    assert same_bits(alone(name, 0, trees.nan_workspace(case()[0])), expected)
    assert same_bits(alone(name, 0, used), expected)


@pytest.mark.parametrize('name', calls())
def test_the_docstring_lists_the_rows_of_the_workspace_that_are_written(name):
    """Exactly those named after "rows" change, and no argument but the result does."""
    model = case()[0]
    text = ' '.join(calls()[name][0].__doc__.split())
    named = re.search(r'arrays? ((?:\w+ )+)of ``work``', text).group(1).split()
    work = trees.nan_workspace(case()[0])
    before = [array.copy() for array in (*model, *case()[1:])]
    alone(name, 0, work)
    assert set(named) == {field for field in Workspace._fields if not np.all(np.isnan(getattr(work, field)))}
    assert all(same_bits(was, now) for was, now in zip(before, (*model, *case()[1:]), strict=True))


@kernel
def exact(x, y):
    """Return (x + y) - x and x / 0."""
    return (x + y) - x, x / 0.0


@pytest.mark.compiled
def test_kernels_are_compiled_to_the_letter():
    """No fast-math, which would make y of (x + y) - x; and NumPy's division, which raises nothing."""
    assert exact(1.0, 1e-17) == (0.0, np.inf)
