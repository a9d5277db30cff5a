"""Validation of untrusted values, such as the cells of a table or of a YAML file; errors name the place."""

import math
import reprlib
from collections.abc import Collection, Mapping

import numpy as np

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.model.model import JointLimits
from robot_dynamics_ros.model.rotations import SHORTEST_AXIS, exact

MAX_NAME = 256  # characters
LARGEST_NUMBER = 1e30  # m, kg, rad, ...: products and sums of such numbers are still finite
ROTATION_TOLERANCE = 1e-6  # six printed decimals; what is further off is no rotation


def shown(value) -> str:
    """Return a value for an error's text: short, however much it holds."""
    try:
        return reprlib.repr(value)[:80]
    except ValueError:  # an integer of more digits than Python prints
        return f'{type(value).__name__} beyond printing'


def table(where: str, value, known: Collection[str] | None = None, needed: Collection[str] = ()) -> Mapping:
    """Return a mapping with keys out of ``known`` (None: any), all of ``needed`` among them; ModelError otherwise."""
    if not isinstance(value, Mapping):
        raise ModelError(f'{where}: expected a table, got {shown(value)}')
    for key in value:
        if known is not None and key not in known:
            raise ModelError(f'{where}: {shown(key)}: unknown; expected some of {", ".join(known)}')
    for key in needed:
        if key not in value:
            raise ModelError(f'{where}: {key}: is missing')
    return value


def is_name(text: str) -> bool:
    """Return whether a text may name something: log lines, paths and tables of other programs will show it."""
    return 0 < len(text) <= MAX_NAME and text.isprintable() and not text.isspace()


def name(where: str, value) -> str:
    """Return a name; ModelError unless it is text, not blank, printable and not too long."""
    if not isinstance(value, str) or not is_name(value):
        raise ModelError(f'{where}: expected a name, got {shown(value)} (up to {MAX_NAME} printable characters)')
    return value


def choice(where: str, value, known: Collection[str]) -> str:
    """Return one of the words ``known``; ModelError otherwise."""
    if not isinstance(value, str) or value not in known:
        raise ModelError(f'{where}: expected one of {", ".join(known)}, got {shown(value)}')
    return value


def number(where: str, value, least: float = -math.inf, above: float = -math.inf) -> float:
    """Return a finite number that is at least ``least`` and greater than ``above``; ModelError otherwise."""
    found = float(array(where, value, ()))
    if found < least:
        raise ModelError(f'{where}: expected at least {least:g}, got {shown(value)}')
    if found <= above:
        raise ModelError(f'{where}: expected more than {above:g}, got {shown(value)}')
    return found


def limits(where: str, given: Mapping) -> dict[str, float]:
    """Return lower, upper, velocity and effort limit of a table that may lack them: NaN, as for a limit of 0.

    A position limit may be infinite. Raises ModelError for what is no number, and for one of lower and upper alone.
    """
    found = {}
    for field in JointLimits._fields:
        value = given.get(field, math.nan)
        if not _fits(value, ()) or LARGEST_NUMBER < abs(value) < math.inf:
            raise ModelError(f'{where}: {field}: expected a number up to {LARGEST_NUMBER:g}, got {shown(value)}')
        found[field] = float(value)
    if math.isnan(found['lower']) != math.isnan(found['upper']):
        raise ModelError(f'{where}: lower and upper: expected both or none')
    for field in ('velocity', 'effort'):
        found[field] = found[field] if 0.0 < found[field] < math.inf else math.nan
    return found


def array(where: str, value, shape: tuple[int, ...]) -> np.ndarray:
    """Return numbers as an array of this shape; ModelError unless all are finite and none is beyond 1e30."""
    if _fits(value, shape):
        try:
            found = np.array(value, float)
            if (abs(found) <= LARGEST_NUMBER).all():  # NaN is not
                return found
        except OverflowError:  # an integer beyond every float
            pass
    expected = 'a finite number' if not shape else f'finite numbers of shape {shape}'
    raise ModelError(f'{where}: expected {expected} up to {LARGEST_NUMBER:g}, got {shown(value)}')


def rotation(where: str, value) -> np.ndarray:
    """Return the rotation (3, 3) nearest to a matrix of a few decimals; ModelError for one that is no rotation."""
    found = array(where, value, (3, 3))
    if abs(found @ found.T - np.eye(3)).max() > ROTATION_TOLERANCE or np.linalg.det(found) < 0.0:
        raise ModelError(f'{where}: expected a rotation matrix, got {shown(value)}')
    u, _, v = np.linalg.svd(found)
    return exact(u @ v)


def pose(where: str, value) -> np.ndarray:
    """Return a pose (4, 4; m): a rotation and a translation over the row 0 0 0 1; ModelError otherwise."""
    found = array(where, value, (4, 4))
    found[:3, :3] = rotation(where, found[:3, :3])
    if found[3].tolist() != [0.0, 0.0, 0.0, 1.0]:
        raise ModelError(f'{where}: expected the last row 0 0 0 1, got {shown(value)}')
    return found


def direction(where: str, value) -> np.ndarray:
    """Return a unit vector (3,) along the one given; ModelError for one without direction."""
    found = array(where, value, (3,))
    length = math.hypot(*found)
    if length < SHORTEST_AXIS:
        raise ModelError(f'{where}: the axis has no direction, got {shown(value)}')
    return found / length


def _fits(value, shape: tuple[int, ...]) -> bool:
    """Say whether lists hold numbers in this shape; nothing is looked at beyond it, however much there is."""
    if not shape:
        return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if isinstance(value, np.ndarray):
        return value.shape == shape and value.dtype.kind in 'iuf'
    return isinstance(value, list | tuple) and len(value) == shape[0] and all(_fits(part, shape[1:]) for part in value)
