"""Operations of forward dynamics with closed loops: linear in the number of links at a fixed number of rows."""

from functools import cache

from support.code.counted_kernels import operations_of
from support.robots.mechanisms import cable

import numpy as np
import pytest

from robot_dynamics_ros.algorithms.program import program_of


@cache
def counts(links: int) -> tuple[int, int]:
    """Return operations for a cable of so many links with 3 rows, and those of the articulated-body algorithm alone."""
    mechanism = cable(links)
    q = np.random.default_rng(0).uniform(-0.5, 0.5, links)
    state = q, *np.random.default_rng(1).normal(size=(2, links))
    totals = []
    arrays = mechanism.robot.model.arrays
    tree = mechanism.robot.with_loops([]).model.arrays
    for these, name in ((arrays, 'forward_dynamics'), (tree, 'forward_dynamics_by_articulated')):
        found = operations_of(program_of(these, name), these, *state)
        totals.append(found.multiplications + found.additions + found.divisions + found.square_roots)
    return totals[0], totals[1]


@pytest.mark.parametrize(('fewer', 'more'), [(25, 100), pytest.param(50, 200, marks=pytest.mark.slow)])
def test_operations_are_linear_in_the_number_of_links(fewer, more):
    exponent = np.log(counts(more)[0] / counts(fewer)[0]) / np.log(more / fewer)
    assert abs(exponent - 1.0) < 0.02


@pytest.mark.parametrize(
    ('links', 'most'), [(25, 1.6), (50, 1.6), (100, 1.6), pytest.param(200, 1.6, marks=pytest.mark.slow)]
)
def test_three_rows_cost_less_than_a_second_pass(links, most):
    with_loops, alone = counts(links)
    assert 1.0 < with_loops / alone < most
