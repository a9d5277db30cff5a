"""The notebooks are current, and their cells run one after the other in a Jupyter kernel."""

import os
import runpy
from pathlib import Path

from support.matrices import matrix

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = runpy.run_path(str(ROOT / 'scripts' / 'programs' / 'notebooks.py'))['files']()
LAST_LINE = {
    '01_torques_of_a_motion': 'wrist3_joint',
    '05_simulation_and_energy': 'rk4            step 1e-03 s: energy changes by',
    '07_trajectory_optimisation': 'cost of the best motion',
    '15_optimal_swing': 'cost 2388',
    '16_own_arm': 'after 10 s of friction the tool is at -0.70 m',
    '17_identification': 'residuals are within 10 % of the noise: True',
}


def test_notebooks_are_those_of_the_examples():
    assert sorted((ROOT / 'examples' / 'notebooks').glob('*')) == sorted(NOTEBOOKS)
    for path, text in NOTEBOOKS.items():
        assert path.read_text(encoding='utf-8') == text, f'{path.name}: run scripts/generate'


@pytest.mark.parametrize('path', matrix(sorted(NOTEBOOKS), [min(NOTEBOOKS)]), ids=lambda path: path.stem)
def test_a_notebook_runs(path, monkeypatch):
    """No cell raises, and the last one prints what the example prints."""
    nbformat = pytest.importorskip('nbformat', reason='nbformat and nbclient execute notebooks')
    nbclient = pytest.importorskip('nbclient', reason='nbformat and nbclient execute notebooks')
    if 'import casadi' in path.read_text(encoding='utf-8'):
        pytest.importorskip('casadi', reason='casadi is not installed')
    monkeypatch.setenv('PYTHONPATH', f'{ROOT}{os.pathsep}{os.environ.get("PYTHONPATH", "")}')
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name='python3').execute()
    printed = ''.join(output['text'] for cell in notebook.cells[1:] for output in cell.outputs)
    assert LAST_LINE[path.stem] in printed.strip().splitlines()[-1]
