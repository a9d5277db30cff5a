"""Runs benchmarks one after the other, and writes RESULTS.md and the plot of doc/benchmarks.md.

Without arguments all of them; ``python benchmark/results.py soak`` runs one and keeps the other sections.
All need some twenty minutes on an idle machine. Run ``pip install -r requirements/benchmark.txt`` first, else other
libraries are missing.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use('agg')
import matplotlib.pyplot as plt

FOLDER = Path(__file__).parent
SCRIPTS = ('calls_from_python', 'compiled_loops', 'exported_c', 'batches', 'joints', 'start_up', 'node_latency', 'soak')
RESULTS = FOLDER / 'RESULTS.md'


def run(script: str) -> str:
    """Return a script's section: its question and its output, machine and commit first."""
    path = FOLDER / f'{script}.py'
    finished = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    if 'Traceback' in finished.stderr:
        raise SystemExit(f'{script} failed:\n{finished.stdout}\n{finished.stderr}')
    question = path.read_text().split('"""')[1].split('\n')[0]
    return f'## {script}\n\n{question}\n\n```text\n{finished.stdout.strip()}\n```\n'


def kept() -> dict[str, str]:
    """Return the sections of the last runs by their script."""
    sections = re.split(r'^(?=## )', RESULTS.read_text(), flags=re.MULTILINE)[1:]
    return {section.split()[1]: section for section in sections}


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
    sections = kept()
    for script in chosen:
        print(script, flush=True)
        sections[script] = run(script)
        if script == 'calls_from_python':
            plot(sections[script], FOLDER.parent / 'doc' / 'calls_from_python.png')
    intro = (
        '# Results of the last runs\n\n'
        'The AUBO-i5, 6 joints, unless said otherwise; medians, both sides interleaved in one run. '
        'The machine is shared:\nratios count, times do not. All of it again: `python benchmark/results.py` in a shell '
        'with `scripts/environment.sh`\nsourced, after `scripts/bootstrap --test` and '
        '`pip install -r requirements/benchmark.txt`.\n\n'
    )
    RESULTS.write_text(intro + '\n'.join(sections[script].rstrip() + '\n' for script in SCRIPTS if script in sections))


if __name__ == '__main__':
    main()
