"""Some examples as Jupyter notebooks: the docstring as text, then a cell for each block between blank lines."""

import ast
import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = (
    '01_torques_of_a_motion',
    '05_simulation_and_energy',
    '07_trajectory_optimisation',
    '15_optimal_swing',
    '16_own_arm',
    '17_identification',
)


def main():
    """Write all notebooks."""
    for path, text in files().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding='utf-8')


def files() -> dict[Path, str]:
    """Return the text of each notebook."""
    folder = ROOT / 'examples'
    return {folder / 'notebooks' / f'{name}.ipynb': notebook(folder / f'{name}.py') for name in EXAMPLES}


def notebook(example: Path) -> str:
    """Return an example as the text of a notebook, format 4.5."""
    source = example.read_text(encoding='utf-8')
    title = example.stem.partition('_')[2].replace('_', ' ').capitalize()
    text = ast.get_docstring(ast.parse(source)) or ''
    code = source.split('"""', 2)[2].strip()
    # blocks begin at the left margin: a blank line inside a function ends none
    blocks = [block.rstrip() for block in re.split(r'\n{2,}(?=\S)', code)]
    cells = [cell('markdown', 0, f'# {title}\n\n{text}')]
    cells += [cell('code', number, block) for number, block in enumerate(blocks, start=1)]
    kernel = {'display_name': 'Python 3', 'language': 'python', 'name': 'python3'}
    whole = {'cells': cells, 'metadata': {'kernelspec': kernel}, 'nbformat': 4, 'nbformat_minor': 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + '\n'


def cell(kind: str, number: int, text: str) -> dict:
    """Return one cell."""
    output = {'execution_count': None, 'outputs': []} if kind == 'code' else {}
    return {
        'cell_type': kind,
        'id': f'cell-{number}',
        'metadata': {},
        'source': text.splitlines(keepends=True),
        **output,
    }


if __name__ == '__main__':
    main()
