"""Argument validation: inputs are converted to the canonical form of kernels, or rejected by name.

The canonical form of a batch is (count, n), float64, C-contiguous, aligned and writable, with the shape of the caller's
batch apart. Numba would compile another version of a kernel for any other array.
"""

import math
import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import numpy as np

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.model.configuration import is_no_quaternion
from robot_dynamics_ros.model.joint_types import LARGEST_ANGLE
from robot_dynamics_ros.model.linear_algebra import determinant
from robot_dynamics_ros.model.rotations import rotation_error
from robot_dynamics_ros.model.untrusted_values import ROTATION_TOLERANCE, is_masked

FLOAT64 = np.dtype(np.float64)
REFERENCE_FRAMES = ('world', 'local_world_aligned', 'local')  # of 6-vectors, in the order of ``kernels.kinematics``


def finite(name: str, value, shape: tuple[int, ...]) -> np.ndarray:
    """Return ``value`` as a finite float64 array of this shape; ArgumentError naming it otherwise."""
    array = numbers(name, value)
    if array.shape != shape:
        raise ArgumentError(f'{name}: expected shape {shape}, got {array.shape}')
    check_finite(name, array)
    return array


def not_negative(name: str, value, shape: tuple[int, ...], unit: str) -> np.ndarray:
    """Return ``value`` as ``finite`` does; ArgumentError with the ``unit`` for a negative number."""
    array = finite(name, value, shape)
    if (array < 0.0).any():
        raise ArgumentError(f'{name}: expected at least 0 {unit}, got {value}')
    return array


def of_each_joint(name: str, value, joints: int, zero: bool) -> np.ndarray:
    """Return ``value``, one number for each joint or one for all, as an array (joints,).

    ArgumentError naming it for another length and unless all numbers are finite and above 0, or 0 where ``zero``.
    """
    array = numbers(name, value)
    if (
        array.shape not in ((1,), (joints,))
        or not (np.isfinite(array) & ((array > 0.0) | (zero & (array == 0.0)))).all()
    ):
        least = '>= 0' if zero else '> 0'
        raise ArgumentError(f'{name}: expected one finite number {least} or {joints}, got {array.tolist()}')
    return np.broadcast_to(array, joints).copy()


def positive(name: str, value) -> float:
    """Return ``value`` as a number; ArgumentError naming it unless it is one finite number above 0."""
    array = numbers(name, value)
    if array.shape or not 0.0 < array < np.inf:
        raise ArgumentError(f'{name}: expected a finite number > 0, got {value!r:.80}')
    return float(array)


def whole(name: str, value, least: int) -> int:
    """Return ``value`` as an integer; ArgumentError naming it unless it is a whole number >= ``least``."""
    array = numbers(name, value)
    if array.shape or not (least <= array < np.inf and array % 1 == 0):
        raise ArgumentError(f'{name}: expected a whole number >= {least}, got {value!r:.80}')
    return int(array)


def increasing(name: str, value, fewest: int) -> np.ndarray:
    """Return ``value`` as an array (m,), m >= ``fewest``; ArgumentError naming it unless its numbers increase."""
    array = numbers(name, value)
    if array.ndim != 1 or len(array) < fewest:
        raise ArgumentError(f'{name}: expected shape (m,) with m >= {fewest}, got {array.shape}')
    check_finite(name, array)
    late = np.flatnonzero(np.diff(array) <= 0.0)
    if len(late):
        k, before = int(late[0]) + 1, array[late[0]]
        raise ArgumentError(f'{name}[{k}]: expected more than {name}[{k - 1}] = {before:.9g}, got {array[k]:.9g}')
    return array


def rotation(name: str, value) -> np.ndarray:
    """Return ``value`` as a rotation matrix R (3, 3); ArgumentError unless R' R = 1 to 1e-6 and det R > 0."""
    matrix = finite(name, value, (3, 3))
    error = rotation_error(matrix.T)
    if error > ROTATION_TOLERANCE:
        raise ArgumentError(f"{name}: expected a rotation matrix, got one with R'R off the identity by {error:.3g}")
    if determinant(matrix) < 0.0:
        raise ArgumentError(f'{name}: expected a rotation matrix, got a reflection: its determinant is -1')
    return matrix


def pose(name: str, value) -> np.ndarray:
    """Return ``value`` as a homogeneous transform (4, 4); ArgumentError unless it has a rotation and 0 0 0 1 below."""
    matrix = finite(name, value, (4, 4))
    rotation(name, matrix[:3, :3])
    if matrix[3].tolist() != [0.0, 0.0, 0.0, 1.0]:
        raise ArgumentError(f'{name}: expected the last row 0 0 0 1, got {matrix[3].tolist()}')
    return matrix


def states(lengths: dict[str, int], **named) -> tuple[list[np.ndarray], tuple[int, ...]]:
    """Return joint vectors broadcast to a common batch, each (count, its length), and the shape of the batch.

    Raises ArgumentError naming the argument for a wrong last axis, shapes that do not broadcast, and values that are
    not real numbers. Finiteness is not checked: compiled code does so.
    """
    arrays = []
    for name, value in named.items():
        array = numbers(name, value)
        if array.ndim == 0 or array.shape[-1] != lengths[name]:
            raise ArgumentError(f'{name}: expected shape (..., {lengths[name]}), got {array.shape}')
        arrays.append(array)
    shape = arrays[0].shape[:-1]
    if any(array.shape[:-1] != shape for array in arrays):
        try:
            shape = np.broadcast_shapes(*(array.shape[:-1] for array in arrays))
        except ValueError:
            found = ', '.join(f'{name} {array.shape}' for name, array in zip(named, arrays, strict=True))
            raise ArgumentError(f'batch shapes do not broadcast: {found}') from None
    return [_rows(array, (*shape, array.shape[-1]), array.shape[-1:]) for array in arrays], shape


def choice(name: str, value: str, choices: Collection[str]) -> str:
    """Return ``value`` if it is one of ``choices``; ArgumentError naming the argument otherwise."""
    if value not in choices:
        raise ArgumentError(f'{name}: expected one of {", ".join(choices)}, got {value!r:.80}')
    return value


def check_finite(name: str, array: np.ndarray) -> None:
    """Raise ArgumentError for NaN and inf, which a specialised kernel may not propagate."""
    finite = np.isfinite(array)
    if not finite.all():
        index = tuple(int(k) for k in np.argwhere(~finite)[0])
        place = f'{name}{list(index)}' if index else name
        raise ArgumentError(f'{place}: {array[index]} is not finite')


def check_quaternions(name: str, positions: np.ndarray, starts: tuple[int, ...]) -> None:
    """Raise ArgumentError for a quaternion not of length 1 in positions (..., nq); ``starts`` are indices in q."""
    for start in starts:
        quaternions = positions[..., start : start + 4]
        wrong = is_no_quaternion(quaternions)
        if wrong.any():
            index = tuple(int(k) for k in np.argwhere(wrong)[0])
            where = f'{name}{[*index, ...]}'.replace('Ellipsis', f'{start}:{start + 4}')
            length = np.linalg.norm(quaternions[index])
            raise ArgumentError(f'{where}: expected a quaternion of length 1, got one of {length:.9g}')


def check_angles(
    name: str, positions: np.ndarray, angles: Sequence[int] | np.ndarray, joint_of: Callable[[int], str]
) -> None:
    """Raise ArgumentError for an angle in positions (..., nq) that is too large for sine and cosine.

    ``angles`` are indices in q; ``joint_of`` returns the name of the joint of one.
    """
    too_large = np.argwhere(~(np.abs(positions[..., angles]) < LARGEST_ANGLE))
    if len(too_large):
        *state, k = (int(it) for it in too_large[0])
        place = int(angles[k])
        index = (*state, place)
        raise ArgumentError(
            f'{name}{list(index)}: the angle {positions[index]:.6g} rad of joint {joint_of(place)!r} is not below '
            f'{LARGEST_ANGLE:.6g} rad, where doubles are 1e-4 rad apart; subtract whole turns'
        )


def result(out, shape: tuple[int, ...], inputs=()) -> tuple[np.ndarray, np.ndarray]:
    """Return the array for the caller and the contiguous one that a kernel writes, the same array where possible.

    ``out`` is the caller's ``out=`` or None. The kernel's array overlaps none of its ``inputs``. Raises
    ArgumentError unless ``out`` is a writable float64 array of ``shape``.
    """
    if out is None:
        fresh = np.empty(shape)
        return fresh, fresh
    is_array = isinstance(out, np.ndarray) and not is_masked(out)
    if not is_array or out.shape != shape or out.dtype != np.float64 or not out.flags.writeable:
        found = f'{out.dtype} {out.shape}' if is_array else type(out).__name__
        raise ArgumentError(f'out: expected a writable float64 array of shape {shape}, got {found}')
    if not out.flags.carray or any(np.may_share_memory(out, array) for array in inputs):
        return out, np.empty(shape)
    return out, _canonical(np.asarray(out))


def numbers(name: str, value) -> np.ndarray:
    """Return ``value`` as a float64 array; ArgumentError unless it has real numbers, none of them masked."""
    parts = value if isinstance(value, list | tuple) else (value,)
    if any(is_masked(part) for part in parts):
        raise ArgumentError(
            f'{name}: expected numbers without a mask, got a masked array; fill or remove what is masked'
        )
    try:
        array = np.asarray(value)
        if array.dtype.kind not in 'fiu':
            raise TypeError
        return _canonical(array.astype(np.float64, copy=False))
    except (TypeError, ValueError):
        raise ArgumentError(f'{name}: expected real numbers, got {value!r:.80}') from None


def _canonical(array: np.ndarray) -> np.ndarray:
    """Return a float64 array with NumPy's own object for that type, which machine code expects; others are equal."""
    return array if array.dtype is FLOAT64 else array.view(FLOAT64)


def _rows(array: np.ndarray, shape: tuple[int, ...], item: tuple[int, ...]) -> np.ndarray:
    """Return ``array`` broadcast to ``shape`` as rows (count, *item) in canonical form, copied only if necessary."""
    if array.shape != shape:
        array = np.broadcast_to(array, shape)
    if not array.flags.carray:
        array = np.array(array, order='C')
    return array.reshape(math.prod(shape[: len(shape) - len(item)]), *item)


def output_folder(name: str, value: str | Path) -> Path:
    """Return ``value``, a folder that need not exist yet, as a path; ArgumentError where nothing can be written."""
    path = Path(value)
    there = next(place for place in (path.absolute(), *path.absolute().parents) if place.exists())
    if not there.is_dir():
        raise ArgumentError(f'{name}: {there} is a file; expected a folder, which need not exist yet')
    if not os.access(there, os.W_OK | os.X_OK):
        raise ArgumentError(f'{name}: {there} is not writable')
    return path
