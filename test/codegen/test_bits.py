"""Generic kernels, specialised code and batches yield the same numbers over 100,000 states of random robots and loads.

The sign of a zero may differ between generic kernels and specialised code, and nowhere else.
"""

from support.code.bindings import shared
from support.matrices import matrix
from support.robots import random_trees as trees

import numpy as np
import pytest

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.algorithms.table import ALGORITHMS
from robot_dynamics_ros.codegen.kept_code import lanes
from robot_dynamics_ros.robot import quantity

LANES = lanes()
LOADS = 4
STATES = 5000 + 7  # under each setting of the run-time inputs; the last block is not full


def robots() -> dict[str, Robot]:
    """Return the AUBO-i5 and random trees of 1 to 7 joints, revolute and prismatic."""
    made = {'aubo_i5': Robot.named('aubo_i5')}
    for seed, count in ((21, 1), (22, 3), (23, 5), (24, 7)):
        made[f'tree of {count}'] = Robot(trees.Model.of('tree', trees.BASE, trees.random_joints(seed, count=count)))
    return {name: robot.compiled() for name, robot in made.items()}


ROBOTS = robots()


def loaded(robot, random) -> Robot:
    """Return a robot under random gravity with a random payload on its last link."""
    axes = random.normal(size=(3, 3))
    moments = 0.1 * axes @ axes.T
    inertia = np.trace(moments) * np.eye(3) - moments
    payload = Payload(random.uniform(0.0, 5.0), tuple(random.normal(size=3)), inertia)
    return robot.with_gravity(random.normal(size=3) * 10.0).with_payload(payload, robot.link_names[-1])


def test_the_states_are_enough():
    assert len(ROBOTS) * LOADS * STATES >= 100_000
    assert STATES % LANES != 0
    turns = np.concatenate([robot._model.arrays.S[1:, :3].any(axis=1) for robot in ROBOTS.values()])
    assert 0 < turns.sum() < len(turns)


CASES = [
    (robot, name) for robot in ROBOTS for name, it in ALGORITHMS.items() if hasattr(Robot, name) and not it.of_loops
]
FEW = [
    (robot, name)
    for robot, name in CASES
    if robot in ('aubo_i5', 'tree of 3') or name in ('inverse_dynamics', 'forward_dynamics')
]


@pytest.mark.parametrize(('robot', 'name'), matrix(CASES, FEW))
def test_every_binding_gives_the_same_numbers(robot, name):
    random = np.random.default_rng([len(robot), len(name)])
    base = ROBOTS[robot].compiled()
    for _ in range(LOADS):
        batch = loaded(base, random)
        assert batch.is_compiled
        generic = shared(batch)
        rows = random.normal(size=(len(ALGORITHMS[name].inputs), STATES, base.nv)) * random.choice([0.1, 1.0, 10.0])
        expected = getattr(generic, name)(*rows)
        assert (getattr(batch, name)(*rows) == expected).all()
        single, out = getattr(batch, name), np.empty(expected.shape[1:])
        for k in range(0, STATES, 7):
            assert (single(*rows[:, k], out=out) == expected[k]).all()


def test_only_the_sign_of_a_zero_differs_between_generic_and_specialised_code():
    """Quarter turns and states at rest have most zeros; blocks of states have the bits of one state."""
    robot, random = ROBOTS['aubo_i5'], np.random.default_rng(8)
    generic, differing = shared(robot), 0
    q = np.concatenate(
        [np.zeros((1, 6)), 0.5 * np.pi * random.integers(-4, 5, (2 * LANES, 6)), random.normal(size=(9, 6))]
    )
    qd, qdd = random.integers(-1, 2, (2, *q.shape)).astype(float)
    for name in ('inverse_dynamics', 'gravity_torque', 'mass_matrix', 'forward_dynamics'):
        rows = (q, qd, qdd)[: len(ALGORITHMS[name].inputs)]
        expected, own = getattr(generic, name)(*rows), getattr(robot, name)(*rows)
        one_by_one = np.array([getattr(robot, name)(*state) for state in zip(*rows, strict=True)])
        assert own.tobytes() == one_by_one.tobytes()
        bits = own.view(np.int64) != expected.view(np.int64)
        assert (own[bits] == 0.0).all() and (expected[bits] == 0.0).all()
        assert (own == expected).all()
        differing += bits.sum()
    assert differing > 0  # it is true what the page on compiled code says


OF_A_FRAME = (
    ('link_pose', 1, ()),
    ('link_velocity', 2, ('world',)),
    ('link_acceleration', 3, ('local',)),
    ('jacobian', 1, ('world',)),
    ('jacobian', 1, ('local_world_aligned',)),
    ('jacobian', 1, ('local',)),
    ('operational_space_inertia', 1, ('local',)),
    ('consistent_inverse', 1, ('world',)),
    ('operational_space_bias', 2, ('local_world_aligned',)),
    ('operational_space_gravity', 1, ('local',)),
)


OF_SIX = ('operational_space', 'consistent')
"""Quantities of frames that can move in all six directions."""


@pytest.mark.parametrize('robot', ['aubo_i5', 'tree of 3'])
# operational space shares its factors: one of its quantities stays in the short run
@pytest.mark.parametrize(('name', 'vectors', 'frame'), matrix(OF_A_FRAME, OF_A_FRAME[:7]))
def test_every_binding_gives_the_same_numbers_of_a_frame(robot, name, vectors, frame):
    specialised = ROBOTS[robot].compiled()
    if name.startswith(OF_SIX) and robot != 'aubo_i5':
        chain = trees.Model.of('chain', trees.BASE, trees.random_joints(25, count=8, chain=1.0))
        specialised = Robot(chain).compiled()
    link = 'ee_link' if robot == 'aubo_i5' else specialised.link_names[-1]
    rows = np.random.default_rng(vectors).normal(size=(vectors, STATES, specialised.nv)) * 3.0
    if name.startswith(OF_SIX):
        rows = 0.8 + 0.4 * np.sin(rows)  # no stretched arm
    expected = getattr(shared(specialised), name)(*rows, link, *frame)
    assert np.abs(expected).max() > 0.1
    assert (getattr(specialised, name)(*rows, link, *frame) == expected).all()
    for k in range(0, STATES, 7):
        assert (getattr(specialised, name)(*rows[:, k], link, *frame) == expected[k]).all()


@pytest.mark.parametrize('count', [0, 1, LANES - 1, LANES, LANES + 1, 5 * LANES + 3])
def test_batches_of_any_length(count):
    robot = ROBOTS['aubo_i5']
    rows = np.random.default_rng(count).normal(size=(3, count, robot.nv))
    expected = shared(robot).inverse_dynamics(*rows)
    assert expected.shape == (count, robot.nv)
    assert (robot.inverse_dynamics(*rows) == expected).all()


@pytest.mark.parametrize('past_caches', [True, False])
@pytest.mark.parametrize('name', ['inverse_dynamics', 'mass_matrix', 'torque_regressor'])
def test_bits_do_not_depend_on_the_way_to_memory(name, past_caches, monkeypatch):
    monkeypatch.setattr(quantity, 'STREAMED', 0 if past_caches else 1 << 40)
    robot = ROBOTS['aubo_i5'].with_gravity((1.0, 2.0, -9.0))  # a robot that has not called anything yet
    rows = np.random.default_rng(6).normal(size=(len(ALGORITHMS[name].inputs), 3 * LANES, robot.nv))
    expected = getattr(shared(robot), name)(*rows)
    numbers = np.zeros(expected.size + 8)
    for first in range(8):
        # results that begin anywhere in a cache line
        out = numbers[first : first + expected.size].reshape(expected.shape)
        assert getattr(robot, name)(*rows, out=out) is out
        assert (out == expected).all()
        numbers[:] = 0.0


@pytest.mark.parametrize('count', [5, LANES, LANES + 5])
def test_a_result_may_overwrite_an_argument(count):
    robot = ROBOTS['aubo_i5']
    q, qd, qdd = np.random.default_rng(count).normal(size=(3, count, robot.nv))
    expected = robot.inverse_dynamics(q, qd, qdd)
    assert (robot.inverse_dynamics(q, qd, qdd, out=qdd) == expected).all()
