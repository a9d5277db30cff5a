"""Evaluation of algorithms: argument validation, choice of generic or specialised code, workspaces and batches."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.algorithms.program import (
    POSITIONS,
    WRENCH,
    WRENCHES,
    JointTorques,
    Program,
    algorithm_of,
    lengths_of,
    program_of,
)
from robot_dynamics_ros.algorithms.table import ALGORITHMS, OF_A_FRAME, Algorithm
from robot_dynamics_ros.codegen.generic import Generic
from robot_dynamics_ros.codegen.states_code import StatesCode
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.jit.decorators import numba_is_disabled
from robot_dynamics_ros.model.arrays import ModelArrays
from robot_dynamics_ros.model.closed_loops.loops import check_tree
from robot_dynamics_ros.model.configuration import neutral
from robot_dynamics_ros.model.model import Model
from robot_dynamics_ros.model.residual import ResidualModel
from robot_dynamics_ros.native import call
from robot_dynamics_ros.robot.quantity import PAYS, Quantity
from robot_dynamics_ros.robot.quantity_key import QuantityKey
from robot_dynamics_ros.robot.wrench_inputs import check_finite, form_and_rows

if TYPE_CHECKING:
    from robot_dynamics_ros.codegen.specialised import Specialised

ABOUT_CENTER_OF_MASS = ('center_of_mass', 'centroidal_momentum')
"""Beginnings of names of algorithms whose result is not finite for a robot without mass."""
BY_INVERSE_INERTIA = (
    'acceleration',
    'forward_dynamics',
    'mass_matrix_inverse',
    'operational_space_inertia_inverse',
    'response_to_wrenches',
)
"""Beginnings of names of algorithms whose result is not finite for a joint without inertia."""
OF_SEVERAL_AXES = {'planar', 'spherical', 'free'}
"""Joint types where qd is not the time derivative of q."""
OfFrame = tuple[str, str | tuple[str, ...], str]
"""A quantity of frames as callers ask for it: name, link or links, and reference frame."""
UnderWrenches = tuple[str, str]
"""A quantity under external wrenches as callers ask for it: name, and reference frame of the wrenches."""


class Evaluator:
    """Evaluates the quantities of one robot for one state or a batch of states.

    ``asked`` says whether code of the robot's own is used for all quantities; see ``Quantity``. ``inputs`` and
    ``weightless`` are the run-time inputs of both kinds of code, with and without gravity. ``calls`` are the calls of
    the quantities that were evaluated before, by name.

    ``evaluate(name, inputs, out, vectors...)`` returns the results (..., shape) of a quantity for vectors (..., n) and
    ``inputs`` (19,). ``evaluate_of_frame`` has ``OfFrame`` as its first argument, and ``evaluate_under_wrenches``
    ``UnderWrenches``, with the external wrenches as callers give them as the last vector. Machine code checks types,
    shapes and finiteness; what is not prepared yet, many states, and arguments that have to be converted or rejected
    are left to Python. All raise ArgumentError, ModelError for a joint without inertia or a robot without mass, and
    UnknownNameError for a link.
    """

    def __init__(
        self,
        model: Model,
        gravity: np.ndarray,
        compiled: ModelArrays | None,
        threads: int | None,
        residual: ResidualModel | None = None,
    ):
        """Prepare; ``gravity`` (3, m/s^2) is in the base frame, and a batch may use ``threads`` cores (None: all).

        ``compiled`` are the arrays of the robot for which code of its own was asked for, None for none. It is used if
        ``model`` differs from these by the last link's inertia alone.
        """
        self.model = model
        self.arrays = model.regrouped
        self.generic = Generic(self.arrays, model.arrays)
        self._may_compile = self.arrays.nv > 0 and not numba_is_disabled()
        self.asked = compiled is not None and self._may_compile and np.array_equal(compiled.I[:-1], self.arrays.I[:-1])
        self._compiled = compiled if compiled is not None and self.asked else self.arrays
        self._threads = threads
        last_link, no_wrench = model.arrays.I[-1], np.zeros(6)
        self.inputs = np.concatenate([gravity, last_link, no_wrench])
        self.weightless = np.concatenate([np.zeros(3), last_link, no_wrench])
        self._quaternions = self.arrays.quaternions
        self._angles = np.array(self.arrays.angles, np.int64)
        self._lengths = lengths_of(self.arrays)
        learnt = np.zeros((0, 16)) if residual is None else residual.rows
        self.joint_torques = JointTorques(np.array(model.friction), model.motor_velocities(), learnt)
        self.calls: dict[str, Callable] = {}
        self._calls_of_frame: dict[OfFrame, Callable] = {}
        self._calls_under_wrenches: dict[UnderWrenches, Callable] = {}
        self._calls_under_one_wrench: dict[UnderWrenches, dict[str, Callable]] = {}
        self._prepared: dict[QuantityKey, Quantity] = {}
        self.evaluate = call.by_key(self.calls, {}, self._evaluate)
        self.evaluate_of_frame = call.by_key(self._calls_of_frame, {}, self._evaluate_of_frame)
        self.evaluate_under_wrenches = call.by_key(
            self._calls_under_wrenches, self._calls_under_one_wrench, self._evaluate_under_wrenches
        )

    def result(self, name: str, *vectors) -> np.ndarray:
        """Return the results (..., shape) of a quantity under the robot's gravity, with its payload."""
        return self.evaluate(name, self.inputs, None, *vectors)

    def result_of_frame(self, name: str, link: str | tuple[str, ...], reference_frame: str, *vectors) -> np.ndarray:
        """Return the results (..., shape) of a quantity of one or several frames, as ``result`` does."""
        return self.evaluate_of_frame((name, link, reference_frame), self.inputs, None, *vectors)

    def states_code(self, key: QuantityKey, evaluations: float, many: bool) -> StatesCode:
        """Return the code of a quantity for states in rows, for calls by one thread.

        It is the robot's own where that was asked for, or pays for so many ``evaluations``. ``many`` says whether code
        for blocks of states is of use.
        """
        program = self.program(key)
        if self.asked or (self._may_compile and evaluations >= PAYS):
            code = self._own_code(program)
            if code.is_short(program, blocks=False):
                return code.states_code(program, many and code.is_short(program, blocks=True))
        return self.generic.alone(program)

    def prepare(self, key: QuantityKey) -> Quantity:
        """Return what computes a quantity; code of the robot's own is compiled if it was asked for."""
        program = self.program(key)
        own_code = partial(self._own_code, program) if self._may_compile else None
        # of several threads that prepare it, all use the first one's
        return self._prepared.setdefault(key, Quantity(program, self.generic, own_code, self.asked))

    def address(self, name: str, link: str | None, reference_frame: str) -> 'tuple[int, int, Specialised]':
        """Return the number of arrays and the address of a quantity's own code, and the object that it belongs to.

        With a ``link``, the quantity is one of that frame, expressed in ``reference_frame``. ArgumentError for another
        name.
        """
        validation.choice('program', name, [*(ALGORITHMS if link is None else OF_A_FRAME)])
        program = self.program(QuantityKey(name) if link is None else QuantityKey(name, (link,), reference_frame))
        code = self._own_code(program)
        try:
            return len(program.inputs) + 2, code.address(program), code
        except ZeroDivisionError:
            error = self.without_inertia(name.replace('_', ' '), neutral(self.arrays)[None])
            raise error or ArgumentError(f'{name}: a constant of the code is not finite') from None

    def with_wrenches(self, name: str, reference_frame: str, vectors: tuple) -> tuple[QuantityKey, tuple]:
        """Return the key and the vectors of a quantity whose last vector are external wrenches as callers give them."""
        *states, wrenches = vectors
        form, frame, rows = form_and_rows(self.model, wrenches, reference_frame, states, self.pose(states[0]))
        return QuantityKey(name, () if frame is None else (frame,), reference_frame, form), (*states, rows)

    def without_inertia(self, what: str, q: np.ndarray) -> ModelError | None:
        """Return the error, ``what`` at its start, for a joint without inertia at one of q (count, nq), or None."""
        velocity = self.generic.velocity_without_inertia(q)
        if velocity is None:
            return None
        return ModelError(f'{what}: joint {self.model.joint_of_velocity(velocity)!r} has no inertia to accelerate')

    def pose(self, q) -> Callable[[str], np.ndarray]:
        """Return the function of a link's name that returns its pose (..., 4, 4) at q (..., nq)."""
        return lambda link: self.result_of_frame('link_pose', link, 'world', q)

    def states(self, **vectors) -> tuple[list[np.ndarray], tuple[int, ...]]:
        """Return vectors as rows (count, n), all finite, with angles in range, and the batch's shape."""
        rows, shape = self._rows(vectors)
        self._check_numbers(vectors)
        return rows, shape

    def _check_numbers(self, vectors: dict) -> None:
        """Raise ArgumentError for a number that is not finite, and for an angle that is too large."""
        for name, vector in vectors.items():
            array = np.asarray(vector, float)
            validation.check_finite(name, array)
            if name in POSITIONS:
                validation.check_angles(name, array, self._angles, self.model.joint_of_coordinate)

    def _own_code(self, program: Program) -> 'Specialised':
        """Return the code of a program: with the true inertial parameters, or with regrouped ones."""
        # needs LLVM
        from robot_dynamics_ros.codegen.specialised import code_of  # noqa: PLC0415

        return code_of(self.model.arrays if program.bodies else self._compiled, self._threads)

    def program(self, key: QuantityKey) -> Program:
        """Return the steps of a quantity; ModelError where closed loops would change its result."""
        frames, reference_frame, wrenches = [self.model.frame(link) for link in key.links], 0, key.wrenches or None
        if frames or wrenches:
            validation.choice('reference_frame', key.reference_frame, validation.REFERENCE_FRAMES)
            reference_frame = validation.REFERENCE_FRAMES.index(key.reference_frame)
        check_computable(self.model, key.name, algorithm_of(key.name, len(frames), wrenches))
        return program_of(self.arrays, key.name, frames, reference_frame, wrenches, self.joint_torques)

    def _evaluate(self, name: str, inputs: np.ndarray, out, *vectors) -> np.ndarray:
        """Validate and convert the vectors, evaluate all states, and return the results."""
        quantity, result = self._evaluated(QuantityKey(name), inputs, out, vectors)
        self.calls[name] = quantity.call
        return result

    def _evaluate_of_frame(self, request: OfFrame, inputs: np.ndarray, out, *vectors) -> np.ndarray:
        """Return the results of a quantity of frames as ``_evaluate`` does."""
        name, link, reference_frame = request
        key = QuantityKey(name, link if isinstance(link, tuple) else (link,), reference_frame)
        quantity, result = self._evaluated(key, inputs, out, vectors)
        self._calls_of_frame[request] = quantity.call
        return result

    def _evaluate_under_wrenches(self, request: UnderWrenches, inputs: np.ndarray, out, *vectors) -> np.ndarray:
        """Return the results of a quantity whose last vector are external wrenches, as ``_evaluate`` does."""
        key, converted = self.with_wrenches(*request, vectors)
        try:
            quantity, result = self._evaluated(key, inputs, out, converted)
        except ArgumentError:
            check_finite(vectors[-1])
            raise
        if key.wrenches == WRENCH:
            self._calls_under_one_wrench.setdefault(request, {})[key.links[0]] = quantity.call
        elif key.wrenches == WRENCHES:
            self._calls_under_wrenches[request] = quantity.call
        return result

    def _evaluated(self, key: QuantityKey, inputs: np.ndarray, out, vectors: tuple) -> tuple[Quantity, np.ndarray]:
        """Return what computes a quantity, and its results."""
        try:
            quantity = self._prepared[key]
        except (KeyError, TypeError):  # a new quantity, or a link that is no name
            quantity = self.prepare(key)
            few = quantity.of_few(inputs, out, vectors)
            if few is not None:
                return quantity, few
        many = quantity.of_many(inputs, out, vectors)
        if many is not None:
            return quantity, many
        named = dict(zip(quantity.program.inputs, vectors, strict=True))
        rows, shape = self._rows(named)
        of_state = quantity.program.shape
        given, result = validation.result(out, (*shape, *of_state), rows)
        finite = quantity.compute(rows, inputs, result.reshape(len(rows[0]), *of_state))
        if not finite:
            self._explain_not_finite(key.name, rows, named)
        return quantity, filled(given, result)

    def _rows(self, vectors: dict) -> tuple[list[np.ndarray], tuple[int, ...]]:
        """Return vectors as rows (count, n), and the batch's shape; ArgumentError for a quaternion not of length 1."""
        rows, shape = validation.states({name: self._lengths[name] for name in vectors}, **vectors)
        if self._quaternions:
            for name, row in zip(vectors, rows, strict=True):
                if name in POSITIONS:
                    validation.check_quaternions(name, row.reshape(*shape, row.shape[-1]), self._quaternions)
        return rows, shape

    def _explain_not_finite(self, name: str, rows, vectors: dict) -> None:
        """Raise why there is no result: an argument, a robot without mass, a joint without inertia, or overflow."""
        self._check_numbers(vectors)
        if name.startswith(ABOUT_CENTER_OF_MASS) and not self.model.arrays.I[1:, 0].any():
            what = name.replace('_', ' ')
            raise ModelError(f'{what}: no moving link of {self.model.name} has a mass, so there is no centre of mass')
        if name.startswith(BY_INVERSE_INERTIA):
            error = self.without_inertia(name.replace('_', ' '), rows[0])
            if error is not None:
                raise error
        raise ArgumentError(f'{name}: the result is not finite; some of {", ".join(vectors)} are too large')


def check_computable(model: Model, name: str, algorithm: Algorithm) -> None:
    """Raise ModelError where an algorithm would give the result of an open tree, or of other joints."""
    if algorithm.of_tree:
        check_tree(model, name)
    if algorithm.before:
        check_unlocked(model, name)
    if algorithm.of_derivative and not OF_SEVERAL_AXES.isdisjoint(model.joint_kinds):
        what = name.replace('_', ' ').capitalize()
        raise ModelError(f'{what}: qd of {model.name} is not the time derivative of q')


def check_unlocked(model: Model, name: str) -> None:
    """Raise ModelError where the transmitted torque cannot be computed from the torque of the motor."""
    load = model.friction.load
    if model.motor_coupling and load.any():
        joint = model.joint_of_velocity(model.motor_coupling[0][0])
        raise ModelError(f'{name}: the motor of joint {joint!r} is coupled, and friction grows with the load')
    locked = np.flatnonzero(load >= 1.0)
    if len(locked):
        k = int(locked[0])
        raise ModelError(
            f'{name}: joint {model.joint_of_velocity(k)!r} cannot move, its friction grows by {load[k]:g} per '
            'transmitted torque'
        )


def filled(given: np.ndarray, written: np.ndarray) -> np.ndarray:
    """Copy a kernel's result to the caller's array, unless it is the same, and return that array."""
    if written is not given:
        given[...] = written
    return given


def written(out, result: np.ndarray) -> np.ndarray:
    """Return a result, copied to the caller's array ``out`` if it is not None."""
    return result if out is None else filled(validation.result(out, result.shape)[0], result)
