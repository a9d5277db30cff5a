"""Files that hosting sites and other tools read: valid by their schemas, and in step with what they repeat."""

import re
import shutil
import subprocess
import sys
from importlib.util import find_spec

from support.project.project_files import ROOT

import pytest
import yaml

SCHEMAS = {
    '.github/workflows/test.yml': 'github-workflows',
    '.github/ISSUE_TEMPLATE/fault.yml': 'github-issue-forms',
    '.github/ISSUE_TEMPLATE/wish.yml': 'github-issue-forms',
    '.github/ISSUE_TEMPLATE/config.yml': 'github-issue-config',
    'CITATION.cff': 'citation-file-format',
}


def content(path: str) -> dict:
    # 'on' is a word here, no truth value
    return yaml.load((ROOT / path).read_text(encoding='utf-8'), yaml.BaseLoader)


@pytest.mark.skipif(not find_spec('check_jsonschema'), reason='check-jsonschema is not installed')
@pytest.mark.parametrize('path', SCHEMAS)
def test_a_file_is_valid(path):
    command = [sys.executable, '-m', 'check_jsonschema', '--builtin-schema', f'vendor.{SCHEMAS[path]}', ROOT / path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(not shutil.which('actionlint'), reason='actionlint is not on the path')
def test_the_workflow_has_no_mistake_that_actionlint_finds():
    done = subprocess.run(
        ['actionlint', *ROOT.glob('.github/workflows/*')], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(not shutil.which('zizmor'), reason='zizmor is not on the path')
def test_the_workflow_has_no_weakness_that_zizmor_finds():
    command = ['zizmor', '--offline', '--no-progress', ROOT / '.github' / 'workflows']
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_workflow_runs_the_commands_of_the_readme_with_all_versions_that_are_claimed():
    readme = (ROOT / 'README.md').read_text(encoding='utf-8')
    commands = re.search(r'```bash\n(.*?)```', readme, re.DOTALL)[1].splitlines()
    first, last = re.search(r'Python 3\.(\d+) to 3\.(\d+)', readme).groups()
    job = content('.github/workflows/test.yml')['jobs']['test']
    assert [step['run'] for step in job['steps'] if 'run' in step] == [line.split()[0] for line in commands]
    assert job['strategy']['matrix']['python'] == [f'3.{minor}' for minor in range(int(first), int(last) + 1)]


def test_hooks_are_the_checks_of_the_test_command():
    hooks = content('.pre-commit-config.yaml')['repos'][0]['hooks']
    checks = re.search(r'for check in (.*); do', (ROOT / 'scripts' / 'test').read_text(encoding='utf-8'))[1]
    expected = [quoted or plain for quoted, plain in re.findall(r"'([^']+)'|(\S+)", checks)]
    assert [hook['name'] for hook in hooks] == expected
    for hook in hooks:
        assert hook['entry'] == f"bash -c 'source scripts/environment.sh && {hook['name']}'"


def test_the_citation_has_version_and_license_of_the_package(setup_arguments):
    citation = content('CITATION.cff')
    assert citation['version'] == setup_arguments['version'] and citation['license'] == setup_arguments['license']
    assert citation['title'] == setup_arguments['name']
