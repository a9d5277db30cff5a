"""scripts/processors runs what this processor can, and names what it leaves out."""

import importlib.util
import re
import signal
from subprocess import CompletedProcess

from support import processors
from support.project.project_files import ROOT

import pytest


@pytest.fixture
def script(monkeypatch):
    """Return scripts/programs/processors.py, with a processor of its own, without running tests."""
    spec = importlib.util.spec_from_file_location('processors_script', ROOT / 'scripts' / 'programs' / 'processors.py')
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    monkeypatch.setattr(found, 'core', lambda: 'Zen')
    found.started = []

    def run(environment, arguments):
        found.started.append(environment)
        return CompletedProcess([], 0, 'ran')

    monkeypatch.setattr(found, 'run', run)
    return found


def test_a_processor_that_runs_no_other_code_is_no_failure(script, capsys):
    asked = []
    assert script.main(['-x'], runs_here=asked.append) == 0
    assert asked == [*script.ENVIRONMENTS.values()] and script.started == []
    printed = capsys.readouterr().out
    assert all(f'left out: BLAS of {core}' in printed for core in processors.CORES)
    assert 'passed: none was run' in printed


def test_only_code_that_the_processor_runs_is_run(script, capsys):
    name, environment = list(script.ENVIRONMENTS.items())[1]
    assert script.main([], runs_here=lambda it: it != environment) == 0
    assert script.started == [it for it in script.ENVIRONMENTS.values() if it != environment]
    assert [line for line in capsys.readouterr().out.splitlines() if line.startswith('left out')] == [
        f'left out: {name}: this processor does not have its instructions'
    ]


def test_a_failed_run_is_named(script, monkeypatch, capsys):
    monkeypatch.setattr(script, 'run', lambda *_: CompletedProcess([], 1, 'E   one is off'))
    assert script.main([], runs_here=lambda _: True) == len(script.ENVIRONMENTS)
    assert 'failed: BLAS of' in capsys.readouterr().out


@pytest.mark.parametrize(('trial', 'found'), [('', True), (f'import os; os.kill(os.getpid(), {signal.SIGILL})', False)])
def test_an_instruction_that_the_processor_does_not_have_is_found(trial, found):
    assert processors.can_run(processors.environment_of(processors.CORES[-1]), trial) is found


def test_a_trial_that_fails_for_another_reason_is_an_error():
    with pytest.raises(RuntimeError, match='no_such_module'):
        processors.can_run(processors.environment_of(processors.CORES[-1]), 'import no_such_module')


def test_who_bounds_rounding_is_run_as_on_other_processors():
    files = [path.read_text(encoding='utf-8') for path in (ROOT / 'test').rglob('test_*.py')]
    bounding = [text for text in files if re.search(r'^from support.rounding import .*bound', text, re.MULTILINE)]
    assert len(bounding) > 10
    assert all('mark.rounding' in text for text in bounding)
