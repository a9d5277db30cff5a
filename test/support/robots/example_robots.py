"""Where the package example-robot-data has its URDFs."""

from importlib.metadata import PackageNotFoundError, files

import pytest


def example_urdfs() -> list[str]:
    """Return the paths of all URDFs; whoever asks is skipped where the package is not installed."""
    try:
        found = files('example-robot-data')
    except PackageNotFoundError:
        pytest.skip('the robots (package example-robot-data) are not installed', allow_module_level=True)
    return sorted(str(path.locate()) for path in found if path.suffix == '.urdf')
