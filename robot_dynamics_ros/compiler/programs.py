"""What is specialised for a robot: its algorithms as traces from input arrays to results.

Inputs that change at run time stay inputs. ``load`` (19,) holds them: gravity (3, m/s^2, base frame), the ten inertial
parameters of the last link, payload included (10), and the wrench on it in its own frame (6; N m, N).
"""

import hashlib
import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.compiler.forward_algorithm import forward_algorithm
from robot_dynamics_ros.compiler.trace import Tape
from robot_dynamics_ros.kernels.crba import crba
from robot_dynamics_ros.kernels.forward_derivatives import forward_derivatives
from robot_dynamics_ros.kernels.kinematics import frame_acceleration, frame_pose, frame_velocity, jacobian
from robot_dynamics_ros.kernels.mass_matrix_inverse import mass_matrix_inverse
from robot_dynamics_ros.kernels.regressor import torque_regressor
from robot_dynamics_ros.kernels.rnea import rnea
from robot_dynamics_ros.kernels.rnea_derivatives import rnea_derivatives
from robot_dynamics_ros.model.model import Frame, ModelArrays, Workspace

LOAD_SIZE = 19
MOST_VELOCITIES_OF_DERIVATIVES = 7
"""Compiling the derivatives of a chain of 7 joints about axes of any direction takes about a minute.

Of the AUBO-i5, whose axes are at right angles, 10 s; of 9 such joints several minutes (2026-11-20).
"""


class Program(NamedTuple):
    """One algorithm: the joint vectors it reads beside ``load``, q first, what it writes, and its trace."""

    inputs: tuple[str, ...]
    result: str
    shape: Callable[[ModelArrays], tuple[int, ...]]  # of what it writes
    trace: Callable[..., None]
    most_velocities: float = math.inf
    """Of larger robots its code is not made unless asked for: see ``MOST_VELOCITIES_OF_DERIVATIVES``."""

    def sizes(self, arrays: ModelArrays) -> list[int]:
        """Return the lengths of the vectors that it reads."""
        return [arrays.nq if name == 'q' else arrays.nv for name in self.inputs]


class Setting(NamedTuple):
    """What a trace runs in: the robot's constants, with the run-time inputs of ``load`` in their place."""

    arrays: ModelArrays
    work: Workspace
    gravity: np.ndarray
    f_ext: np.ndarray


def _inverse_dynamics(tape: Tape, setting: Setting, q, qd, qdd, tau) -> None:
    tape.run(rnea, setting.arrays, setting.work, q, qd, qdd, setting.gravity, setting.f_ext, tau)


def _bias_torque(tape: Tape, setting: Setting, q, qd, tau) -> None:
    _inverse_dynamics(tape, setting, q, qd, _zeros(len(tau)), tau)


def _gravity_torque(tape: Tape, setting: Setting, q, tau) -> None:
    _inverse_dynamics(tape, setting, q, _zeros(len(tau)), _zeros(len(tau)), tau)


def _mass_matrix(tape: Tape, setting: Setting, q, M) -> None:
    tape.run(crba, setting.arrays, setting.work, q, M.reshape(_square(setting.arrays)))


def _mass_matrix_inverse(tape: Tape, setting: Setting, q, M_inv) -> None:
    tape.run(mass_matrix_inverse, setting.arrays, setting.work, q, M_inv.reshape(_square(setting.arrays)))


def _forward_dynamics(tape: Tape, setting: Setting, q, qd, tau, qdd) -> None:
    algorithm = forward_algorithm(setting.arrays)
    tape.run(algorithm, setting.arrays, setting.work, q, qd, tau, setting.gravity, setting.f_ext, qdd)


def _torque_regressor(tape: Tape, setting: Setting, q, qd, qdd, Y) -> None:
    Y = Y.reshape(_ten_a_link(setting.arrays))
    tape.run(torque_regressor, setting.arrays, setting.work, q, qd, qdd, setting.gravity, Y)


def _inverse_dynamics_derivatives(tape: Tape, setting: Setting, q, qd, qdd, D) -> None:
    D = D.reshape(_three_squares(setting.arrays))
    tape.run(rnea_derivatives, setting.arrays, setting.work, q, qd, qdd, setting.gravity, setting.f_ext, D)


def _forward_dynamics_derivatives(tape: Tape, setting: Setting, q, qd, tau, D) -> None:
    D = D.reshape(_three_squares(setting.arrays))
    tape.run(forward_derivatives, setting.arrays, setting.work, q, qd, tau, setting.gravity, setting.f_ext, D)


def _vector(arrays: ModelArrays) -> tuple[int, ...]:
    return (arrays.nv,)


def _square(arrays: ModelArrays) -> tuple[int, ...]:
    return arrays.nv, arrays.nv


def _three_squares(arrays: ModelArrays) -> tuple[int, ...]:
    return 3, arrays.nv, arrays.nv


def _ten_a_link(arrays: ModelArrays) -> tuple[int, ...]:
    return arrays.nv, 10 * arrays.n


PROGRAMS = {
    'inverse_dynamics': Program(('q', 'qd', 'qdd'), 'tau', _vector, _inverse_dynamics),
    'bias_torque': Program(('q', 'qd'), 'tau', _vector, _bias_torque),
    'gravity_torque': Program(('q',), 'tau', _vector, _gravity_torque),
    'mass_matrix': Program(('q',), 'M', _square, _mass_matrix),
    'mass_matrix_inverse': Program(('q',), 'M_inv', _square, _mass_matrix_inverse),
    'forward_dynamics': Program(('q', 'qd', 'tau'), 'qdd', _vector, _forward_dynamics),
    'torque_regressor': Program(('q', 'qd', 'qdd'), 'Y', _ten_a_link, _torque_regressor),
    'inverse_dynamics_derivatives': Program(
        ('q', 'qd', 'qdd'), 'D', _three_squares, _inverse_dynamics_derivatives, MOST_VELOCITIES_OF_DERIVATIVES
    ),
    'forward_dynamics_derivatives': Program(
        ('q', 'qd', 'tau'), 'D', _three_squares, _forward_dynamics_derivatives, MOST_VELOCITIES_OF_DERIVATIVES
    ),
}


def _pose(arrays: ModelArrays) -> tuple[int, ...]:
    return 4, 4


def _six(arrays: ModelArrays) -> tuple[int, ...]:
    return (6,)


def _six_rows(arrays: ModelArrays) -> tuple[int, ...]:
    return 6, arrays.nv


OF_A_FRAME = {
    'link_pose': (frame_pose, ('q',), 'pose', _pose),
    'link_velocity': (frame_velocity, ('q', 'qd'), 'v', _six),
    'link_acceleration': (frame_acceleration, ('q', 'qd', 'qdd'), 'a', _six),
    'jacobian': (jacobian, ('q',), 'J', _six_rows),
}
"""Kernels that are told a frame: each of its frames, and each way of seeing it, is a program of its own."""


def program_of_frame(name: str, frame: Frame, *view: int) -> tuple[str, Program]:
    """Return the program ``name`` of OF_A_FRAME for one frame, and a name of its own; ``kinematics`` has ``view``."""
    kernel, inputs, result, shape = OF_A_FRAME[name]
    rotation, origin = np.ascontiguousarray(frame.rotation, float), np.ascontiguousarray(frame.origin, float)
    digest = hashlib.sha256(f'{frame.link} {view} '.encode() + rotation.tobytes() + origin.tobytes()).hexdigest()[:16]
    return f'{name}_{digest}', Program(inputs, result, shape, partial(_of_frame, kernel, shape, frame, view))


def _of_frame(kernel, shape, frame: Frame, view: tuple[int, ...], tape: Tape, setting: Setting, *arrays) -> None:
    *vectors, result = arrays
    point = frame.link, _floats(frame.rotation), _floats(frame.origin)
    tape.run(kernel, setting.arrays, setting.work, *vectors, *point, *view, result.reshape(shape(setting.arrays)))


def trace(arrays: ModelArrays, program: Program, load=None) -> np.ndarray:
    """Return the results of a program for a model's arrays, symbols or floats (size,).

    ``load`` (19,) numbers fix what is otherwise an input of that name.
    """
    n, tape = arrays.n, Tape()
    inputs = [tape.inputs(*vector) for vector in zip(program.inputs, program.sizes(arrays), strict=True)]
    load = tape.inputs('load', LOAD_SIZE) if load is None else _floats(np.asarray(load, float))
    constants = ModelArrays(*(a if a.dtype.kind == 'i' else _floats(a) for a in arrays))
    constants.I[n] = load[3:13]
    f_ext = _zeros((n + 1, 6))
    f_ext[n] = load[13:19]
    result = _zeros(math.prod(program.shape(arrays)))
    program.trace(tape, Setting(constants, Workspace.of(arrays, object), load[:3], f_ext), *inputs, result)
    return result


def _floats(array: np.ndarray) -> np.ndarray:
    """Return an array of Python's own floats: NumPy's would try to make arrays of symbols."""
    return np.array(array.tolist(), object).reshape(array.shape)


def _zeros(shape) -> np.ndarray:
    return _floats(np.zeros(shape))
