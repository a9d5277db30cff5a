"""Shapes of links of a description in any format."""

from pathlib import Path

from robot_dynamics_ros.formats.description import format_of, urdf_of_description
from robot_dynamics_ros.formats.description_path import description_path
from robot_dynamics_ros.tools.figures.mjcf_shapes import shapes_from_mjcf
from robot_dynamics_ros.tools.figures.sdf_shapes import shapes_from_sdf
from robot_dynamics_ros.tools.figures.shapes import LeftOut, Shapes
from robot_dynamics_ros.tools.figures.urdf_shapes import shapes_from_urdf


def shapes_of(description: str | Path, tag: str = 'visual') -> Shapes:
    """Return the shapes of all links: those of ``tag``, 'visual' or 'collision'.

    ``description`` is a path, text or URI of a URDF, SDF or MJCF, or the name of a robot of the package; a YAML file
    has no shapes. Raises ModelError for a description that cannot be read; UnknownNameError.
    """
    text = description_path(str(description))
    match format_of(text):
        case 'sdf':
            return shapes_from_sdf(text, tag)
        case 'mjcf':
            return shapes_from_mjcf(text, tag)
        case 'yaml':
            return Shapes([], [LeftOut('', f'{text:.200}: a YAML file has no shapes')])
    return shapes_from_urdf(str(urdf_of_description(text)), tag)
