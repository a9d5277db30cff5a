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
    Algorithm,
    algorithm_of_frame,
    length_of,
)
from robot_dynamics_ros.compiler.compiled_robot import Specialised
from robot_dynamics_ros.compiler.generic_robot import Generic, refuse
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.model.model import Model
from robot_dynamics_ros.model.regrouping import regrouped

ABOUT_CENTER_OF_MASS = ('center_of_mass', 'centroidal_momentum_matrix')
Key = str | tuple[str, str, str]
"""An algorithm by its name; one of a frame by its name, the link and the reference frame."""


class Evaluator:
    """Evaluates the algorithms of one robot for one state or a batch of states.

    ``specialised`` is used where it is code for this model: only the last link's inertia may differ. Otherwise the
    generic kernels compute. ``load`` and ``weightless`` are run-time inputs of both, with gravity and without.
    """

    def __init__(self, model: Model, gravity: np.ndarray, specialised: Specialised | None):
        """Choose the binding; ``gravity`` (3, m/s^2) is in the base frame."""
        self.model = model
        self.arrays = regrouped(model.arrays)
        self.generic = Generic(self.arrays, model.arrays)
        self.specialised = specialised if specialised is not None and specialised.fits(self.arrays) else None
        last_link, no_wrench = model.arrays.I[-1], np.zeros(6)
        self.load = np.concatenate([gravity, last_link, no_wrench])
        self.weightless = np.concatenate([np.zeros(3), last_link, no_wrench])
        self._quaternions = [int(place) for place in model.arrays.quaternion if place >= 0]
        self._lengths = {name: length_of(name, self.arrays) for name in (*POSITIONS, *BASE_MOTION)}
        self._nv = self.arrays.nv
        self._entries: dict[Key, Entry] = {}

    def evaluate(self, key: Key, load: np.ndarray, out, *vectors) -> np.ndarray:
        """Return the results (..., shape) of an algorithm for vectors (..., n) and ``load`` (19,).

        Raises ArgumentError, ModelError for a joint without inertia, and UnknownNameError for a link.
        """
        # compiled code checks types, shapes and numbers itself
        plan = None
        try:
            single, shape, plan = self._entries[key]
            result = np.empty(shape) if out is None else out
            if single(*vectors, load, result):
                return result
        except (KeyError, TypeError):
            pass  # what follows converts the arguments, or says what is wrong with them
        if plan is None:
            self._entries[key] = self._entry(key)
            return self.evaluate(key, load, out, *vectors)
        return self._evaluate(plan, load, out, vectors)

    def evaluate_with_wrenches(self, name: str, out, wrenches, reference_frame: str, *vectors) -> np.ndarray:
        """Return the results (..., shape) of an algorithm with external wrenches on the links (None: without)."""
        validation.choice('reference_frame', reference_frame, validation.REFERENCE_FRAMES)
        return self._evaluate(self._plan(name), self.load, out, vectors, wrenches, reference_frame)

    def code(self, name: str, form: str, link: str | None, reference_frame: str):
        """Return specialised code of an algorithm in the form 'inline' or 'address'; ArgumentError where there is none.

        With a ``link`` it is of that frame, expressed in ``reference_frame``.
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
        """Return how an algorithm is evaluated for one state."""
        plan = self._plan(key)
        compiled = None if self._quaternions else self.specialised
        return refuse if compiled is None else getattr(compiled.single, plan.name), plan.shape, plan

    def _plan(self, key: Key) -> 'Plan':
        """Return how an algorithm is evaluated over a batch."""
        name, algorithm = self._algorithm(key)
        return Plan(name, algorithm, algorithm.shape_of(self.arrays))

    def _algorithm(self, key: Key) -> tuple[str, Algorithm]:
        """Return an algorithm and its name among the specialised ones."""
        if isinstance(key, str):
            return key, ALGORITHMS[key]
        program, link, reference_frame = key
        frame = self.model.frame(link)
        validation.choice('reference_frame', reference_frame, validation.REFERENCE_FRAMES)
        view = validation.REFERENCE_FRAMES.index(reference_frame)
        name, algorithm = algorithm_of_frame(program, frame, view)
        if self.specialised:
            self.specialised.add(name, algorithm)
        return name, algorithm

    def _evaluate(
        self, plan: 'Plan', load: np.ndarray, out, vectors: tuple, wrenches=None, reference_frame: str = 'local'
    ) -> np.ndarray:
        """Return the results for vectors of any accepted form."""
        name, algorithm, item = plan
        named = dict(zip(algorithm.inputs, vectors, strict=True))
        rows, shape = self._rows(named)
        given, result = validation.result(out, (*shape, *item))
        results = result.reshape(len(rows[0]), *item)
        if wrenches is None and self.specialised is not None and self.specialised.pays(name):
            finite = getattr(self.specialised.batch, name)(*rows, load, results)
        else:
            f_ext = None if wrenches is None else self._f_ext(wrenches, reference_frame, rows[0], shape)
            finite = self.generic.evaluate(algorithm, rows, load[:3], results, f_ext)
        if not finite:
            self._explain_not_finite(name, rows, named)
        return filled(given, result)

    def _f_ext(self, wrenches, reference_frame: str, q: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """Return wrenches in the frames of the links, (1 or count, n + 1, 6), at q (count, nq)."""
        poses = None
        if reference_frame != 'local':
            poses = self.evaluate('link_poses', self.load, None, q.reshape(*shape, q.shape[-1]))
        return validation.wrenches(self.model, wrenches, shape, reference_frame, poses)

    def _rows(self, vectors: dict) -> tuple[list[np.ndarray], tuple[int, ...]]:
        """Return vectors as rows (count, n), and the batch's shape; q's quaternions are of length 1."""
        rows, shape = validation.states({name: self._lengths.get(name, self._nv) for name in vectors}, **vectors)
        if self._quaternions:
            for name, row in zip(vectors, rows, strict=True):
                if name in POSITIONS:
                    validation.check_quaternions(name, row.reshape(*shape, row.shape[-1]), self._quaternions)
        return rows, shape

    def _explain_not_finite(self, name: str, rows, vectors: dict) -> None:
        """Raise what kept an algorithm from a finite result: an argument, a joint without inertia, or overflow."""
        for argument, vector in vectors.items():
            validation.check_finite(argument, np.asarray(vector, float))
        if name in ABOUT_CENTER_OF_MASS and not self.model.arrays.I[1:, 0].any():
            return  # NaN, for there is none
        if name.startswith('forward_dynamics') or name == 'mass_matrix_inverse':
            place = self.generic.velocity_without_inertia(rows[0])
            if place is not None:
                what, which = name.replace('_', ' '), self.model.joint_of_velocity(place)
                raise ModelError(f'{what}: joint {which!r} has no inertia to accelerate')
        large = ', '.join(vectors)
        raise ArgumentError(f'{name}: the result is not finite; some of {large} or the wrenches are too large')


class Plan(NamedTuple):
    """An algorithm for one robot."""

    name: str
    """Among the specialised algorithms."""
    algorithm: Algorithm
    shape: tuple[int, ...]
    """Of the result of one state."""


Entry = tuple[Callable, tuple[int, ...], Plan]
"""Compiled code for one state (``refuse``: none), the shape of its result, and what batches need."""


def filled(given: np.ndarray, written: np.ndarray) -> np.ndarray:
    """Return the caller's array, holding what a kernel wrote."""
    if written is not given:
        given[...] = written
    return given


def written(out, result: np.ndarray) -> np.ndarray:
    """Return a finished result, in the caller's array where there is one."""
    return result if out is None else filled(validation.result(out, result.shape)[0], result)
