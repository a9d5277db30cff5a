"""Robots that are part of the package, with or without a ROS installation."""

from functools import lru_cache
from pathlib import Path

from robot_dynamics_ros.errors import ModelError, UnknownNameError, alternatives
from robot_dynamics_ros.formats.urdf import model_from_urdf
from robot_dynamics_ros.formats.yaml_files.actuators import with_actuators
from robot_dynamics_ros.model.model import Model

_PACKAGE = 'robot_dynamics_ros'


def share_folder(package_file: str | Path = __file__) -> Path:
    """Return the folder with ``urdf/`` and ``config/``: the source tree or <prefix>/share/robot_dynamics_ros.

    ``package_file`` is a file in a subfolder of the package. Raises ModelError if there is no such folder.
    """
    # resolve() follows colcon's --symlink-install to the source tree
    parents = Path(package_file).resolve().parents
    for folder in (parents[2], *(parent / 'share' / _PACKAGE for parent in parents)):
        if (folder / 'urdf' / 'aubo_i5.urdf').is_file():  # a folder urdf/ alone may belong to another package
            return folder
    raise ModelError(f'no share folder of {_PACKAGE} for {parents[1]}: the installation of the package is incomplete')


def model_names() -> tuple[str, ...]:
    """Return the names that ``named_model`` accepts."""
    return tuple(sorted(path.stem for path in (share_folder() / 'urdf').glob('*.urdf')))


def named_urdf(name: str) -> Path:
    """Return the URDF file of a robot; UnknownNameError lists the names that exist."""
    known = model_names()
    if name not in known:
        is_path = isinstance(name, str) and ('/' in name or Path(name).suffix)
        path = ', and is no path of a URDF, SDF, MJCF (.xml) or YAML file' if is_path else ''
        raise UnknownNameError(f'robot {name!r} is not part of the package{path}; {alternatives(name, known)}')
    return share_folder() / 'urdf' / f'{name}.urdf'


def named_model(name: str) -> Model:
    """Return the model of ``named_urdf`` with the actuators of ``config/<name>.yaml``, if that file exists.

    The files are read once in a process, and again after they have changed.
    """
    urdf, actuators = named_urdf(name), share_folder() / 'config' / f'{name}.yaml'
    files = (urdf, actuators) if actuators.is_file() else (urdf,)
    return _read(files, tuple(file.stat().st_mtime_ns for file in files))


@lru_cache(maxsize=8)
def _read(files: tuple[Path, ...], changed: tuple[int, ...]) -> Model:
    """Return the model of a URDF and, perhaps, an actuator file that were ``changed`` (ns) last then."""
    model = model_from_urdf(files[0])
    return with_actuators(model, files[1]) if files[1:] else model
