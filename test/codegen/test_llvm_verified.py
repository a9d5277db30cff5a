"""The verifier of LLVM accepts the code of every quantity, for one state and for blocks of states."""

from support.matrices import matrix
from support.robots import mechanisms

import llvmlite.binding as llvm
import pytest

from robot_dynamics_ros import Robot, validation
from robot_dynamics_ros.algorithms.program import WRENCH, WRENCHES
from robot_dynamics_ros.algorithms.table import ALGORITHMS, BY_METHOD, OF_A_FRAME, OF_FRAMES, OPERATIONAL_SPACE
from robot_dynamics_ros.codegen.llvm import of_blocks, of_one_state
from robot_dynamics_ros.codegen.straight_line import StraightLine
from robot_dynamics_ros.robot.quantity_key import QuantityKey

ARM, LINK, VIEW = Robot.named('aubo_i5'), 'ee_link', validation.REFERENCE_FRAMES[1]
FOUR_BAR = mechanisms.four_bar().robot


def keys():
    """Each quantity of the arm or, where closed loops are needed, of a four-bar."""
    for name, algorithm in {**ALGORITHMS, **BY_METHOD}.items():
        yield (FOUR_BAR if algorithm.of_loops else ARM), QuantityKey(name)
    for name in {**OF_A_FRAME, **OPERATIONAL_SPACE}:
        yield ARM, QuantityKey(name, (LINK,), VIEW)
    for name in OF_FRAMES:
        yield ARM, QuantityKey(name, (LINK, 'foreArm_Link'), VIEW)
    for name in ('inverse_dynamics', 'forward_dynamics'):
        yield ARM, QuantityKey(name, (LINK,), VIEW, WRENCH)
        yield ARM, QuantityKey(name, (), VIEW, WRENCHES)


@pytest.mark.parametrize(
    'robot, key', matrix(keys(), [*keys()][::3]), ids=lambda value: str(value) if not isinstance(value, Robot) else ''
)
def test_the_verifier_accepts(robot, key):
    code = StraightLine.of(robot._evaluator.program(key), robot.model.arrays)
    for ir in (of_one_state(code), of_blocks(code, 8), of_blocks(code, 16)):
        llvm.parse_assembly(ir).verify()


def test_the_verifier_refuses_a_value_that_is_used_before_its_definition():
    lines = of_one_state(
        StraightLine.of(ARM._evaluator.program(QuantityKey('gravity_torque')), ARM.model.arrays)
    ).split('\n')
    first = next(k for k, line in enumerate(lines) if line.lstrip().startswith('%') and ' = ' in line)
    lines.insert(next(k for k, line in enumerate(lines) if line.lstrip().startswith('ret ')) - 1, lines.pop(first))
    with pytest.raises(RuntimeError, match='dominate'):
        llvm.parse_assembly('\n'.join(lines)).verify()
