"""``operation_count``: counts of small products by hand, and those of the paper's arm beside its claim."""

import re
from pathlib import Path

from support.code.traces import trace
from support.robots import chains
from support.robots import random_trees as trees

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.codegen.straight_line import count
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.formulations import forward, newton_euler, operators, screws, spatial, stacked
from robot_dynamics_ros.formulations.operation_count import CountedNumber, Tally, operation_count
from robot_dynamics_ros.model.joint_types import Joint
from robot_dynamics_ros.model.model import Model
from robot_dynamics_ros.model.regrouping import regrouped

PAGES = Path(__file__).parents[2] / 'doc' / 'formulations'
ARM = chains.arms()['aubo_i5']
CLAIM = (800, 596)
"""Multiplications and additions of the paper's 6R arm."""


def general_6r() -> Robot:
    """Return an arm of six links without special geometry: modified DH frames, random twists, offsets and bodies.

    No gravity, as in the paper.
    """
    random, joints = np.random.default_rng(0), []
    for i in range(1, 7):
        alpha, a, d = random.uniform(0.3, 1.2), *random.uniform(0.1, 0.5, 2)
        c, s = np.cos(alpha), np.sin(alpha)
        rotation, origin = np.array([[1, 0, 0], [0, c, -s], [0, s, c]]), np.array([a, -s * d, c * d])
        parent, z = f'link_{i - 1}' if i > 1 else trees.BASE, np.array([0.0, 0.0, 1.0])
        body = trees.random_body(random)
        joints.append(Joint(f'joint_{i}', f'link_{i}', parent, 'revolute', z, rotation, origin, body))
    return Robot(Model.of('general 6R', trees.BASE, joints), np.zeros(3))


def kernel_counts(robot: Robot) -> list[tuple[int, int]]:
    """Return multiplications and additions of the kernel: all constants folded in; gravity and last body arguments."""
    arrays, inverse_dynamics = regrouped(robot.model.arrays), 'inverse_dynamics'
    load = [*robot.gravity, *arrays.I[-1], *np.zeros(6)]
    found = [count(trace(arrays, inverse_dynamics, load)), count(trace(arrays, inverse_dynamics))]
    return [(operations.multiplications, operations.additions) for operations in found]


def table(page: str) -> dict[str, list[tuple[int, ...]]]:
    """Return the pairs of figures in each row of the page's tables of counts, by the row's first cell."""
    rows = re.findall(r'^\| ([^|]+) \| (.*[0-9] and [0-9].*) \|$', (PAGES / page).read_text('utf-8'), re.MULTILINE)
    return {
        name.strip('`'): [tuple(map(int, pair)) for pair in re.findall(r'(\d+) and (\d+)', cells.replace(',', ''))]
        for name, cells in rows
    }


def counted(tally: Tally, *values) -> np.ndarray:
    return np.array([CountedNumber(value, tally) for value in values])


def test_products_and_sums_of_arrays():
    """(2, 3) by (3,): 6 products, 4 sums; those with 0, 1 and -1 apart."""
    tally = Tally()
    x = counted(tally, 2.0, 3.0, 0.0)
    y = np.array([[1.0, 5.0, 7.0], [0.0, 4.0, -1.0]]) @ x
    assert [number.value for number in y] == [17.0, 12.0]
    assert tally.dense == {'multiplications': 6, 'additions': 4, 'divisions': 0, 'square_roots': 0}
    # 5 * 3 and 4 * 3 count, 2 + 15 counts
    assert tally.trivial == {'multiplications': 4, 'additions': 3, 'divisions': 0, 'square_roots': 0}


def test_every_operation_has_its_value_and_its_count():
    tally = Tally()
    a, b = counted(tally, 6.0, 4.0)
    values = [(a - b, 2.0), (1.0 - a, -5.0), (a / b, 1.5), (3.0 / a, 0.5), (-a, -6.0), (np.sqrt(b), 2.0)]
    values += [(np.sin(a), np.sin(6.0)), (np.cos(a), np.cos(6.0)), (np.cos(b), np.cos(4.0)), (2.5 * a, 15.0)]
    values += [(a + 0.0, 6.0), (0.0 / a, 0.0), (a / 1.0, 6.0), (a * -1.0, -6.0)]
    for number, value in values:
        assert number.value == pytest.approx(value, rel=1e-15)
    assert a > 5.0 and not a > 6.0
    assert tally.dense == {'multiplications': 2, 'additions': 3, 'divisions': 4, 'square_roots': 1}
    assert tally.trivial == {'multiplications': 1, 'additions': 1, 'divisions': 2, 'square_roots': 0}
    assert len(tally.angles) == 2


OF_ARMS = [module.inverse_dynamics for module in (newton_euler, screws, stacked, spatial, operators)]


@pytest.mark.compiled
@pytest.mark.parametrize('formulation', [*OF_ARMS, *forward.METHODS], ids=lambda f: f'{f.__module__}.{f.__name__}')
def test_a_run_that_counts_has_the_same_result(formulation):
    q, qd, last, wrench = chains.random_motion(ARM, 3)
    run = operation_count(formulation, ARM, q, qd, last, tip_wrench=wrench)
    assert chains.disagreement(run.result, formulation(ARM, q, qd, last, wrench)) < 1e-12
    assert run.dense.sincos == run.sparse.sincos == 6
    assert run.dense.multiplications > run.sparse.multiplications > 100
    assert run.dense.additions > run.sparse.additions > 100


def test_the_counts_beside_the_claim_of_the_paper_and_those_of_the_kernel():
    """The claim is not that of the paper's own arm: neither count yields it, and the sparse one is a fifth.

    It has the size of the sparse count of a general arm: multiplications within it, additions 2 % above; 18 of these
    form cos q as 1 - (1 - cos q).
    """
    shown = table('operators.md')
    assert shown['claim of the paper'] == [CLAIM]
    for column, robot in enumerate((chains.planar_6r(), general_6r(), ARM)):
        motion = chains.random_motion(robot, 1)[:3]
        run = operation_count(operators.inverse_dynamics, robot, *motion)
        assert chains.disagreement(run.result, robot.inverse_dynamics(*motion)) < 1e-11
        assert shown['recursion, dense'][column] == run.dense[:2] == (2058, 1740)
        assert shown['recursion, sparse'][column] == run.sparse[:2]
        folded, free = kernel_counts(robot)
        assert shown['compiled kernel, everything but the state constant'][column] == folded
        assert shown['compiled kernel, gravity and last body as arguments'][column] == free
        assert all(kernel < own for kernel, own in zip(free, run.sparse, strict=False))
        assert all(own > claim for own, claim in zip(run.dense, CLAIM, strict=False))
    planar, general, _ = shown['recursion, sparse']
    assert planar[0] < CLAIM[0] / 5 and planar[1] < CLAIM[1] / 4
    assert CLAIM[0] * 0.98 < general[0] <= CLAIM[0] and CLAIM[1] < general[1] < CLAIM[1] * 1.02
    assert general[1] - 6 * 3 < CLAIM[1]


def test_the_counts_on_the_other_pages():
    q, qd, qdd, _ = chains.random_motion(ARM, 1)
    rows = {
        'spatial.md': {
            'inverse dynamics': (spatial.inverse_dynamics, q, qd, qdd),
            'mass matrix': (spatial.mass_matrix, q),
            'forward dynamics': (spatial.forward_dynamics, q, qd, qdd),
        },
        'forward.md': {method.__name__: (method, q, qd, qdd) for method in forward.METHODS},
    }
    for page, expected in rows.items():
        found = {name: operation_count(row[0], ARM, *row[1:]) for name, row in expected.items()}
        assert table(page) == {name: [run.dense[:2], run.sparse[:2]] for name, run in found.items()}


def test_recursions_are_linear_in_the_number_of_joints():
    """Second differences of the dense counts are 0 for O(n) recursions, not for those that form a matrix."""

    def multiplications(formulation, n):
        joints = [f'joint_{i}' for i in range(n + 1, 7)]
        robot = chains.planar_6r().with_locked_joints(dict.fromkeys(joints, 0.3))
        assert robot.nv == n
        return operation_count(formulation, robot, *np.full((3, n), 0.4)).dense.multiplications

    linear = [spatial.inverse_dynamics, operators.inverse_dynamics, forward.by_articulated_bodies]
    for formulation, expected in [*((f, True) for f in linear), (forward.by_inverse_dynamics, False)]:
        counts = [multiplications(formulation, n) for n in (2, 3, 4)]
        assert (np.diff(counts, 2) == 0).all() == expected, formulation.__name__


def test_bad_input_is_named():
    with pytest.raises(ArgumentError, match=r'q: expected shape \(6,\), got \(2,\)'):
        operation_count(spatial.mass_matrix, ARM, [0.1, 0.2])
