"""A payload as YAML, in both directions.

frame: ee_link                # link or frame that carries it
mass: 2.0                     # kg
com: [0.0, 0.0, 0.05]         # m, centre of mass in the frame
inertia: {ixx: 0.01, iyy: 0.01, izz: 0.004, ixy: 0.0, ixz: 0.0, iyz: 0.0}   # kg m^2, about the centre of mass
start: 1700000000000000000    # ns, ROS time at which it was set; this and what follows may be left out
ramp_time: 0.5                # s of the change from before to it
before: []                    # what was carried at start: bodies, each with the four keys above
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.untrusted_text import parsed_yaml, read_text
from robot_dynamics_ros.jit.cache import write_at_once
from robot_dynamics_ros.model import checked
from robot_dynamics_ros.model.inertial_parameters import symmetric

_KEYS = ('frame', 'mass', 'com', 'inertia')
_RAMP = ('start', 'ramp_time', 'before')
_INERTIA = {'ixx': (0, 0), 'iyy': (1, 1), 'izz': (2, 2), 'ixy': (0, 1), 'ixz': (0, 2), 'iyz': (1, 2)}
MOST_BODIES = 100
"""In ``before``."""
LATEST = 1 << 63
"""ns: later times fit no message."""


class Body(NamedTuple):
    """A frame, mass (kg), centre (3, m) and inertia about it (3, 3; kg m^2); whether a body has them is not checked."""

    frame: str
    mass: float
    com: np.ndarray | tuple[float, ...]
    inertia: np.ndarray


class KeptPayload(NamedTuple):
    """A body that is carried, since when (ns), and the bodies that it replaces over ``ramp_time`` s."""

    body: Body
    start: int = 0
    ramp_time: float = 0.0
    before: tuple[Body, ...] = ()


def read_payload(path: str | Path) -> KeptPayload | None:
    """Return what a file holds; None where there is no file. Raises ModelError naming the key."""
    try:
        text = read_text(path)
    except ModelError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return None
        raise
    content = checked.table('payload', parsed_yaml(text), (*_KEYS, *_RAMP), _KEYS)
    before = content.get('before', [])
    if not isinstance(before, list) or len(before) > MOST_BODIES:
        raise ModelError(f'before: expected a list of at most {MOST_BODIES} bodies, got {checked.shown(before)}')
    start = content.get('start', 0)
    if not isinstance(start, int) or isinstance(start, bool) or not 0 <= start < LATEST:
        raise ModelError(f'start: expected a time in ns, got {checked.shown(start)}')
    return KeptPayload(
        _body(content),
        start,
        checked.number('ramp_time', content.get('ramp_time', 0.0), 0.0),
        tuple(
            _body(checked.table(f'before[{k}]', body, _KEYS, _KEYS), f'before[{k}]: ') for k, body in enumerate(before)
        ),
    )


def write_payload(path: str | Path, kept: KeptPayload) -> None:
    """Write what ``read_payload`` returns; whoever reads meanwhile, or after a crash, finds the old or the new file.

    Raises ModelError where it can't be written.
    """
    content = {
        **_table(kept.body),
        'start': kept.start,
        'ramp_time': kept.ramp_time,
        'before': [_table(body) for body in kept.before],
    }
    text = yaml.safe_dump(content, sort_keys=False, default_flow_style=None, allow_unicode=True)
    try:
        write_at_once(Path(path), text.encode(), lasting=True)
    except OSError as error:
        raise ModelError(f'cannot be written: {error}') from error


def _body(content, where: str = '') -> Body:
    inertia = checked.table(f'{where}inertia', content['inertia'], _INERTIA, _INERTIA)
    upper = [
        checked.number(f'{where}inertia: {key}', inertia[key]) for key in ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
    ]
    return Body(
        checked.name(f'{where}frame', content['frame']),
        checked.number(f'{where}mass', content['mass']),
        checked.array(f'{where}com', content['com'], (3,)),
        symmetric(upper),
    )


def _table(body: Body) -> dict:
    return {
        'frame': body.frame,
        'mass': float(body.mass),
        'com': [float(part) for part in body.com],
        'inertia': {key: float(body.inertia[place]) for key, place in _INERTIA.items()},
    }
