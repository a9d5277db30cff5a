"""Generated modules: Python files that are kept beside compiled code and checked before they run."""

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from robot_dynamics_ros.jit.cache import private_folder, sealed_content, write_sealed


def generated_module(folder: Path, name: str, write: Callable[[], str]) -> ModuleType:
    """Return the module ``name`` of a folder in the cache; ``write`` returns its source where no valid file is there.

    Where the file cannot be written, the compiled code of the module serves this process only.
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
    sys.modules[module.__name__] = module  # where Numba looks for the globals of code that it loads from disk
    exec(compile(b'\n' + source, where, 'exec'), vars(module))  # its first line is the seal
    return module
