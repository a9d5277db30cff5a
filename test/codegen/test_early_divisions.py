"""Divisions that depend on little are computed early in blocks of states, and the results keep their bits."""

import llvmlite.binding as llvm
import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.algorithms.program import program_of
from robot_dynamics_ros.codegen.early_divisions import FEW, early_divisions
from robot_dynamics_ros.codegen.llvm import of_blocks
from robot_dynamics_ros.codegen.llvm_machine import host_machine
from robot_dynamics_ros.codegen.straight_line import StraightLine, needed
from robot_dynamics_ros.codegen.trace import Tape
from robot_dynamics_ros.jit.decorators import numba_is_disabled

machine_code = pytest.mark.skipif(numba_is_disabled(), reason='Numba is disabled: machine code is not used')
FRICTION = {'viscous': 3.0, 'coulomb': 2.0, 'stribeck': 1.0, 'stribeck_velocity': 0.1}


def divided_at_the_end(quotients: int, products: int) -> list:
    """Return the values of a long product, and of quotients of inputs that are added to it at its end."""
    tape = Tape()
    x, y = tape.inputs('x', quotients), tape.inputs('y', quotients)
    value = x[0]
    for _ in range(products):
        value = value * x[1] + 1.0
    for k in range(quotients):
        value = value + x[k] / (y[k] * y[k] + 1.0)
    return needed([value])


def test_divisions_at_the_end_are_spread_evenly():
    values = divided_at_the_end(quotients=5, products=200)
    order = {value: k for k, value in enumerate(values)}
    places = early_divisions(values)
    assert [it.operation for early in places.values() for it in early] == ['/'] * 5
    assert all(order[value] < order[it] for value, early in places.items() for it in early)
    steps = np.diff([0, *(order[value] for value in places), len(values)])
    assert steps.max() - steps.min() <= 1


def test_a_division_of_a_long_sum_is_left_where_it_is():
    tape = Tape()
    x = tape.inputs('x', 3)
    total = x[0]
    for _ in range(FEW):
        total = total * x[1] + x[2]
    assert early_divisions(needed([x[0] / total])) == {}


def test_a_division_that_comes_first_is_left_where_it_is():
    tape = Tape()
    x = tape.inputs('x', 2)
    value = x[0] / x[1]
    for _ in range(50):
        value = value * x[1] + 1.0
    assert early_divisions(needed([value])) == {}


@machine_code
def test_the_machine_code_divides_from_its_first_third_on():
    robot = Robot.named('aubo_i5').with_friction(**FRICTION)
    arrays, terms = robot._evaluator.arrays, robot._evaluator.joint_torques
    code = StraightLine.of(program_of(arrays, 'torque', joints=terms), arrays)
    lines = host_machine().emit_assembly(llvm.parse_assembly(of_blocks(code, 8))).splitlines()
    instructions = [line.split()[0] for line in lines if line.startswith('\t') and not line.startswith('\t.')]
    slow = [k for k, it in enumerate(instructions) if 'div' in it or 'sqrt' in it]
    assert len(slow) >= 3 * robot.nv
    assert slow[0] < len(instructions) / 3
    assert sum('fence' in it for it in instructions) <= 1  # that of results which bypass the caches


@machine_code
def test_a_state_of_a_batch_has_the_bits_of_a_call():
    robot = Robot.named('aubo_i5').with_friction(**FRICTION).compiled('torque')
    states = np.random.default_rng(0).normal(size=(3, 40, robot.nv))
    expected = [robot.torque(*state) for state in states.swapaxes(0, 1)]
    assert robot.torque(*states).tobytes() == np.array(expected).tobytes()
