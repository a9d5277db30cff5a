"""A payload as YAML, in both directions.

frame: ee_link                # link or frame that carries it
mass: 2.0                     # kg
com: [0.0, 0.0, 0.05]         # m, centre of mass in the frame
inertia: {ixx: 0.01, iyy: 0.01, izz: 0.004, ixy: 0.0, ixz: 0.0, iyz: 0.0}   # kg m^2, about the centre of mass
"""

from pathlib import Path

import numpy as np
import yaml

from robot_dynamics_ros.dynamics.bodies import symmetric
from robot_dynamics_ros.dynamics.errors import ModelError
from robot_dynamics_ros.dynamics.jit import write_at_once
from robot_dynamics_ros.importers import figures
from robot_dynamics_ros.importers.reading import parsed_yaml, read_text

_KEYS = ('frame', 'mass', 'com', 'inertia')
_INERTIA = {'ixx': (0, 0), 'iyy': (1, 1), 'izz': (2, 2), 'ixy': (0, 1), 'ixz': (0, 2), 'iyz': (1, 2)}


def read_payload(path: str | Path) -> tuple[str, float, np.ndarray, np.ndarray] | None:
    """Return frame, mass (kg), centre (3, m) and inertia about it (3, 3; kg m^2); None where there is no file.

    Whether a body can have them is not looked at. Raises ModelError naming the key.
    """
    try:
        text = read_text(path)
    except ModelError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return None
        raise
    content = figures.table('payload', parsed_yaml(text), _KEYS, _KEYS)
    inertia = figures.table('inertia', content['inertia'], _INERTIA, _INERTIA)
    upper = [figures.number(f'inertia: {key}', inertia[key]) for key in ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')]
    return (
        figures.name('frame', content['frame']),
        figures.number('mass', content['mass']),
        figures.array('com', content['com'], (3,)),
        symmetric(upper),
    )


def write_payload(path: str | Path, frame: str, mass: float, com, inertia: np.ndarray) -> None:
    """Write what ``read_payload`` returns; whoever reads meanwhile, or after a crash, finds the old or the new file.

    Raises ModelError where it can't be written.
    """
    content = {
        'frame': frame,
        'mass': mass,
        'com': [float(part) for part in com],
        'inertia': {key: float(inertia[place]) for key, place in _INERTIA.items()},
    }
    text = yaml.safe_dump(content, sort_keys=False, default_flow_style=None, allow_unicode=True)
    try:
        write_at_once(Path(path), text.encode(), lasting=True)
    except OSError as error:
        raise ModelError(f'cannot be written: {error}') from error
