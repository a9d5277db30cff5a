"""What package.xml, setup.py, the interface files and the scripts promise holds for the files beside them."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / 'robot_dynamics_ros'
INTERFACES = ROOT / 'robot_dynamics_interfaces'
SERVICES = sorted((INTERFACES / 'srv').glob('*.srv'))
MESSAGES = sorted((INTERFACES / 'msg').glob('*.msg'))
UNIT = r'in (rad|N m|kg|m\b|m/s|s\b)|no unit'
LAUNCH_FILES = sorted((ROOT / 'launch').glob('*.py'))
COMMANDS = [
    *(
        ROOT / 'scripts' / name
        for name in ('bootstrap', 'compatibility', 'demo', 'fuzz', 'generate', 'mutation', 'soak', 'test')
    ),
    ROOT / '.ci' / 'run',
]
SHELL_FILES = [*COMMANDS, ROOT / 'scripts' / 'environment.sh']

# Python module: key of rosdep. A message package and rclpy are their own keys.
ROSDEP_KEYS = {
    'defusedxml': 'python3-defusedxml',
    'matplotlib': 'python3-matplotlib',
    'llvmlite': 'python3-numba',  # comes with it, each for one version of the other
    'numba': 'python3-numba',
    'numpy': 'python3-numpy',
    'scipy': 'python3-scipy',
    'sympy': 'python3-sympy',
    'yaml': 'python3-yaml',
}
# Without a key, or with one that only pip serves, which a release can't depend on: an extra of setup.py.
WITHOUT_KEY = {'mujoco', 'plotly', 'rosbags', 'trimesh', 'viser'}
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
    assert library == {'numpy', 'numba', 'PyYAML', 'defusedxml'}
    assert extras == {
        'sim': {'mujoco', 'scipy'},
        'plot': {'matplotlib', 'plotly'},
        'view': {'pycollada', 'trimesh', 'viser'},
        'bag': {'rosbags', 'scipy'},
        'symbolic': {'sympy'},
        'test': {'pytest'},
    }
    optional = set().union(*extras.values())
    for path in PACKAGE.rglob('*.py'):
        room = path.relative_to(PACKAGE).parts[0]
        needed = {DISTRIBUTIONS.get(module, module) for module in imported_packages(path)} & (optional | library)
        where = path.relative_to(ROOT)
        if room == 'simulation':
            assert needed <= library | extras['sim'], where
        elif room == 'tools':
            assert needed <= library | optional, where
        elif path.name in ('mjcf.py', 'compiled_mjcf.py'):
            assert needed <= library | {'mujoco'}, where
        elif path.name == 'global_form.py':
            assert needed <= library | {'scipy'}, where
        elif path.name == 'derivation.py':
            assert needed <= library | {'sympy'}, where
        else:
            assert needed <= library, where


def test_no_key_of_the_manifest_is_one_that_only_pip_serves(manifest):
    keys = [element.text for element in manifest if element.tag.endswith('depend')]
    assert len(keys) > 10
    assert [key for key in keys if key.endswith('-pip')] == []


def test_types_are_told_and_parameters_are_installed(setup_arguments):
    files = ['py.typed', 'nodes/parameters.yaml', 'nodes/*.xml', 'tools/figure_page.html']
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


def test_changelog_of_the_interfaces_names_every_one():
    text = (INTERFACES / 'CHANGELOG.rst').read_text(encoding='utf-8')
    assert [path.stem for path in [*SERVICES, *MESSAGES] if not re.search(rf'\b{path.stem}\b', text)] == []


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
        for module in imported_packages(path) - WITHOUT_KEY:
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


def test_every_interface_is_generated():
    listed = set(re.findall(r'"(\w+/\w+\.(?:srv|msg))"', (INTERFACES / 'CMakeLists.txt').read_text(encoding='utf-8')))
    assert listed == {f'{path.parent.name}/{path.name}' for path in [*SERVICES, *MESSAGES]}
    assert {'GetMassMatrix', 'GetForwardDynamics', 'GetInverseDynamics'} <= {path.stem for path in SERVICES}


def test_every_package_of_a_field_is_declared():
    cmake = (INTERFACES / 'CMakeLists.txt').read_text(encoding='utf-8')
    manifest = ElementTree.parse(INTERFACES / 'package.xml').getroot()
    used = {
        found.group(1)
        for path in [*SERVICES, *MESSAGES]
        for found in re.finditer(r'^(\w+)/\w+ ', path.read_text(encoding='utf-8'), flags=re.MULTILINE)
    }
    assert used
    assert used == {element.text for element in manifest.findall('depend')}
    assert used == set(re.search(r'DEPENDENCIES ([\w ]+)', cmake).group(1).split())
    assert all(f'find_package({package} REQUIRED)' in cmake for package in used)


@pytest.mark.parametrize('path', [*SERVICES, *MESSAGES], ids=lambda path: path.stem)
def test_every_field_has_a_comment_with_order_and_unit(path):
    comment = ''
    fields = []
    for line in path.read_text(encoding='utf-8').splitlines():
        if line.startswith('#'):
            comment += line
            continue
        if line and line != '---':
            kind, name, *_ = line.split()
            fields.append(name)
            assert comment, f'{name} has no comment above it'
            if kind == 'float64[]':
                assert re.search(r'# (count x (6 x )?)?n( x n)?: ', comment), f'{name}: order of the numbers?'
            if kind.startswith('float64'):
                assert re.search(UNIT, comment), f'{name}: unit?'
        # A blank line, the divider or a field ends what a comment belongs to.
        comment = ''
    assert path in MESSAGES or {'success', 'message'} <= set(fields)
    # lists are in an order that the answer repeats
    assert 'float64[] ' not in path.read_text(encoding='utf-8') or 'joint_names' in fields


@pytest.mark.parametrize('path', SHELL_FILES, ids=lambda path: path.name)
def test_scripts_are_valid(path):
    assert subprocess.run(['bash', '-n', path], check=False).returncode == 0


@pytest.mark.parametrize('path', COMMANDS, ids=lambda path: path.name)
def test_commands_can_be_called(path):
    assert os.access(path, os.X_OK)
    assert path.read_text(encoding='utf-8').startswith('#!/usr/bin/env bash\n')


def test_bootstrap_points_to_a_section_that_exists():
    named = set(re.findall(r"README\.md, '([^']+)'", COMMANDS[0].read_text(encoding='utf-8')))
    headings = re.findall(r'^#+ (.+)$', (ROOT / 'README.md').read_text(encoding='utf-8'), flags=re.MULTILINE)
    assert named
    assert named <= set(headings)


@pytest.fixture
def bootstrap(tmp_path):
    return script(tmp_path, 'bootstrap')


@pytest.fixture
def compatibility(tmp_path):
    return script(tmp_path, 'compatibility')


def script(tmp_path, name):
    """Return what runs a script of a copy of the project that has no .venv, and returns its exit code and output."""
    clone = tmp_path / 'clone'
    shutil.copytree(ROOT, clone, ignore=shutil.ignore_patterns('.*', '__pycache__', 'build', 'install', 'log'))

    def run(*arguments, **variables):
        # Nothing may be fetched here, should a refusal not come.
        quiet = {'PATH': os.environ['PATH'], 'PIP_NO_INDEX': '1', 'PIP_FIND_LINKS': '', 'PIP_CONFIG_FILE': os.devnull}
        done = subprocess.run(
            [clone / 'scripts' / name, *arguments],
            env=quiet | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout

    run.folder = tmp_path
    return run


def stand_in(folder, name, answer):
    """Write a command that prints one line, whatever it is asked; return its path."""
    path = folder / name
    path.write_text(f'#!/bin/sh\necho {answer}\n', encoding='utf-8')
    path.chmod(0o755)
    return str(path)


def test_bootstrap_leaves_a_sourced_ros_alone(bootstrap):
    code, output = bootstrap(ROS_DISTRO='jazzy', AMENT_PREFIX_PATH='/opt/ros/jazzy')
    assert code == 1
    assert 'ROS 2 jazzy is sourced' in output
    assert 'README.md' in output


def test_bootstrap_refuses_another_processor(bootstrap):
    stand_in(bootstrap.folder, 'uname', 'Linux aarch64')
    code, output = bootstrap(PATH=f'{bootstrap.folder}:{os.environ["PATH"]}')
    assert code == 1
    assert 'x86-64 only' in output


def test_bootstrap_refuses_another_python(bootstrap):
    code, output = bootstrap(PYTHON=stand_in(bootstrap.folder, 'python', '3.14'))
    assert code == 1
    assert 'is Python 3.14' in output


def test_bootstrap_asks_for_a_compiler(bootstrap):
    code, output = bootstrap(CXX='no-such-compiler')
    assert code == 1
    assert "there is no 'no-such-compiler'" in output


def test_bootstrap_shows_the_log_of_a_failure_and_tries_again(bootstrap):
    for _ in range(2):
        code, output = bootstrap(PYTHON=sys.executable)
        assert code == 1
        assert 'No matching distribution found' in output
        assert 'failed while installing the requirements' in output


@pytest.mark.parametrize(
    ('user', 'apt_get', 'expected'),
    [
        (0, 'exit 0', 'installing Chromium'),
        (0, 'exit 100', 'Chromium could not be installed'),
        (1000, 'exit 0', 'no Chromium here'),
    ],
)
def test_bootstrap_installs_a_browser_where_it_can(bootstrap, user, apt_get, expected):
    tools, asked = bootstrap.folder / 'tools', bootstrap.folder / 'asked'
    tools.mkdir()
    for folder in ('/bin', '/usr/bin'):
        for path in Path(folder).iterdir():
            if 'chrom' not in path.name and not (tools / path.name).is_symlink():
                (tools / path.name).symlink_to(path)
    for name in ('apt-get', 'id'):
        (tools / name).unlink(missing_ok=True)
    stand_in(tools, 'id', user)
    stand_in(tools, 'apt-get', f'"$@" >> {asked}; {apt_get}')
    # a Python that makes no .venv, so that the run ends before anything is fetched
    code, output = bootstrap('--test', PYTHON=stand_in(bootstrap.folder, 'python', '3.11'), PATH=str(tools))
    assert code != 0
    assert 'failed while installing the requirements' in output
    assert expected in output
    assert ('apt-get install chromium' in output) == (expected != 'installing Chromium')
    calls = [line.split() for line in asked.read_text(encoding='utf-8').splitlines()] if asked.exists() else []
    wanted = [] if user else [['update'], ['chromium', 'fonts-dejavu-core']]
    assert [[word for word in call if word in ('update', 'chromium', 'fonts-dejavu-core')] for call in calls] == (
        wanted if apt_get == 'exit 0' else wanted[:1]
    )


def test_bootstrap_refuses_an_unknown_argument(bootstrap):
    code, output = bootstrap('--tests')
    assert code == 1
    assert "unknown argument '--tests'" in output


def test_compatibility_refuses_an_unknown_argument(compatibility):
    code, output = compatibility('oldest')
    assert code == 1
    assert "unknown argument 'oldest'" in output


@pytest.mark.parametrize('version', ['3.9', '3.12'])
def test_compatibility_refuses_a_python_without_the_oldest_numba(compatibility, version):
    code, output = compatibility(PYTHON_OLDEST=stand_in(compatibility.folder, 'python', version))
    assert code == 1
    assert f'is Python {version}' in output
    assert 'PYTHON_OLDEST=' in output
