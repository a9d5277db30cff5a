"""A folder of the package and of the tests can be read at a glance."""

from support.project.project_files import PACKAGE, ROOT

MOST_MODULES = 20
ONE_FOR_EACH_ALGORITHM = PACKAGE / 'kernels'


def modules(folder) -> list:
    return [path for path in folder.glob('*.py') if path.name not in ('__init__.py', 'conftest.py')]


def test_a_folder_has_at_most_twenty_modules():
    inside = (folder for root in (PACKAGE, ROOT / 'test') for folder in (root, *root.rglob('*/')))
    found = {folder: len(modules(folder)) for folder in inside}
    assert found.pop(ONE_FOR_EACH_ALGORITHM) > MOST_MODULES
    assert sum(found.values()) > 500
    assert {folder: count for folder, count in found.items() if count > MOST_MODULES} == {}
