"""External wrenches as callers give them, and as rows of numbers that kernels read."""

from collections.abc import Callable

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.algorithms.program import WRENCH, WRENCHES, WRENCHES_AT_POINTS
from robot_dynamics_ros.errors import ArgumentError, UnknownNameError
from robot_dynamics_ros.model.model import Model

NAME = 'wrenches'
Pose = Callable[[str], np.ndarray]
"""Pose (..., 4, 4) of the link of a name in the base frame, for the states."""


def form_and_rows(
    model: Model, wrenches, reference_frame: str, vectors, pose: Pose
) -> tuple[str, str | None, np.ndarray]:
    """Return the input of these external wrenches, the frame that a single one acts on, and its rows (..., size).

    ``vectors`` are those of the states. Raises ArgumentError and UnknownNameError.
    """
    validation.choice('reference_frame', reference_frame, validation.REFERENCE_FRAMES)
    if not isinstance(wrenches, dict):
        return WRENCHES, None, rows_of_links(model, wrenches, vectors)
    if len(wrenches) == 1:
        ((link, value),) = wrenches.items()
        return WRENCH, link, _numbers(model, link, value, vectors)
    return WRENCHES_AT_POINTS, None, rows_at_points(model, wrenches, reference_frame, vectors, pose)


def rows_of_links(model: Model, wrenches, vectors) -> np.ndarray:
    """Return an array of wrenches (..., n + 1, 6) as rows (..., 6 (n + 1)); ``vectors`` are those of the states."""
    links = len(model.link_names)
    array = validation.numbers(NAME, wrenches)
    if array.shape[-2:] != (links, 6):
        raise ArgumentError(f'wrenches: expected shape (..., {links}, 6), got {array.shape}')
    _check_batch(NAME, array.shape[:-2], vectors)
    return array.reshape(*array.shape[:-2], 6 * links)


def rows_at_points(model: Model, wrenches: dict, reference_frame: str, vectors, pose: Pose) -> np.ndarray:
    """Return wrenches as rows (..., 9 (n + 1)): moment (N m), force (N) and point (m) of each link.

    ``wrenches`` maps names of links or frames to (..., 6), see ``kernels.wrenches``; ``vectors`` are those of the
    states. Raises ArgumentError and UnknownNameError.
    """
    links = len(model.link_names)
    given = {link: _numbers(model, link, value, vectors) for link, value in wrenches.items()}
    shape = np.broadcast_shapes(*(array.shape[:-1] for array in given.values()))
    rows = np.zeros((*shape, links, 9))
    occupied: set[int] = set()
    for link, array in given.items():
        _add(model, rows, occupied, link, array, reference_frame, pose)
    return rows.reshape(*shape, 9 * links)


def check_finite(wrenches) -> None:
    """Raise ArgumentError naming the first number that is not finite."""
    if isinstance(wrenches, dict):
        for link, value in wrenches.items():
            validation.check_finite(f'{NAME}[{link!r}]', np.asarray(value, float))
    else:
        validation.check_finite(NAME, np.asarray(wrenches, float))


def _numbers(model: Model, link: str, value, vectors) -> np.ndarray:
    """Return the wrenches (..., 6) on a link or frame."""
    if link not in model.frames:
        raise UnknownNameError(f'{NAME}: no link {link!r}; there are {", ".join(model.frames)}')
    name = f'{NAME}[{link!r}]'
    array = validation.numbers(name, value)
    if array.shape[-1:] != (6,):
        raise ArgumentError(f'{name}: expected shape (..., 6), got {array.shape}')
    _check_batch(name, array.shape[:-1], vectors)
    return array


def _add(
    model: Model, rows: np.ndarray, occupied: set[int], link: str, array: np.ndarray, reference_frame: str, pose: Pose
) -> None:
    """Add the wrenches (..., 6) on a link or frame to ``rows`` (..., n + 1, 9); ``occupied`` links have some already.

    All wrenches on a link have one point in its row: the origin of the first one's frame.
    """
    frame = model.frames[link]
    row, moment, force = rows[..., frame.link, :], array[..., :3], array[..., 3:]
    if reference_frame == 'local':
        moment, force = moment @ frame.rotation.T, force @ frame.rotation.T
    if reference_frame != 'world':
        if frame.link not in occupied:
            row[..., 6:] = frame.origin
            occupied.add(frame.link)
        elif (row[..., 6:] != frame.origin).any():
            arm = frame.origin - row[..., 6:]
            if reference_frame == 'local_world_aligned':
                rotation = pose(model.link_names[frame.link])[..., :3, :3]
                arm = (rotation @ arm[..., None])[..., 0]
            moment = moment + np.cross(arm, force)
    row[..., :3] += moment
    row[..., 3:6] += force


def _check_batch(name: str, batch: tuple[int, ...], vectors) -> None:
    """Raise ArgumentError unless a batch of wrenches broadcasts to the batch of the states."""
    if not batch:
        return
    try:
        shape = np.broadcast_shapes(*(np.shape(vector)[:-1] for vector in vectors))
    except ValueError:
        return  # the vectors are checked where they are evaluated
    try:
        fits = np.broadcast_shapes(batch, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ArgumentError(f'{name}: batch shape {batch} does not broadcast to {shape}')
