"""J M^-1 J' and M^-1 J' of several frames: NumPy's matrices of the naive twin, Pinocchio, ranks and operations."""

import dataclasses
from functools import cache
from types import SimpleNamespace

from support.code.robots_code import loop_of
from support.matrices import matrix
from support.robots import random_trees as trees
from support.rounding import bound
from support.twins import naive

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robot_dynamics_ros.algorithms.program import program_of
from robot_dynamics_ros.algorithms.table import OPERATIONAL_SPACE
from robot_dynamics_ros.codegen.straight_line import count, trace
from robot_dynamics_ros.kernels import operational_space, operational_space_propagation
from robot_dynamics_ros.model.model import Frame

SEED = pytest.mark.parametrize('seed', matrix(range(20), range(5)))
VIEW = pytest.mark.parametrize('reference_frame', [0, 1, 2])


@cache
def case(seed):
    """Return a random tree, every third with a free base, rotors with spin, a state, frames and the twin's M.

    The frames are three, two of them on one link, and the base's or a fourth.
    """
    rng = np.random.default_rng(seed)
    joints = trees.random_joints(seed, count=8 + seed % 9, chain=[1.0, 0.8, 0.5, 0.2][seed % 4], general=0.3)
    joints = trees.with_planar_about_z(joints)
    if seed % 3 == 0:
        joints[0] = dataclasses.replace(joints[0], kind='free')
    joints = [
        dataclasses.replace(it, spin=float(rng.uniform(-0.05, 0.05))) if it.kind == 'revolute' else it for it in joints
    ]
    arrays, s = trees.arrays_of(joints), trees.random_state(joints, seed)
    last = len(joints)
    links = np.array([last, int(rng.integers(1, last)), last, 0 if seed % 2 else int(rng.integers(1, last))])
    frames = links, Rotation.from_quat(rng.normal(size=(4, 4))).as_matrix(), rng.normal(size=(4, 3))
    return SimpleNamespace(joints=joints, arrays=arrays, s=s, frames=frames, M=mass_matrix(joints, s.q))


def mass_matrix(joints, q):
    """Return M (nv, nv) of the twin with the rotors' spin: spin qd z . w of the link before in the kinetic energy."""
    M, J = naive.mass_matrix(joints, q), naive.jacobians(joints, q)
    for joint, parent, (_, of_v) in zip(joints, naive.parents(joints)[1:], naive.places(joints), strict=True):
        if joint.spin:
            row = joint.spin * (joint.rotation @ joint.axis) @ J[parent][:3]
            M[of_v.start] += row
            M[:, of_v.start] += row
    return M


def jacobian(c, reference_frame):
    """Return J (6 F, nv) by the twin."""
    poses, J, rows = naive.link_poses(c.joints, c.s.q), naive.jacobians(c.joints, c.s.q), []
    for link, rotation, origin in zip(*c.frames, strict=True):
        R, p = poses[link][:3, :3], poses[link][:3, :3] @ origin + poses[link][:3, 3]
        w, v = np.split(J[link], 2)
        w, v = R @ w, R @ (v + np.cross(w, origin, axis=0))
        if reference_frame == 0:
            v = v + np.cross(p, w, axis=0)
        if reference_frame == 2:
            w, v = (R @ rotation).T @ w, (R @ rotation).T @ v
        rows += [w, v]
    return np.vstack(rows)


def call(kernel, c, reference_frame, *shape, frames=None):
    """Return the result of a kernel of several frames, or of one of them."""
    result = np.full((1, *shape), np.nan)
    work = trees.nan_workspace(c.arrays)
    loop_of(kernel)(c.arrays, work, c.s.q[None], *(c.frames if frames is None else frames), reference_frame, result)
    return result[0]


def tolerance(*matrices) -> float:
    """Return 1e-12, or what rounding makes of the largest condition."""
    return max(1e-12, 1e2 * np.finfo(float).eps * max(map(np.linalg.cond, matrices)))


@SEED
@VIEW
def test_inertia_inverse_and_response_are_those_of_the_twins_matrices(seed, reference_frame):
    c = case(seed)
    J, response = jacobian(c, reference_frame), np.linalg.solve(c.M, jacobian(c, reference_frame).T)
    found = call(operational_space_propagation.inertia_inverse_of_frames, c, reference_frame, 24, 24)
    assert trees.relative_error(found, J @ response) < tolerance(c.M)
    assert np.array_equal(found, found.T)
    found = call(operational_space_propagation.response_to_wrenches, c, reference_frame, len(c.M), 24)
    assert trees.relative_error(found, response) < tolerance(c.M)


@SEED
@VIEW
def test_blocks_of_several_frames_have_the_bits_of_single_ones(seed, reference_frame):
    """Also by factors of M, where they are the same up to rounding."""
    c = case(seed)
    together = call(operational_space_propagation.inertia_inverse_of_frames, c, reference_frame, 24, 24)
    for k, frame in enumerate(zip(*c.frames, strict=True)):
        block = together[6 * k : 6 * k + 6, 6 * k : 6 * k + 6]
        assert np.array_equal(
            call(operational_space_propagation.inertia_inverse_by_propagation, c, reference_frame, 6, 6, frames=frame),
            block,
        )
        factors = call(operational_space.operational_space_inertia_inverse, c, reference_frame, 6, 6, frames=frame)
        assert np.abs(factors - block).max() <= tolerance(c.M) * np.abs(block).max()


@pytest.mark.rounding
@VIEW
@pytest.mark.parametrize('seed', range(100, 108))
def test_both_ways_give_the_same_inertia_and_inverse_of_a_frame(seed, reference_frame):
    """The last of 7 to 14 joints in a row, with another branch."""
    joints = trees.random_joints(seed, count=seed - 93, chain=1.0, general=0.2)
    other = dataclasses.replace(joints[2], name='other', link='other', kind='revolute')
    arrays, s = trees.arrays_of([*joints, other]), trees.random_state([*joints, other], seed)
    rng = np.random.default_rng(seed)
    frame = len(joints), Rotation.from_quat(rng.normal(size=4)).as_matrix(), rng.normal(size=3)
    c = SimpleNamespace(arrays=arrays, s=s)
    A = call(operational_space_propagation.inertia_inverse_by_propagation, c, reference_frame, 6, 6, frames=frame)
    for by_factors, by_propagation, rows in (
        (operational_space.operational_space_inertia, operational_space_propagation.inertia_by_propagation, 6),
        (
            operational_space.consistent_inverse,
            operational_space_propagation.consistent_inverse_by_propagation,
            arrays.nv,
        ),
    ):
        expected, found = (
            call(kernel, c, reference_frame, rows, 6, frames=frame) for kernel in (by_factors, by_propagation)
        )
        assert trees.relative_error(found, expected) < 1e-11 * np.linalg.cond(A)
    several = tuple(np.array([part]) for part in frame)
    found, expected = (
        call(operational_space_propagation.inertia_of_frames, c, reference_frame, 6, 6, frames=several),
        np.linalg.inv(A),
    )
    assert trees.relative_error(found, expected) < bound(50, 6, np.linalg.cond(A))
    bias = []
    for kernel in (operational_space.operational_space_bias, operational_space_propagation.bias_by_propagation):
        bias.append(np.full((1, 6), np.nan))
        motion = s.q[None], s.qd[None], np.zeros((1, arrays.nv)), s.gravity, np.zeros((1, arrays.n + 1, 6))
        loop_of(kernel)(arrays, trees.nan_workspace(arrays), *motion, *frame, reference_frame, bias[-1])
    assert trees.relative_error(*bias) < 1e-11 * np.linalg.cond(A)


@pytest.mark.parametrize('seed', matrix(range(30), range(5)))
def test_inertia_inverse_is_pinocchios(seed):
    pin = pytest.importorskip(
        'pinocchio', minversion='3.4', reason='the outside source, Pinocchio (package pin), is not installed'
    )
    c = case(seed)
    joints = [dataclasses.replace(joint, spin=0.0) for joint in c.joints]
    model, order, velocities = trees.pinocchio_tree(joints)
    data, q = model.createData(), trees.pinocchio_positions(joints, order, c.s.q)
    number = {0: 0, **{int(k) + 1: place + 1 for place, k in enumerate(order)}}
    upper = np.triu(pin.computeMinverse(model, data, q))
    J = []
    for link, rotation, origin in zip(*c.frames, strict=True):
        placement = pin.SE3(rotation, origin)
        frame = model.addFrame(pin.Frame(f'frame {len(J)}', number[int(link)], placement, pin.FrameType.OP_FRAME))
        J.append(
            pin.computeFrameJacobian(model, model.createData(), q, frame, pin.ReferenceFrame.LOCAL)[[3, 4, 5, 0, 1, 2]]
        )
    J = np.vstack(J)
    expected = J @ (upper + np.triu(upper, 1).T) @ J.T
    found = call(
        operational_space_propagation.inertia_inverse_of_frames,
        SimpleNamespace(**{**vars(c), 'arrays': trees.arrays_of(joints)}),
        2,
        24,
        24,
    )
    assert len(velocities) == model.nv and trees.relative_error(found, expected) < tolerance(c.M)


@VIEW
def test_the_rank_is_the_number_of_directions(reference_frame):
    """Of a chain of 1 to 5 joints, and of a frame twice; there is no inertia."""
    joints = trees.random_joints(3, count=8, chain=1.0)
    c = SimpleNamespace(arrays=trees.arrays_of(joints), s=trees.random_state(joints, 3))
    for link in range(1, 9):
        frame = link, np.eye(3), np.array([0.1, 0.2, 0.3])
        sizes = np.linalg.eigvalsh(
            call(operational_space_propagation.inertia_inverse_by_propagation, c, reference_frame, 6, 6, frames=frame)
        )
        assert (sizes > 1e-11 * sizes[-1]).sum() == min(link, 6)
        if link < 6:
            assert not np.isfinite(
                call(operational_space_propagation.inertia_by_propagation, c, reference_frame, 6, 6, frames=frame)
            ).all()
            inverse = call(
                operational_space_propagation.consistent_inverse_by_propagation, c, reference_frame, 8, 6, frames=frame
            )
            assert not np.isfinite(inverse).all()
    twice = np.array([8, 8]), np.stack([np.eye(3)] * 2), np.zeros((2, 3))
    assert not np.isfinite(
        call(operational_space_propagation.inertia_of_frames, c, reference_frame, 12, 12, frames=twice)
    ).all()


@cache
def operations(name, joints) -> int:
    """Return the multiplications and additions of a chain of revolute joints at right angles, by propagation."""
    chain = trees.random_joints(3, count=joints, chain=1.0, prismatic=0.0)
    turn = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    for k, joint in enumerate(chain):
        rotation, origin = (turn, (0.3, 0.0, 0.1)) if k % 2 else (np.eye(3), (0.4, 0.0, 0.0))
        chain[k] = dataclasses.replace(joint, axis=np.array([0.0, 0.0, 1.0]), rotation=rotation, origin=origin)
    arrays, frame = trees.arrays_of(chain), Frame(joints, np.eye(3), np.array([0.1, 0.2, 0.3]))
    found = count(trace(program_of(arrays, name, [frame] if name in OPERATIONAL_SPACE else [], 1), arrays))
    return found.multiplications + found.additions


GROWING = [name for name in OPERATIONAL_SPACE if name != 'operational_space_bias']


@pytest.mark.parametrize('name', matrix(GROWING, GROWING[::3]))
def test_operations_grow_with_the_number_of_joints(name):
    """The exponent over 25 to 100 joints is 1."""
    numbers = [25, 50, 100]
    counts = [operations(name, joints) for joints in numbers]
    exponent = np.polyfit(np.log(numbers), np.log(counts), 1)[0]
    assert abs(exponent - 1.0) < 0.05
    # twice the joints add twice the operations
    steps = np.diff(counts) / np.diff(numbers)
    assert np.ptp(steps) < 0.03 * steps[0]


@pytest.mark.parametrize(('joints', 'times'), matrix([(60, 5), (100, 10)], [(60, 5)]))
def test_inertia_of_many_joints_needs_a_fraction_of_the_inverse_mass_matrix(joints, times):
    """A fifth of it for 60 joints, a tenth for a hundred."""
    assert operations('operational_space_inertia', joints) <= operations('mass_matrix_inverse', joints) / times
