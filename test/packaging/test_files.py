"""What package.xml, setup.py, launch files and documents promise holds for the files beside them."""

import ast
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

from support.project.project_files import INTERFACES, LAUNCH_FILES, PACKAGE, ROOT, SHELL_FILES

import pytest

# Python module: key of rosdep. A message package and rclpy are their own keys.
ROSDEP_KEYS = {
    'cbor2': 'python3-cbor2',
    'matplotlib': 'python3-matplotlib',
    'llvmlite': 'python3-numba',  # comes with it, each for one version of the other
    'numba': 'python3-numba',
    'numpy': 'python3-numpy',
    'scipy': 'python3-scipy',
    'sympy': 'python3-sympy',
    'yaml': 'python3-yaml',
}
# Without a key, or with one that only pip serves, which a release can't depend on: an extra of setup.py.
WITHOUT_KEY = {'casadi', 'jax', 'mujoco', 'plotly', 'robot_descriptions', 'rosbags', 'torch', 'trimesh', 'viser'}
OF_OTHERS = {'moveit_msgs'}  # whoever publishes its messages has it
# Module: distribution of the registry.
DISTRIBUTIONS = {'yaml': 'PyYAML', 'llvmlite': 'numba'}


@pytest.fixture(scope='module')
def manifest():
    return ElementTree.parse(ROOT / 'package.xml').getroot()


def test_manifest_and_setup_agree(manifest, setup_arguments):
    maintainer = manifest.find('maintainer')
    assert manifest.findtext('name') == setup_arguments['name']
    assert manifest.findtext('version') == setup_arguments['version']
    assert manifest.findtext('license') == setup_arguments['license']
    assert maintainer.text == setup_arguments['maintainer']
    assert maintainer.get('email') == setup_arguments['maintainer_email']
    assert manifest.findtext('export/build_type') == 'ament_python'


def distributions(requirements):
    """Names of a list of requirements."""
    return {re.match(r'[\w-]+', requirement)[0] for requirement in requirements}


def test_pip_brings_what_the_library_imports_and_extras_bring_the_rest(setup_arguments):
    library = distributions(setup_arguments['install_requires'])
    extras = {name: distributions(given) for name, given in setup_arguments['extras_require'].items()}
    assert library == {'numpy', 'numba', 'PyYAML'}
    assert extras == {
        'sim': {'mujoco', 'scipy'},
        'plot': {'matplotlib', 'plotly'},
        'view': {'pycollada', 'trimesh', 'viser'},
        'bag': {'rosbags', 'scipy'},
        'identify': {'plotly', 'rosbags', 'scipy'},
        'aubo': {'cbor2'},
        'symbolic': {'sympy'},
        'xacro': {'xacro'},
        'descriptions': {'robot_descriptions', 'xacro'},
        'casadi': {'casadi'},
        'jax': {'jax'},
        'torch': {'torch'},
        'test': {'pytest'},
    }
    optional = set().union(*extras.values())
    for path in PACKAGE.rglob('*.py'):
        room = path.relative_to(PACKAGE).parts[0]
        needed = {DISTRIBUTIONS.get(module, module) for module in imported_packages(path)} & (optional | library)
        where = path.relative_to(ROOT)
        if room == 'simulation':
            assert needed <= library | extras['sim'], where
        elif room == 'identification':
            assert needed <= library | extras['bag'], where
        elif room == 'tools':
            assert needed <= library | optional, where
        elif room == 'aubo':
            assert needed <= library | extras['aubo'], where
        elif path.name in ('mjcf.py', 'compiled_mjcf.py'):
            assert needed <= library | {'mujoco'}, where
        elif path.name in ('xacro.py', 'public_descriptions.py'):
            assert needed <= library | extras['descriptions'], where
        elif path.name == 'global_form.py':
            assert needed <= library | {'scipy'}, where
        elif path.name == 'derivation.py':
            assert needed <= library | {'sympy'}, where
        elif path.name in ('casadi_export.py', 'casadi_function.py'):
            assert needed <= library | {'casadi'}, where
        elif path.name in ('jax_export.py', 'torch_export.py'):
            assert needed <= library | {path.stem.removesuffix('_export')}, where
        elif path.name == 'compiled_code.py':
            assert needed <= library | {'casadi', 'jax', 'torch'}, where
        else:
            assert needed <= library, where


def test_no_key_of_the_manifest_is_one_that_only_pip_serves(manifest):
    keys = [element.text for element in manifest if element.tag.endswith('depend')]
    assert len(keys) > 10
    assert [key for key in keys if key.endswith('-pip')] == []


def test_types_are_told_and_parameters_are_installed(setup_arguments):
    files = [
        'py.typed',
        'nodes/lifecycle/parameters.yaml',
        'nodes/process/*.xml',
        'native/call.pyi',
        'native/library.c',
        'native/run.h',
        'codegen/c/templates/*.in',
        'tools/templates/*.in',
        'tools/figures/templates/*.in',
    ]
    assert setup_arguments['package_data'] == {PACKAGE.name: files}
    assert all(any(PACKAGE.glob(name)) for name in files)


def test_both_packages_have_one_version_and_licence(manifest):
    interfaces = ElementTree.parse(INTERFACES / 'package.xml').getroot()
    for field in ('version', 'license', 'maintainer'):
        assert interfaces.findtext(field) == manifest.findtext(field)


def test_changelog_names_the_version(manifest):
    for folder in (ROOT, INTERFACES):
        text = (folder / 'CHANGELOG.rst').read_text(encoding='utf-8')
        assert manifest.findtext('version') in text
        assert f'Changelog for package {PACKAGE.name if folder == ROOT else INTERFACES.name}\n' in text


def test_every_licence_line_says_apache():
    assert 'Apache License\n                           Version 2.0' in (ROOT / 'LICENSE').read_text(encoding='utf-8')
    # In two parts, so that this line is not one of those it looks for.
    mark = 'SPDX-License-' + 'Identifier:'
    named = {}
    for folder in ('.ci', 'examples', 'fuzz', 'launch', INTERFACES, PACKAGE, 'scripts', 'test'):
        for path in (ROOT / folder).rglob('*'):
            if path.is_file() and path.suffix != '.pyc':
                text = path.read_text(encoding='utf-8', errors='replace')
                named[path] = set(re.findall(re.escape(mark) + r'\s*(\S+)', text))
    assert {path: licences for path, licences in named.items() if licences - {'Apache-2.0'}} == {}
    assert all(named[path] for path in SHELL_FILES)


def test_what_the_quality_declaration_points_to_exists():
    rows = [line for line in (ROOT / 'QUALITY_DECLARATION.md').read_text(encoding='utf-8').splitlines() if '|' in line]
    claims = [line.split('|')[-2] for line in rows[2:]]
    for claim in claims:
        named = [text for text in re.findall('`(.+?)`', claim) if text != 'ruff check']
        assert named or 'ruff' in claim, claim
        assert [text for text in named if not list(ROOT.glob(text))] == []
    assert len(claims) > 10


def test_every_executable_has_its_function(executables):
    for name, (module, function) in executables.items():
        path = ROOT / Path(*module.split('.')).with_suffix('.py')
        assert path.is_file(), f'{name}: no {path.relative_to(ROOT)}'
        tree = ast.parse(path.read_text(encoding='utf-8'))
        defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert function in defined, f'{name}: no {function}() in {path.relative_to(ROOT)}'


def test_all_modules_are_packaged(setup_arguments):
    folders = {path.parent.relative_to(ROOT) for path in PACKAGE.rglob('*.py')}
    assert {'.'.join(folder.parts) for folder in folders} == set(setup_arguments['packages'])


def test_data_files_exist_and_none_is_left_out(setup_arguments):
    installed = set()
    for target, sources in setup_arguments['data_files']:
        assert sources, f'{target}: its pattern matches no file'
        installed.update(ROOT / source for source in sources)
    assert all(path.is_file() for path in installed)
    kept = {path for folder in ('launch', 'config', 'urdf') for path in (ROOT / folder).rglob('*') if path.is_file()}
    kept = {path for path in kept if '__pycache__' not in path.parts}
    assert kept <= installed


def test_setup_registers_the_package_in_the_index(setup_arguments):
    # colcon would add a missing marker by itself; pip, and so scripts/bootstrap, would not.
    folder = 'share/ament_index/resource_index/packages'
    assert (folder, [f'resource/{PACKAGE.name}']) in setup_arguments['data_files']


def test_launch_files_exist():
    assert {'bringup.launch.py', 'demo.launch.py'} <= {path.name for path in LAUNCH_FILES}


@pytest.mark.parametrize('path', LAUNCH_FILES, ids=lambda path: path.name)
def test_what_a_launch_file_names_exists(path, executables):
    tree = ast.parse(path.read_text(encoding='utf-8'))
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    files = {text for text in texts if re.fullmatch(r'[\w.]+\.(launch\.py|yaml|urdf)', text)}
    assert files
    present = {file.name for folder in ('launch', 'config', 'urdf') for file in (ROOT / folder).iterdir()}
    assert files <= present
    started = {
        keyword.value.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg == 'executable' and isinstance(keyword.value, ast.Constant)
    }
    assert started <= set(executables)


def test_every_imported_package_is_declared(manifest):
    declared = {element.text for element in manifest.findall('exec_depend')}
    for path in PACKAGE.rglob('*.py'):
        for module in imported_packages(path) - WITHOUT_KEY - OF_OTHERS:
            key = ROSDEP_KEYS.get(module, module)
            assert key in declared, f'{path.relative_to(ROOT)} imports {module}; package.xml lacks {key}'


def imported_packages(path):
    """Return the names of all packages that a file imports and that neither Python nor this project brings."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f'{path}: relative import'
            names.add(node.module)
    top = {name.partition('.')[0] for name in names}
    return top - set(sys.stdlib_module_names) - {PACKAGE.name}
