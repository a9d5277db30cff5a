"""benchmark/results.py reads what it has written, and a run leaves results of another instruction set as they are."""

import sys
from pathlib import Path

import pytest

from benchmark import results as module

BENCHMARK = Path(__file__).parents[2] / 'benchmark'


@pytest.fixture
def results(monkeypatch, tmp_path):
    """results.py with a file of its own, a copy of RESULTS.md, and scripts that print their own name."""
    copy = tmp_path / 'RESULTS.md'
    copy.write_text(module.RESULTS.read_text())
    monkeypatch.setattr(module, 'RESULTS', copy)
    monkeypatch.setattr(module, 'run', lambda script: f'output of {script}')
    monkeypatch.setattr(module, 'plot', lambda output, path: None)
    return module


def run_with(results, monkeypatch, instruction_set, *scripts):
    monkeypatch.setattr(results, 'instruction_set', lambda: instruction_set)
    monkeypatch.setattr(sys, 'argv', ['results.py', *scripts])
    results.main()


def test_every_script_is_run(results):
    questions = {path.stem for path in BENCHMARK.glob('*/*.py') if 'def main' in path.read_text()}
    # these ask for descriptions or logs; their figures are in doc/
    given = {'adaptive_control', 'any_arm', 'external_torque', 'identification', 'public_logs', 'public_payload'}
    # parts of others, and one for a workspace with ros2_control
    others = {'batch_client', 'echo_node', 'large_request', 'ros2_control'}
    assert questions - given - others == set(results.SCRIPTS)


def test_results_of_another_instruction_set_are_kept(results, monkeypatch):
    before = results.kept()
    assert before['calls_from_python']
    run_with(results, monkeypatch, 'SSE2', *results.SCRIPTS)
    after = results.kept()
    assert list(after) == list(results.SCRIPTS)
    for script in results.SCRIPTS:
        assert after[script] == before.get(script, {}) | {'SSE2': f'output of {script}'}


def test_results_of_the_same_instruction_set_are_replaced(results, monkeypatch):
    for _ in range(2):
        run_with(results, monkeypatch, 'SSE2', 'soak')
    assert results.kept()['soak']['SSE2'] == 'output of soak'
    assert results.RESULTS.read_text().count('output of soak') == 1


def test_the_last_results_are_as_the_script_writes_them(results):
    written = results.RESULTS.read_text()
    outputs = results.kept()
    sections = (results.section(name, outputs[name]) for name in results.SCRIPTS if name in outputs)
    assert results.INTRODUCTION + '\n'.join(sections) == written
