"""Export of a robot's quantities as functions of CasADi: which there are, and what their inputs are."""

from collections.abc import Collection, Sequence

import casadi
import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.algorithms.program import lengths_of
from robot_dynamics_ros.algorithms.table import ALGORITHMS, OF_A_FRAME, OPERATIONAL_SPACE, Algorithm
from robot_dynamics_ros.codegen.casadi_function import UnfusedTape, casadi_function
from robot_dynamics_ros.codegen.straight_line import trace
from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.kernels.friction import friction_torque
from robot_dynamics_ros.kernels.position_steps import position_after
from robot_dynamics_ros.model.closed_loops.loops import check_tree
from robot_dynamics_ros.model.configuration import neutral
from robot_dynamics_ros.model.inertial_parameters import moved
from robot_dynamics_ros.model.model import Frame, Model
from robot_dynamics_ros.payload import carrying_frame
from robot_dynamics_ros.robot.evaluator import ABOUT_CENTER_OF_MASS, Evaluator
from robot_dynamics_ros.robot.quantity_key import QuantityKey

FURTHER_INPUTS = {'gravity': 3, 'payload': 10}
"""Inputs that are constants unless they are asked for, and their lengths."""
PARTS = {
    'coriolis_torque': ('bias_torque', ('q', 'qd')),
    'inertia_torque': ('inverse_dynamics', ('q', 'qdd')),
    'jacobian_dot_qd': ('link_acceleration', ('q', 'qd')),
}
"""Quantities that are another one, whose inputs beside these are zero."""
WITHOUT_GRAVITY = ('coriolis_torque', 'inertia_torque', 'operational_space_bias')
"""Quantities that are computed without gravity."""
OF_JOINTS = {'friction_torque': ('qd', 'tau'), 'integrate': ('q', 'step')}
"""Inputs of the quantities whose kernels are not in the table of algorithms."""


def function_of(
    evaluator: Evaluator,
    name: str,
    link: str | None,
    reference_frame: str,
    inputs: Collection[str],
    payload_link: str | None,
) -> casadi.Function:
    """Return a quantity as a function of CasADi; see ``Robot.casadi``."""
    model, of_frames = evaluator.model, {**OF_A_FRAME, **OPERATIONAL_SPACE}
    table: dict[str, Algorithm] = ALGORITHMS if link is None else of_frames
    others = [it for it, (whole, _) in PARTS.items() if whole in table] + [*(OF_JOINTS if link is None else ())]
    validation.choice('program', name, [*table, *others])
    asked = {it: FURTHER_INPUTS[validation.choice('inputs', it, FURTHER_INPUTS)] for it in inputs}
    check_tree(model, f'{name} for CasADi')
    if not evaluator.arrays.nv:
        raise ModelError(f'{name} for CasADi: no joint of {model.name} moves')
    if name in OF_JOINTS:
        lengths = lengths_of(evaluator.arrays)
        vectors = {it: lengths[it] for it in OF_JOINTS[name]}
        return casadi_function(name, vectors | asked, _of_joints(model, name, vectors), 1)

    whole, given = PARTS.get(name, (name, table[name].inputs if name in table else ()))
    if table[whole].of_loops:
        raise ModelError(f'{name} for CasADi: {model.name} has no closed loops')
    program = evaluator.program(QuantityKey(whole) if link is None else QuantityKey(whole, (link,), reference_frame))
    arrays = model.arrays if program.bodies else evaluator.arrays
    tape = UnfusedTape()
    gravity = [0.0] * 3 if name in WITHOUT_GRAVITY else evaluator.inputs[:3].tolist()
    if 'gravity' in asked and name not in WITHOUT_GRAVITY:
        gravity = [*tape.inputs('gravity', FURTHER_INPUTS['gravity'])]
    inertia = arrays.I.astype(object)
    if 'payload' in asked:
        _add_payload(tape, inertia, model.frame(carrying_frame(model, payload_link, 'payload_link')))
    runtime_inputs = [*gravity, *inertia[-1], *[0.0] * 6]
    try:
        results = trace(program, arrays._replace(I=inertia), runtime_inputs, tape)
    except ZeroDivisionError:
        raise _never_finite(evaluator, name) from None
    vectors = {it: length for it, length in program.inputs.items() if it in given}
    return casadi_function(name, vectors | asked, results, program.shape[-1] if len(program.shape) > 1 else 1)


def _add_payload(tape: UnfusedTape, inertia: np.ndarray, frame: Frame) -> None:
    """Add the input ``payload``, expressed in a frame, to the inertial parameters (n + 1, 10) of the frame's link."""
    payload = tape.inputs('payload', FURTHER_INPUTS['payload'])
    # the payload in the axes of the link is linear in its ten parameters
    moved_units = np.array([moved(unit, frame.rotation, frame.origin) for unit in np.eye(len(payload))])
    inertia[frame.link] = inertia[frame.link] + payload @ moved_units.astype(object)


def _never_finite(evaluator: Evaluator, name: str) -> ModelError:
    """Return the error for a quantity that is finite at no position."""
    model, what = evaluator.model, name.replace('_', ' ')
    if name.startswith(ABOUT_CENTER_OF_MASS):
        return ModelError(f'{what}: no moving link of {model.name} has a mass, so there is no centre of mass')
    error = evaluator.without_inertia(what, neutral(evaluator.arrays)[None])
    return error or ModelError(f'{what}: not finite at any position of {model.name}')


def _of_joints(model: Model, name: str, lengths: dict[str, int]) -> Sequence:
    """Return the traced results of one of ``OF_JOINTS``, whose vectors have these lengths."""
    tape = UnfusedTape()
    vectors = [tape.inputs(it, length) for it, length in lengths.items()]
    result = np.zeros(len(vectors[0]), object)
    if name == 'integrate':
        tape.run(position_after, model.arrays, *vectors, result)
    else:
        friction = np.array(model.friction).astype(object)
        motors = np.zeros(len(result), object)
        tape.run(friction_torque, friction, model.motor_velocities().astype(object), *vectors, motors, result)
    return result.tolist()
