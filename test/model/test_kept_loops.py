"""Closed loops of edited models: what stays has the same errors and forces; what cannot stay is refused by name."""

from dataclasses import replace

from support.robots import random_trees as trees
from support.robots.loops_of_trees import closed_at, closures_at, couplings_of, random_pose

import numpy as np
import pytest

from robot_dynamics_ros import Coupling, LoopClosure, Robot
from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.model.closed_loops.loops import with_loops
from robot_dynamics_ros.model.editing import cut, with_attached, with_locked_joints
from robot_dynamics_ros.model.model import Frame, Model

GRAVITY = (2.0, -3.0, -8.0)
SEED = pytest.mark.parametrize('seed', range(3))
FRAMES = {'wall': Frame(0, np.eye(3), np.ones(3)), 'tool': Frame(4, np.eye(3), np.ones(3))}


def row_of_links(seed, count=8) -> Model:
    """Return a chain with a frame on its base and one on its fourth link."""
    return Model.of('row', trees.BASE, trees.random_joints(seed, count=count, chain=1.0), FRAMES)


def robot_of(model) -> Robot:
    return Robot(model, GRAVITY)


def names(model) -> list[str]:
    """Return the name of each loop, or its joint."""
    return [it.name if isinstance(it, LoopClosure) else it.joint for it in model.loops.all]


@SEED
def test_a_chain_keeps_the_loops_of_its_links(seed):
    rng = np.random.default_rng(seed)
    one, two, q = random_pose(rng), random_pose(rng), rng.uniform(-1.0, 1.0, 8)
    loops = [
        LoopClosure('low', 'wall', one, 'link_2', two, 'weld'),
        LoopClosure('inner', 'link_3', two, 'tool', one, 'revolute', 3.0, 2.0, 0.1),
        LoopClosure('beyond', 'link_6', one, 'link_8', two),
        Coupling('joint_4', 'joint_3', (0.1, 2.0, 3.0)),
        Coupling('joint_2', None, (0.4,)),
        Coupling('joint_7', 'joint_8', (0.1, 2.0)),
    ]
    model = with_loops(row_of_links(seed), loops, gain=7.0)
    errors = robot_of(model).loop_errors(q)
    part = cut(model, tip_link='link_5')
    assert names(part) == ['low', 'inner', 'joint_4', 'joint_2'] and part.loops.gain == 7.0
    assert robot_of(part).loop_errors(q[:5]) == pytest.approx(errors[[*range(11), 14, 15]], abs=1e-13)
    # the subtree has the others, on a base that is another
    subtree = cut(model, base_link='link_5')
    assert names(subtree) == ['beyond', 'joint_7']
    assert robot_of(subtree).loop_errors(q[5:]) == pytest.approx(errors[[11, 12, 13, 16]], abs=1e-13)


def test_a_chain_from_a_frame_of_the_base_keeps_loops_with_the_base():
    loops = [LoopClosure('pin', None, np.eye(4), 'tool')]
    model = with_loops(row_of_links(1), loops)
    part, q = cut(model, base_link='wall', tip_link='link_5'), np.linspace(-1.0, 1.0, 8)
    assert part.link_names[0] == 'wall' and part.loops.closures[0].link_a == trees.BASE
    assert robot_of(part).loop_errors(q[:5]) == pytest.approx(robot_of(model).loop_errors(q), abs=1e-13)


CUT = {
    'closure': (
        LoopClosure('pin', 'link_2', np.eye(4), 'link_7'),
        "loop 'pin': 'link_2' is kept, but 'link_7' is not; remove the loop by with_loops",
    ),
    'the other way': (
        LoopClosure('pin', 'link_7', np.eye(4), 'wall'),
        "loop 'pin': 'wall' is kept, but 'link_7' is not; remove the loop by with_loops",
    ),
    'coupling': (
        Coupling('joint_7', 'joint_1', (0.0, 1.0)),
        "coupling of joint 'joint_7': 'joint_1' is kept, but 'joint_7' is not; remove the loop by with_loops",
    ),
}


@pytest.mark.parametrize(('loop', 'culprit'), CUT.values(), ids=CUT)
def test_a_loop_between_a_chain_and_what_is_dropped_is_refused(loop, culprit):
    with pytest.raises(ModelError) as error:
        cut(with_loops(row_of_links(2), [loop]), tip_link='link_5')
    assert str(error.value) == culprit


@SEED
def test_locked_joints_leave_the_motion_in_the_loops(seed):
    """Locks are welds: forward dynamics of the full robot with them in addition has the same accelerations."""
    model, rng = row_of_links(seed, count=10), np.random.default_rng(seed)
    q, qd, tau = rng.uniform(-1.0, 1.0, (3, 10))
    held, tree = [2, 5, 6], robot_of(model)
    free = np.setdiff1d(np.arange(10), [*held, 0, 8])  # joints 1 and 9 are coupled to locked ones
    qd[held] = 0.0
    q[0] = np.polynomial.polynomial.polyval(q[5], (0.1, -0.4, 0.3, 0.2, 0.5))
    q[8], qd[[0, 8]] = (q[2] - 0.2) / 1.7, 0.0
    loops = [
        closed_at(tree, q, 'pin', 'wall', random_pose(rng), 'link_10', 'point'),
        # within one body once its joints are locked
        closed_at(tree, q, 'hinge', 'link_5', random_pose(rng), 'link_7', 'revolute', stiffness=30.0, rest=0.4),
        Coupling('joint_1', 'joint_6', (0.1, -0.4, 0.3, 0.2, 0.5)),
        Coupling('joint_3', 'joint_9', (0.2, 1.7)),
        Coupling('joint_2', 'joint_4', (0.0, 0.3, -0.6)),
    ]
    locked = with_locked_joints(with_loops(model, loops, gain=6.0), {f'joint_{i + 1}': q[i] for i in held})
    assert names(locked) == ['pin', 'joint_2'] and locked.loops.gain == 6.0
    welds = [closed_at(tree, q, f'lock {i}', f'link_{i}', np.eye(4), f'link_{i + 1}', 'weld') for i in held]
    full = robot_of(with_loops(model, [*loops, *welds], gain=6.0))
    qdd = full.forward_dynamics(q, qd, tau)
    assert np.abs(qdd[held]).max() < 1e-9 * np.abs(qdd).max()
    reduced = robot_of(locked).forward_dynamics(q[free], qd[free], tau[free])
    assert trees.relative_error(reduced, qdd[free]) < 1e-9


def coupling(joint, other, *polynomial) -> Coupling:
    return Coupling(f'joint_{joint}', other and f'joint_{other}', polynomial)


AT = {'joint_1': 0.5}
LOCKED = {  # couplings, positions of locked joints, positions of those that they lock
    'the other joint': ([coupling(2, 1, 0.0, 2.0, 3.0)], AT, {'joint_2': 1.75}),
    'the joint': ([coupling(1, 2, 0.1, 2.0)], AT, {'joint_2': 0.2}),
    'a row': (
        [coupling(3, 2, 1.0, 1.0), coupling(2, 1, 0.0, 2.0)], AT, {'joint_2': 1.0, 'joint_3': 2.0}
    ),
    'both joints': ([coupling(2, 1, 0.0, 2.0)], {**AT, 'joint_2': 1.0 + 5e-7}, {}),
    'at its constant': ([coupling(1, None, 0.5)], AT, {}),
    'no slope': ([coupling(1, 2, 0.5, 0.0)], AT, {}),
    'others': ([coupling(4, 3, 0.5, 0.0, 1.0)], AT, {}),
    'back and forth': ([coupling(2, 1, 0.0, 2.0), coupling(1, 2, 0.0, 0.5)], AT, {'joint_2': 1.0}),
    'from the other side': (
        [coupling(1, 2, 0.0, 0.0, 0.5), coupling(2, 3, 0.0, 1.0)], {**AT, 'joint_3': -1.0}, {'joint_2': -1.0}
    ),
}  # fmt: skip


@pytest.mark.parametrize(('couplings', 'positions', 'coupled'), LOCKED.values(), ids=LOCKED)
def test_joints_that_are_coupled_to_locked_ones_are_locked(couplings, positions, coupled):
    tree = row_of_links(3)
    locked = with_locked_joints(with_loops(tree, couplings), positions)
    expected = with_locked_joints(tree, {**positions, **coupled})
    assert locked.joint_names == expected.joint_names
    np.testing.assert_allclose(
        locked.arrays.I, expected.arrays.I, rtol=0.0, atol=1e-14 * np.abs(expected.arrays.I).max()
    )
    left = [it for it in couplings if it.joint in expected.joint_names]
    assert [it.joint for it in locked.loops.couplings] == [it.joint for it in left]


IN_A_BODY = LoopClosure('pin', 'wall', np.eye(4), 'link_1')
OPEN = {
    'closure': (IN_A_BODY, AT, "loop 'pin': it is open by "),
    'coupling': (coupling(2, 1, 0.0, 2.0), {**AT, 'joint_2': 1.01}, "coupling of joint 'joint_2': it is open by 0.01"),
    'constant': (coupling(1, None, 0.1), AT, "coupling of joint 'joint_1': it is open by 0.4 at the positions of the"),
    'no slope': (coupling(1, 2, 0.1, 0.0), AT, "coupling of joint 'joint_1': it is open by 0.4 at"),
    'degree': (
        coupling(1, 2, 0.1, 1.0, 1.0), AT,
        "coupling of joint 'joint_1': it does not determine 'joint_2'; lock that joint, too",
    ),
}  # fmt: skip


@pytest.mark.parametrize(('loop', 'positions', 'culprit'), OPEN.values(), ids=OPEN)
def test_locks_that_contradict_a_loop_are_refused(loop, positions, culprit):
    with pytest.raises(ModelError) as error:
        with_locked_joints(with_loops(row_of_links(3), [loop]), positions)
    assert str(error.value).startswith(culprit)


OPENINGS = {  # an opening of B against A that a kind of closure allows, and one that it does not
    'point': ('turn', 'along z'),
    'planar_point': ('along z', 'along x'),
    'weld': (None, 'turn'),
    'revolute': ('turn', 'tilt'),
}


def opening(motion) -> np.ndarray:
    """Return a pose a little off."""
    pose, c, s = np.eye(4), np.cos(1e-4), np.sin(1e-4)
    if motion == 'turn':
        pose[:2, :2] = [[c, -s], [s, c]]
    elif motion == 'tilt':
        pose[1:3, 1:3] = [[c, -s], [s, c]]
    elif motion:
        pose['xyz'.index(motion[-1]), 3] = 1e-4
    return pose


@pytest.mark.parametrize('kind', OPENINGS)
def test_a_closure_within_one_body_is_dropped_where_it_is_closed(kind):
    model, q = row_of_links(4), np.linspace(-1.0, 1.0, 8)
    (closure,) = closures_at(model, q, 4, [kind])
    positions = dict(zip(model.joint_names, q, strict=True))
    allowed, refused = OPENINGS[kind]
    closed = replace(closure, pose_b=closure.pose_b @ opening(allowed))
    assert not with_locked_joints(with_loops(model, [closed]), positions).loops.all
    with pytest.raises(ModelError, match=f'^loop {closure.name!r}: it is open by '):
        with_locked_joints(with_loops(model, [replace(closure, pose_b=closure.pose_b @ opening(refused))]), positions)


def test_an_attached_robot_brings_its_loops():
    one, two, q = row_of_links(6), row_of_links(7), np.random.default_rng(6).uniform(-1.0, 1.0, (2, 8))
    one, two = (
        with_loops(it, [*closures_at(it, np.zeros(8), seed), *couplings_of(it, seed)], gain)
        for it, seed, gain in ((one, 1, 3.0), (two, 2, 4.0))
    )
    pose = random_pose(np.random.default_rng(1))
    joined = with_attached(one, two, 'tool', pose, prefix='b_')
    own, others = names(one), ['b_' + name for name in names(two)]
    assert names(joined) == [*own[:4], *others[:4], *own[4:], *others[4:]]
    assert {it.other for it in joined.loops.couplings} == {None, 'joint_1', 'b_joint_1'}
    first, second = (robot_of(it).loop_errors(state) for it, state in ((one, q[0]), (two, q[1])))
    errors = robot_of(joined).loop_errors(q.ravel())
    # rows of closures, then those of couplings
    assert errors == pytest.approx(np.concatenate([first[:16], second[:16], first[16:], second[16:]]), abs=1e-12)
    assert joined.loops.gain == 3.0
    assert with_attached(with_loops(one, []), two, 'tool', prefix='b_').loops.gain == 4.0


def test_loops_of_both_robots_need_names_of_their_own():
    joints = [
        replace(it, name='b_' + it.name, link='b_' + it.link, parent='b_' + it.parent)
        for it in trees.random_joints(8, count=8, chain=1.0)
    ]
    other = Model.of('other', 'b_' + trees.BASE, joints)
    one = with_loops(row_of_links(6), [LoopClosure('pin', None, np.eye(4), 'tool')])
    other = with_loops(other, [LoopClosure('pin', None, np.eye(4), 'b_link_2')])
    with pytest.raises(ModelError, match=r"^loop 'pin': both robots have this name; use a prefix$"):
        with_attached(one, other, 'tool')


def test_actuated_joints_that_still_move_are_kept():
    model = with_loops(
        row_of_links(3), [], actuated=['joint_3', 'joint_2', 'joint_5'], near={'joint_3': 1.0, 'joint_2': 2.0}
    )
    assert model.loops.actuated == ('joint_2', 'joint_3', 'joint_5')
    assert with_locked_joints(model, {'joint_3': 0.0}).loops.actuated == ('joint_2', 'joint_5')
    assert cut(model, 'link_2', 'link_5').loops.actuated == ('joint_3', 'joint_5')
    assert with_locked_joints(model, {'joint_3': 0.0}).loops.near == {'joint_2': 2.0}
    joined = with_attached(
        model, with_loops(row_of_links(4), [], actuated=['joint_1'], near={'joint_4': 3.0}), 'tool', prefix='b_'
    )
    assert set(joined.loops.actuated) == {*model.loops.actuated, 'b_joint_1'}
    assert joined.loops.near == {'joint_3': 1.0, 'joint_2': 2.0, 'b_joint_4': 3.0}
