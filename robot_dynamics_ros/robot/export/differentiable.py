"""Quantities with exact derivatives, for libraries that differentiate: which there are, and what computes them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.algorithms.program import lengths_of
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.robot.evaluator import OF_SEVERAL_AXES, Evaluator
from robot_dynamics_ros.robot.export import torque_derivatives
from robot_dynamics_ros.robot.quantity_key import QuantityKey

Function = Callable[..., np.ndarray]
"""A function of vectors (..., n), one for each input."""


@dataclass(frozen=True, eq=False)
class Differentiable:
    """A quantity of a robot with exact derivatives."""

    name: str
    lengths: dict[str, int]  # of the vectors of a state, by their names
    shape: tuple[int, ...]  # of the result for one state
    value: Function  # returns the results (..., shape)
    derivatives: Function  # returns (..., inputs, size, nv), where size is the number of entries of a result

    def broadcast_shape(self, shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
        """Return the common batch shape of vectors of these shapes; ArgumentError names what does not fit."""
        if len(shapes) != len(self.lengths):
            expected = ', '.join(self.lengths)
            raise ArgumentError(f'{self.name}: expected {len(self.lengths)} vectors ({expected}), got {len(shapes)}')
        for (name, length), shape in zip(self.lengths.items(), shapes, strict=True):
            if shape[-1:] != (length,):
                raise ArgumentError(f'{name}: expected shape (..., {length}), got {shape}')
        try:
            return np.broadcast_shapes(*(shape[:-1] for shape in shapes))
        except ValueError:
            found = ', '.join(f'{name} {shape}' for name, shape in zip(self.lengths, shapes, strict=True))
            raise ArgumentError(f'batch shapes do not broadcast: {found}') from None

    def named(self, function: Callable) -> Callable:
        """Return a library's function of this quantity, with its name and a docstring."""
        function.__name__ = function.__qualname__ = self.name
        function.__doc__ = f'Return {self.name}, (..., {self.shape}), of {", ".join(self.lengths)}.'
        return function

    def no_second_derivatives(self) -> ArgumentError:
        """Return the error for a derivative of a derivative."""
        return ArgumentError(
            f'{self.name}: second derivatives are not available; functions of robot.casadi have those of any order'
        )


def differentiable(evaluator: Evaluator, name: str, link: str | None) -> Differentiable:
    """Return a quantity, of the frame of ``link`` if given; see ``Robot.jax``."""
    validation.choice('program', name, [*DERIVATIVES, *DERIVATIVES_OF_A_FRAME])
    if (link is None) == (name in DERIVATIVES_OF_A_FRAME):
        raise ArgumentError(f'link: {name} is {"that of a frame" if link is None else "not that of a frame"}')
    for joint, kind in zip(evaluator.model.joint_names, evaluator.model.joint_kinds, strict=True):
        if kind in OF_SEVERAL_AXES:
            raise ModelError(f'{name}: joint {joint!r} is {kind}, whose qd is not the time derivative of q')
    if name == 'forward_dynamics':  # not available for closed loops
        evaluator.program(QuantityKey('forward_dynamics_derivatives'))
    if link is None:
        program = evaluator.program(QuantityKey(name))
        value, entries = partial(evaluator.result, name), partial(DERIVATIVES[name], evaluator)
    else:
        program = evaluator.program(QuantityKey(name, (link,), 'world'))
        value = partial(evaluator.result_of_frame, name, link, 'world')
        entries = partial(DERIVATIVES_OF_A_FRAME[name], evaluator, link)
    shape, inputs, nv = tuple(program.shape), tuple(program.inputs), evaluator.arrays.nv

    def derivatives(*vectors) -> np.ndarray:
        batch = np.broadcast_shapes(*(np.shape(vector)[:-1] for vector in vectors))
        size = int(np.prod(shape, dtype=int))
        return np.ascontiguousarray(entries(*vectors)).reshape(*batch, len(inputs), size, nv)

    lengths = lengths_of(evaluator.arrays)
    return Differentiable(name, {it: lengths[it] for it in inputs}, shape, value, derivatives)


# Of each quantity: its derivatives (..., inputs, shape, nv).


def _of_inverse_dynamics(evaluator: Evaluator, q, qd, qdd) -> np.ndarray:
    return evaluator.result('inverse_dynamics_derivatives', q, qd, qdd)


def _of_forward_dynamics(evaluator: Evaluator, q, qd, tau) -> np.ndarray:
    return evaluator.result('forward_dynamics_derivatives', q, qd, tau)


def _of_bias_torque(evaluator: Evaluator, q, qd) -> np.ndarray:
    return _of_inverse_dynamics(evaluator, q, qd, _zeros(evaluator))[..., :2, :, :]


def _of_gravity_torque(evaluator: Evaluator, q) -> np.ndarray:
    return _of_inverse_dynamics(evaluator, q, _zeros(evaluator), _zeros(evaluator))[..., :1, :, :]


def _of_mass_matrix(evaluator: Evaluator, q) -> np.ndarray:
    """Each row of M is, as a column, the torque of one unit of acceleration."""
    of_rows = _of_inertia_torque(evaluator, np.asarray(q)[..., None, :], np.eye(evaluator.arrays.nv))
    return of_rows[..., None, :, :, :]


def _of_kinetic_energy(evaluator: Evaluator, q, qd) -> np.ndarray:
    """T = qd' M qd / 2."""
    by_position = np.einsum('...i,...ik->...k', 0.5 * np.asarray(qd), _of_inertia_torque(evaluator, q, qd))
    momentum = evaluator.evaluate('inverse_dynamics', evaluator.weightless, None, q, _zeros(evaluator), qd)
    return np.stack([by_position, momentum], -2)


def _of_potential_energy(evaluator: Evaluator, q) -> np.ndarray:
    return evaluator.result('gravity_torque', q)[..., None, :]


def _of_total_energy(evaluator: Evaluator, q, qd) -> np.ndarray:
    derivatives = _of_kinetic_energy(evaluator, q, qd)
    derivatives[..., 0, :] += evaluator.result('gravity_torque', q)
    return derivatives


def _of_center_of_mass(evaluator: Evaluator, q) -> np.ndarray:
    return evaluator.result('center_of_mass_jacobian', q)[..., None, :, :]


def _of_link_pose(evaluator: Evaluator, link: str, q) -> np.ndarray:
    """Column k of the Jacobian turns the axes of the frame and moves its origin."""
    J = evaluator.result_of_frame('jacobian', link, 'local_world_aligned', q)
    T = evaluator.result_of_frame('link_pose', link, 'world', q)
    derivatives = np.zeros((*J.shape[:-2], 1, 4, 4, J.shape[-1]))
    derivatives[..., 0, :3, :3, :] = np.cross(J[..., :3, None, :], T[..., :3, :3, None], axis=-3)
    derivatives[..., 0, :3, 3, :] = J[..., 3:, :]
    return derivatives


def _of_inertia_torque(evaluator: Evaluator, q, qdd) -> np.ndarray:
    """Return the derivatives (..., nv, nv) of M(q) qdd by q."""
    zeros = _zeros(evaluator)
    derivatives = evaluator.evaluate('inverse_dynamics_derivatives', evaluator.weightless, None, q, zeros, qdd)
    return derivatives[..., 0, :, :]


def _zeros(evaluator: Evaluator) -> np.ndarray:
    return np.zeros(evaluator.arrays.nv)


DERIVATIVES: dict[str, Function] = {
    'inverse_dynamics': _of_inverse_dynamics,
    'forward_dynamics': _of_forward_dynamics,
    'torque': torque_derivatives.of_torque,
    'acceleration': torque_derivatives.of_acceleration,
    'bias_torque': _of_bias_torque,
    'gravity_torque': _of_gravity_torque,
    'mass_matrix': _of_mass_matrix,
    'kinetic_energy': _of_kinetic_energy,
    'potential_energy': _of_potential_energy,
    'total_energy': _of_total_energy,
    'center_of_mass': _of_center_of_mass,
}
"""Derivatives of quantities of the robot."""
DERIVATIVES_OF_A_FRAME: dict[str, Function] = {'link_pose': _of_link_pose}
"""Derivatives of quantities of a frame."""
