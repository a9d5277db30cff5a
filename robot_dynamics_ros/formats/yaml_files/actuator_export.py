"""Export of a model's actuator file: quantities that a URDF cannot hold, as ``actuators.with_actuators`` reads them."""

import numpy as np

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.yaml_files.actuators import COUPLING
from robot_dynamics_ros.model.model import Model

OF_A_URDF = ('viscous', 'coulomb')
"""Friction that a URDF has elements for: damping and friction of a joint."""


def actuators_of(model: Model) -> str:
    """Return the actuator file of a model as YAML text.

    A quantity is left out where it is unknown for a joint. Raises ModelError naming a joint whose coordinates differ in
    a quantity: the file has one number for a joint.
    """
    import yaml  # noqa: PLC0415  (slow to import)

    arrays = model.arrays
    columns = {
        **model.actuators._asdict(),
        'rotor_inertia': arrays.rotor[1:],
        'rotor_direction': np.sign(arrays.spin[1:]),
        **{f'friction_{name}': it for name, it in model.friction._asdict().items() if name not in OF_A_URDF},
    }
    first = arrays.first[1:] - 1
    tables: dict[str, dict[str, float]] = {}
    for quantity, column in columns.items():
        parts = np.split(np.asarray(column, float), first[1:-1])
        for joint, part in zip(model.joint_names, parts, strict=True):
            if (part != part[0]).any() and not np.isnan(part).all():
                raise ModelError(f'joint {joint!r}: an actuator file has one {quantity} a joint, got {part.tolist()}')
        if not np.isnan(column).any():
            tables[quantity] = {joint: float(part[0]) for joint, part in zip(model.joint_names, parts, strict=True)}
    coupling: dict[str, dict[str, float]] = {
        joint.name: dict(joint.motor_coupling) for joint in model.joints if joint.motor_coupling
    }
    return yaml.safe_dump(tables | ({COUPLING: coupling} if coupling else {}), sort_keys=False)
