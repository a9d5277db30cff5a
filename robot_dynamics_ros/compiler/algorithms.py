"""The table of algorithms, from which traces, batch loops, ``Robot.kernel`` and ``Robot.address`` are derived.

Parameters that change at run time are inputs of specialised code, in the array ``load`` (19,): gravity (3, m/s^2, base
frame), the ten inertial parameters of the last link with its payload (10), and the wrench on it in its own frame (6;
N m, N).
"""

import hashlib
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.compiler.forward_method import articulated_bodies_pay
from robot_dynamics_ros.compiler.trace import Tape
from robot_dynamics_ros.kernels.aba import aba, aba_on_moving_base
from robot_dynamics_ros.kernels.centroidal import (
    center_of_mass,
    center_of_mass_jacobian,
    centroidal_momentum,
    centroidal_momentum_matrix,
)
from robot_dynamics_ros.kernels.closing_torque import closing_torque, spring_torque
from robot_dynamics_ros.kernels.coriolis_matrix import coriolis_matrix
from robot_dynamics_ros.kernels.crba import crba
from robot_dynamics_ros.kernels.crba_forward import crba_forward, crba_forward_on_moving_base
from robot_dynamics_ros.kernels.energy import kinetic_energy, potential_energy, total_energy
from robot_dynamics_ros.kernels.energy_regressors import kinetic_energy_regressor, potential_energy_regressor
from robot_dynamics_ros.kernels.forward_derivatives import forward_derivatives
from robot_dynamics_ros.kernels.kinematics import (
    frame_acceleration,
    frame_pose,
    frame_velocity,
    jacobian,
)
from robot_dynamics_ros.kernels.loop_forward import loop_forward
from robot_dynamics_ros.kernels.loop_quantities import (
    loop_accelerations,
    loop_errors,
    loop_jacobian,
    loop_rates,
    loop_step,
)
from robot_dynamics_ros.kernels.mass_matrix_inverse import mass_matrix_inverse
from robot_dynamics_ros.kernels.mobility import (
    bias_by_propagation,
    consistent_inverse_by_propagation,
    inertia_by_propagation,
    inertia_of_frames,
    mobility,
    mobility_of_frames,
    response_to_wrenches,
)
from robot_dynamics_ros.kernels.operational_space import (
    consistent_inverse,
    operational_space_bias,
    operational_space_inertia,
    operational_space_inertia_inverse,
)
from robot_dynamics_ros.kernels.poses import link_poses
from robot_dynamics_ros.kernels.regressor import torque_regressor
from robot_dynamics_ros.kernels.rnea import rnea, rnea_on_moving_base
from robot_dynamics_ros.kernels.rnea_derivatives import rnea_derivatives
from robot_dynamics_ros.kernels.with_wrench import (
    aba_on_moving_base_with_wrench,
    aba_with_wrench,
    crba_forward_on_moving_base_with_wrench,
    crba_forward_with_wrench,
    forward_derivatives_with_wrench,
    loop_forward_with_wrench,
    rnea_derivatives_with_wrench,
    rnea_on_moving_base_with_wrench,
    rnea_with_wrench,
)
from robot_dynamics_ros.kernels.with_wrenches import (
    aba_on_moving_base_with_wrenches,
    aba_with_wrenches,
    crba_forward_on_moving_base_with_wrenches,
    crba_forward_with_wrenches,
    forward_derivatives_with_wrenches,
    loop_forward_with_wrenches,
    rnea_derivatives_with_wrenches,
    rnea_on_moving_base_with_wrenches,
    rnea_with_wrenches,
)
from robot_dynamics_ros.model.arrays import ModelArrays, Workspace
from robot_dynamics_ros.model.model import Frame

LOAD_SIZE = 19
POSITIONS = ('q', 'start', 'end')
"""Names of inputs that are positions, (nq,)."""
MOST_VELOCITIES_IN_A_ROW = 12
"""Up to here operational space of a frame is computed by factors of the mass matrix, beyond by propagation of forces.

Inertia of a frame by generic kernels, us, at 6, 10, 14, 20 and 100 joints in a row: 1.1, 1.7, 2.5, 4.3 and 240 by
factors; 1.2, 1.6, 2.0, 2.5 and 10 by propagation. Straight-line code has fewer operations by factors up to 15 joints.
On four limbs of 6 and of 12 joints: 1.9 and 4.8 by factors, 2.1 and 3.7 by propagation (2026-11-22).
"""
OF_WRENCHES = 'wrenches'
"""Size of a result: six for each frame."""
BASE_MOTION = ('base_velocity', 'base_acceleration')
"""Names of inputs that are 6-vectors of the base."""
WRENCH = 'wrench'
"""Name of the input of a wrench on a frame, (6,)."""
WRENCHES, WRENCHES_AT_POINTS = 'wrenches', 'wrenches_at_points'
"""Names of inputs of external wrenches, (6 (n + 1),) and (9 (n + 1),), see ``kernels.wrenches``."""
CHANGE, CLOSING_TORQUES = 'change', 'torques'
"""Names of inputs with a number for each row of the loops (m,), and for each loop closure (c,).

All other inputs are (nv,).
"""


class Algorithm(NamedTuple):
    """A kernel and its arguments: ``kernel(model, work, *inputs, *zeros, *needs, *frame, result)``."""

    kernel: Callable
    inputs: tuple[str, ...]
    """Names of the vectors of one state."""
    shape: tuple[int | str, ...]
    """Shape of the result; 'nv', 'links', 'parameters' and 'rows' are sizes of the robot, 'wrenches' that of frames."""
    needs: tuple[str, ...] = ()
    """Which of 'gravity' and 'f_ext' the kernel reads."""
    zeros: int = 0
    """Number of zero joint vectors after the inputs."""
    frame: tuple = ()
    """Link, rotation and origin of a frame, and the index of the reference frame where the kernel has one.

    Of several frames, link, rotation and origin are arrays with a row for each.
    """
    bodies: bool = False
    """Whether the true inertial parameters are needed; otherwise regrouped ones are used (``model.regrouping``)."""
    articulated: Callable | None = None
    """Another kernel for robots where ``articulated_bodies_pay``."""
    of_tree: bool = False
    """Whether closed loops change the result but not what the kernel computes."""
    with_loops: Callable | None = None
    """Another kernel for robots with closed loops."""
    of_deep: Callable | None = None
    """Another kernel for robots of more than ``MOST_VELOCITIES_IN_A_ROW`` velocities between the base and a link."""

    def ignores_loops(self, arrays: ModelArrays) -> bool:
        """Return whether the result would be wrong for a robot, since it has closed loops."""
        return self.of_tree and arrays.rows > 0 and self.with_loops is None

    @property
    def of_loops(self) -> bool:
        """Whether there is nothing to compute without closed loops."""
        return 'rows' in self.shape or bool({CHANGE, CLOSING_TORQUES}.intersection(self.inputs))

    @property
    def of_frames(self) -> bool:
        """Whether the frames are several, or may be."""
        return bool(self.frame) and isinstance(self.frame[0], np.ndarray)

    def kernel_of(self, arrays: ModelArrays) -> Callable:
        """Return the kernel for a robot; all bindings use the same one."""
        if self.with_loops and arrays.rows:
            return self.with_loops
        if self.of_deep and arrays.depth > MOST_VELOCITIES_IN_A_ROW:
            return self.of_deep
        return self.articulated if self.articulated and articulated_bodies_pay(arrays) else self.kernel

    def lengths(self, arrays: ModelArrays) -> list[int]:
        """Return the lengths of the inputs."""
        return [length_of(name, arrays) for name in self.inputs]

    def shape_of(self, arrays: ModelArrays) -> tuple[int, ...]:
        """Return the shape of the result of one state."""
        numbers = {'nv': arrays.nv, 'links': arrays.n + 1, 'parameters': 10 * arrays.n, 'rows': arrays.rows}
        return tuple(numbers[size] if isinstance(size, str) else size for size in self.shape)


def length_of(name: str, arrays: ModelArrays) -> int:
    """Return the length of the input of this name."""
    if name in POSITIONS:
        return arrays.nq
    if name in (CHANGE, CLOSING_TORQUES):
        return arrays.rows if name == CHANGE else len(arrays.loop_link)
    if name in (WRENCHES, WRENCHES_AT_POINTS):
        return (6 if name == WRENCHES else 9) * (arrays.n + 1)
    return 6 if name in (*BASE_MOTION, WRENCH) else arrays.nv


MOTION, FORWARD, FORCES = ('q', 'qd', 'qdd'), ('q', 'qd', 'tau'), ('gravity', 'f_ext')
VECTOR, MATRIX, MATRICES, ROWS = ('nv',), ('nv', 'nv'), (3, 'nv', 'nv'), ('rows',)

METHODS = {
    'articulated': (
        Algorithm(aba, FORWARD, VECTOR, FORCES, with_loops=loop_forward),
        Algorithm(aba_on_moving_base, FORWARD + BASE_MOTION, VECTOR, FORCES, of_tree=True),
    ),
    'mass_matrix': (
        Algorithm(crba_forward, FORWARD, VECTOR, FORCES, of_tree=True),
        Algorithm(crba_forward_on_moving_base, FORWARD + BASE_MOTION, VECTOR, FORCES, of_tree=True),
    ),
}
"""Methods of forward dynamics: algorithms for a base at rest and for a moving base."""


def _by_shape(of_few: Algorithm, of_many: Algorithm) -> Algorithm:
    """Return the algorithm that is chosen for each robot by ``articulated_bodies_pay``."""
    return of_few._replace(articulated=of_many.kernel, with_loops=of_many.with_loops)


FORWARD_DYNAMICS, FORWARD_DYNAMICS_ON_MOVING_BASE = map(_by_shape, METHODS['mass_matrix'], METHODS['articulated'])
ALGORITHMS = {
    'inverse_dynamics': Algorithm(rnea, MOTION, VECTOR, FORCES),
    'bias_torque': Algorithm(rnea, ('q', 'qd'), VECTOR, FORCES, zeros=1),
    'gravity_torque': Algorithm(rnea, ('q',), VECTOR, FORCES, zeros=2),
    'mass_matrix': Algorithm(crba, ('q',), MATRIX),
    'mass_matrix_inverse': Algorithm(mass_matrix_inverse, ('q',), MATRIX),
    'forward_dynamics': FORWARD_DYNAMICS,
    'coriolis_matrix': Algorithm(coriolis_matrix, ('q', 'qd'), MATRIX),
    'torque_regressor': Algorithm(torque_regressor, MOTION, ('nv', 'parameters'), ('gravity',)),
    'inverse_dynamics_derivatives': Algorithm(rnea_derivatives, MOTION, MATRICES, FORCES),
    'forward_dynamics_derivatives': Algorithm(forward_derivatives, FORWARD, MATRICES, FORCES, of_tree=True),
    'inverse_dynamics_on_moving_base': Algorithm(rnea_on_moving_base, MOTION + BASE_MOTION, VECTOR, FORCES),
    'forward_dynamics_on_moving_base': FORWARD_DYNAMICS_ON_MOVING_BASE,
    'kinetic_energy': Algorithm(kinetic_energy, ('q', 'qd'), (), bodies=True),
    'potential_energy': Algorithm(potential_energy, ('q',), (), ('gravity',), bodies=True),
    'total_energy': Algorithm(total_energy, ('q', 'qd'), (), ('gravity',), bodies=True),
    'kinetic_energy_regressor': Algorithm(kinetic_energy_regressor, ('q', 'qd'), ('parameters',), bodies=True),
    'potential_energy_regressor': Algorithm(
        potential_energy_regressor, ('q',), ('parameters',), ('gravity',), bodies=True
    ),
    'center_of_mass': Algorithm(center_of_mass, ('q',), (3,), bodies=True),
    'center_of_mass_jacobian': Algorithm(center_of_mass_jacobian, ('q',), (3, 'nv'), bodies=True),
    'centroidal_momentum': Algorithm(centroidal_momentum, ('q', 'qd'), (6,), bodies=True),
    'centroidal_momentum_matrix': Algorithm(centroidal_momentum_matrix, ('q',), (6, 'nv'), bodies=True),
    'link_poses': Algorithm(link_poses, ('q',), ('links', 4, 4)),
    'loop_errors': Algorithm(loop_errors, ('q',), ROWS),
    'loop_jacobian': Algorithm(loop_jacobian, ('q',), ('rows', 'nv')),
    'loop_rates': Algorithm(loop_rates, ('q', 'qd'), ROWS),
    'loop_accelerations': Algorithm(loop_accelerations, MOTION, ROWS),
    'loop_step': Algorithm(loop_step, ('q', CHANGE), VECTOR),
    'spring_torque': Algorithm(spring_torque, ('q', 'qd'), VECTOR),
    'closing_torque': Algorithm(closing_torque, ('q', CLOSING_TORQUES), VECTOR),
}
OF_A_FRAME = {
    'link_pose': Algorithm(frame_pose, ('q',), (4, 4)),
    'link_velocity': Algorithm(frame_velocity, ('q', 'qd'), (6,)),
    'link_acceleration': Algorithm(frame_acceleration, MOTION, (6,)),
    'jacobian': Algorithm(jacobian, ('q',), (6, 'nv')),
}
"""Algorithms of a frame; each frame and reference frame makes a separate algorithm."""
BIAS = (operational_space_bias, bias_by_propagation)
OPERATIONAL_SPACE = {
    name: Algorithm(kernel, inputs, shape, needs, zeros, of_deep=of_deep)
    for name, (kernel, of_deep), inputs, shape, needs, zeros in (
        ('operational_space_inertia', (operational_space_inertia, inertia_by_propagation), ('q',), (6, 6), (), 0),
        ('operational_space_inertia_inverse', (operational_space_inertia_inverse, mobility), ('q',), (6, 6), (), 0),
        ('consistent_inverse', (consistent_inverse, consistent_inverse_by_propagation), ('q',), ('nv', 6), (), 0),
        ('operational_space_bias', BIAS, ('q', 'qd'), (6,), FORCES, 1),
        ('operational_space_gravity', BIAS, ('q',), (6,), FORCES, 2),
    )
}
"""Algorithms of a frame. But for the inverse of the inertia, results are not finite unless it moves in all directions.
"""
OF_FRAMES = {
    'operational_space_inertia': Algorithm(inertia_of_frames, ('q',), (OF_WRENCHES, OF_WRENCHES)),
    'operational_space_inertia_inverse': Algorithm(mobility_of_frames, ('q',), (OF_WRENCHES, OF_WRENCHES)),
    'response_to_wrenches': Algorithm(response_to_wrenches, ('q',), ('nv', OF_WRENCHES)),
}
"""Algorithms of several frames; each sequence of frames and reference frame makes a separate algorithm."""
BY_METHOD = {
    f'forward_dynamics_by_{method}{base}': algorithm
    for method, algorithms in METHODS.items()
    for base, algorithm in zip(('', '_on_moving_base'), algorithms, strict=True)
}
"""Forward dynamics by a method that the caller chooses."""
KERNELS_WITH_WRENCHES: dict[Callable, tuple[Callable, Callable]] = {
    rnea: (rnea_with_wrench, rnea_with_wrenches),
    aba: (aba_with_wrench, aba_with_wrenches),
    loop_forward: (loop_forward_with_wrench, loop_forward_with_wrenches),
    crba_forward: (crba_forward_with_wrench, crba_forward_with_wrenches),
    rnea_derivatives: (rnea_derivatives_with_wrench, rnea_derivatives_with_wrenches),
    forward_derivatives: (forward_derivatives_with_wrench, forward_derivatives_with_wrenches),
    rnea_on_moving_base: (rnea_on_moving_base_with_wrench, rnea_on_moving_base_with_wrenches),
    aba_on_moving_base: (aba_on_moving_base_with_wrench, aba_on_moving_base_with_wrenches),
    crba_forward_on_moving_base: (crba_forward_on_moving_base_with_wrench, crba_forward_on_moving_base_with_wrenches),
}
"""By a kernel, those with one wrench on a frame, and with wrenches on all links."""
UNDER_WRENCHES = {
    'inverse_dynamics': ALGORITHMS['inverse_dynamics'],
    'forward_dynamics': ALGORITHMS['forward_dynamics'],
    'inverse_dynamics_derivatives': ALGORITHMS['inverse_dynamics_derivatives'],
    'forward_dynamics_derivatives': ALGORITHMS['forward_dynamics_derivatives'],
    'inverse_dynamics_on_moving_base': ALGORITHMS['inverse_dynamics_on_moving_base'],
    'forward_dynamics_on_moving_base': ALGORITHMS['forward_dynamics_on_moving_base'],
    **BY_METHOD,
}
"""Algorithms that exist with external wrenches, too."""


def _under(algorithm: Algorithm, wrenches: str) -> Algorithm:
    """Return an algorithm with an input of wrenches."""
    many = wrenches != WRENCH
    articulated, with_loops = (
        it and KERNELS_WITH_WRENCHES[it][many] for it in (algorithm.articulated, algorithm.with_loops)
    )
    return algorithm._replace(
        kernel=KERNELS_WITH_WRENCHES[algorithm.kernel][many],
        inputs=(*algorithm.inputs, wrenches),
        needs=('gravity',),
        articulated=articulated,
        with_loops=with_loops,
    )


WITH_WRENCH = {f'{name}_with_wrench': _under(algorithm, WRENCH) for name, algorithm in UNDER_WRENCHES.items()}
"""Algorithms of a frame with a wrench on it as their last input."""
WITH_WRENCHES = {
    f'{name}_with_{wrenches}': _under(algorithm, wrenches)
    for name, algorithm in UNDER_WRENCHES.items()
    for wrenches in (WRENCHES, WRENCHES_AT_POINTS)
}
"""Algorithms with wrenches on all links as their last input; each reference frame makes a separate algorithm."""


def generic_name(name: str) -> str:
    """Return the name of an algorithm among generic kernels, where methods and lengths of rows need no other one.

    The same kernel serves both lengths of rows of wrenches. Files of generic code are named after the kernel, too.
    """
    for method in METHODS:
        name = name.replace(f'_by_{method}', '')
    return name.removesuffix('_at_points')


def algorithm_with_wrenches(name: str, view: int) -> tuple[str, Algorithm]:
    """Return the unique name and the algorithm ``name`` in a reference frame; see ``kernels.wrenches`` for ``view``."""
    return f'{name}_{view}', WITH_WRENCHES[name]._replace(frame=(view,))


def algorithm_of_frame(name: str, frame: Frame, view: int) -> tuple[str, Algorithm]:
    """Return the unique name and the algorithm ``name`` of one frame; see ``kernels.kinematics`` for ``view``."""
    rotation, origin = np.ascontiguousarray(frame.rotation, float), np.ascontiguousarray(frame.origin, float)
    of_frame = (frame.link, rotation, origin) if name == 'link_pose' else (frame.link, rotation, origin, view)
    key = f'{frame.link} {of_frame[3:]} '.encode() + rotation.tobytes() + origin.tobytes()
    algorithm = {**OF_A_FRAME, **OPERATIONAL_SPACE, **WITH_WRENCH}[name]
    return f'{name}_{hashlib.sha256(key).hexdigest()[:16]}', algorithm._replace(frame=of_frame)


def algorithm_of_frames(name: str, frames: Sequence[Frame], view: int) -> tuple[str, Algorithm]:
    """Return the unique name and the algorithm ``name`` of several frames; see ``kernels.kinematics`` for ``view``."""
    links = np.array([frame.link for frame in frames], np.int64)
    rotations = np.array([frame.rotation for frame in frames], float)
    origins = np.array([frame.origin for frame in frames], float)
    algorithm, digest = OF_FRAMES[name], hashlib.sha256(f'{view} {len(frames)} '.encode())
    for array in (links, rotations, origins):
        digest.update(array.tobytes())
    shape = tuple(6 * len(frames) if size == OF_WRENCHES else size for size in algorithm.shape)
    frame = (links, rotations, origins, view)
    return f'{name}_of_frames_{digest.hexdigest()[:16]}', algorithm._replace(shape=shape, frame=frame)


def trace(arrays: ModelArrays, algorithm: Algorithm, load=None) -> np.ndarray:
    """Return the results (size,) of an algorithm for a robot, as symbols or floats.

    ``load`` (19,) are numbers to fold in; by default it is an input of that name.
    """
    n, tape = arrays.n, Tape()
    inputs = [tape.inputs(*vector) for vector in zip(algorithm.inputs, algorithm.lengths(arrays), strict=True)]
    load = tape.inputs('load', LOAD_SIZE) if load is None else _floats(np.asarray(load, float))
    constants = ModelArrays(*(a if a.dtype.kind == 'i' else _floats(a) for a in arrays))
    constants.I[n] = load[3:13]
    f_ext = _floats(np.zeros((n + 1, 6)))
    f_ext[n] = load[13:19]
    needed = {'gravity': load[:3], 'f_ext': f_ext}
    zeros = [_floats(np.zeros(arrays.nv))] * algorithm.zeros
    needs = [needed[name] for name in algorithm.needs]
    frame = [
        _floats(part) if isinstance(part, np.ndarray) and part.dtype.kind == 'f' else part for part in algorithm.frame
    ]
    result = _floats(np.zeros(algorithm.shape_of(arrays) or (1,)))
    work = Workspace.of(arrays, object)
    tape.run(algorithm.kernel_of(arrays), constants, work, *inputs, *zeros, *needs, *frame, result)
    return result.ravel()


def _floats(array: np.ndarray) -> np.ndarray:
    """Return an object array of Python floats; NumPy's floats would convert symbols to arrays."""
    return np.array(array.tolist(), object).reshape(array.shape)
