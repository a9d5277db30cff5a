"""Forward dynamics with closed loops against Pinocchio's ``constraintDynamics``.

Its constraints are points and frames held together; a hinge is two points of its axis, a planar point one point.
"""

from functools import cache

from support.matrices import matrix
from support.robots import random_trees as trees
from support.robots.mechanisms import MECHANISMS, cable, four_bar, pose
from support.twins.closed_chains import rounding

import numpy as np
import pytest

pin = pytest.importorskip(
    'pinocchio',
    minversion='3.4',
    reason='the outside source, Pinocchio (package pin), is not installed',
)

NAMES = [name for name, mechanism in MECHANISMS.items() if name != 'gears']
NAME = pytest.mark.parametrize('name', [*NAMES, 'cable of 100'])
SEED = pytest.mark.parametrize('seed', matrix(range(12), range(2)))


def constraints(model, links, closure):
    """Return Pinocchio's constraints of a closure; ``links`` are its joints by the names of our links."""
    kind = pin.ContactType.CONTACT_6D if closure.kind == 'weld' else pin.ContactType.CONTACT_3D
    along = (0.0, 0.1) if closure.kind == 'revolute' else (0.0,)
    for z in along:
        ends = []
        for link, at in ((closure.link_a, closure.pose_a), (closure.link_b, closure.pose_b)):
            ends += [links[link or trees.BASE], pin.SE3(at @ pose((0.0, 0.0, z)))]
        constraint = pin.RigidConstraintModel(kind, model, *ends, pin.ReferenceFrame.LOCAL)
        yield constraint


@cache
def peer(name):
    """Return a mechanism whose errors do not decay, and a function that returns Pinocchio's accelerations."""
    mechanism = cable(100) if name == 'cable of 100' else MECHANISMS[name]
    joints = list(mechanism.joints)
    model, order, velocities = trees.pinocchio_tree(joints)
    model.gravity.linear = mechanism.robot.gravity
    links = {trees.BASE: 0, **{joints[k].link: number for number, k in enumerate(order, start=1)}}
    held, held_data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for closure in mechanism.robot.model.loops.closures:
        for constraint in constraints(model, links, closure):
            held.append(constraint)
            held_data.append(constraint.createData())
    data = model.createData()
    pin.initConstraintDynamics(model, data, held, held_data)

    def accelerations(q, qd, tau):
        """Return qdd (nv,) to rounding: small proximal steps, as many as needed."""
        settings = pin.ProximalSettings(1e-15, 1e-15, 1e-8, 200)
        at = trees.pinocchio_positions(joints, order, q)
        qdd = np.empty(len(qd))
        qdd[velocities] = pin.constraintDynamics(
            model, data, at, qd[velocities], tau[velocities], held, held_data, settings
        )
        return qdd

    return mechanism, mechanism.robot.with_loops(mechanism.loops, gain=0.0), accelerations


@pytest.mark.rounding
@NAME
@SEED
def test_accelerations(name, seed):
    mechanism, robot, accelerations = peer(name)
    state = mechanism.state(seed)
    assert np.abs(robot.forward_dynamics(*state) - accelerations(*state)).max() < rounding(robot, *state)


def test_the_kinds_of_a_four_bar_linkage_have_the_same_accelerations():
    """Where they differ, they hold what the mechanism does not move."""
    state = four_bar('point').state(3)
    found = [four_bar(kind).robot.forward_dynamics(*state) for kind in ('point', 'planar_point', 'revolute')]
    assert all(trees.relative_error(qdd, found[0]) < 1e-11 for qdd in found)
