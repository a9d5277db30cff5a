"""Generic code of a kernel is one file for all programs and robots."""

from collections import defaultdict

from support.robots import mechanisms

from robot_dynamics_ros import Robot, validation
from robot_dynamics_ros.algorithms.program import WRENCH, WRENCHES, WRENCHES_AT_POINTS, program_of
from robot_dynamics_ros.algorithms.table import ALGORITHMS, BY_METHOD, OF_A_FRAME, OF_FRAMES, OPERATIONAL_SPACE
from robot_dynamics_ros.codegen import generic
from robot_dynamics_ros.model.arrays import Workspace

UNDER_WRENCHES = 'inverse_dynamics', 'forward_dynamics', 'inverse_dynamics_derivatives', 'forward_dynamics_derivatives'


def programs(arrays, frame):
    """Yield the programs of all quantities of a robot, of a frame, of two frames and with wrenches."""
    for name in {**ALGORITHMS, **BY_METHOD}:
        yield program_of(arrays, name)
    for name in {**OF_A_FRAME, **OPERATIONAL_SPACE}:
        yield program_of(arrays, name, [frame])
    for name in OF_FRAMES:
        yield program_of(arrays, name, [frame, frame])
    for name in UNDER_WRENCHES:
        for index, _ in enumerate(validation.REFERENCE_FRAMES):
            yield program_of(arrays, name, [frame], index, WRENCH)
            yield program_of(arrays, name, [], index, WRENCHES)
            yield program_of(arrays, name, [], index, WRENCHES_AT_POINTS)


def kind(argument):
    """Return what machine code depends on: an integer, or the type of an array's numbers and its number of axes."""
    return int if isinstance(argument, int) else (argument.dtype, argument.ndim)


def test_a_kernel_has_one_name_and_arguments_of_one_kind_in_all_programs():
    kinds, kernels = defaultdict(set), defaultdict(set)
    for robot in (Robot.named('aubo_i5'), mechanisms.four_bar().robot):
        arrays, work = robot.model.arrays, Workspace.of(robot.model.arrays)
        for program in programs(arrays, robot.model.frame(robot.link_names[-1])):
            names = generic._names(program, len(arrays.parent))
            for step in program.steps:
                kernels[step.kernel.__name__].add(step.kernel)
                kinds[step.kernel.__name__].add(tuple(map(kind, step.given(names, work))))
    assert all(len(found) == 1 for found in kernels.values())
    assert {name: found for name, found in kinds.items() if len(found) > 1} == {}
    assert len(kinds) > 35
