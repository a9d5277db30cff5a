"""Evaluation of algorithms: argument validation, choice of the binding, workspaces and batches."""

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.compiler.algorithms import (
    ALGORITHMS,
    BASE_MOTION,
    BY_METHOD,
    CHANGE,
    CLOSING_TORQUES,
    OF_A_FRAME,
    POSITIONS,
    WRENCH,
    WRENCHES,
    WRENCHES_AT_POINTS,
    Algorithm,
    algorithm_of_frame,
    algorithm_of_frames,
    algorithm_with_wrenches,
    generic_name,
    length_of,
)
from robot_dynamics_ros.compiler.bound_function import bound
from robot_dynamics_ros.compiler.compiled_robot import Specialised, code_of, is_possible
from robot_dynamics_ros.compiler.generic_robot import Generic
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.evaluation.quantity import BREAK_EVEN, Interpreted, Quantity, best_level
from robot_dynamics_ros.kernels.friction import friction_torque
from robot_dynamics_ros.model.arrays import Workspace
from robot_dynamics_ros.model.configuration import neutral
from robot_dynamics_ros.model.loops import check_tree
from robot_dynamics_ros.model.model import Model
from robot_dynamics_ros.native import call
from robot_dynamics_ros.native.states_code import StatesCode

ABOUT_CENTER_OF_MASS = (
    'center_of_mass',
    'center_of_mass_jacobian',
    'centroidal_momentum',
    'centroidal_momentum_matrix',
)
BY_INVERSE_INERTIA = (
    'forward_dynamics',
    'mass_matrix_inverse',
    'operational_space_inertia_inverse',
    'response_to_wrenches',
)
"""Beginnings of names of algorithms whose result is not finite for a joint without inertia."""
Key = str | tuple[str, str, str] | tuple[str, tuple[str, ...], str] | tuple[str, str]
"""Name of an algorithm; of a frame: name, link and reference frame; with wrenches: name and reference frame.

Of several frames: name, links and reference frame.
"""


class Evaluator:
    """Evaluates the algorithms of one robot for one state or a batch of states.

    ``specialised`` code is used if it was made for this model; only the last link's inertia may differ. Otherwise
    generic kernels are used. ``load`` and ``weightless`` are the run-time inputs of both, with and without gravity.
    ``calls`` are the builtin functions of the algorithms that were evaluated before, see ``Quantity``.

    ``evaluate(key, load, out, vectors...)`` returns the results (..., shape) of an algorithm for vectors (..., n) and
    ``load`` (19,). Machine code checks types, shapes and finiteness; what is not prepared yet, many states, and
    arguments that have to be converted or rejected are left to Python. It raises ArgumentError, ModelError for a joint
    without inertia, and UnknownNameError for a link.
    """

    def __init__(self, model: Model, gravity: np.ndarray, specialised: Specialised | None, adaptive: bool):
        """Select the binding; ``gravity`` (3, m/s^2) is in the base frame. For ``adaptive`` see ``Quantity``."""
        self.model = model
        self.arrays = model.regrouped
        self.generic = Generic(self.arrays, model.arrays)
        self.specialised = specialised if specialised is not None and specialised.fits(self.arrays) else None
        self._of_bodies: Specialised | None = None
        self._adaptive = adaptive
        last_link, no_wrench = model.arrays.I[-1], np.zeros(6)
        self.load = np.concatenate([gravity, last_link, no_wrench])
        self.weightless = np.concatenate([np.zeros(3), last_link, no_wrench])
        self._quaternions = self.arrays.quaternions
        self._angles = np.array(self.arrays.angles, np.int64)
        self.shape_of_wrenches = len(model.link_names), 6
        others = *POSITIONS, *BASE_MOTION, WRENCH, WRENCHES, WRENCHES_AT_POINTS, CHANGE, CLOSING_TORQUES
        self._lengths = {name: length_of(name, self.arrays) for name in others}
        self._nv = self.arrays.nv
        self.calls: dict[Key, Callable] = {}
        self._prepared: dict[Key, Prepared] = {}
        self._generic: dict[Key, Prepared] = {}
        self.evaluate = call.KeyedCall(self.calls, self._evaluate) if is_possible() else self._evaluate

    @cached_property
    def friction_of_rows(self) -> Callable:
        """Function ``f(qd, tau, torque)`` that writes the friction torques of states in rows (count, nv)."""
        rows = np.zeros((0, self._nv))
        return bound(_friction_of_rows, self.model.friction, then=(rows, rows, rows), nogil=True)

    def evaluate_generic(self, key: Key, *vectors) -> np.ndarray:
        """Return the results (..., shape) of an algorithm by generic kernels, which compile nothing per frame."""
        if key not in self._generic:
            self._generic[key] = self._prepare(key, specialised=False)
        prepared = self._generic[key]
        rows, shape = self._rows(dict(zip(prepared.algorithm.inputs, vectors, strict=True)))
        results = np.empty((len(rows[0]), *prepared.shape))
        prepared.quantity.compute(rows, self.load, results)
        return results.reshape(*shape, *prepared.shape)

    def rows(self, key: Key, evaluations: float, many: bool) -> StatesCode:
        """Return the code of an algorithm for states in rows, for calls by one thread.

        Specialised code is used as for single calls: adaptive code where it was compiled before or where the number of
        ``evaluations`` pays for compiling it. ``many`` says whether code for blocks of states is of use.
        """
        algorithm, name, kernel = self._algorithm(key)
        code, pays = self._own_code(algorithm), not self._adaptive or evaluations >= BREAK_EVEN
        if code is not None and (code.is_kept(name, blocks=False) or (pays and code.is_short(name, blocks=False))):
            blocks = code.is_kept(name, blocks=True) or (pays and code.is_short(name, blocks=True))
            return code.rows(name, many and blocks)
        return self.generic.rows(kernel, algorithm, Workspace.of(self.arrays))

    def compile(self, key: Key) -> None:
        """Compile specialised code of an algorithm for one state and for batches, if that is worth it."""
        algorithm, name, _ = self._algorithm(key)
        code = self._own_code(algorithm)
        if code is not None:
            best_level(code, name)

    def code(self, name: str, form: str, link: str | None, reference_frame: str):
        """Return specialised code of an algorithm in the form 'inline' or 'address'; ArgumentError if there is none.

        With a ``link``, the algorithm is one of that frame, expressed in ``reference_frame``.
        """
        offered = [*(ALGORITHMS if link is None else OF_A_FRAME)]
        if name not in offered:
            of_link = ' of a link' if link is not None else ''
            raise ArgumentError(f'program: expected one{of_link} of {", ".join(offered)}, got {name!r:.80}')
        if self.specialised is None:
            raise ArgumentError(f'{name}: {self.model.name} is evaluated by generic kernels; see with_binding')
        algorithm, own, _ = self._algorithm(name if link is None else (name, link, reference_frame))
        code = self._own_code(algorithm) or self.specialised
        try:
            return code.inline(own) if form == 'inline' else code.address(own)
        except ZeroDivisionError:
            error = self._without_inertia(name, neutral(self.arrays)[None])
            raise error or ArgumentError(f'{name}: a constant of the code is not finite') from None

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

    def _own_code(self, algorithm: Algorithm) -> Specialised | None:
        """Return specialised code of an algorithm: with the true inertial parameters, or with regrouped ones."""
        if not algorithm.bodies or self.specialised is None:
            return self.specialised
        self._of_bodies = self._of_bodies or code_of(self.model.arrays, self.specialised.threads)
        return self._of_bodies

    def _prepare(self, key: Key, specialised: bool) -> 'Prepared':
        """Choose the code of an algorithm, generic kernels unless it may be ``specialised``."""
        algorithm, name, kernel = self._algorithm(key)
        quantity: Quantity | Interpreted = Interpreted(algorithm, self.generic)
        if is_possible():
            code = self._own_code(algorithm) if specialised else None
            quantity = Quantity(kernel, name, algorithm, self.generic, code, self._adaptive)
        return Prepared(kernel, algorithm, algorithm.shape_of(self.arrays), quantity)

    def _algorithm(self, key: Key) -> tuple[Algorithm, str, str]:
        """Return an algorithm, its name in specialised code, and its name among generic kernels.

        An algorithm by a method, of a frame or with wrenches is added to specialised code.
        """
        if isinstance(key, str) and key not in BY_METHOD:
            check_loops(self.model, key, ALGORITHMS[key])
            return ALGORITHMS[key], key, key
        if isinstance(key, str):
            name, algorithm, kernel = key, BY_METHOD[key], key
        else:
            name, algorithm, kernel = self._of_reference_frame(*key)
        check_loops(self.model, kernel, algorithm)
        code = self._own_code(algorithm)
        if code is not None:
            code.add(name, algorithm)
        return algorithm, name, generic_name(kernel)

    def _of_reference_frame(self, kernel: str, *more) -> tuple[str, Algorithm, str]:
        """Return name, algorithm and kernel of an algorithm of links, if any are given, and of a reference frame."""
        *link, reference_frame = more
        several = bool(link) and isinstance(link[0], tuple)
        frames = [self.model.frame(it) for it in (link[0] if several else link)]
        validation.choice('reference_frame', reference_frame, validation.REFERENCE_FRAMES)
        view = validation.REFERENCE_FRAMES.index(reference_frame)
        if several:
            name, algorithm = algorithm_of_frames(kernel, frames, view)
            kernel += '_of_frames'
        elif frames:
            name, algorithm = algorithm_of_frame(kernel, frames[0], view)
        else:
            name, algorithm = algorithm_with_wrenches(kernel, view)
        return name, algorithm, kernel

    def _evaluate(self, key: Key, load: np.ndarray, out, *vectors) -> np.ndarray:
        """Validate and convert the vectors, evaluate all states, and return the results."""
        try:
            prepared = self._prepared[key]
        except (KeyError, TypeError):  # a new algorithm, or a link that is no name
            # of several threads that prepare it, all use the first one's
            prepared = self._prepared.setdefault(key, self._prepare(key, specialised=True))
        kernel, algorithm, item, quantity = prepared
        many = quantity.of_many(load, out, vectors)
        if many is not None:
            self.calls[key] = quantity.call
            return many
        named = dict(zip(algorithm.inputs, vectors, strict=True))
        rows, shape = self._rows(named)
        given, result = validation.result(out, (*shape, *item), rows)
        finite = quantity.compute(rows, load, result.reshape(len(rows[0]), *item))
        self.calls[key] = quantity.call
        if not finite:
            self._explain_not_finite(kernel, rows, named)
        return filled(given, result)

    def _rows(self, vectors: dict) -> tuple[list[np.ndarray], tuple[int, ...]]:
        """Return vectors as rows (count, n), and the batch's shape; ArgumentError for a quaternion not of length 1."""
        rows, shape = validation.states({name: self._lengths.get(name, self._nv) for name in vectors}, **vectors)
        if self._quaternions:
            for name, row in zip(vectors, rows, strict=True):
                if name in POSITIONS:
                    validation.check_quaternions(name, row.reshape(*shape, row.shape[-1]), self._quaternions)
        return rows, shape

    def _explain_not_finite(self, name: str, rows, vectors: dict) -> None:
        """Raise why there is no result: an argument, a joint without inertia, or overflow."""
        self._check_numbers(vectors)
        if name in ABOUT_CENTER_OF_MASS and not self.model.arrays.I[1:, 0].any():
            return  # NaN: a robot without mass has no centre of mass
        if name.startswith(BY_INVERSE_INERTIA):
            error = self._without_inertia(name, rows[0])
            if error is not None:
                raise error
        raise ArgumentError(f'{name}: the result is not finite; some of {", ".join(vectors)} are too large')

    def _without_inertia(self, name: str, q: np.ndarray) -> ModelError | None:
        """Return the error for a joint without inertia at one of q (count, nq), or None."""
        velocity = self.generic.velocity_without_inertia(q)
        if velocity is None:
            return None
        what, which = name.replace('_', ' '), self.model.joint_of_velocity(velocity)
        return ModelError(f'{what}: joint {which!r} has no inertia to accelerate')


def check_loops(model: Model, name: str, algorithm: Algorithm) -> None:
    """Raise ModelError for a robot with closed loops, where the algorithm would give the result of its tree."""
    if algorithm.ignores_loops(model.arrays):
        check_tree(model, name)


class Prepared(NamedTuple):
    """An algorithm, its name among generic kernels, the shape of its result for one state, and what computes it."""

    kernel: str
    algorithm: Algorithm
    shape: tuple[int, ...]
    quantity: Quantity | Interpreted


def _friction_of_rows(friction, qd, tau, torque) -> None:
    """Write torque (count, nv), ``friction_torque`` of each state."""
    for b in range(torque.shape[0]):
        friction_torque(friction, qd[b], tau[b], torque[b])


def filled(given: np.ndarray, written: np.ndarray) -> np.ndarray:
    """Copy a kernel's result to the caller's array, unless it is the same, and return that array."""
    if written is not given:
        given[...] = written
    return given


def written(out, result: np.ndarray) -> np.ndarray:
    """Return a result, copied to the caller's array ``out`` if it is not None."""
    return result if out is None else filled(validation.result(out, result.shape)[0], result)
