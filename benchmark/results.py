"""Runs every benchmark, one after the other, and writes RESULTS.md and the plot of the README.

Some ten minutes on an idle machine; ``pip install -r requirements/benchmark.txt`` first, else peers are missing.
"""

import re
import subprocess
import sys
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use('agg')
import matplotlib.pyplot as plt
from measure import heading

FOLDER = Path(__file__).parent
SCRIPTS = ('calls_from_python', 'compiled_loops', 'batches', 'joints', 'start_up', 'node_latency')


def run(script: str) -> tuple[str, str]:
    """Return a script's question and what it printed below its heading."""
    path = FOLDER / f'{script}.py'
    finished = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    if finished.returncode:
        raise SystemExit(f'{script} failed:\n{finished.stdout}\n{finished.stderr}')
    question = path.read_text().split('"""')[1].split('\n')[0]
    return question, '\n'.join(finished.stdout.splitlines()[2:])


def plot(text: str, path: Path):
    """Draw the calls from Python that ``calls_from_python`` printed."""
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
    sections = []
    for script in SCRIPTS:
        print(script, flush=True)
        question, text = run(script)
        sections.append(f'## {script}\n\n{question}\n\n```text\n{text}\n```\n')
        if script == 'calls_from_python':
            plot(text, FOLDER.parent / 'doc' / 'calls_from_python.png')
    machine = heading().replace('\n', '; ')
    intro = (
        '# Results of the last run\n\n'
        f'{machine}.\nThe AUBO-i5, 6 joints, unless said otherwise; medians, both sides interleaved in one run. '
        'The machine is shared:\nratios count, times do not. All of it again: `python benchmark/results.py` in a shell '
        'with `scripts/environment.sh`\nsourced, after `scripts/bootstrap --test` and '
        '`pip install -r requirements/benchmark.txt`.\n'
    )
    (FOLDER / 'RESULTS.md').write_text('\n'.join([intro, *sections]))


if __name__ == '__main__':
    main()
