"""Runs benchmarks one after the other, and writes RESULTS.md and the plot of doc/benchmarks.md.

Without arguments all of them; ``python -m benchmark.results soak`` runs one and keeps the other sections.
A section has a result for each instruction set; a run replaces those of its own instruction set only.
All need some forty minutes on an idle machine. Run ``pip install -r requirements/benchmark.txt`` first, else other
libraries are missing.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

import matplotlib
import numpy as np

from benchmark.measure import instruction_set

matplotlib.use('agg')
import matplotlib.pyplot as plt

FOLDER = Path(__file__).parent
SHELVES = {
    'calls': (
        'calls_from_python',
        'every_quantity',
        'larger_robots',
        'compiled_loops',
        'exported_c',
        'small_batches',
        'batches',
        'joints',
        'operational_space',
        'closed_loops',
        'simulation',
        'recursive_updates',
        'first_answers',
    ),
    'frameworks': ('casadi_c', 'casadi_instructions', 'jax_batches', 'torch_batches'),
    'nodes': ('start_up', 'node_latency', 'node_joints', 'busy_process', 'soak', 'controller_updates'),
}
"""Scripts by the folder that they are in."""
FOLDERS = {script: folder for folder, scripts in SHELVES.items() for script in scripts}
SCRIPTS = tuple(FOLDERS)
RESULTS = FOLDER / 'RESULTS.md'
INTRODUCTION = """\
# Results of the last runs

The AUBO-i5, 6 joints, unless said otherwise; medians, both sides interleaved in one run. The machine is shared:
ratios count, times do not. A heading names the widest vectors of the compiled code. All of it again:
`python -m benchmark.results` in a shell with `scripts/environment.sh` sourced, after `scripts/bootstrap --test` and
`pip install -r requirements/benchmark.txt`; `NUMBA_CPU_NAME=haswell` before it compiles for AVX2.

"""


def run(script: str) -> str:
    """Return a script's output, machine and commit first."""
    command = [sys.executable, '-m', f'benchmark.{FOLDERS[script]}.{script}']
    finished = subprocess.run(command, capture_output=True, text=True, check=False, cwd=FOLDER.parent)
    if 'Traceback' in finished.stderr:
        raise SystemExit(f'{script} failed:\n{finished.stdout}\n{finished.stderr}')
    return finished.stdout.strip()


def kept() -> dict[str, dict[str, str]]:
    """Return the outputs of the last runs by script and instruction set."""
    sections = re.split(r'^## (\w+)$', RESULTS.read_text(), flags=re.MULTILINE)[1:]
    outputs = r'^### (\S+)\n\n```text\n(.*?)\n```$'
    return {
        script: dict(re.findall(outputs, section, re.MULTILINE | re.DOTALL))
        for script, section in zip(sections[::2], sections[1::2], strict=True)
    }


def section(script: str, outputs: dict[str, str]) -> str:
    """Return a script's section: its question, and its output for each instruction set."""
    question = (FOLDER / FOLDERS[script] / f'{script}.py').read_text().split('"""')[1].split('\n')[0]
    blocks = (f'### {name}\n\n```text\n{outputs[name]}\n```\n' for name in sorted(outputs))
    return '\n'.join((f'## {script}\n\n{question}\n', *blocks))


def plot(text: str, path: Path):
    """Plot the times that ``calls_from_python`` printed."""
    programs, rows = [], {}
    for line in text.splitlines():
        ours = re.match(r'(\w+): specialised (\d+) ns, Robot (\d+) ns', line)
        theirs = re.match(r'  ([\w-]+) (\d+) ns', line)
        if ours:
            programs.append(ours[1])
            rows.setdefault('compiled for the robot', {})[ours[1]] = int(ours[2])
            rows.setdefault('Robot method', {})[ours[1]] = int(ours[3])
        elif theirs and programs:
            rows.setdefault(theirs[1], {})[programs[-1]] = int(theirs[2])
    figure, axes = plt.subplots(figsize=(10, 4.5), layout='constrained')
    width = 0.8 / len(rows)
    for k, (name, times) in enumerate(rows.items()):
        places = np.arange(len(programs)) + (k - (len(rows) - 1) / 2) * width
        color = ('tab:blue', 'tab:cyan')[k] if k < 2 else str(0.25 + 0.5 * (k - 2) / len(rows))
        axes.bar(places, [times.get(program, np.nan) for program in programs], width, label=name, color=color)
    axes.set_yscale('log')
    axes.set_ylabel('ns a call from Python')
    axes.set_xticks(range(len(programs)), [program.replace('_', '\n') for program in programs])
    axes.set_title('AUBO-i5, one state, one core; lower is faster')
    axes.legend(ncols=len(rows), fontsize='small', loc='upper center', bbox_to_anchor=(0.5, -0.2))
    figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('scripts', nargs='*', metavar='SCRIPT', help=f'among {", ".join(SCRIPTS)}; all if left out')
    chosen = parser.parse_args().scripts or SCRIPTS
    if unknown := set(chosen) - set(SCRIPTS):
        parser.error(f'expected some of {", ".join(SCRIPTS)}, got {", ".join(unknown)}')
    outputs = kept()
    for script in chosen:
        print(script, flush=True)
        output = run(script)
        outputs.setdefault(script, {})[instruction_set()] = output
        if script == 'calls_from_python':
            plot(output, FOLDER.parent / 'doc' / 'calls_from_python.png')
    RESULTS.write_text(INTRODUCTION + '\n'.join(section(name, outputs[name]) for name in SCRIPTS if name in outputs))


if __name__ == '__main__':
    main()
