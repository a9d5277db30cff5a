"""Reads any description of a robot: its name, path or URI of a URDF, SDF, MJCF or YAML file, text of URDF or SDF."""

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.formats.description_path import description_path
from robot_dynamics_ros.formats.library import named_model, named_urdf
from robot_dynamics_ros.formats.mjcf import inertials_from_mjcf, model_from_mjcf
from robot_dynamics_ros.formats.public_descriptions import is_public_description, public_description
from robot_dynamics_ros.formats.sdf.sdf import inertials_from_sdf, model_from_sdf
from robot_dynamics_ros.formats.untrusted_text import plain_xml, read_text
from robot_dynamics_ros.formats.urdf import Inertial, inertials_from_urdf, model_from_urdf
from robot_dynamics_ros.formats.xacro import arguments_as_text, is_xacro, urdf_of_xacro, xacro_command
from robot_dynamics_ros.formats.yaml_files.loops_yaml import with_loops_file
from robot_dynamics_ros.formats.yaml_files.model_yaml import model_from_yaml
from robot_dynamics_ros.model.model import GRAVITY, Model

FORMATS = {'.urdf': 'urdf', '.sdf': 'sdf', '.world': 'sdf', '.mjcf': 'mjcf', '.yaml': 'yaml', '.yml': 'yaml'}
"""Format of a file by its suffix; that of an .xml file is seen in it."""


def found_description(description: str | Path, xacro_arguments: Mapping[str, str | float] | None = None) -> str:
    """Return a description that ``model_from_description`` reads for one that a user names.

    A xacro file becomes the text of a URDF, and a name that ends with _description the file, or the text, that the
    Python package robot_descriptions has; what else there is stays as it is. Expressions of xacro files are evaluated,
    and robot_descriptions clones repositories: this is for commands, launch files and programs of users, not for nodes.

    Parameters
    ----------
    description : str or Path
        Path or URI of a file, text of a URDF or SDF, name of a robot of the package or of robot_descriptions.
    xacro_arguments : mapping, optional
        Text or numbers by name, for a xacro file.

    Returns
    -------
    str

    Raises
    ------
    ModelError
        Where a Python package is missing, and for an error in a xacro file.
    UnknownNameError
        For a name that robot_descriptions does not have.
    ArgumentError
        For arguments without a xacro file, and for wrong ones.
    """
    text, arguments = str(description), arguments_as_text(xacro_arguments or {})
    if is_public_description(text):
        return public_description(text, arguments)
    if is_xacro(text):
        return urdf_of_xacro(text, arguments)
    if arguments:
        raise ArgumentError(f'xacro_args: the model is no xacro file: {text!r:.80}')
    return text


def model_from_description(
    description: str | Path, couple_mimics: bool = False, loops_file: str | Path | None = None
) -> tuple[Model, np.ndarray]:
    """Return model and gravity (3, m/s^2, base frame) of a description.

    ``couple_mimics`` and ``loops_file`` are those of ``model_from_urdf``. Text is that of a URDF or of an SDF: it
    contains '<', and names no files that are read. Raises ModelError; UnknownNameError lists the robots of the package.
    """
    text = description_path(str(description))
    if is_xacro(text):
        raise ModelError(f'{text}: expected a URDF; write one: {xacro_command(text, {})}')
    if is_public_description(text):
        raise ModelError(f'{text}: a node downloads none; start it by bringup.launch.py, or give the path of the file')
    found = format_of(text)
    if found == 'urdf' or (found == 'mjcf' and '<' in text):
        return model_from_urdf(text, couple_mimics=couple_mimics, loops_file=loops_file), np.array(GRAVITY)
    if found == 'yaml':
        model, gravity = model_from_yaml(Path(text))
    elif found == 'mjcf':
        model, gravity = model_from_mjcf(Path(text))
    elif found == 'sdf':
        model, gravity = model_from_sdf(text, couple_mimics)
    else:
        model, gravity = named_model(text), np.array(GRAVITY)
    if loops_file is None:
        return model, gravity
    if found == 'yaml' and (model.loops.all or model.loops.actuated):
        raise ModelError(f'{loops_file}: {text} has a section loops of its own; state all loops there')
    return with_loops_file(model, loops_file), gravity


def urdf_of_description(description: str | Path) -> str | None:
    """Return path or text of the URDF of a description, None for another format; UnknownNameError, ModelError."""
    text = description_path(str(description))
    found = format_of(text)
    if found == 'urdf':
        return text
    return None if found else str(named_urdf(text))


def inertials_of_description(description: str | Path) -> dict[str, Inertial] | None:
    """Return the inertials of links of a description as written, None for a YAML file; UnknownNameError, ModelError."""
    text = description_path(str(description))
    match format_of(text):
        case 'sdf':
            return inertials_from_sdf(text)
        case 'mjcf':
            return inertials_from_mjcf(text)
        case 'yaml':
            return None
    return inertials_from_urdf(str(urdf_of_description(text)))


def format_of(description: str) -> str:
    """Return 'urdf', 'sdf', 'mjcf' or 'yaml', '' for the name of a robot; ModelError for a file that cannot be read."""
    if '<' in description:
        return _format_of_text(description)
    suffix = Path(description).suffix.lower()
    if suffix == '.xml':
        text = read_text(description)
        return 'mjcf' if re.search(r'<mujoco[\s/>]', text) else _format_of_text(text)
    return FORMATS.get(suffix, '')


def _format_of_text(text: str) -> str:
    """Return the format of a text by its first element."""
    first = re.search(r'<[^?!][^\s/>]*', plain_xml(text))
    return {'<sdf': 'sdf', '<mujoco': 'mjcf'}.get('' if first is None else first[0], 'urdf')
