"""Dynamics with external wrenches on the links and with a moving base."""

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.compiler.algorithms import UNDER_WRENCHES
from robot_dynamics_ros.errors import ArgumentError, UnknownNameError
from robot_dynamics_ros.evaluation.evaluator import Evaluator, Key
from robot_dynamics_ros.model.model import Model

NAME = 'wrenches'
ONE = {name: f'{name}_with_wrench' for name in UNDER_WRENCHES}
"""Names of algorithms with one wrench on a frame."""
ALL = {name: f'{name}_with_wrenches' for name in UNDER_WRENCHES}
"""Names of algorithms with wrenches on all links."""


def evaluate(
    evaluator: Evaluator, name: str, out, wrenches, reference_frame: str, q, qd, x, v_0=None, a_0=None
) -> np.ndarray:
    """Return the results (..., shape) of an algorithm with external wrenches on the links.

    ``x`` are accelerations or torques; ``v_0`` and ``a_0`` are both given for a moving base. Raises what
    ``Evaluator.evaluate`` raises; ArgumentError and UnknownNameError for wrenches.
    """
    # fast path: machine code checks types, shapes and finiteness
    try:
        if type(wrenches) is dict:
            (link,) = wrenches
            call, rows = evaluator.calls[ONE[name], link, reference_frame], wrenches[link]
        else:
            call, shape = evaluator.calls[ALL[name], reference_frame], evaluator.shape_of_wrenches
            rows = wrenches.ravel() if wrenches.shape == shape else _flat(wrenches, shape)
        # each vector by itself: unpacking a tuple takes 0.1 us
        if v_0 is None:
            result = call(q, qd, x, rows, evaluator.load, out)
        else:
            result = call(q, qd, x, v_0, a_0, rows, evaluator.load, out)
        if result is not None:
            return result
    except (KeyError, TypeError, ValueError, AttributeError):
        pass  # not prepared yet, several wrenches, many states, or arguments that have to be converted or rejected

    vectors = (q, qd, x) if v_0 is None else (q, qd, x, v_0, a_0)
    key, rows = key_and_rows(evaluator, name, wrenches, reference_frame, vectors)
    try:
        return evaluator.evaluate(key, evaluator.load, out, *vectors, rows)
    except ArgumentError:
        check_finite(wrenches)
        raise


def key_and_rows(evaluator: Evaluator, name: str, wrenches, reference_frame: str, vectors) -> tuple[Key, np.ndarray]:
    """Return the key of an algorithm with these external wrenches, and the wrenches as its last input (..., size).

    ``vectors`` are those of the states, q first. Raises ArgumentError and UnknownNameError.
    """
    validation.choice('reference_frame', reference_frame, validation.REFERENCE_FRAMES)
    if not isinstance(wrenches, dict):
        return (ALL[name], reference_frame), rows_of_links(evaluator, wrenches, vectors)
    if len(wrenches) == 1:
        ((link, value),) = wrenches.items()
        return (ONE[name], link, reference_frame), _numbers(evaluator.model, link, value, vectors)
    return (f'{ALL[name]}_at_points', reference_frame), rows_at_points(evaluator, wrenches, reference_frame, vectors)


def on_moving_base(evaluator: Evaluator, name: str, out, wrenches, reference_frame: str, base, *vectors) -> np.ndarray:
    """Return what ``evaluate`` does; ``base`` has velocity and acceleration (..., 6 each). Any of them may be None."""
    name, vectors = (
        f'{name}_on_moving_base',
        (*vectors, *(np.zeros(6) if motion is None else motion for motion in base)),
    )
    if wrenches is not None:
        return evaluate(evaluator, name, out, wrenches, reference_frame, *vectors)
    validation.choice('reference_frame', reference_frame, validation.REFERENCE_FRAMES)
    return evaluator.evaluate(name, evaluator.load, out, *vectors)


def _flat(wrenches: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Return an array (count, n + 1, 6) as rows (count, 6 (n + 1)); ValueError unless it ends with ``shape``."""
    if wrenches.shape[1:] != shape:
        raise ValueError
    return wrenches.reshape(len(wrenches), -1)


def rows_of_links(evaluator: Evaluator, wrenches, vectors) -> np.ndarray:
    """Return an array of wrenches (..., n + 1, 6) as rows (..., 6 (n + 1)); ``vectors`` are those of the states."""
    links, of_one = evaluator.shape_of_wrenches
    array = validation.numbers(NAME, wrenches)
    if array.shape[-2:] != (links, of_one):
        raise ArgumentError(f'wrenches: expected shape (..., {links}, 6), got {array.shape}')
    _check_batch(NAME, array.shape[:-2], vectors)
    return array.reshape(*array.shape[:-2], links * of_one)


def rows_at_points(evaluator: Evaluator, wrenches: dict, reference_frame: str, vectors) -> np.ndarray:
    """Return wrenches as rows (..., 9 (n + 1)): moment (N m), force (N) and point (m) of each link.

    ``wrenches`` maps names of links or frames to (..., 6), see ``kernels.wrenches``; ``vectors`` are those of the
    states, q first. Raises ArgumentError and UnknownNameError.
    """
    links = len(evaluator.model.link_names)
    given = {link: _numbers(evaluator.model, link, value, vectors) for link, value in wrenches.items()}
    shape = np.broadcast_shapes(*(array.shape[:-1] for array in given.values()))
    rows = np.zeros((*shape, links, 9))
    occupied: set[int] = set()
    for link, array in given.items():
        _add(evaluator, rows, occupied, link, array, reference_frame, vectors[0])
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


def _add(evaluator, rows: np.ndarray, occupied: set[int], link: str, array: np.ndarray, reference_frame: str, q):
    """Add the wrenches (..., 6) on a link or frame to ``rows`` (..., n + 1, 9); ``occupied`` links have some already.

    All wrenches on a link have one point in its row: the origin of the first one's frame.
    """
    frame = evaluator.model.frames[link]
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
                key = 'link_pose', evaluator.model.link_names[frame.link], 'world'
                rotation = evaluator.evaluate_generic(key, q)[..., :3, :3]
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
