"""The site builds without a warning and needs no network; README and pages of nodes agree with what they describe."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import find_spec

from support.matrices import matrix
from support.project import shell_commands
from support.project.shell_commands import ROOT

import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.nodes.executables.bringup import NODES

PAGES = [*ROOT.glob('*.md'), *(ROOT / 'doc').rglob('*.md')]
README = (ROOT / 'README.md').read_text(encoding='utf-8')
BUILD = 'import gc, sys; gc.disable(); from sphinx.cmd.build import main; sys.exit(main(sys.argv[1:]))'
"""Garbage collections would take a fifth of the time."""


class Resources(HTMLParser):
    """Addresses of what a browser loads to show a page."""

    def __init__(self):
        super().__init__()
        self.addresses = []

    def handle_starttag(self, tag, attributes):
        if tag in ('img', 'link', 'script'):
            self.addresses += [value for name, value in attributes if name in ('href', 'src')]


@pytest.fixture(scope='module', params=matrix(['furo', 'basic'], few=['basic']))
def site(tmp_path_factory, request):
    """The folder of the built site, with its own theme or one whose pages take less time."""
    lacking = [name for name in ('furo', 'myst_parser', 'numpydoc', 'sphinx') if find_spec(name) is None]
    if lacking:
        pytest.skip(f'not installed: {", ".join(lacking)}')
    folder = tmp_path_factory.mktemp('site')
    command = [sys.executable, '-c', BUILD, '--fail-on-warning', '--keep-going', '--nitpicky', '-q']
    built = subprocess.run(
        [*command, '-D', f'html_theme={request.param}', str(ROOT / 'doc'), str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stdout
    return folder


def test_every_page_is_built_and_loads_nothing_from_elsewhere(site):
    sources = [path for path in (ROOT / 'doc').rglob('*.*') if path.suffix in ('.md', '.rst')]
    for source in sources:
        if source.parent.name == 'parameters':
            continue
        page = (site / source.relative_to(ROOT / 'doc')).with_suffix('.html')
        resources = Resources()
        resources.feed(page.read_text(encoding='utf-8'))
        assert resources.addresses
        assert [address for address in resources.addresses if '//' in address] == [], page.name


def test_equations_are_mathml(site):
    """No source of an equation is left on a page."""
    for source in (ROOT / 'doc' / 'formulations').glob('*.md'):
        page = (site / 'formulations' / source.name).with_suffix('.html').read_text(encoding='utf-8')
        text = source.read_text(encoding='utf-8')
        displayed = len(re.findall(r'\$\$[^$]+\$\$', text))
        assert page.count('display="block"') == displayed
        assert source.name == 'index.md' or page.count('<math') > displayed > 0
        assert '\\' not in re.sub(r'<pre>.*?</pre>', '', page, flags=re.DOTALL)


def test_every_public_member_of_robot_is_on_its_page_once(site):
    text = (site / 'api' / 'robot.html').read_text(encoding='utf-8')
    described = re.findall(r'id="robot_dynamics_ros\.robot\.Robot\.(\w+)"', text)
    assert sorted(described) == sorted(name for name in dir(Robot) if not name.startswith('_'))


@pytest.mark.parametrize('name', ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'QUALITY_DECLARATION.md'])
def test_every_file_that_is_linked_exists(name):
    targets = re.findall(r'\]\(([^)#]+)', (ROOT / name).read_text(encoding='utf-8'))
    assert targets
    assert [target for target in targets if '//' not in target and not (ROOT / target).exists()] == []


@pytest.mark.parametrize('page', PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_and_folder_in_the_text_exists(page):
    paths = re.findall(r'`([a-z_]+/(?:\w+/)*(?:\w+\.\w+)?)`', page.read_text(encoding='utf-8'))
    folders = (ROOT, ROOT / shell_commands.PACKAGE)
    assert [path for path in paths if not any((folder / path).exists() for folder in folders)] == []


def test_the_readme_is_a_page():
    assert len(README.splitlines()) < 100


@pytest.mark.parametrize('node', NODES)
def test_a_node_is_one_click_from_the_readme_and_its_page_has_its_topics_services_and_parameters(node):
    assert f'](doc/nodes/{node}.md)' in README
    page = (ROOT / 'doc' / 'nodes' / f'{node}.md').read_text(encoding='utf-8')
    sections = dict(re.findall(r'^## (\w+)\n(.*?)(?=^## |\Z)', page, re.MULTILINE | re.DOTALL))
    topics = {topic for topic in shell_commands.topics_of(node) if topic[0] not in '/~'}
    assert set(re.findall(r'^\| `(.+?)`', sections['Topics'], re.MULTILINE)) == topics
    services = set(re.findall(r'^\| `(.+?)`', sections['Services'], re.MULTILINE))
    assert services == shell_commands.services_of(node)
    assert f'../parameters/{node}.md' in sections['Parameters']


def test_every_argument_of_bringup_is_on_its_page():
    page = (ROOT / 'doc' / 'nodes' / 'bringup.md').read_text(encoding='utf-8').partition('## Arguments')[2]
    named = [name for cell in re.findall(r'^\| (`.+?) \|', page, re.MULTILINE) for name in re.findall('`(.+?)`', cell)]
    assert sorted(named) == sorted(shell_commands.launch_arguments('bringup.launch.py'))


def figures(pattern: str, text: str) -> tuple[str, ...]:
    """The numbers that a pattern finds."""
    found = re.search(pattern, text, re.DOTALL | re.MULTILINE)
    assert found, pattern
    return found.groups()


def is_rounded(shown: str, measured: str) -> bool:
    """Whether a figure is another one with fewer decimals."""
    return abs(float(shown) - float(measured)) <= 0.5001 * 10.0 ** -len(shown.partition('.')[2])


def results_with(instruction_set: str) -> str:
    """The last results of every benchmark with one instruction set."""
    results = (ROOT / 'benchmark' / 'RESULTS.md').read_text(encoding='utf-8')
    pattern = rf'^### {instruction_set}\n(.*?)(?=^##|\Z)'
    return '\n'.join(re.findall(pattern, results, re.DOTALL | re.MULTILINE))


def test_the_figures_of_the_readme_are_those_of_the_last_run():
    results = results_with(*figures(r'the AUBO-i5 with (AVX2|AVX-512)', README))
    arm, _, _ = results.partition('AUBO-i5, 6 velocities, generic;')[2].partition('AUBO-i5, 6 velocities, specialised;')
    rows = {
        'call of a `Robot` method': (arm, r'^  {}: [^:]*?/ pin +(\S+)'),
        r'a method of `robot\.compiled\(\)`': (results, r'^{}: specialised [^:]*?Robot / it +(\S+)'),
        'in compiled code': (results, r'^{}: [^:]*?CasADi with [^:]*?/ -O3 (\S+),'),
        '100,000, one core': (results, r'^{}, +100000 states: [^:]*?/ pin +(\S+)'),
    }
    compared = []
    for row, (text, pattern) in rows.items():
        names = ('inverse_dynamics', 'mass_matrix', 'forward_dynamics')
        measured = [figures(pattern.format(name), text)[0] for name in names]
        compared += zip(
            figures(rf'\| [^|\n]*{row}[^|\n]* \| [^|\n]+ \| (\S+) \| (\S+) \| (\S+) \|', README), measured, strict=True
        )
    measured = [figures(rf'{what} / that of the echo +(\S+)', results)[0] for what in ('CPU', 'p50', 'p99')]
    shown = figures(r'CPU per message (\S+), round trip (\S+) \(p50\), (\S+) \(p99\)', README)
    compared += zip(shown, measured, strict=True)
    assert len(compared) == 15
    assert [figure for figure in compared if not is_rounded(*figure)] == []
