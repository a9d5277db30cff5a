"""Import and export of a residual torque model as YAML.

model_digest: 0123456789abcdef      # of the robot that it was fitted to
joints:
  joint_1:                          # in the order of the robot
    gear_ratio: 101.0               # rad/rad, rad/m: motor rotation per joint displacement; 0 where unknown
    fastest: 1.2                    # rad/s, m/s: largest velocity that was fitted
    bound: 0.8                      # N m, N: largest magnitude of the torque
    weights: [0.1, ...]             # N m, N: of each feature, in the order of ``model.residual.FEATURES``
"""

from pathlib import Path

import numpy as np
import yaml

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.untrusted_text import read_text
from robot_dynamics_ros.formats.yaml_files.untrusted_yaml import parsed_yaml
from robot_dynamics_ros.jit.cache import write_at_once
from robot_dynamics_ros.model import untrusted_values
from robot_dynamics_ros.model.residual import ResidualModel

_KEYS = ('gear_ratio', 'fastest', 'bound', 'weights')
WEIGHTS = 13
"""Number of features."""


def read_residual(path: str | Path) -> ResidualModel:
    """Return the model of a file; ModelError naming the file, and the key that is wrong."""
    keys = ('model_digest', 'joints')
    try:
        content = untrusted_values.table('residual', parsed_yaml(read_text(path)), keys, keys)
        joints = untrusted_values.table('joints', content['joints'])
        names = tuple(untrusted_values.name('joints', joint) for joint in joints)
        rows = [untrusted_values.table(f'joints: {name}', joints[name], _KEYS, _KEYS) for name in names]
        places = list(zip(names, rows, strict=True))
        numbers = [
            [untrusted_values.number(f'joints: {name}: {key}', row[key], 0.0) for name, row in places]
            for key in _KEYS[:3]
        ]
        weights = [
            untrusted_values.array(f'joints: {name}: weights', row['weights'], (WEIGHTS,)) for name, row in places
        ]
        digest = untrusted_values.name('model_digest', content['model_digest'])
        gear_ratio, fastest, bound = map(np.array, numbers)
        return ResidualModel(digest, names, gear_ratio, fastest, bound, np.reshape(weights, (len(names), WEIGHTS)))
    except ModelError as error:
        raise ModelError(f'{path}: {error}') from error


def write_residual(path: str | Path, model: ResidualModel) -> None:
    """Write the file of ``read_residual``; ModelError if it cannot be written."""
    columns = zip(*(array.tolist() for array in model[2:]), strict=True)
    joints = {name: dict(zip(_KEYS, row, strict=True)) for name, row in zip(model.joint_names, columns, strict=True)}
    content = {'model_digest': model.model_digest, 'joints': joints}
    text = yaml.safe_dump(content, sort_keys=False, default_flow_style=None, allow_unicode=True)
    try:
        write_at_once(Path(path), text.encode(), lasting=True)
    except OSError as error:
        raise ModelError(f'{path}: cannot be written: {error}') from error
