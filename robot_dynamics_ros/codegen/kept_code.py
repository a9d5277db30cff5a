"""Machine code of robots, kept on disk: an object file is compiled once for the processor of this machine."""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

import llvmlite

from robot_dynamics_ros.codegen.llvm_machine import host_features, host_object, host_processor
from robot_dynamics_ros.codegen.loaded_code import LoadedCode
from robot_dynamics_ros.jit.cache import code_folder, private_folder, sealed_content, write_sealed

WIDE_VECTORS = 'avx512f'
"""Feature of processors with vectors of eight float64."""


class CodeFolder:
    """The object files of a folder in the cache; those that were used stay loaded as long as this object lives."""

    def __init__(self, folder: str):
        """Use a folder; it is created with its first file."""
        self._folder = folder
        self._loaded: dict[str, LoadedCode] = {}

    def code(self, name: str, make: Callable[[], str]) -> LoadedCode:
        """Return the code of a file; ``make`` returns its IR if there is no valid one.

        What another thread has loaded meanwhile is in use.
        """
        if name not in self._loaded:
            self._loaded.setdefault(name, LoadedCode(self._content(object_file(self._folder, name), make)))
        return self._loaded[name]

    def _content(self, path: Path, make: Callable[[], str]) -> bytes:
        """Return the content of a file, which is made if there is no valid one."""
        content = sealed_content(path)
        if content is None:
            content = host_object(make())
            with suppress(OSError):
                write_sealed(private_folder(path.parent) / path.name, content)
        return content


def object_file(folder: str, name: str) -> Path:
    """Return the path of an object file of the cache for this processor and this version of LLVM."""
    return code_folder() / folder / f'{name}.{_processor_digest()}.o'


def lanes() -> int:
    """Return the number of states in a block of a batch: two vectors of the processor.

    Two independent vectors hide the latency of the instructions: the AUBO-i5's inverse dynamics needs 40 ns per state
    with 8 lanes, 23 ns with 16 (AVX-512, 2026-11-20).
    """
    return 16 if f'+{WIDE_VECTORS}' in host_features().split(',') else 8


@cache
def _processor_digest() -> str:
    """Return the digest (16 hex digits) of the processor and of the compiler's version."""
    identity = host_processor(), host_features(), llvmlite.__version__
    return hashlib.sha256(repr(identity).encode()).hexdigest()[:16]
