"""Which code computes: that of all robots, or a robot's own where it was asked for or a batch is long enough."""

from support.code.bindings import of_binding
from support.robots import random_trees as trees

import numpy as np
import pytest

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.codegen import generic, specialised
from robot_dynamics_ros.jit.decorators import numba_is_disabled
from robot_dynamics_ros.robot import quantity
from robot_dynamics_ros.robot.quantity_key import QuantityKey
from robot_dynamics_ros.simulation import simulate

pytestmark = pytest.mark.skipif(numba_is_disabled(), reason='Numba is disabled: machine code is not used')

NAME = 'inverse_dynamics'
GENERATOR = np.random.default_rng()


def never_seen(count: int = 4, chain: float = 0.7) -> Robot:
    """Return a robot that no cache knows."""
    joints = trees.random_joints(int(GENERATOR.integers(1 << 30)), count=count, chain=chain)
    return Robot(trees.Model.of('never seen', trees.BASE, joints))


def states(robot: Robot, *batch: int) -> np.ndarray:
    return np.random.default_rng(7).normal(size=(3, *batch, robot.nv))


def has_own_code(robot: Robot, name: str = NAME) -> bool:
    return robot._evaluator._prepared[QuantityKey(name)]._own is not None


@pytest.fixture
def pays(monkeypatch) -> int:
    monkeypatch.setattr(quantity, 'PAYS', 100)
    monkeypatch.setattr(quantity, 'HELD_BY_KERNEL', 0)  # longer batches are no calls of one thread
    return 100


@pytest.mark.parametrize('batch', [(), (3,), (2, 5), (99,)])
def test_nothing_is_compiled_unless_it_is_asked_for_or_pays(batch, pays, monkeypatch):
    monkeypatch.setattr(specialised, 'code_of', None)
    robot = never_seen()
    for _ in range(3):
        robot.inverse_dynamics(*states(robot, *batch))
    assert not has_own_code(robot) and not robot.is_compiled


def test_the_first_calls_for_one_state_need_one_workspace_and_the_words_of_one_model(monkeypatch):
    """Both are most of the time of a first call."""
    made, words = [], []
    monkeypatch.setattr(generic.Workspace, 'of', lambda arrays, of=generic.Workspace.of: made.append(0) or of(arrays))
    monkeypatch.setattr(generic, 'words_of', lambda value, of=generic.words_of: words.append(0) or of(value))
    robot = never_seen()
    q, qd, qdd = states(robot)
    robot.inverse_dynamics(q, qd, qdd)
    robot.gravity_torque(q)
    assert len(made) == len(words) == 1


@pytest.mark.parametrize('batch', [(100,), (10, 10), (500,)])
def test_a_batch_that_is_long_enough_brings_own_code_with_the_same_bits(batch, pays):
    robot = never_seen()
    rows, one = states(robot, *batch), states(robot)
    expected = [robot.inverse_dynamics(*state) for state in np.moveaxis(rows, 0, -2).reshape(-1, 3, robot.nv)]
    before = robot.inverse_dynamics(*one)
    assert not has_own_code(robot)
    assert (robot.inverse_dynamics(*rows) == np.reshape(expected, (*batch, robot.nv))).all()
    assert has_own_code(robot) and not robot.is_compiled
    assert (robot.inverse_dynamics(*one) == before).all()


def test_own_code_that_was_asked_for_is_used_from_the_first_call_on():
    robot = never_seen()
    own = robot.compiled()
    assert own.is_compiled and not robot.is_compiled
    assert (own.inverse_dynamics(*states(own)) == robot.inverse_dynamics(*states(own))).all()
    assert has_own_code(own) and not has_own_code(robot)
    # the builtin function raises TypeError where Python has to decide
    one = states(own)
    assert (own._evaluator.calls[NAME](*one, own.runtime_inputs, None) == own.inverse_dynamics(*one)).all()


def test_code_of_named_quantities_is_compiled_at_once():
    own = never_seen().compiled('mass_matrix')
    assert has_own_code(own, 'mass_matrix') and QuantityKey(NAME) not in own._evaluator._prepared


@pytest.mark.parametrize('of_a_joint', [1, specialised.LEAST_OF_A_JOINT], ids=['not traced', 'traced'])
def test_code_that_is_too_long_is_not_compiled_and_not_traced_again(of_a_joint, monkeypatch):
    robot = never_seen()
    most = of_a_joint * robot.nv + 2 * robot.nv
    expected = robot.inverse_dynamics(*states(robot, 40))
    monkeypatch.setattr(specialised, 'MOST_OPERATIONS', most)
    own = robot.compiled()
    assert (own.inverse_dynamics(*states(own, 40)) == expected).all()
    monkeypatch.setattr(specialised.StraightLine, 'of', None)
    assert (own.inverse_dynamics(*states(own, 40)) == expected).all()
    assert not has_own_code(own)


def test_blocks_that_are_too_long_are_computed_one_state_after_the_other(monkeypatch):
    robot = never_seen()
    monkeypatch.setattr(specialised, 'MOST_OPERATIONS_OF_BLOCKS', 10)
    own = robot.compiled()
    rows = states(robot, 70)
    assert (own.inverse_dynamics(*rows) == robot.inverse_dynamics(*rows)).all()
    assert has_own_code(own)


@pytest.mark.parametrize(
    ('change', 'keeps'),
    [
        (lambda it: it.with_gravity((1.0, 2.0, 3.0)), True),
        (lambda it: it.with_payload(Payload(1.0, (0.0, 0.0, 0.1))), True),
        (lambda it: it.with_friction(viscous=1.0), True),
        (lambda it: it.with_payload(Payload(1.0, (0.0, 0.0, 0.1)), it.link_names[1]), False),
        (lambda it: it.with_rotor_inertia(0.1 * np.ones(it.nv)), False),
    ],
    ids=['gravity', 'payload on the last link', 'friction', 'payload on another link', 'rotor inertia'],
)
def test_a_changed_copy_keeps_own_code_where_its_constants_are_the_same(change, keeps):
    robot = never_seen(chain=1.0)
    own, shared = change(robot.compiled()), change(robot)
    assert own.is_compiled is keeps
    assert (own.inverse_dynamics(*states(own)) == shared.inverse_dynamics(*states(own))).all()


@pytest.mark.parametrize('binding', ['generic', 'own'])
@pytest.mark.parametrize('count', [40, 500, 501, 6000, 20_000])
def test_large_batches_without_the_gil_have_the_same_bits(binding, count):
    robot = of_binding(never_seen(), binding)
    rows = states(robot, count)
    results = robot.inverse_dynamics(*rows)
    for k in (0, 39, count // 2, count - 1):
        assert (robot.inverse_dynamics(*rows[:, k]) == results[k]).all()


def test_a_simulation_that_is_long_enough_has_code_compiled_with_the_same_bits(monkeypatch):
    robot = never_seen(2)
    q = np.zeros((3, robot.nv))
    expected = simulate(robot, q, q, duration=0.05)
    monkeypatch.setattr('robot_dynamics_ros.robot.evaluator.PAYS', 100)
    found, asked = simulate(robot, q, q, duration=0.05), simulate(robot.compiled(), q, q, duration=0.05)
    assert (found.q == expected.q).all() and (asked.q == expected.q).all()
