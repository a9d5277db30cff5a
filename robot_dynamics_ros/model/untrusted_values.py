"""Validation of untrusted values of a robot description, such as entries of a DH table; errors name the entry."""

import math
import reprlib
import sys
from collections.abc import Collection, Mapping

import numpy as np

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.model.joint_types import LARGEST_ANGLE
from robot_dynamics_ros.model.linear_algebra import determinant
from robot_dynamics_ros.model.model import JointLimits
from robot_dynamics_ros.model.rotations import SHORTEST_AXIS, nearest_rotation, rotation_error, unit

MAX_NAME = 256  # characters
LARGEST_NUMBER = 1e30  # m, kg, rad, ...: products and sums of such numbers are still finite
ROTATION_TOLERANCE = 1e-6  # of R' R: numbers that were printed with six decimals


def shown(value) -> str:
    """Return a value as text for an error message, at most 80 characters."""
    try:
        return reprlib.repr(value)[:80]
    except ValueError:  # an integer with more digits than Python prints
        return f'{type(value).__name__} beyond printing'


def table(where: str, value, known: Collection[str] | None = None, needed: Collection[str] = ()) -> Mapping:
    """Return a mapping that has all keys of ``needed`` and only ``known`` ones (None: any); ModelError otherwise."""
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
    """Return whether a text is a valid name: not blank, printable and of limited length, since logs show it."""
    return 0 < len(text) <= MAX_NAME and text.isprintable() and not text.isspace()


def name(where: str, value) -> str:
    """Return a name; ModelError unless ``is_name``."""
    if not isinstance(value, str) or not is_name(value):
        raise ModelError(f'{where}: expected a name, got {shown(value)} (up to {MAX_NAME} printable characters)')
    return value


def choice(where: str, value, known: Collection[str]) -> str:
    """Return one of the words ``known``; ModelError otherwise."""
    if not isinstance(value, str) or value not in known:
        raise ModelError(f'{where}: expected one of {", ".join(known)}, got {shown(value)}')
    return value


def number(where: str, value, least: float = -math.inf, above: float = -math.inf, most: float = math.inf) -> float:
    """Return a finite number from ``least`` to ``most`` that is greater than ``above``; ModelError otherwise."""
    found = float(array(where, value, ()))
    if found < least:
        raise ModelError(f'{where}: expected at least {least:g}, got {shown(value)}')
    if found <= above:
        raise ModelError(f'{where}: expected more than {above:g}, got {shown(value)}')
    if found > most:
        raise ModelError(f'{where}: expected at most {most:g}, got {shown(value)}')
    return found


def limits(where: str, given: Mapping) -> dict[str, float]:
    """Return lower, upper, velocity and effort limit of a table, NaN where missing; a limit of 0 is unknown, too.

    Position limits may be infinite, and are where they are beyond all positions (``LARGEST_ANGLE``). Raises ModelError
    for anything but numbers, and for only one of lower and upper.
    """
    found = {}
    for field in JointLimits._fields:
        value = given.get(field, math.nan)
        if not _fits(value, ()) or (isinstance(value, int) and abs(value) > sys.float_info.max):
            raise ModelError(f'{where}: {field}: expected a number, got {shown(value)}')
        found[field] = float(value)
    if math.isnan(found['lower']) != math.isnan(found['upper']):
        raise ModelError(f'{where}: lower and upper: expected both or none')
    for field in ('lower', 'upper'):
        if abs(found[field]) > LARGEST_ANGLE:
            found[field] = math.copysign(math.inf, found[field])
    for field in ('velocity', 'effort'):
        found[field] = found[field] if 0.0 < found[field] < math.inf else math.nan
    return found


def array(where: str, value, shape: tuple[int, ...]) -> np.ndarray:
    """Return numbers as an array of this shape; ModelError unless all are finite and at most 1e30 in magnitude."""
    if _fits(value, shape):
        try:
            found = np.array(value, float)
            if (abs(found) <= LARGEST_NUMBER).all():  # False for NaN
                return found
        except OverflowError:  # an integer larger than every float
            pass
    expected = 'a finite number' if not shape else f'finite numbers of shape {shape}'
    raise ModelError(f'{where}: expected {expected} up to {LARGEST_NUMBER:g}, got {shown(value)}')


def rotation(where: str, value) -> np.ndarray:
    """Return the rotation (3, 3) nearest to a matrix R; ModelError unless R R' = 1 to 1e-6 and det R > 0.

    What is a rotation up to rounding stays as it is, to the bit.
    """
    found = array(where, value, (3, 3))
    if rotation_error(found) > ROTATION_TOLERANCE or determinant(found) < 0.0:
        raise ModelError(f'{where}: expected a rotation matrix, got {shown(value)}')
    return nearest_rotation(found)


def pose(where: str, value) -> np.ndarray:
    """Return a homogeneous pose (4, 4; m); ModelError unless it has a rotation and the last row 0 0 0 1."""
    found = array(where, value, (4, 4))
    found[:3, :3] = rotation(where, found[:3, :3])
    if found[3].tolist() != [0.0, 0.0, 0.0, 1.0]:
        raise ModelError(f'{where}: expected the last row 0 0 0 1, got {shown(value)}')
    return found


def direction(where: str, value) -> np.ndarray:
    """Return the unit vector (3,) along a vector; ModelError for a zero vector."""
    found = array(where, value, (3,))
    if math.hypot(*found) < SHORTEST_AXIS:
        raise ModelError(f'{where}: the axis has no direction, got {shown(value)}')
    return unit(found)


def is_masked(value) -> bool:
    """Return whether ``value`` is a masked array; numpy.ma is not imported for those who have none."""
    masked = sys.modules.get('numpy.ma')
    return isinstance(value, getattr(masked, 'MaskedArray', ()))  # without it while another thread imports it


def _fits(value, shape: tuple[int, ...]) -> bool:
    """Return whether nested lists hold numbers in this shape; stop at the first mismatch in huge lists."""
    if not shape:
        return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if is_masked(value):
        return False  # a masked number is none
    if isinstance(value, np.ndarray):
        return value.shape == shape and value.dtype.kind in 'iuf'
    return isinstance(value, list | tuple) and len(value) == shape[0] and all(_fits(part, shape[1:]) for part in value)
