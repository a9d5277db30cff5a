"""The robots that come with the package, found with or without a ROS installation."""

from pathlib import Path

from robot_dynamics_ros.errors import ModelError, UnknownNameError
from robot_dynamics_ros.formats.actuators import with_actuators
from robot_dynamics_ros.formats.urdf import model_from_urdf
from robot_dynamics_ros.model.model import Model

_PACKAGE = 'robot_dynamics_ros'


def share_folder(package_file: str | Path = __file__) -> Path:
    """Return the folder with ``urdf/`` and ``config/``: the source tree or <prefix>/share/robot_dynamics_ros.

    ``package_file`` is a file two levels below the one that holds the package. ModelError if there is none.
    """
    # colcon's --symlink-install leads back to the source tree
    parents = Path(package_file).resolve().parents
    for folder in (parents[2], *(parent / 'share' / _PACKAGE for parent in parents)):
        if (folder / 'urdf' / 'aubo_i5.urdf').is_file():  # a folder urdf/ alone could be anybody's
            return folder
    raise ModelError(f'no share folder of {_PACKAGE} beside {parents[1]}: is the package installed whole?')


def model_names() -> tuple[str, ...]:
    """Return the names that ``named_model`` knows."""
    return tuple(sorted(path.stem for path in (share_folder() / 'urdf').glob('*.urdf')))


def named_urdf(name: str) -> Path:
    """Return the URDF file of a robot; UnknownNameError lists the names that exist."""
    known = model_names()
    if name not in known:
        raise UnknownNameError(f'robot {name!r} does not come with the package; these do: {", ".join(known)}')
    return share_folder() / 'urdf' / f'{name}.urdf'


def named_model(name: str) -> Model:
    """Return the model of ``named_urdf``, with the actuators of ``config/<name>.yaml`` if there is that file.

    Raises UnknownNameError, which lists the names that exist.
    """
    model = model_from_urdf(named_urdf(name))
    actuators = share_folder() / 'config' / f'{name}.yaml'
    return with_actuators(model, actuators) if actuators.is_file() else model
