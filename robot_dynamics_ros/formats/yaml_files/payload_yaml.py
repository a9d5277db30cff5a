"""Import and export of a payload as YAML.

frame: ee_link                # link or frame that it is fixed to
mass: 2.0                     # kg
com: [0.0, 0.0, 0.05]         # m, centre of mass in the frame
inertia: {ixx: 0.01, iyy: 0.01, izz: 0.004, ixy: 0.0, ixz: 0.0, iyz: 0.0}   # kg m^2, about the centre of mass
start: 1700000000000000000    # ns, ROS time at which it was set; optional, as all below
ramp_time: 0.5                # s, duration of the change from ``before`` to this payload
before: []                    # payloads before start, each with the four keys above
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.untrusted_text import read_text
from robot_dynamics_ros.formats.yaml_files.untrusted_yaml import parsed_yaml
from robot_dynamics_ros.jit.cache import write_at_once
from robot_dynamics_ros.model import untrusted_values
from robot_dynamics_ros.model.inertial_parameters import symmetric

_KEYS = ('frame', 'mass', 'com', 'inertia')
_RAMP = ('start', 'ramp_time', 'before')
_INERTIA = {'ixx': (0, 0), 'iyy': (1, 1), 'izz': (2, 2), 'ixy': (0, 1), 'ixz': (0, 2), 'iyz': (1, 2)}
MOST_BODIES = 100
"""Maximum length of ``before``."""
LATEST = 1 << 63
"""ns: limit of the time in a ROS message."""


class Body(NamedTuple):
    """A frame, mass (kg), centre (3, m) and inertia about it (3, 3; kg m^2); physical consistency is not checked."""

    frame: str
    mass: float
    com: np.ndarray | tuple[float, ...]
    inertia: np.ndarray


class KeptPayload(NamedTuple):
    """A payload, its start (ns), and the bodies that it replaces over ``ramp_time`` s."""

    body: Body
    start: int = 0
    ramp_time: float = 0.0
    before: tuple[Body, ...] = ()


def read_payload(path: str | Path) -> KeptPayload | None:
    """Return the payload of a file, None if there is no file. Raises ModelError naming the key."""
    try:
        text = read_text(path)
    except ModelError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return None
        raise
    content = untrusted_values.table('payload', parsed_yaml(text), (*_KEYS, *_RAMP), _KEYS)
    before = content.get('before', [])
    if not isinstance(before, list) or len(before) > MOST_BODIES:
        raise ModelError(
            f'before: expected a list of at most {MOST_BODIES} bodies, got {untrusted_values.shown(before)}'
        )
    start = content.get('start', 0)
    if not isinstance(start, int) or isinstance(start, bool) or not 0 <= start < LATEST:
        raise ModelError(f'start: expected a time in ns, got {untrusted_values.shown(start)}')
    return KeptPayload(
        _body(content),
        start,
        untrusted_values.number('ramp_time', content.get('ramp_time', 0.0), 0.0),
        tuple(
            _body(untrusted_values.table(f'before[{k}]', body, _KEYS, _KEYS), f'before[{k}]: ')
            for k, body in enumerate(before)
        ),
    )


def write_payload(path: str | Path, kept: KeptPayload) -> None:
    """Write the file of ``read_payload`` atomically, also with respect to a crash.

    Raises ModelError if it cannot be written.
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
    inertia = untrusted_values.table(f'{where}inertia', content['inertia'], _INERTIA, _INERTIA)
    upper = [
        untrusted_values.number(f'{where}inertia: {key}', inertia[key])
        for key in ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
    ]
    return Body(
        untrusted_values.name(f'{where}frame', content['frame']),
        untrusted_values.number(f'{where}mass', content['mass']),
        untrusted_values.array(f'{where}com', content['com'], (3,)),
        symmetric(upper),
    )


def _table(body: Body) -> dict:
    return {
        'frame': body.frame,
        'mass': float(body.mass),
        'com': [float(part) for part in body.com],
        'inertia': {key: float(body.inertia[place]) for key, place in _INERTIA.items()},
    }
