"""Input is never executed: the only places of the package that execute code, each with its reason."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / 'robot_dynamics_ros'

# Names that turn text or data into something that runs, and modules that do.
FUNCTIONS = {'eval', 'exec', 'compile', '__import__', 'breakpoint', 'input'}
MODULES = {
    'code', 'codeop', 'ctypes', 'dill', 'importlib', 'joblib', 'marshal', 'multiprocessing', 'pickle', 'pkgutil', 'pty',
    'runpy', 'shelve', 'subprocess', 'zipimport',
}  # fmt: skip
OF_MODULES = {
    'os': {'system', 'popen', 'startfile', 'fork', 'forkpty', 'posix_spawn', 'posix_spawnp'}
    | {f'{kind}{how}' for kind in ('exec', 'spawn') for how in ('l', 'le', 'lp', 'lpe', 'v', 've', 'vp', 'vpe')},
    'numpy': {'load', 'fromregex'},
    'yaml': {'full_load', 'full_load_all', 'unsafe_load', 'unsafe_load_all', 'load_all', 'Loader', 'FullLoader',
             'UnsafeLoader', 'CLoader', 'CFullLoader', 'CUnsafeLoader', 'load', 'add_constructor', 'YAMLObject'},
    'asyncio': {'create_subprocess_exec', 'create_subprocess_shell'},
}  # fmt: skip

ALLOWED = {  # (file, what): why
    ('jit/fused_multiply_add.py', 'exec'): "a kernel of this package's own source files, its sums of products fused",
    ('jit/fused_multiply_add.py', 'compile'): 'the same kernel',
    ('codegen/compiled_calls.py', 'ctypes'): 'the code of a kernel, at an address that this package gives',
    ('codegen/library_build.py', 'importlib'): 'modules of this package that declare compiled functions',
    ('codegen/library_build.py', 'multiprocessing'): 'functions of that file, while the package is built',
    ('codegen/library_build.py', 'subprocess'): 'the C compiler, while the package is built, no shell',
    ('native/library.py', 'subprocess'): 'that build in a working tree whose sources were edited, no shell',
    ('formats/public_descriptions.py', 'importlib'): 'a module that robot_descriptions lists, for a name of a user',
    ('identification/__init__.py', 'importlib'): 'modules of this package, by the table beside it',
    ('nodes/process/realtime.py', 'ctypes'): 'mlockall of the C library that is loaded already',
    ('nodes/executables/__init__.py', 'importlib'): 'whether packages of ROS 2 are installed',
    ('tools/needed_packages.py', 'importlib'): 'packages that compare and replay name',
    ('nodes/process/server_process.py', 'subprocess'): 'this program with its own arguments, no shell',
    ('tools/processes.py', 'subprocess'): 'nodes of this package, a list of arguments, no shell',
    ('nodes/lifecycle/parameter_definitions.py', 'yaml.load'): 'a file of this package, with a SafeLoader',
    ('formats/yaml_files/untrusted_yaml.py', 'yaml.load'): 'with _PlainLoader, a SafeLoader: see below',
}


def uses(tree: ast.AST):
    """Yield what a file has that executes or loads code: (name, node)."""
    aliases = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                aliases[alias.asname or alias.name.partition('.')[0]] = alias.name
                if alias.name.partition('.')[0] in MODULES:
                    yield alias.name.partition('.')[0], node
        elif isinstance(node, ast.ImportFrom):
            top = node.module.partition('.')[0]
            if top in MODULES:
                yield top, node
            for alias in node.names:
                if alias.name in OF_MODULES.get(node.module, ()) or alias.name == '*':
                    yield f'{node.module}.{alias.name}', node
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in FUNCTIONS:
            yield node.id, node
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = aliases.get(node.value.id, '')
            if node.attr in OF_MODULES.get(module, ()) or (module == 'builtins' and node.attr in FUNCTIONS):
                yield f'{module}.{node.attr}', node
        elif isinstance(node, ast.keyword) and node.arg in ('shell', 'allow_pickle') and not is_false(node.value):
            yield f'{node.arg}=', node.value


def is_false(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def found() -> dict:
    """Return every use in the package: (file, what): lines."""
    lines: dict = {}
    for path in PACKAGE.rglob('*.py'):
        for what, node in uses(ast.parse(path.read_text(encoding='utf-8'))):
            lines.setdefault((path.relative_to(PACKAGE).as_posix(), what), []).append(node.lineno)
    return lines


def test_code_is_executed_only_in_the_listed_places():
    lines = found()
    assert {place: where for place, where in lines.items() if place not in ALLOWED} == {}
    assert set(ALLOWED) - set(lines) == set(), 'allowed, but no longer there'
    once = {place for place in ALLOWED if place[1] in FUNCTIONS or '.' in place[1]}
    assert {place: lines[place] for place in once if len(lines[place]) > 1} == {}


@pytest.mark.parametrize(
    ('code', 'what'),
    [
        ('eval(text)', 'eval'),
        ('f = exec', 'exec'),
        ('import builtins\nbuiltins.eval(text)', 'builtins.eval'),
        ('__import__(name)', '__import__'),
        ('import importlib', 'importlib'),
        ('from importlib import import_module', 'importlib'),
        ('import pickle as p', 'pickle'),
        ('import os\nos.system(text)', 'os.system'),
        ('import os as o\no.execvp(a, b)', 'os.execvp'),
        ('from os import popen', 'os.popen'),
        ('from os import *', 'os.*'),
        ('run(text, shell=True)', 'shell='),
        ('run(text, shell=flag)', 'shell='),
        ('import numpy as np\nnp.load(path)', 'numpy.load'),
        ('read(path, allow_pickle=True)', 'allow_pickle='),
        ('import yaml\nyaml.load(text, yaml.SafeLoader)', 'yaml.load'),
        ('import yaml\nyaml.unsafe_load(text)', 'yaml.unsafe_load'),
    ],
)
def test_the_check_finds_what_executes(code, what):
    assert what in [name for name, _ in uses(ast.parse(code))]


def test_what_executes_nothing_is_let_through():
    code = 'import re\nre.compile(text)\nself.compile(x)\nrun(text, shell=False)\nimport yaml\nyaml.safe_load(text)'
    assert list(uses(ast.parse(code))) == []


def test_yaml_is_loaded_by_a_safe_loader():
    tree = ast.parse((PACKAGE / 'formats' / 'yaml_files' / 'untrusted_yaml.py').read_text(encoding='utf-8'))
    (bases,) = (node.bases for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == '_PlainLoader')
    assert [ast.unparse(base) for base in bases] == ['yaml.SafeLoader']
    (load,) = (node for what, node in uses(tree) if what == 'yaml.load')
    (call,) = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.func is load)
    assert ast.unparse(call) == 'yaml.load(text, Loader=_PlainLoader)'


@pytest.mark.parametrize('file', ['nodes/process/server_process.py', 'tools/processes.py'])
def test_processes_are_started_with_a_list_of_arguments(file):
    tree = ast.parse((PACKAGE / file).read_text(encoding='utf-8'))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)
             and ast.unparse(node.func).startswith('subprocess.')]  # fmt: skip
    assert [(ast.unparse(call.func), type(call.args[0])) for call in calls] == [('subprocess.Popen', ast.List)]
