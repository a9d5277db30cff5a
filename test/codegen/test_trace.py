"""Tracing: what is folded, what is shared, and that a trace computes what its kernel computes."""

import math
from collections import Counter

from support.code.traces import trace
from support.robots import random_trees as trees

import numpy as np
import pytest

from robot_dynamics_ros import Coupling, LoopClosure, Robot
from robot_dynamics_ros.algorithms.program import RUNTIME_INPUTS, JointTorques, program_of
from robot_dynamics_ros.algorithms.table import ALGORITHMS, OPERATIONAL_SPACE
from robot_dynamics_ros.codegen import straight_line
from robot_dynamics_ros.codegen.c import functions as c
from robot_dynamics_ros.codegen.llvm import of_one_state
from robot_dynamics_ros.codegen.straight_line import (
    OVERFLOW_FACTOR,
    StraightLine,
    count,
    needed,
    unpropagated,
    with_negated_factors,
)
from robot_dynamics_ros.codegen.trace import Symbol, Tape
from robot_dynamics_ros.kernels.aba import aba
from robot_dynamics_ros.kernels.closed_loops.closure_torque import closure_torque, spring_torque
from robot_dynamics_ros.kernels.crba_forward import crba_forward
from robot_dynamics_ros.kernels.sincos import sincos
from robot_dynamics_ros.model.joint_types import LARGEST_ANGLE
from robot_dynamics_ros.model.model import Friction
from robot_dynamics_ros.model.regrouping import regrouped

PYTHON = {
    '+': lambda a, b: a + b,
    '-': lambda a, b: a - b,
    '*': lambda a, b: a * b,
    '/': lambda a, b: a / b,
    'neg': lambda a: -a,
    'abs': abs,
    'sqrt': math.sqrt,
    'fma': lambda a, b, c: a * b + c,
    'sin': math.sin,
    'cos': math.cos,
}


def aubo_i5():
    return Robot.named('aubo_i5')._model.arrays


def evaluated(results, inputs: dict) -> np.ndarray:
    """Return the numbers of a trace by plain Python."""
    known: dict[Symbol, float] = {}

    def number(value):
        return known[value] if isinstance(value, Symbol) else value

    for value in needed(results):
        if value.operation == 'input':
            name, k = value.arguments
            known[value] = inputs[name][k]
        else:
            known[value] = PYTHON[value.operation](*map(number, value.arguments))
    return np.array([number(value) for value in results])


def looped(robot) -> Robot:
    """Return an arm of six joints whose tip turns on a hinge with a spring, and whose joints 1 and 2 are coupled."""
    pose = np.eye(4)
    pose[:3, 3] = 0.3, 0.2, 0.5
    (
        first,
        second,
        *_,
    ) = robot.joint_names
    hinge = LoopClosure(
        'hinge', None, pose, robot.link_names[-1], kind='revolute', stiffness=2.0, damping=0.1, rest=0.3
    )
    return robot.with_loops([hinge, Coupling(first, second, (0.1, 0.5, 0.2))])


@pytest.fixture
def x():
    return Tape().inputs('x', 2)


@pytest.mark.parametrize(
    ('rewritten', 'plain'),
    [
        (lambda a, b: a + 0.0, lambda a, b: a),
        (lambda a, b: 0.0 + a, lambda a, b: a),
        (lambda a, b: a - 0.0, lambda a, b: a),
        (lambda a, b: 0.0 - a, lambda a, b: -a),
        (lambda a, b: a * 1.0, lambda a, b: a),
        (lambda a, b: -1.0 * a, lambda a, b: -a),
        (lambda a, b: (-a).__neg__(), lambda a, b: a),
        (lambda a, b: a + b, lambda a, b: b + a),
        (lambda a, b: a * b, lambda a, b: b * a),
        (lambda a, b: (-a) * b, lambda a, b: -(a * b)),
        (lambda a, b: a * (-b), lambda a, b: -(a * b)),
        (lambda a, b: (-a) * (-b), lambda a, b: a * b),
        (lambda a, b: a + (-b), lambda a, b: a - b),
        (lambda a, b: (-a) + b, lambda a, b: b - a),
        (lambda a, b: a - (-b), lambda a, b: a + b),
        (lambda a, b: (-a) - b, lambda a, b: -(a + b)),
        (lambda a, b: a * -2.0, lambda a, b: -(2.0 * a)),
        (lambda a, b: a - 3.0, lambda a, b: a + -3.0),
        (lambda a, b: 3.0 - a, lambda a, b: -a + 3.0),
    ],
)
def test_the_same_value_is_one_symbol(x, rewritten, plain):
    assert rewritten(*x) is plain(*x)


@pytest.mark.parametrize(
    ('rewritten', 'plain'),
    [
        ((1.0, 'a', 'b'), 'a + b'),
        (('a', -1.0, 'b'), 'b - a'),
        (('a', 0.0, 'b'), 'b'),
        (('a', 'b', 0.0), 'a * b'),
        ((0.1, 'a', -0.0), '0.1 * a'),
        (('a', 'b', 'c'), 'fma(b, a, c)'),
        ((-0.1, 'a', 'c'), 'fma(a, -0.1, c)'),
        (('-a', '-b', 'c'), 'fma(a, b, c)'),
        (('-a', 'b', 'c'), 'fma(a, -b, c)'),
        (('a', 'b', '-c'), '-fma(-a, b, c)'),
        (('-a', 'b', '-c'), '-fma(a, b, c)'),
        ((-0.1, 'b', '-c'), '-fma(0.1, b, c)'),
        ((0.1, 10.0, 'a'), 'fma(10.0, 0.1, a)'),
    ],
)
def test_the_same_fused_value_is_one_symbol(rewritten, plain):
    tape = Tape()
    names = {'fma': tape.fma, **dict(zip('abc', tape.inputs('x', 3), strict=True))}
    values = [eval(it, names) if isinstance(it, str) else it for it in rewritten]
    assert tape.fma(*values) is eval(plain, names)


def test_a_fused_value_is_neither_its_opposite_nor_its_parts():
    tape = Tape()
    a, b, c = tape.inputs('x', 3)
    assert len({tape.fma(a, b, c), tape.fma(-a, b, c), tape.fma(c, b, a), a * b + c}) == 4


def test_a_sum_with_a_product_of_numbers_is_not_rounded_before():
    tape = Tape()
    near = 1.0 + 2.0**-30
    assert tape.fma(near, near - 2.0**-29, -1.0) == -(2.0**-60)  # 0 if the product is rounded
    (a,) = tape.inputs('x', 1)
    assert tape.fma(near, near, a).arguments == (near, near, a)


def test_sine_and_cosine_themselves_can_be_traced():
    tape = Tape()
    (x,) = tape.inputs('x', 1)
    results = tape.traced(sincos)(x)
    assert {value.operation for value in needed(results)} == {'input', '+', '-', '*', 'neg', 'abs', 'fma'}
    for angle in np.linspace(-20.0, 20.0, 101):
        found = evaluated(results, {'x': [angle]})
        assert np.abs(found - [math.sin(angle), math.cos(angle)]).max() < 1e-14  # fma is rounded twice here
    assert x.real is x and abs(x) is abs(x) is not x


def test_square_roots_are_traced():
    tape = Tape()
    (x,) = tape.inputs('x', 1)
    assert tape.sqrt(x).operation == 'sqrt' and tape.sqrt(x) is tape.sqrt(x)
    assert tape.sqrt(2.25) == 1.5 and type(tape.sqrt(2.25)) is float


@pytest.mark.parametrize('name', OPERATIONAL_SPACE)
def test_a_trace_of_operational_space_computes_what_its_kernel_computes(name):
    robot = Robot.named('aubo_i5')
    program = program_of(robot._model.arrays, name, [robot._model.frame('ee_link')], 1)
    inputs = {vector: np.linspace(0.4, 1.1, 6).tolist() for vector in program.inputs}
    expected = robot._evaluator.evaluate_of_frame(
        (name, 'ee_link', 'local_world_aligned'), robot.runtime_inputs, None, *inputs.values()
    )
    results = straight_line.trace(program, robot._model.arrays)
    found = evaluated(results, {**inputs, 'runtime_inputs': robot.runtime_inputs.tolist()})
    assert np.abs(found - expected.ravel()).max() < 1e-9 * np.abs(expected).max()
    inverts = name != 'operational_space_inertia_inverse'
    assert any(value.operation == 'sqrt' for value in needed(results)) == inverts


def test_products_with_zero_vanish(x):
    assert x[0] * 0.0 == 0.0 and 0.0 * x[0] == 0.0


@pytest.mark.parametrize('operation', ['a - b', 'a / b', '2.0 / a', 'a * 2.0', 'a + 2.0'])
def test_other_operations_are_kept_as_they_are(x, operation):
    value = eval(operation, {'a': x[0], 'b': x[1]})
    assert value.operation in operation and value is not eval('b - a', {'a': x[0], 'b': x[1]})


@pytest.mark.parametrize('name', ALGORITHMS)
def test_a_trace_computes_what_its_kernel_computes(name):
    robot = Robot.named('aubo_i5')
    if 'loop' in name or ALGORITHMS[name].kernel in (closure_torque, spring_torque):
        robot = looped(robot)
    if name in ('closing_step', 'driven_motion'):
        robot = looped(robot)
        robot = robot.with_loops([*robot.loops.all, Coupling('wrist3_joint', None, (0.0,))])
    if name in ('torque', 'acceleration'):  # with friction: robot/test_whole_torque.py
        still = JointTorques.none(6).friction
        robot = robot.with_friction(**dict(zip(Friction._fields, still, strict=True)))
    arrays, random = robot._model.arrays, np.random.default_rng(3)
    lengths = program_of(arrays, name).inputs
    inputs = {vector: random.normal(size=size).tolist() for vector, size in lengths.items()}
    runtime_inputs = [0.0, 0.0, -9.81, *arrays.I[-1].tolist(), *[0.0] * 6]
    expected = robot._evaluator.evaluate(name, robot.runtime_inputs, None, *inputs.values()).ravel()
    found = evaluated(trace(arrays, name), {**inputs, 'runtime_inputs': runtime_inputs})
    assert np.abs(found - expected).max() < 1e-11 * np.abs(expected).max()  # libm's sine and cosine differ by an ulp
    fixed = evaluated(trace(arrays, name, runtime_inputs), inputs)
    assert np.abs(fixed - expected).max() < 1e-11 * np.abs(expected).max()
    # signs in fused sums change no number
    written = with_negated_factors(trace(arrays, name))
    assert (evaluated(written, {**inputs, 'runtime_inputs': runtime_inputs}) == found).all()
    assert not negated_alone(written)


def negated_alone(results) -> list[Symbol]:
    """Return the fused sums of which nothing but the negative is used."""
    values = needed(results)
    uses = Counter(it for value in values for it in value.arguments if isinstance(it, Symbol))
    uses.update(it for it in results if isinstance(it, Symbol))
    inside = [value.arguments[0] for value in values if value.operation == 'neg']
    return [it for it in inside if it.operation == 'fma' and uses[it] == 1]


def test_a_sum_of_which_only_the_negative_is_used_has_other_signs():
    tape = Tape()
    x, y, z, v, w = tape.inputs('x', 5)
    inner = tape.fma(x, y, z)
    once = [-tape.fma(v, w, inner)]
    assert negated_alone(once)
    (found,) = with_negated_factors(once)
    # -(v w + (x y + z)) = (-v) w + ((-x) y - z)
    for fma in (found, found.arguments[2]):
        assert fma.operation == 'fma'
        assert [it.operation for it in fma.arguments[:2]] == ['neg', 'input']
    assert found.arguments[2].arguments[2].operation == 'neg'
    # also used itself
    negative, same, number = with_negated_factors([-inner, inner, 1.0])
    assert (negative.operation, negative.arguments, number) == ('neg', (same,), 1.0)


def test_forward_dynamics_with_loops_is_traced_as_generic_kernels_compute_it():
    robot = looped(Robot.named('aubo_i5'))
    random = np.random.default_rng(4)
    inputs = {vector: random.normal(size=6).tolist() for vector in ('q', 'qd', 'tau')}
    expected = robot.forward_dynamics(*inputs.values())
    found = evaluated(
        trace(robot.model.arrays, 'forward_dynamics'), {**inputs, 'runtime_inputs': robot.runtime_inputs.tolist()}
    )
    assert np.abs(found - expected).max() < 1e-10 * np.abs(expected).max()


@pytest.mark.parametrize(('joints', 'algorithm'), [(9, crba_forward), (10, aba)])
def test_forward_dynamics_is_traced_by_the_algorithm_of_the_generic_kernels(joints, algorithm):
    arrays = trees.arrays_of(trees.random_joints(1, count=joints, chain=1.0))
    method = 'articulated' if algorithm is aba else 'mass_matrix'
    one, other = (program_of(arrays, name) for name in ('forward_dynamics', f'forward_dynamics_by_{method}'))
    assert one.steps[-1].kernel is other.steps[-1].kernel is algorithm
    assert count(trace(arrays, one.name)) == count(trace(arrays, other.name))


def test_inverse_dynamics_of_the_aubo_i5_needs_few_operations():
    arrays = regrouped(aubo_i5())
    runtime_inputs = np.concatenate([[0.0, 0.0, -9.81], arrays.I[-1], np.zeros(6)])
    fixed = count(trace(arrays, 'inverse_dynamics', runtime_inputs))
    free = count(trace(arrays, 'inverse_dynamics'))
    assert fixed.multiplications <= 278 and fixed.additions <= 260
    assert free.multiplications <= 287 and free.additions <= 278


def test_the_operations_counted_are_those_written():
    code = StraightLine.of(program_of(aubo_i5(), 'mass_matrix'), aubo_i5())
    operations, values = count(code.results), needed(code.results)
    text = '\n'.join(c.operation_lines(values))
    fused = text.count('fma(')
    assert fused == operations.fused > 0
    assert text.count(' * ') + fused == operations.multiplications
    assert text.count(' + ') + text.count(' - ') + fused == operations.additions
    assert f' angles[{operations.sincos}] ' in c._angles('', values)[0]


def test_an_input_without_effect_on_results_is_checked_directly():
    tape = Tape()
    a, b, c, d = tape.inputs('x', 4)
    assert unpropagated([a + b * 2.0, -c], {'x': 4}) == [('x', 3)]
    assert unpropagated([a / b, tape.value('sin', c) - d], {'x': 4}) == [('x', 1)]
    assert unpropagated([a / b, b], {'x': 4}) == [('x', 2), ('x', 3)]
    assert unpropagated([1.0, 2.0], {'x': 4}) == [('x', k) for k in range(4)]


def test_all_angles_are_checked_for_their_size_read_or_not():
    arrays = trees.arrays_of(trees.random_joints(5, count=3, prismatic=0.0))
    code = StraightLine.of(program_of(arrays, 'mass_matrix'), arrays)
    read = [value.arguments for value in needed([code.finite]) if value.operation == 'input']
    scaled = {value.arguments[0].arguments for value in needed([code.finite]) if OVERFLOW_FACTOR in value.arguments}
    assert scaled == {('q', k) for k in arrays.angles} == {entry for entry in read if entry[0] == 'q'}
    assert np.nextafter(LARGEST_ANGLE, 0.0) * OVERFLOW_FACTOR < np.inf == LARGEST_ANGLE * OVERFLOW_FACTOR


def test_the_same_robot_yields_the_same_bytes():
    arrays = trees.arrays_of(trees.random_joints(5, count=7, chain=0.7))
    program = program_of(arrays, 'forward_dynamics')
    texts = {of_one_state(StraightLine.of(program, arrays)) for _ in range(3)}
    assert len(texts) == 1


def test_what_may_change_at_run_time_is_an_input():
    results = trace(aubo_i5(), 'inverse_dynamics')
    read = {value.arguments for value in needed(results) if value.operation == 'input'}
    assert {k for name, k in read if name == 'runtime_inputs'} == set(range(RUNTIME_INPUTS))
