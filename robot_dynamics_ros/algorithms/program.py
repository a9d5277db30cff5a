"""Program of a quantity, such as the mass matrix: the kernel calls that compute it for one robot, in order."""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.algorithms.choice import Choice
from robot_dynamics_ros.algorithms.table import (
    ALGORITHMS,
    BY_METHOD,
    OF_A_FRAME,
    OF_FRAMES,
    OPERATIONAL_SPACE,
    Algorithm,
)
from robot_dynamics_ros.jit.decorators import Kernel
from robot_dynamics_ros.kernels.frame_wrench import changes_of_wrench, external_wrench
from robot_dynamics_ros.kernels.wrenches import changes_of_wrenches, wrenches_on_links
from robot_dynamics_ros.model.arrays import ModelArrays, Workspace
from robot_dynamics_ros.model.model import Frame, Friction

RUNTIME_INPUTS = 19
"""Length of ``runtime_inputs``: gravity (3, m/s^2, base frame), the ten inertial parameters of the last link
with its payload (10), and a wrench on that link in its own frame (6; N m, N)."""
WRENCH, WRENCHES, WRENCHES_AT_POINTS = 'wrench', 'wrenches', 'wrenches_at_points'
"""Inputs of external wrenches: one on a frame (6,), or on all links (6 (n + 1),) or (9 (n + 1),), see
``kernels.wrenches``."""
POSITIONS = ('q', 'start', 'end')
"""Inputs that are positions, (nq,)."""
PARAMETERS = {'base_velocity': 'v_0', 'base_acceleration': 'a_0', WRENCH: 'F', WRENCHES_AT_POINTS: 'wrenches'}
"""Parameters of kernels by the names of inputs, where they differ."""
WRENCH_KERNELS = (wrenches_on_links, changes_of_wrenches), (external_wrench, changes_of_wrench)
"""Kernels of external wrenches on all links, and of one: the wrenches, and how torques of these change with q."""
LOCAL = 2
"""Index of the reference frame in which constant wrenches do not change with q."""


class JointTorques(NamedTuple):
    """Arguments of the kernels of ``joint_torques``."""

    friction: np.ndarray  # (8, nv): the rows are the fields of ``model.Friction``
    W: np.ndarray  # (nv, nv) of coupled motors, else (0, 0)
    residual: np.ndarray  # (nv, 16), or (0, 16) where nothing was learnt

    @classmethod
    def none(cls, nv: int) -> 'JointTorques':
        """Return those of joints without friction."""
        friction = np.zeros((len(Friction._fields), nv))
        friction[[Friction._fields.index(it) for it in ('transition', 'stribeck_velocity')]] = 1.0
        return cls(friction, np.zeros((0, 0)), np.zeros((0, 16)))


class Scratch(NamedTuple):
    """A kernel argument that is the workspace array ``name``, written by an earlier step."""

    name: str


Argument = str | int | np.ndarray | Scratch
"""Of a kernel: the name of an input, 'gravity', 'f_ext' (no external wrenches) or 'result', or the number or array."""


class Step(NamedTuple):
    """One kernel: ``kernel(model, work, *arguments)``."""

    kernel: Kernel
    arguments: tuple[Argument, ...]

    def given(self, names: Mapping, work: Workspace, array: Callable = np.asarray) -> list:
        """Return the arguments: by their ``names``, and arrays as ``array`` returns them."""

        def one(argument: Argument):
            if isinstance(argument, Scratch):
                return getattr(work, argument.name)
            if isinstance(argument, np.ndarray):
                return array(argument)
            return names[argument] if isinstance(argument, str) else argument

        return [one(argument) for argument in self.arguments]


class Program(NamedTuple):
    """The steps of a quantity, in order, the first state's inputs to its result."""

    name: str
    """Unique for a robot: it contains a digest of frames."""
    inputs: dict[str, int]
    """Lengths of the vectors of a state, by their names."""
    shape: tuple[int, ...]
    """Shape of the result of a state."""
    steps: tuple[Step, ...]
    bodies: bool
    """See ``Algorithm.bodies``."""

    @property
    def size(self) -> int:
        """Number of entries of the result of a state."""
        return math.prod(self.shape)


def algorithm_of(name: str, frames: int = 0, wrenches: str | None = None) -> Algorithm:
    """Return the row of a quantity; KeyError if there is none of so many frames."""
    if frames == 0 or wrenches:
        return BY_METHOD[name] if name in BY_METHOD else ALGORITHMS[name]
    return OF_FRAMES[name] if frames > 1 else {**OF_A_FRAME, **OPERATIONAL_SPACE}[name]


def program_of(
    arrays: ModelArrays,
    name: str,
    frames: Sequence[Frame] = (),
    reference_frame: int = 0,
    wrenches: str | None = None,
    joints: JointTorques | None = None,
) -> Program:
    """Return the steps of a quantity for a robot.

    ``frames`` are those of a quantity of frames, or the one that an external wrench acts on;
    ``reference_frame`` is the index of theirs. ``wrenches`` is the input of external wrenches, if there is one.
    ``joints`` are the torques of joints, none by default, in quantities that have them.
    """
    algorithm = algorithm_of(name, len(frames), wrenches)
    kernel = algorithm.kernel(arrays) if isinstance(algorithm.kernel, Choice) else algorithm.kernel
    inputs, lengths = [*algorithm.inputs, *filter(None, [wrenches])], lengths_of(arrays)
    arguments: dict[str, Argument] = {
        # parameters that the caller does not give are zero
        **{name: np.zeros(arrays.nv) for name in ('qd', 'qdd', 'tau')},
        **{'v_0': np.zeros(6), 'a_0': np.zeros(6), 'D_f': np.zeros((0, 0)), 'f_ext': 'f_ext', 'gravity': 'gravity'},
        **_numbers_of(frames, reference_frame),
        **{PARAMETERS.get(name, name): name for name in inputs},
    }
    before = []
    if wrenches:
        of_wrenches, of_changes = WRENCH_KERNELS[wrenches == WRENCH]
        before.append(of_wrenches)
        arguments['f_ext'] = Scratch('f_ext')
        if 'D_f' in kernel.parameters and reference_frame != LOCAL:
            before.append(of_changes)
            arguments['D_f'] = Scratch('D_f')
    steps = [Step(it, tuple(arguments[name] for name in it.parameters)) for it in before]
    of_joints: Sequence[np.ndarray] = ()
    if algorithm.before or algorithm.after:
        of_joints = joints or JointTorques.none(arrays.nv)
        arguments |= dict(zip(JointTorques._fields, of_joints, strict=True))
    if algorithm.before:
        steps.append(Step(algorithm.before, tuple(arguments[name] for name in algorithm.before.parameters)))
        arguments['tau'] = Scratch('net')
    for it in filter(None, [kernel, algorithm.after]):
        *parameters, _ = it.parameters
        steps.append(Step(it, (*(arguments[name] for name in parameters), 'result')))
    return Program(
        _name_of(name, frames, reference_frame, wrenches, of_joints),
        {it: lengths[it] for it in inputs},
        _shape_of(algorithm, arrays, len(frames)),
        tuple(steps),
        algorithm.bodies,
    )


def lengths_of(arrays: ModelArrays) -> dict[str, int]:
    """Return the lengths of all inputs, by their names."""
    return {
        **dict.fromkeys(POSITIONS, arrays.nq),
        **dict.fromkeys(('qd', 'qdd', 'tau', 'step', 'current'), arrays.nv),
        **dict.fromkeys((WRENCH, 'base_velocity', 'base_acceleration'), 6),
        WRENCHES: 6 * (arrays.n + 1),
        WRENCHES_AT_POINTS: 9 * (arrays.n + 1),
        **dict.fromkeys(('change', 'rates', 'accelerations'), arrays.constraints),
        'torques': len(arrays.loop_link),
    }


def _shape_of(algorithm: Algorithm, arrays: ModelArrays, frames: int) -> tuple[int, ...]:
    """Return the shape of the result of one state."""
    sizes = {
        'nv': arrays.nv,
        'links': arrays.n + 1,
        'parameters': 10 * arrays.n,
        'constraints': arrays.constraints,
        # of a Newton step, and of a motion whose driven joints have constant couplings
        'closing': arrays.nq + 2 * arrays.constraints,
        'driven': int((arrays.coupled[:, 3] == 0).sum()) + 2,
        'wrenches': 6 * frames,
    }
    return tuple(sizes[size] if isinstance(size, str) else size for size in algorithm.shape)


def _numbers_of(frames: Sequence[Frame], reference_frame: int) -> dict[str, Argument]:
    """Return the arguments of kernels that say which frames, by their names."""
    links = np.array([frame.link for frame in frames], np.int64)
    rotations = np.array([frame.rotation for frame in frames], float)
    origins = np.array([frame.origin for frame in frames], float)
    if len(frames) == 1:
        return {'i': int(links[0]), 'rotation': rotations[0], 'origin': origins[0], 'reference_frame': reference_frame}
    return {'links': links, 'rotations': rotations, 'origins': origins, 'reference_frame': reference_frame}


def _name_of(
    name: str, frames: Sequence[Frame], reference_frame: int, wrenches: str | None, joints: Sequence[np.ndarray]
) -> str:
    """Return a name that is unique for a robot, an identifier."""
    if joints:
        return f'{name}_{hashlib.sha256(repr([it.tolist() for it in joints]).encode()).hexdigest()[:16]}'
    if not frames and not wrenches:
        return name
    numbers = [reference_frame, *((it.link, it.rotation.tolist(), it.origin.tolist()) for it in frames)]
    words = [name, f'with_{wrenches}' if wrenches else '', 'of_frames' if len(frames) > 1 else '']
    return '_'.join([*filter(None, words), hashlib.sha256(repr(numbers).encode()).hexdigest()[:16]])
