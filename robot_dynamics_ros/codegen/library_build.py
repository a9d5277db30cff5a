"""Builds ``native/kernels.<machine>.so``: Numba compiles the generic code of all robots when the package is built.

``python -m robot_dynamics_ros.codegen.library_build`` compiles what has changed since the last call and links the
library again. On x86-64 each function is compiled with and without fused multiply-adds of the processor: results are
the same.
"""

import argparse
import fcntl
import importlib
import os
import platform
import shlex
import subprocess
import sysconfig
import tempfile
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from robot_dynamics_ros.algorithms.kernel_arguments import MODEL, WORKSPACE, kernels
from robot_dynamics_ros.codegen.llvm_machine import LEVELS
from robot_dynamics_ros.jit import compiled
from robot_dynamics_ros.jit.sources import digest_of, name_of
from robot_dynamics_ros.native.library import LIBRARY, TREE

OBJECTS = TREE / 'build' / 'kernels'
"""Object files of earlier builds."""


class Part(NamedTuple):
    """A function of the library, as its examples of fixed and of given arguments say it."""

    function: Any
    fixed: tuple
    given: tuple

    @property
    def symbol(self) -> str:
        """Name of the function in C."""
        return name_of(self.function).replace('.', '_')

    def objects(self, folder: Path) -> list[Path]:
        """Return the paths of its object files, one for each level."""
        made_by = f'{digest_of(self.function)}.{version("numba")}.{platform.machine()}'
        return [folder / f'{name_of(self.function)}.{made_by}.{level}.o' for level in (0, 1)]


def parts() -> dict[str, Part]:
    """Return the functions of the library by their names."""
    modules = compiled.modules()
    for module in modules:
        importlib.import_module(module)
    found = [Part(kernel, (MODEL, WORKSPACE), given) for kernel, given in kernels()]
    declared = [it for it in compiled.functions.values() if it.function.__module__ in modules]
    found += [Part(it.function, *it.examples) for it in declared]
    return {name_of(part.function): part for part in found}


def main() -> None:
    """Build the library."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--output', type=Path, default=LIBRARY, help='path of the library')
    parser.add_argument('--objects', type=Path, default=OBJECTS, help='folder of the object files')
    options = parser.parse_args()
    build(options.output, options.objects)


def build(output: Path, folder: Path) -> None:
    """Compile the functions whose object files ``folder`` lacks, and link all."""
    all_parts = parts()
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / 'lock', 'w', encoding='utf-8') as lock:  # of several processes that need it, one compiles
        fcntl.flock(lock, fcntl.LOCK_EX)
        _build(output, folder, all_parts)


def _build(output: Path, folder: Path, all_parts: dict[str, Part]) -> None:
    missing = [name for name, part in all_parts.items() if not all(path.exists() for path in part.objects(folder))]
    if missing:
        print(f'{output.name}: Numba compiles {len(missing)} of {len(all_parts)} functions')
        count = min(len(missing), len(os.sched_getaffinity(0)))
        share = -(-len(missing) // count)  # neighbours by name call the same kernels, which one process compiles once
        with ProcessPoolExecutor(count, get_context('spawn'), _choose_processor) as workers:
            list(workers.map(_compile, sorted(missing), [folder] * len(missing), chunksize=share))
    objects = {path for part in all_parts.values() for path in part.objects(folder)}
    _link(output, all_parts, sorted(objects))
    for path in set(folder.glob('*.o')) - objects:
        path.unlink()


def _choose_processor() -> None:
    """Have Numba compile for the last level, in a process that has not imported it yet."""
    for name in [name for name in os.environ if name.startswith('NUMBA_')]:
        del os.environ[name]
    processor, features = LEVELS[platform.machine()][-1]
    os.environ.update(NUMBA_CPU_NAME=processor, NUMBA_CPU_FEATURES=features)


def _compile(name: str, folder: Path) -> None:
    """Write the object files of a function."""
    # by the processes that compile, whose environment is set
    from robot_dynamics_ros.codegen.llvm_machine import level_object  # noqa: PLC0415
    from robot_dynamics_ros.codegen.numba_code import ENTRY, code_of  # noqa: PLC0415

    part = parts()[name]
    declared = compiled.functions.get(name)
    code = code_of(declared.python if declared else part.function, part.fixed, part.given)
    for level, path in enumerate(part.objects(folder)):
        content = level_object(code, level, ENTRY, f'{part.symbol}_{level}')
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
            file.write(content)
        os.replace(file.name, path)


def _link(output: Path, all_parts: dict[str, Part], objects: list[Path]) -> None:
    """Link a shared library, with the table of its functions."""
    found = [(name, digest_of(part.function), part.symbol) for name, part in all_parts.items()]
    table = [
        '#include "library.c"',
        *(f'int64_t {symbol}_{k}(const int64_t *, const int64_t *);' for _, _, symbol in found for k in (0, 1)),
        'const Function robot_dynamics_ros_functions[] = {',
        *(f'    {{"{name}", "{digest}", {{{symbol}_0, {symbol}_1}}}},' for name, digest, symbol in found),
        '    {0},\n};',
    ]
    compiler = shlex.split(os.environ.get('CC') or sysconfig.get_config_var('CC') or 'cc')
    options = ['-shared', '-fPIC', '-O3', '-std=c11', '-s', '-Wl,-z,defs', '-Wl,-z,noexecstack']
    with tempfile.TemporaryDirectory(dir=output.parent) as folder:
        source, library = Path(folder, 'table.c'), Path(folder, output.name)
        source.write_text('\n'.join(table))
        command = [
            *compiler,
            *options,
            f'-I{LIBRARY.parent}',
            str(source),
            *map(str, objects),
            '-lm',
            '-o',
            str(library),
        ]
        subprocess.run(command, check=True)
        os.replace(library, output)


if __name__ == '__main__':
    main()
