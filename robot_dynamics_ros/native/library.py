"""``kernels.<machine>.so``: the generic code of all robots, compiled by Numba when the package is built.

In a working tree, functions whose sources have changed are compiled again at their first use.
"""

import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

from robot_dynamics_ros.jit.sources import digest_of, name_of
from robot_dynamics_ros.native import call

LIBRARY = Path(__file__).with_name(f'kernels.{os.uname().machine}.so')
TREE = LIBRARY.parents[2]
"""The folder above the package: with ``setup.py`` a working tree, else one of installed packages."""


def address_of(function: Any) -> int | None:
    """Return the address of the code of a function or ``Kernel``, None if the library has no such function.

    ImportError names a function whose sources are others than those that the library was built from.
    """
    name = name_of(function)
    if name not in _functions():
        return None
    digest, address = _functions()[name]
    if digest != digest_of(function):
        if not (TREE / 'setup.py').exists():
            raise ImportError(
                f'{LIBRARY} was built from other sources than those of {function.__module__}.{function.__name__}: '
                'install robot_dynamics_ros again, or build it with colcon'
            )
        _build()
        digest, address = _functions()[name]
        if digest != digest_of(function):
            raise ImportError(f'the sources of {function.__module__}.{function.__name__} have changed: start again')
    return address


@cache
def _functions() -> dict[str, tuple[str, int]]:
    """Return the functions of the library by their names: digest, and address of the code for this processor."""
    if not LIBRARY.exists():
        raise ImportError(
            f'robot_dynamics_ros is not built, {LIBRARY} does not exist: call scripts/bootstrap in a clone'
        )
    return call.functions(str(LIBRARY), call.LEVEL)


def _build() -> None:
    """Compile what has changed in the working tree, and use it from now on."""
    # imported where the sources are edited only
    import subprocess  # noqa: PLC0415
    import tempfile  # noqa: PLC0415

    environment = {**os.environ, 'PYTHONPATH': str(TREE)}
    subprocess.run([sys.executable, '-m', 'robot_dynamics_ros.codegen.library_build'], env=environment, check=True)
    with tempfile.TemporaryDirectory(dir=LIBRARY.parent) as folder:
        fresh = Path(folder, LIBRARY.name)  # the system would find the old library by the same path
        os.link(LIBRARY, fresh)
        _functions().update(call.functions(str(fresh), call.LEVEL))
