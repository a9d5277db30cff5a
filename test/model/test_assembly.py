"""The order in which trees of links are assembled, played back on sets of links."""

import dataclasses

from support import naive
from support import random_trees as trees
from support.matrices import matrix

import numpy as np
import pytest

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.model.assembly import Assembly
from robot_dynamics_ros.model.inertial_parameters import ten_parameters
from robot_dynamics_ros.model.model import Model

SEED = pytest.mark.parametrize('seed', matrix(range(60), range(12)))
PARTS = (1, 2, 5)
MASSLESS, ROD = np.zeros(10), ten_parameters(1.0, np.zeros(3), np.diag([0.1, 0.1, 0.0]))


def arrays_of_parents(parents):
    """Return the arrays of a tree of revolute joints with these numbers of parents."""
    joints = trees.random_joints(0, count=len(parents), prismatic=0.0)
    joints = [dataclasses.replace(it, parent=f'link_{p}' if p else trees.BASE)
              for it, p in zip(joints, parents, strict=True)]  # fmt: skip
    return Model.of('tree', trees.BASE, joints).arrays


def assembly_of(arrays, parts=1):
    """Return the assembly of a tree whose links have numbers for names."""
    return Assembly.of(arrays, range(arrays.n + 1), parts)


def play(arrays, assembly, joints):
    """Join sets of links in this order; assert what the record says of each joint."""
    links = {i: {i} for i in range(arrays.n + 1)}
    handle = {i: i for i in range(arrays.n + 1)}
    for i in joints:
        j, p = int(assembly.above[i]), int(arrays.parent[i])
        assert p in links[j] and i in links and (p == 0 or handle[j] == p)
        assert assembly.alone[i] == (len(links[i]) == 1)
        assert assembly.alone_above[i] == (j > 0 and len(links[j]) == 1)
        beyond = links.pop(i) if p else set(links[i])
        if p == 0:
            continue  # the base carries assemblies that do not know of each other
        links[j] |= beyond
        open_links = {int(arrays.parent[k]) for k in range(1, arrays.n + 1)
                      if arrays.parent[k] in links[j] and k not in links[j]}  # fmt: skip
        assert len(open_links) <= 1
        assert assembly.through[i] == bool(open_links & beyond)
        assert assembly.kept[i] == bool(open_links - beyond)
        if open_links:
            (handle[j],) = open_links
    return links


@SEED
def test_every_order_joins_all_links(seed):
    arrays = trees.arrays_of(trees.random_joints(seed))
    for parts in PARTS:
        assembly = assembly_of(arrays, parts)
        assert sorted(assembly.order) == list(range(1, arrays.n + 1)) and assembly.parts == parts
        links = play(arrays, assembly, assembly.order)
        assert sorted(link for i in links for link in links[i]) == list(range(arrays.n + 1))
        # the parts before the last one may be computed in any order
        own = [assembly.order[a:b] for a, b in zip(assembly.starts[:-2], assembly.starts[1:-1], strict=True)]
        play(arrays, assembly, np.concatenate([*reversed(own), assembly.order[assembly.starts[-2] :]]))
        # and so may the rounds
        play(arrays, assembly, sorted(range(1, arrays.n + 1), key=lambda i: (assembly.level[i], -i)))


@pytest.mark.parametrize('n', [1, 2, 3, 8, 9, 100, 1000])
def test_rounds_of_a_chain(n):
    assembly = assembly_of(arrays_of_parents(range(n)))
    assert assembly.level.max() == int(np.ceil(np.log2(n))) + 1


def test_rounds_of_trees_are_few():
    binary = assembly_of(arrays_of_parents([(i - 1) // 2 for i in range(1, 512)]))
    assert binary.level.max() <= 2 * 9
    # each tooth of a comb is a link
    comb = assembly_of(arrays_of_parents([max(0, i - 1 - i % 2) for i in range(1, 513)]))
    assert comb.level.max() <= 2 * 9
    # all on one link: one after the other, and on the base at once
    assert assembly_of(arrays_of_parents([0, *[1] * 50])).level.max() == 51
    assert assembly_of(arrays_of_parents([0] * 50)).level.max() == 1


@pytest.mark.parametrize('parts', [2, 3, 8])
def test_parts_are_equally_long(parts):
    assembly = assembly_of(arrays_of_parents(range(3000)), parts)
    lengths = np.diff(assembly.starts)
    assert lengths[:-1].min() > 0.85 * 3000 / parts and lengths[-1] < 40 * parts


@pytest.mark.parametrize(('inertia', 'what'), [(MASSLESS, 'mass'), (ROD, 'rotational inertia about every axis')])
def test_a_link_without_inertia_is_named(inertia, what):
    joints = trees.random_joints(4, count=6)
    joints[3] = dataclasses.replace(joints[3], inertia=inertia)
    with pytest.raises(ModelError, match=f"link 'link_4' has no {what}; use another method"):
        Assembly.of(trees.arrays_of(joints), [trees.BASE, *(joint.link for joint in joints)])


def test_inverse_inertia_is_the_inverse_of_the_inertia():
    joints = trees.random_joints(5, count=10)
    Phi = assembly_of(trees.arrays_of(joints)).Phi
    for Phi_i, inertia in zip(Phi[1:], naive.inertias(joints)[1:], strict=True):
        assert np.abs(Phi_i @ inertia - np.eye(6)).max() < 1e-11
    assert not Phi[0].any()
