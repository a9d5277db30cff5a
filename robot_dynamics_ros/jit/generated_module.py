"""Generated Python modules in the cache of compiled code, verified before they are executed."""

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from robot_dynamics_ros.jit.cache import private_folder, sealed_content, write_sealed


def generated_module(folder: Path, name: str, write: Callable[[], str]) -> ModuleType:
    """Return the module ``name`` of a folder in the cache; ``write`` returns its source if there is no valid file.

    If the file cannot be written, the module's compiled code is not cached.
    """
    path = private_folder(folder) / f'{name}.py'
    where, source = str(path), sealed_content(path)
    if source is None:
        source = write().encode()
        try:
            write_sealed(path, source)
        except OSError as error:
            warnings.warn(f'{path}: {error}; compiled code is kept for this process only', stacklevel=2)
            where = f'<{name}>'
    module = ModuleType(f'{folder.name}_{name}')
    sys.modules[module.__name__] = module  # Numba finds the globals of cached code there
    exec(compile(b'\n' + source, where, 'exec'), vars(module))  # its first line is the seal
    return module
