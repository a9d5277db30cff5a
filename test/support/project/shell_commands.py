"""What shell commands of the documentation name: files, executables, options, parameters, topics, services, types."""

import re
import runpy
import shlex
import sys
from argparse import ArgumentParser
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock
from xml.etree import ElementTree

from support.project.project_files import setup_arguments

import yaml

from robot_dynamics_ros.control.terms.compensation_policy import PRESETS
from robot_dynamics_ros.nodes.lifecycle.parameter_definitions import groups_by_node
from robot_dynamics_ros.tools import compare, demo, export_c, export_controller, identify, propose_gains, replay

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = 'robot_dynamics_ros'
SHARE = f'$(ros2 pkg prefix --share {PACKAGE})'
TRANSITIONS = ('configure', 'activate', 'deactivate', 'cleanup')
LAUNCH_MODULES = ('launch', 'launch.actions', 'launch.substitutions', 'launch_ros.actions', 'launch_ros.substitutions')
OF_CHOICE = {
    'feedforward_node': {'controller_state'},
    'gravity_compensation_node': {'position_commands'},
    'simulated_arm': {'position_commands'},
    'trajectory_effort_node': {'display_planned_path'},
}
"""Topics that only a parameter asks for."""
CONTROLLER = 'feedforward_effort_controller'


def commands(block: str) -> list[list[str]]:
    """Return the words of each command of a block, variables replaced and assignments before it left out."""
    text = re.sub(r'(^|\s)#.*$', r'\1', block.replace('\\\n', ' '), flags=re.MULTILINE).replace(
        SHARE, shlex.quote(str(ROOT))
    )
    lexer = shlex.shlex(text, posix=True, punctuation_chars=';&|\n')
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = ' \t', True, ''
    found: list[list[str]] = [[]]
    variables: dict[str, str] = {}
    for word in lexer:
        if not word.strip(';&|\n'):
            found.append([])
        elif not found[-1] and re.match(r'\w+=', word):
            name, _, variables[name] = word.partition('=')
        else:
            found[-1].append(re.sub(r'\$(\w+)', lambda variable: variables[variable[1]], word))
    return [words for words in found if words]


def check(words: list[str]) -> None:
    """Assert that what a command names exists."""
    name, arguments = words[0], words[1:]
    if name.startswith('scripts/'):
        script = ROOT / name
        tool = arguments[0] if arguments[:1] == ['compare'] else script.name  # scripts/demo compare
        more = (script.with_suffix('.py'), ROOT / PACKAGE / 'tools' / f'{tool}.py')
        text = ''.join(
            source.read_text(encoding='utf-8') for source in (script, *more) if source == script or source.is_file()
        )
        assert all(option.split('=')[0] in text for option in arguments if option.startswith('--')), words
    elif name in executables():
        check_executable(name.removeprefix('robot_dynamics_'), arguments)
    else:
        CHECKS[name](arguments)


def check_source(arguments: list[str]) -> None:
    assert arguments in (['install/setup.bash'], ['scripts/environment.sh'])
    assert (ROOT / 'scripts' / 'environment.sh').is_file()


def check_folders(arguments: list[str]) -> None:
    """For colcon and rosdep, which are told where the packages are in a workspace."""
    folders = [word for word in arguments if word.startswith(f'src/{PACKAGE}')]
    assert folders
    assert all((ROOT / Path(folder).relative_to(f'src/{PACKAGE}') / 'package.xml').is_file() for folder in folders)


def check_pip(arguments: list[str]) -> None:
    required = ''.join(path.read_text(encoding='utf-8') for path in (ROOT / 'requirements').glob('*.txt'))
    assert arguments.pop(0) == 'install'
    for what in arguments:
        extras = re.fullmatch(r'\.\[(.+)\]', what)
        assert set(extras[1].split(',')) <= set(setup_arguments()['extras_require']) if extras else what in required


def check_python(arguments: list[str]) -> None:
    option, module, *_ = arguments
    assert option == '-m' and find_spec(module), arguments


def check_ros2(arguments: list[str]) -> None:
    verb, *rest = arguments
    if verb == 'launch':
        package, file, *rest = rest
        if package == 'aubo_i5_controllers':
            return check_exported_launch(file, rest)
        assert package == PACKAGE
        check_launch(file, [word for word in rest if word != '--show-args'])
    elif verb == 'run':
        package, executable, *rest = rest
        if package in OTHERS:
            return check_files(rest)
        assert package == PACKAGE and executable in executables()
        check_executable(executable.removeprefix('robot_dynamics_'), rest)
    elif verb == 'topic':
        what, *rest = (word for word in rest if word not in ('--once', '--rate') and not word.isdigit())
        topics = all_topics()
        own = of_controller('create_publisher') if what == 'echo' else of_controller('subscribed')
        assert what in ('echo', 'pub') and {rest[0], rest[0].removeprefix('/')} & (topics | own)
        if what == 'pub':
            check_message(interface(rest[1]), yaml.safe_load(rest[2]))
    elif verb == 'service':
        what, service, kind, *request = rest
        node, name = service.removeprefix('/').split('/')
        known = f'~/{name}' in services_of(node) if node != CONTROLLER else service in of_controller('create_service')
        assert what == 'call' and known
        check_message(interface(kind).Request, yaml.safe_load(*request) if request else {})
    elif verb == 'lifecycle':
        what, node, transition = rest
        assert what == 'set' and node.removeprefix('/') in groups_by_node() and transition in TRANSITIONS, rest
    elif verb == 'bag':
        what, *rest = rest
        recorded = [word for word in rest if word[0] == '/']  # in any namespace
        assert what == 'record'
        assert all(any(word.endswith(f'/{topic}') for topic in all_topics()) for word in recorded), recorded
    else:
        assert (verb, rest[0]) == ('security', 'generate_artifacts'), f'ros2 {verb}'
        assert Path(rest[rest.index('-p') + 1]).is_file()


def check_exported_launch(file: str, arguments: list[str]) -> None:
    """For the launch file of export_controller."""
    written = (ROOT / PACKAGE / 'tools' / 'templates' / f'{file}.in').read_text(encoding='utf-8')
    assert all(f"'{argument.partition(':=')[0]}'," in written for argument in arguments), arguments


@cache
def of_controller(created_by: str) -> set[str]:
    """Return private names of the controller for ros2_control that a function is called with."""
    folder = ROOT / 'robot_dynamics_controllers' / 'src'
    texts = [path.read_text(encoding='utf-8') for path in folder.rglob('*.cpp')]
    found = [re.findall(created_by + r'(?:<\w+>)?\(\s*(?:node, )?"~/(\w+)"', text) for text in texts]
    return {f'/{CONTROLLER}/{name}' for names in found for name in names}


def check_files(arguments: list[str]) -> None:
    """For programs of others, which read installed files of this package: by their full path, from any folder."""
    assert not any(word.startswith('config/') for word in arguments), arguments
    assert all(Path(word).is_file() for word in arguments if word.startswith(str(ROOT))), arguments


OTHERS = {'diagnostic_aggregator', 'plotjuggler', 'robot_state_publisher'}
"""Packages whose executables the pages call."""
PARSERS = {'compare': compare.parser, 'demo': demo.parser, 'identify': identify.parser, 'replay': replay.parser}
"""Of commands that compute more than a test of the pages has time for."""
CHECKS = {
    **dict.fromkeys(
        ('build/hold', 'cc', 'cd', 'cmake', 'export', 'git', 'mkdir'), lambda arguments: None
    ),  # nothing of this package
    'colcon': check_folders,
    'pip': check_pip,
    'python': check_python,
    'ros2': check_ros2,
    'rosdep': check_folders,
    'rviz2': check_files,
    'source': check_source,
}


def all_topics() -> set[str]:
    return set().union(*map(topics_of, groups_by_node()))


def check_launch(file: str, arguments: list[str]) -> None:
    """Assert that a launch file has these arguments; their values are those of the executable's options."""
    given = dict(argument.split(':=', 1) for argument in arguments)
    assert set(given) <= set(launch_arguments(file)), arguments
    check_options(given)


def check_executable(name: str, arguments: list[str]) -> None:
    """Assert that an executable, by its short name, has these arguments."""
    if name == 'export_c':
        check_export(export_c, name, arguments)
    elif name == 'export_controller':
        check_export(export_controller, name, arguments)
    elif name == 'check_model':
        check_model(arguments)
    elif name == 'propose_gains':
        run_command(propose_gains, name, arguments)
    elif name in PARSERS:
        check_parsed(PARSERS[name](), arguments)
    else:
        check_node(name, arguments)


def check_node(executable: str, arguments: list[str]) -> None:
    """Assert that an executable has these options, parameters and topics."""
    words = iter(arguments)
    of_ros = False
    for word in words:
        if word == '--ros-args':
            of_ros = True
        elif not of_ros:
            assert executable == 'bringup'
            check_options({word.removeprefix('--').replace('-', '_'): next(words)})
        elif word == '-p':
            name, value = next(words).split(':=')
            check_parameter(executable, name, yaml.safe_load(value))
        elif word == '-r':
            assert next(words).split(':=')[0] in topics_of(executable)
        else:
            assert word == '--enclave', word
            policy = (ROOT / 'config' / 'security' / 'policy.xml').read_text(encoding='utf-8')
            assert f'path="{next(words)}"' in policy, arguments


def check_export(module, name: str, arguments: list[str]) -> None:
    """Run a command that writes to a folder and refuses a robot, option or quantity that does not exist."""
    robot, _, *options = arguments
    with TemporaryDirectory() as folder:
        run_command(module, name, [robot, folder, *options])


def check_parsed(parser: ArgumentParser, arguments: list[str]) -> None:
    """Assert that the parser of a command accepts arguments."""
    try:
        parser.parse_args(arguments)
    except SystemExit:
        raise AssertionError(f'{parser.prog} refuses {arguments}') from None


def run_command(module, name: str, arguments: list[str]) -> None:
    """Run a command of the package, which refuses arguments that do not exist."""
    with mock.patch.object(sys, 'argv', [name, *arguments]):
        try:
            module.main()
        except SystemExit as refused:
            raise AssertionError(f'{arguments}: {refused}') from None


def check_model(arguments: list[str]) -> None:
    """Assert that check_model is given a robot and parameters of nodes."""
    _, *options = arguments
    for option, parameter in zip(options[::2], options[1::2], strict=True):
        assert option in ('-p', '--loops'), arguments
        name, value = parameter.split(':=') if option == '-p' else ('loops', parameter)
        check_parameter('', name, yaml.safe_load(value))


def check_options(given: dict[str, str]) -> None:
    """Assert that options of bringup, or the launch arguments of the same names, have values that exist."""
    assert set(given.get('nodes', '').split()) <= set(groups_by_node())
    assert given.get('preset', '') in ('', *PRESETS)


def check_parameter(node: str, name: str, value) -> None:
    """Assert that a node ('' for any) has a parameter of this name, and that the value is of its type."""
    sections = parameter_sections()
    tables = sections.values() if not node else (sections['/**'], sections.get(f'/**/{node}', {}))
    defaults = {key: default for table in tables for key, default in table.items()} | {'use_sim_time': False}
    assert name in defaults, f'{node or "no node"} has no parameter {name}'
    default = defaults[name]
    assert isinstance(value, type(default)), f'{name}: expected a value like {default}, got {value}'
    if isinstance(default, list):
        assert {type(item) for item in value} == {type(default[0])}, f'{name}: expected a list like {default}'


def check_message(message_class, fields: dict) -> None:
    """Assert that a message or request can be filled with these fields, nested ones included."""
    types = message_class.get_fields_and_field_types()
    for name, value in fields.items():
        assert name in types, f'{message_class.__name__} has no field {name}'
        nested = value if isinstance(value, list) else [value]
        if isinstance(nested[0], dict):
            package, kind = re.sub(r'^sequence<|>$', '', types[name]).split('/')
            for item in nested:
                check_message(interface(f'{package}/msg/{kind}'), item)
        else:
            setattr(message_class(check_fields=True), name, value)  # asserts the type


def interface(name: str):
    """Return the class of ``package/msg/Name`` or ``package/srv/Name``."""
    package, kind, name = name.split('/')
    return getattr(import_module(f'{package}.{kind}'), name)


def executables() -> set[str]:
    """Return the names of all executables."""
    return {line.split(' = ')[0] for line in setup_arguments()['entry_points']['console_scripts']}


@cache
def launch_arguments(file: str) -> tuple[str, ...]:
    """Return the arguments of a launch file; launch itself is not needed for that."""
    with mock.patch.dict(sys.modules, {name: mock.MagicMock() for name in LAUNCH_MODULES}):
        return tuple(runpy.run_path(str(ROOT / 'launch' / file))['ARGUMENTS'])


@cache
def parameter_sections() -> dict[str, dict]:
    """Return the parameters and defaults of each section of config/nodes.yaml."""
    sections = yaml.safe_load((ROOT / 'config' / 'nodes.yaml').read_text(encoding='utf-8'))
    return {name: section['ros__parameters'] for name, section in sections.items()}


def topics_of(node: str) -> set[str]:
    """Return the topics that a node subscribes to or publishes, as it calls them."""
    return _allowed(node, 'topic') | _allowed('lifecycle_node', 'topic') | OF_CHOICE.get(node, set())


def services_of(node: str) -> set[str]:
    """Return the node's own services, as it calls them."""
    return _allowed(node, 'service')


def _allowed(node: str, kind: str) -> set[str]:
    """Return what the security policy allows a node; a test compares that with the running graph."""
    root = ElementTree.parse(ROOT / 'config' / 'security' / f'{node}.xml').getroot()
    return {element.text for element in root.iter(kind)}
