"""The residual torque model that a node's parameter names."""

from robot_dynamics_ros.control.terms.residual_torque import ResidualTorque
from robot_dynamics_ros.formats.yaml_files.residual_yaml import read_residual
from robot_dynamics_ros.model.residual import ResidualModel


def residual_of(node) -> ResidualModel | None:
    """Return the model in the file that the parameter residual_file of ``node`` names, None for ''."""
    path = node.value('residual_file')
    return read_residual(path) if path else None


def check_residual_file(node, path: str) -> None:
    """Raise DynamicsError where ``path`` is no residual of the robot of ``node``; '' is none."""
    if path:
        ResidualTorque(node.robot, read_residual(path))
