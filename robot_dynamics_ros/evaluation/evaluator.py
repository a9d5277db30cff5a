"""Evaluation backends, workspaces and argument handling: from the arguments of a method to its result."""

from collections.abc import Mapping

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.compiler.compiled_robot import Specialised
from robot_dynamics_ros.compiler.generic_robot import Generic, NoSingle
from robot_dynamics_ros.compiler.programs import OF_A_FRAME, PROGRAMS, program_of_frame
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.kernels import batch
from robot_dynamics_ros.model.model import Model
from robot_dynamics_ros.model.regrouping import regrouped
from robot_dynamics_ros.payload import Payload, loaded

POSITIONS = ('q', 'start', 'end')  # arguments that are positions
BASE_MOTION = ('base_velocity', 'base_acceleration')  # arguments that are 6-vectors of the base
GRAVITY = (0.0, 0.0, -9.81)  # m/s^2, where z is up


class Answering:
    """Evaluation backends, workspaces and argument handling of a robot."""

    def __init__(
        self,
        model: Model,
        gravity=GRAVITY,
        specialised: Specialised | None = None,
        threads: int | None = None,
        payloads: Mapping[str, Payload] | tuple[()] = (),
    ):
        """Make the robot of ``model`` with ``gravity`` (3, m/s^2) in the base frame and ``payloads`` on its frames.

        ``specialised`` is code for this robot; the last link's inertia is a run-time argument of it. Without it,
        or with a payload on another link, the generic kernels compute.
        ``threads`` is what that code was asked to keep to; a copy and a pickle pass it on (None: all, there too).
        """
        self._bare = model
        self._payloads = dict(payloads)
        self._model = model = loaded(model, self._payloads)
        self._gravity = validation.finite('gravity', gravity, (3,)).copy()
        self._arrays = regrouped(model.arrays)
        self._generic = Generic(self._arrays)
        self._code = specialised
        if specialised is not None and not specialised.fits(self._arrays):
            specialised = None
        self._specialised = specialised
        self._threads = threads
        self._single = specialised.single if specialised else NoSingle()
        self._rest = np.zeros(self.nv)
        self._lengths = dict.fromkeys(POSITIONS, self.nq) | dict.fromkeys(BASE_MOTION, 6)
        self._quaternions = [int(place) for place in model.arrays.quaternion if place >= 0]
        self._programs = dict(PROGRAMS)
        self._shapes = {name: program.shape(model.arrays) for name, program in PROGRAMS.items()}
        self._of_frames: dict[tuple, tuple] = {}
        last_link, no_wrench = model.arrays.I[-1], np.zeros(6)
        self._load = np.concatenate([self._gravity, last_link, no_wrench])
        self._weightless = np.concatenate([np.zeros(3), last_link, no_wrench])

    def _program(self, name: str, form: str, link: str | None, frame: str):
        """Return specialised code of a program, of a link's frame where one is named, in one of its forms."""
        offered = PROGRAMS if link is None else OF_A_FRAME
        if name not in offered:
            of_link = ' of a link' if link is not None else ''
            raise ArgumentError(f'program: expected one{of_link} of {", ".join(offered)}, got {name!r:.80}')
        if self._specialised is None:
            raise ArgumentError(f'{name}: {self._model.name} is answered by generic kernels; see with_binding')
        own = name if link is None else self._program_of_frame(name, link, frame)
        return getattr(getattr(self._specialised, form), own)

    def _answer(self, single, name: str, load, out, *vectors) -> np.ndarray:
        """Return a program's result at joint vectors (..., n) under ``load``; ``single`` is its code for one state."""
        # compiled code looks at types, shapes and numbers itself: what fits it is answered with nothing in between
        if not self._quaternions:
            try:
                result = np.empty(self._shapes[name]) if out is None else out
                if single(*vectors, load, result):
                    return result
            except TypeError:
                pass  # anything else goes the way that converts it, or says what is wrong with it
        named = dict(zip(self._programs[name].inputs, vectors, strict=True))
        rows, shape = self._rows(**named)
        given, result = validation.result(out, (*shape, *self._shapes[name]))
        binding = self._specialised.batch if self._specialised and self._specialised.pays(name) else self._generic
        if not getattr(binding, name)(*rows, load, result.reshape(len(rows[0]), *self._shapes[name])):
            self._explain_not_finite(name, rows, **named)
        return filled(given, result)

    def _answer_of_frame(self, name: str, link: str, frame: str, out, *vectors) -> np.ndarray:
        """Return the result of a program that is told a link's frame, seen from ``frame`` where that matters."""
        try:
            single, own = self._of_frames[name, link, frame]
        except (KeyError, TypeError):  # what is no name may not even be hashable
            own = self._program_of_frame(name, link, frame)
            single = getattr(self._single, own)
            self._of_frames[name, link, frame] = single, own
        return self._answer(single, own, self._load, out, *vectors)

    def _program_of_frame(self, name: str, link: str, frame: str) -> str:
        """Take the program ``name`` of one link's frame, seen from ``frame``, and return the name that it has here.

        Raises UnknownNameError for an unknown link and ArgumentError for another ``frame``.
        """
        point = self._model.frame(link)
        validation.choice('frame', frame, validation.FRAMES)
        view = () if name == 'link_pose' else (validation.FRAMES.index(frame),)
        own, program = program_of_frame(name, point, *view)
        self._programs[own], self._shapes[own] = program, program.shape(self._model.arrays)
        self._generic.add(own, name, *point, *view)
        if self._specialised:
            self._specialised.add(own, program)
        return own

    def _answer_with(
        self, name: str, out, wrenches, frame: str = 'local', base_motion: tuple = (None, None), **vectors
    ) -> np.ndarray:
        """Return the result of a program at joint vectors (..., n) with wrenches on the links or a base that moves.

        ``wrenches`` are seen from ``frame``; ``base_motion`` is velocity and acceleration (..., 6). None is none.
        """
        validation.choice('frame', frame, validation.FRAMES)
        moves = any(motion is not None for motion in base_motion)
        if moves:
            zeros = np.zeros(6)
            still = (zeros if motion is None else motion for motion in base_motion)
            vectors |= dict(zip(BASE_MOTION, still, strict=True))
        rows, shape = self._rows(**vectors)
        joints, base = (rows[: -len(BASE_MOTION)], rows[-len(BASE_MOTION) :]) if moves else (rows, None)
        f_ext = None
        if wrenches is not None:
            poses = None if frame == 'local' else self._poses(rows[0], shape)
            f_ext = validation.wrenches(self._model, wrenches, shape, frame, poses)
        given, result = validation.result(out, (*shape, *self._shapes[name]))
        answered = result.reshape(len(rows[0]), *self._shapes[name])
        acting = (f_ext, base) if moves else (f_ext,)
        if not getattr(self._generic, name)(*joints, self._load, answered, *acting):
            self._explain_not_finite(name, rows, **vectors)
        return filled(given, result)

    def _poses(self, q: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """Return the poses (*shape, n + 1, 4, 4; m) of the moving links at q (count, nq), a batch of this shape."""
        T = np.empty((len(q), len(self._model.link_names), 4, 4))
        batch.link_poses_batch(self._model.arrays, self._generic.workspace, q, T)
        return T.reshape(*shape, *T.shape[1:])

    def _looped(self, loop, item: tuple[int, ...], out, *more, **vectors) -> np.ndarray:
        """Return what a loop of ``batch`` makes of joint vectors (..., n) and ``more``: (..., *item)."""
        rows, shape = self._states(**vectors)
        given, result = validation.result(out, (*shape, *item))
        results = result.reshape(len(rows[0]), *(item or (1,)))
        loop(self._model.arrays, self._generic.workspace, *rows, *more, results)
        return filled(given, result)

    def _rows(self, **vectors) -> tuple[list[np.ndarray], tuple[int, ...]]:
        """Return joint vectors as rows (count, nq or nv), and the batch's shape; q's quaternions are of length 1."""
        rows, shape = validation.states({name: self._lengths.get(name, self.nv) for name in vectors}, **vectors)
        if self._quaternions:
            for name, row in zip(vectors, rows, strict=True):
                if name in POSITIONS:
                    validation.check_quaternions(name, row.reshape(*shape, row.shape[-1]), self._quaternions)
        return rows, shape

    def _states(self, **vectors) -> tuple[list[np.ndarray], tuple[int, ...]]:
        """Return joint vectors as rows (count, nq or nv), all finite, and the batch's shape."""
        rows, shape = self._rows(**vectors)
        for name, vector in vectors.items():
            validation.check_finite(name, np.asarray(vector, float))
        return rows, shape

    def _explain_not_finite(self, name: str, rows, **vectors) -> None:
        """Raise what kept a program from a finite result: an argument, a joint without inertia, or the numbers."""
        for argument, vector in vectors.items():
            validation.check_finite(argument, np.asarray(vector, float))
        if name.startswith('forward_dynamics') or name == 'mass_matrix_inverse':
            place = self._generic.velocity_without_inertia(rows[0])
            if place is not None:
                what, which = name.replace('_', ' '), self._model.joint_of_velocity(place)
                raise ModelError(f'{what}: joint {which!r} has no inertia to accelerate')
        large = ', '.join(vectors)
        raise ArgumentError(f'{name}: the result is not finite; some of {large} or the wrenches are too large')

    @property
    def nq(self) -> int:
        """Number of position coordinates."""
        return self._model.arrays.nq

    @property
    def nv(self) -> int:
        """Number of velocities; torques, accelerations and the like are as many."""
        return self._model.arrays.nv


def filled(given: np.ndarray, written: np.ndarray) -> np.ndarray:
    """Return the caller's array, holding what a kernel wrote."""
    if written is not given:
        given[...] = written
    return given


def written(out, result: np.ndarray) -> np.ndarray:
    """Return a finished result, in the caller's array where there is one."""
    return result if out is None else filled(validation.result(out, result.shape)[0], result)
