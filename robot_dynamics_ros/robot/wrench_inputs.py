"""External wrenches as callers give them, and as rows of numbers that kernels read."""

from collections.abc import Callable

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.algorithms.program import WRENCH, WRENCHES, WRENCHES_AT_POINTS
from robot_dynamics_ros.errors import ArgumentError, UnknownNameError, alternatives
from robot_dynamics_ros.model.model import Frame, Model

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
    if isinstance(wrenches, dict) and len(wrenches) == 1:
        ((link, value),) = wrenches.items()
        return WRENCH, link, _on_frame(model, link, value, vectors)
    form, rows = rows_on_links(model, wrenches, reference_frame, vectors, pose)
    return form, None, rows


def rows_on_links(model: Model, wrenches, reference_frame: str, vectors, pose: Pose) -> tuple[str, np.ndarray]:
    """Return the input of wrenches on all links, and its rows, see ``kernels.wrenches``.

    An array (..., n + 1, 6) becomes rows (..., 6 (n + 1)). A mapping from names of links or frames to (..., 6) becomes
    rows (..., 9 (n + 1)): moment (N m), force (N) and point (m) of each link. Raises ArgumentError and
    UnknownNameError.
    """
    links = len(model.link_names)
    if isinstance(wrenches, dict):
        rows = _at_points(model, wrenches, reference_frame, vectors, pose)
        return WRENCHES_AT_POINTS, rows.reshape(*rows.shape[:-2], 9 * links)
    array = _numbers(NAME, wrenches, (links, 6), vectors)
    return WRENCHES, array.reshape(*array.shape[:-2], 6 * links)


def check_finite(wrenches) -> None:
    """Raise ArgumentError naming the first number that is not finite."""
    if isinstance(wrenches, dict):
        for link, value in wrenches.items():
            validation.check_finite(f'{NAME}[{link!r}]', np.asarray(value, float))
    else:
        validation.check_finite(NAME, np.asarray(wrenches, float))


def _at_points(model: Model, wrenches: dict, reference_frame: str, vectors, pose: Pose) -> np.ndarray:
    """Return moment, force and point of each link, (..., n + 1, 9).

    All wrenches on a link have one point: the origin of the first one's frame.
    """
    acting: list[tuple[int, np.ndarray, np.ndarray]] = []
    first: dict[int, Frame] = {}
    for link, value in wrenches.items():
        array, frame = _on_frame(model, link, value, vectors), model.frames[link]
        moment, force = array[..., :3], array[..., 3:]
        if reference_frame == 'local':
            moment, force = moment @ frame.rotation.T, force @ frame.rotation.T
        other = first.setdefault(frame.link, frame)
        if other is not frame and reference_frame != 'world' and (other.origin != frame.origin).any():
            arm = frame.origin - other.origin
            if reference_frame == 'local_world_aligned':
                arm = (pose(model.link_names[frame.link])[..., :3, :3] @ arm[:, None])[..., 0]
            moment = moment + np.cross(arm, force)
        acting.append((frame.link, moment, force))
    shape = np.broadcast_shapes(*(moment.shape[:-1] for _, moment, _ in acting))
    rows = np.zeros((*shape, len(model.link_names), 9))
    for i, moment, force in acting:
        rows[..., i, :3] += moment
        rows[..., i, 3:6] += force
        if reference_frame != 'world':
            rows[..., i, 6:] = first[i].origin
    return rows


def _on_frame(model: Model, link: str, value, vectors) -> np.ndarray:
    """Return the wrenches (..., 6) on a link or frame."""
    if link not in model.frames:
        raise UnknownNameError(f'{NAME}: no link {link!r}; {alternatives(link, model.frames)}')
    return _numbers(f'{NAME}[{link!r}]', value, (6,), vectors)


def _numbers(name: str, value, shape: tuple[int, ...], vectors) -> np.ndarray:
    """Return ``value`` as an array (..., *shape); ArgumentError unless its batch broadcasts to that of the states."""
    array = validation.numbers(name, value)
    batch = array.shape[: -len(shape)]
    if array.shape != (*batch, *shape):
        raise ArgumentError(f'{name}: expected shape (..., {", ".join(map(str, shape))}), got {array.shape}')
    if not batch:
        return array
    try:
        of_states = np.broadcast_shapes(*(np.shape(vector)[:-1] for vector in vectors))
    except ValueError:
        return array  # the vectors are checked where they are evaluated
    try:
        fits = np.broadcast_shapes(batch, of_states) == of_states
    except ValueError:
        fits = False
    if not fits:
        raise ArgumentError(f'{name}: batch shape {batch} does not broadcast to {of_states}')
    return array
