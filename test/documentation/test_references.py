"""What docstrings, comments and the pages on this code name exists: names in double or single backticks."""

import re

from support.project.project_files import INTERFACES, PACKAGE, ROOT

import pytest

PAGES = ('CONTRIBUTING.md', 'doc/architecture.md', 'doc/concepts/compiled_code.md')
OTHERS = {
    *('getMountingPose', 'getPayload', 'jtraj', 'maxInitialPeersRange', 'pyaubo_sdk'),
    *('__dict__', 'E_i', 'I_A_i', 'X_i', 'r_i'),
}
"""Names of other packages, and symbols of equations."""
INSTANCES = {'joints', 'robot'}
"""Modules whose name before a dot is mostly that of an object."""


COMMENTS = re.compile(r'^ *""".*?"""|^ *#.*?$', re.DOTALL | re.MULTILINE)


def words_of(path) -> set[str]:
    """Return the words of a file, those of Python without docstrings and lines of comments."""
    text = path.read_text(encoding='utf-8')
    return set(re.findall(r'\w+', COMMENTS.sub('', text) if path.suffix == '.py' else text))


@pytest.fixture(scope='module')
def words():
    """The words of each module of the package by its name, and all words of the project's code and file names."""
    modules: dict[str, set[str]] = {}
    for path in PACKAGE.rglob('*.py'):
        modules.setdefault(path.stem, set()).update(words_of(path))
    for folder in PACKAGE.rglob('*/'):
        if folder.name in modules:
            modules[folder.name].update(path.stem for path in folder.iterdir())
    folders = (
        PACKAGE,
        INTERFACES,
        *(ROOT / name for name in ('config', 'launch', 'scripts', 'robot_dynamics_controllers')),
    )
    suffixes = {'', '.c', '.cpp', '.hpp', '.in', '.msg', '.pyi', '.srv', '.xml', '.yaml'}
    files = [path for folder in folders for path in folder.rglob('*') if path.is_file() and path.suffix in suffixes]
    files += [
        ROOT / 'setup.py',
        *(ROOT / 'test' / 'support').rglob('*.py'),
        *(ROOT / 'scripts' / 'programs').glob('*.py'),
    ]
    every = set().union(*modules.values(), *map(words_of, files), modules)
    every |= {folder.name for folder in PACKAGE.rglob('*') if folder.is_dir()}
    every |= {part.partition('.')[0] for path in (ROOT / 'test').rglob('*') for part in path.relative_to(ROOT).parts}
    return modules, every


def stale(text: str, quote: str, modules, every) -> list[str]:
    """Return names in a text that nothing has: with an underscore or a dot, since others may be words."""
    found = []
    for name in re.findall(rf'(?<!`){quote}([A-Za-z_][\w.]*)(?:\(\))?{quote}(?!`)', text):
        *owner, last = name.split('.')
        if owner and owner[-1] in modules and owner[-1] not in INSTANCES:
            known = modules[owner[-1]] | {'py', 'yaml', 'xml'}
        else:
            known = every
        if ('_' in name or owner) and last not in known | OTHERS:
            found.append(name)
    return found


@pytest.mark.parametrize('folder', sorted(path.name for path in PACKAGE.iterdir() if path.is_dir()))
def test_what_docstrings_name_exists(folder, words):
    found = {
        str(path.relative_to(PACKAGE)): names
        for path in (PACKAGE / folder).rglob('*.py')
        if (names := stale(path.read_text(encoding='utf-8'), '``', *words))
    }
    assert found == {}


@pytest.mark.parametrize('page', PAGES)
def test_what_pages_on_the_code_name_exists(page, words):
    assert stale((ROOT / page).read_text(encoding='utf-8'), '`', *words) == []


def test_a_name_that_nothing_has_is_found(words):
    text = 'see ``program.no_such_name``, ``program.program_of``, ``no_such_name`` and ``load_robot``'
    assert stale(text, '``', *words) == ['program.no_such_name', 'no_such_name']
