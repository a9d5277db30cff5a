"""Which code computes: generic kernels at first, a robot's own code where it is kept or where use shows it pays."""

import time

from support import random_trees as trees

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.algorithms.program import program_of
from robot_dynamics_ros.codegen import generic, specialised
from robot_dynamics_ros.codegen.object_files import lanes
from robot_dynamics_ros.codegen.specialised import background
from robot_dynamics_ros.evaluation import tiered_compilation
from robot_dynamics_ros.evaluation.tiered_compilation import Tier
from robot_dynamics_ros.jit.decorators import numba_is_disabled

pytestmark = pytest.mark.skipif(numba_is_disabled(), reason='Numba is disabled: machine code is not used')

NAME = 'inverse_dynamics'
GENERATOR = np.random.default_rng()


def never_seen(count: int = 4) -> Robot:
    """Return a robot that no cache knows."""
    joints = trees.random_joints(int(GENERATOR.integers(1 << 30)), count=count)
    return Robot(trees.Model.of('never seen', trees.BASE, joints)).with_binding('adaptive')


def tier(robot: Robot) -> Tier:
    return robot._evaluator._prepared[NAME]._tier


def states(robot: Robot, *batch: int) -> np.ndarray:
    return np.random.default_rng(7).normal(size=(3, *batch, robot.nv))


@pytest.fixture(autouse=True)
def _kept_kernel():
    """The generic kernel is compiled, as on any machine where a second robot was met."""
    robot = never_seen().with_binding('generic')
    robot.inverse_dynamics(*states(robot))


@pytest.fixture
def break_even(monkeypatch) -> int:
    monkeypatch.setattr(tiered_compilation, 'BREAK_EVEN', 100)
    return 100


def test_a_robot_never_seen_is_answered_by_the_generic_kernel():
    robot = never_seen()
    robot.inverse_dynamics(*states(robot))
    assert tier(robot) == Tier.GENERIC and robot.binding == 'adaptive'
    assert not robot._evaluator.specialised.is_kept(program_of(robot._evaluator.arrays, NAME), blocks=False)


@pytest.mark.parametrize('batch', [(), (3,), (2, 5)])
def test_use_brings_code_of_its_own_with_the_same_bits(batch, break_even):
    robot = never_seen()
    rows = states(robot, *batch)
    expected = robot.with_binding('generic').inverse_dynamics(*rows)
    before = 0
    while tier_or_none(robot) != Tier.BLOCKS and before < 20 * break_even:
        assert (robot.inverse_dynamics(*rows) == expected).all()
        before += int(np.prod(batch, dtype=int))
        if before > break_even:
            background().submit(int).result()  # after what was submitted before
    assert tier(robot) == Tier.BLOCKS
    assert before > break_even
    assert (robot.inverse_dynamics(*rows) == expected).all()
    many = states(robot, 3 * lanes() + 1)
    assert (robot.inverse_dynamics(*many) == robot.with_binding('generic').inverse_dynamics(*many)).all()


def tier_or_none(robot: Robot):
    return tier(robot) if NAME in robot._evaluator._prepared else None


def test_calls_go_on_while_code_is_compiled(break_even, monkeypatch):
    robot, held = never_seen(), []

    def slow(code, name) -> Tier:
        while not held:
            time.sleep(0.001)
        return compile_now(code, name)

    compile_now = tiered_compilation.best_tier
    monkeypatch.setattr(tiered_compilation, 'best_tier', slow)
    rows = states(robot)
    expected = robot.inverse_dynamics(*rows)
    for _ in range(10 * break_even):
        assert (robot.inverse_dynamics(*rows) == expected).all()
    assert tier(robot) == Tier.GENERIC
    held.append(True)
    background().submit(int).result()
    robot.inverse_dynamics(*rows)
    assert tier(robot) == Tier.BLOCKS


def test_code_that_is_too_long_stays_generic_and_is_asked_for_once(break_even, monkeypatch):
    robot, asked = never_seen(), []
    monkeypatch.setattr(specialised, 'MOST_OPERATIONS', 10)
    compile_now = tiered_compilation.best_tier
    monkeypatch.setattr(tiered_compilation, 'best_tier', lambda *it: asked.append(it) or compile_now(*it))
    rows = states(robot)
    for _ in range(5 * break_even):
        robot.inverse_dynamics(*rows)
    background().submit(int).result()
    for _ in range(5 * break_even):
        robot.inverse_dynamics(*rows)
    assert tier(robot) == Tier.GENERIC and len(asked) == 1


def test_robots_that_differ_in_inertia_never_compile(monkeypatch):
    monkeypatch.setattr(specialised, 'compiled', None)  # LLVM
    base = never_seen()
    for scale in np.linspace(1.0, 2.0, 30):
        arrays = base._model.arrays._replace(I=scale * base._model.arrays.I)
        study = Robot(trees.dataclasses.replace(base._model, arrays=arrays)).with_binding('adaptive')
        assert study.inverse_dynamics(*states(study, 40)).shape == (40, study.nv)
        assert tier(study) == Tier.GENERIC


def test_code_of_before_is_used_at_once():
    robot = never_seen()
    robot.compiled(NAME)
    again = Robot(robot._model).with_binding('adaptive')
    again.inverse_dynamics(*states(again))
    assert tier(again) == Tier.ONE_STATE
    again.inverse_dynamics(*states(again, lanes()))
    assert tier(again) == Tier.BLOCKS


def test_code_of_before_is_called_at_once_after_any_number_of_states(break_even):
    robot = never_seen()
    robot.compiled(NAME)
    again = Robot(robot._model).with_binding('adaptive')
    for _ in range(3):
        again.inverse_dynamics(*states(again, break_even))
    assert tier(again) == Tier.BLOCKS
    one = states(again)
    # the builtin function raises TypeError where Python has to decide
    expected = again._evaluator.calls[NAME](*one, again.runtime_inputs, None)
    assert (again.inverse_dynamics(*one) == expected).all()


def test_code_that_stays_the_best_is_prepared_once(break_even, monkeypatch):
    monkeypatch.setattr(specialised, 'MOST_OPERATIONS_OF_BLOCKS', 10)
    robot = never_seen()
    rows = states(robot)
    for _ in range(2 * break_even):
        robot.inverse_dynamics(*rows)
    background().submit(int).result()
    expected = robot.inverse_dynamics(*rows)
    assert tier(robot) == Tier.ONE_STATE
    call = robot._evaluator._prepared[NAME].call
    assert (robot.inverse_dynamics(*rows.tolist()) == expected).all()
    assert robot._evaluator._prepared[NAME].call is call


def test_specialised_compiles_at_the_first_use():
    robot = never_seen().with_binding('specialised')
    robot.inverse_dynamics(*states(robot))
    assert tier(robot) == Tier.ONE_STATE
    robot.inverse_dynamics(*states(robot, 5))
    assert tier(robot) == Tier.ONE_STATE
    robot.inverse_dynamics(*states(robot, lanes()))
    assert tier(robot) == Tier.BLOCKS


def test_the_first_robot_of_an_installation_is_compiled_instead_of_the_kernel(monkeypatch):
    monkeypatch.setattr(generic, 'is_kept', lambda *arguments: False)
    monkeypatch.setattr(tiered_compilation, '_first_robots', {})
    first, second = never_seen(), never_seen()
    for robot, expected in ((first, Tier.ONE_STATE), (second, Tier.GENERIC), (first, Tier.ONE_STATE)):
        robot.inverse_dynamics(*states(robot))
        assert tier(robot) == expected


@pytest.mark.parametrize('binding', ['generic', 'specialised'])
@pytest.mark.parametrize('count', [40, 500, 501, 6000])
def test_large_batches_without_the_gil_have_the_same_bits(binding, count):
    robot = never_seen().with_binding(binding)
    rows = states(robot, count)
    results = robot.inverse_dynamics(*rows)
    for k in (0, 39, count - 1):
        assert (robot.inverse_dynamics(*rows[:, k]) == results[k]).all()


def test_a_compiler_that_fails_costs_nothing_but_speed(break_even, monkeypatch):
    def fail(code, name):
        raise MemoryError

    monkeypatch.setattr(tiered_compilation, 'best_tier', fail)
    robot = never_seen()
    rows = states(robot)
    expected = robot.inverse_dynamics(*rows)
    for _ in range(3 * break_even):
        assert (robot.inverse_dynamics(*rows) == expected).all()
    background().submit(int).result()
    for _ in range(3 * break_even):
        assert (robot.inverse_dynamics(*rows) == expected).all()
    assert tier(robot) == Tier.GENERIC


def test_code_that_is_too_long_for_blocks_takes_batches_too(monkeypatch):
    monkeypatch.setattr(specialised, 'MOST_OPERATIONS_OF_BLOCKS', 10)
    robot = never_seen().with_binding('specialised')
    rows = states(robot, 100)
    expected = robot.with_binding('generic').inverse_dynamics(*rows)
    assert (robot.inverse_dynamics(*rows) == expected).all()
    assert tier(robot) == Tier.ONE_STATE
    assert robot._evaluator.calls[NAME](*rows, robot.runtime_inputs, None).shape == expected.shape
