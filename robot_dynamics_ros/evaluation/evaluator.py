"""Evaluation of algorithms: argument validation, choice of the binding, workspaces and batches."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.compiler.algorithms import (
    ALGORITHMS,
    BASE_MOTION,
    OF_A_FRAME,
    POSITIONS,
    WRENCHES,
    Algorithm,
    algorithm_of_frame,
    algorithm_with_wrenches,
    length_of,
)
from robot_dynamics_ros.compiler.compiled_robot import Specialised
from robot_dynamics_ros.compiler.generic_robot import Generic, refuse
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.model.model import Model
from robot_dynamics_ros.model.regrouping import regrouped

ABOUT_CENTER_OF_MASS = (
    'center_of_mass',
    'center_of_mass_jacobian',
    'centroidal_momentum',
    'centroidal_momentum_matrix',
)
Key = str | tuple[str, str, str] | tuple[str, str]
"""Name of an algorithm; of a frame: name, link and reference frame; with wrenches: name and reference frame."""


class Evaluator:
    """Evaluates the algorithms of one robot for one state or a batch of states.

    ``specialised`` code is used if it was compiled for this model; only the last link's inertia may differ. Otherwise
    generic kernels are used. ``load`` and ``weightless`` are the run-time inputs of both, with and without gravity.
    """

    def __init__(self, model: Model, gravity: np.ndarray, specialised: Specialised | None):
        """Select the binding; ``gravity`` (3, m/s^2) is in the base frame."""
        self.model = model
        self.arrays = regrouped(model.arrays)
        self.generic = Generic(self.arrays, model.arrays)
        self.specialised = specialised if specialised is not None and specialised.fits(self.arrays) else None
        last_link, no_wrench = model.arrays.I[-1], np.zeros(6)
        self.load = np.concatenate([gravity, last_link, no_wrench])
        self.weightless = np.concatenate([np.zeros(3), last_link, no_wrench])
        self._quaternions = [int(place) for place in model.arrays.quaternion if place >= 0]
        self._lengths = {name: length_of(name, self.arrays) for name in (*POSITIONS, *BASE_MOTION, WRENCHES)}
        self._nv = self.arrays.nv
        self._entries: dict[Key, Entry] = {}

    def evaluate(self, key: Key, load: np.ndarray, out, *vectors) -> np.ndarray:
        """Return the results (..., shape) of an algorithm for vectors (..., n) and ``load`` (19,).

        Raises ArgumentError, ModelError for a joint without inertia, and UnknownNameError for a link.
        """
        # fast path: compiled code checks types, shapes and finiteness
        plan = None
        try:
            single, shape, plan = self._entries[key]
            result = np.empty(shape) if out is None else out
            if single(*vectors, load, result):
                return result
        except (KeyError, TypeError):
            pass  # not prepared yet, or arguments that have to be converted or rejected
        if plan is None:
            self._entries[key] = self._entry(key)
            return self.evaluate(key, load, out, *vectors)
        return self._evaluate(plan, load, out, vectors)

    def evaluate_generic(self, key: Key, *vectors) -> np.ndarray:
        """Return the results (..., shape) of an algorithm by generic kernels, which compile nothing per frame."""
        plan = self._plan(key)
        rows, shape = self._rows(dict(zip(plan.algorithm.inputs, vectors, strict=True)))
        results = np.empty((len(rows[0]), *plan.shape))
        self.generic.evaluate(plan.algorithm, rows, self.load[:3], results)
        return results.reshape(*shape, *plan.shape)

    def code(self, name: str, form: str, link: str | None, reference_frame: str):
        """Return specialised code of an algorithm in the form 'inline' or 'address'; ArgumentError if there is none.

        With a ``link``, the algorithm is one of that frame, expressed in ``reference_frame``.
        """
        offered = [it for it in ALGORITHMS if not ALGORITHMS[it].bodies] if link is None else [*OF_A_FRAME]
        if name not in offered:
            of_link = ' of a link' if link is not None else ''
            raise ArgumentError(f'program: expected one{of_link} of {", ".join(offered)}, got {name!r:.80}')
        if self.specialised is None:
            raise ArgumentError(f'{name}: {self.model.name} is evaluated by generic kernels; see with_binding')
        own, _ = self._algorithm(name if link is None else (name, link, reference_frame))
        return getattr(getattr(self.specialised, form), own)

    def states(self, **vectors) -> tuple[list[np.ndarray], tuple[int, ...]]:
        """Return vectors as rows (count, n), all finite, and the batch's shape."""
        rows, shape = self._rows(vectors)
        for name, vector in vectors.items():
            validation.check_finite(name, np.asarray(vector, float))
        return rows, shape

    def _entry(self, key: Key) -> 'Entry':
        """Prepare an algorithm for single states."""
        plan = self._plan(key)
        compiled = None if self._quaternions else self.specialised
        return refuse if compiled is None else getattr(compiled.single, plan.name), plan.shape, plan

    def _plan(self, key: Key) -> 'Plan':
        """Prepare an algorithm for batches."""
        name, algorithm = self._algorithm(key)
        return Plan(name, algorithm, algorithm.shape_of(self.arrays))

    def _algorithm(self, key: Key) -> tuple[str, Algorithm]:
        """Return an algorithm and its name in specialised code; one of a frame is added to that code."""
        if isinstance(key, str):
            return key, ALGORITHMS[key]
        program, *link, reference_frame = key
        frames = [self.model.frame(it) for it in link]
        validation.choice('reference_frame', reference_frame, validation.REFERENCE_FRAMES)
        view = validation.REFERENCE_FRAMES.index(reference_frame)
        if frames:
            name, algorithm = algorithm_of_frame(program, frames[0], view)
        else:
            name, algorithm = algorithm_with_wrenches(program, view)
        if self.specialised:
            self.specialised.add(name, algorithm)
        return name, algorithm

    def _evaluate(self, plan: 'Plan', load: np.ndarray, out, vectors: tuple) -> np.ndarray:
        """Validate and convert the vectors, evaluate all states, and return the results."""
        name, algorithm, item = plan
        named = dict(zip(algorithm.inputs, vectors, strict=True))
        rows, shape = self._rows(named)
        given, result = validation.result(out, (*shape, *item))
        results = result.reshape(len(rows[0]), *item)
        if self.specialised is not None and self.specialised.pays(name):
            finite = getattr(self.specialised.batch, name)(*rows, load, results)
        else:
            finite = self.generic.evaluate(algorithm, rows, load[:3], results)
        if not finite:
            self._explain_not_finite(name, rows, named)
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
        """Raise the reason for a result that is not finite: an argument, a joint without inertia, or overflow."""
        for argument, vector in vectors.items():
            validation.check_finite(argument, np.asarray(vector, float))
        if name in ABOUT_CENTER_OF_MASS and not self.model.arrays.I[1:, 0].any():
            return  # NaN: a robot without mass has no centre of mass
        if name.startswith('forward_dynamics') or name == 'mass_matrix_inverse':
            velocity = self.generic.velocity_without_inertia(rows[0])
            if velocity is not None:
                what, which = name.replace('_', ' '), self.model.joint_of_velocity(velocity)
                raise ModelError(f'{what}: joint {which!r} has no inertia to accelerate')
        raise ArgumentError(f'{name}: the result is not finite; some of {", ".join(vectors)} are too large')


class Plan(NamedTuple):
    """An algorithm, its name in specialised code, and the shape of its result for one state."""

    name: str
    algorithm: Algorithm
    shape: tuple[int, ...]


Entry = tuple[Callable, tuple[int, ...], Plan]
"""Compiled code for one state (``refuse`` if there is none), the shape of its result, and the plan for batches."""


def filled(given: np.ndarray, written: np.ndarray) -> np.ndarray:
    """Copy a kernel's result to the caller's array, unless it is the same, and return that array."""
    if written is not given:
        given[...] = written
    return given


def written(out, result: np.ndarray) -> np.ndarray:
    """Return a result, copied to the caller's array ``out`` if it is not None."""
    return result if out is None else filled(validation.result(out, result.shape)[0], result)
