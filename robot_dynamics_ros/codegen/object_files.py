"""Machine code from LLVM's intermediate representation (IR), kept on disk and loaded without LLVM.

An object file is compiled once for the processor of this machine. Loading it takes 0.2 ms; importing Numba takes half a
second, LLVM alone 0.03 s.
"""

import hashlib
import logging  # noqa: F401 - registers its lock, see LLVM
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

import llvmlite

from robot_dynamics_ros.codegen.compile_lock import compile_lock
from robot_dynamics_ros.codegen.machine_code import MachineCode
from robot_dynamics_ros.jit import fused_multiply_add  # noqa: F401 - registers its lock, see LLVM
from robot_dynamics_ros.jit.cache import code_folder, private_folder, sealed_content, write_sealed

WIDE_VECTORS = 'avx512f'
"""Feature of processors with vectors of eight float64."""
IDENTITY = {
    *('vendor_id', 'cpu family', 'model', 'stepping', 'flags'),
    *('CPU implementer', 'CPU architecture', 'CPU variant', 'CPU part', 'CPU revision', 'Features'),
}
"""Lines of ``CPUINFO`` that tell kinds of processors apart: of x86-64, and of ARM64."""
CPUINFO = Path('/proc/cpuinfo')
LLVM = threading.RLock()
"""Held while code is made. A fork waits for it: the child could never take a lock of a thread that it does not have.

Python takes such locks in reverse order of registration: this one before those that are taken while this one is held,
that of logging by imports of LLVM and Numba, and that of ``fused_multiply_add``.
"""
os.register_at_fork(before=LLVM.acquire, after_in_parent=LLVM.release, after_in_child=LLVM.release)


class CodeFolder:
    """The object files of a folder in the cache; those that were used stay loaded as long as this object lives."""

    missed = 0
    """Number of files that this process did not find on disk."""

    def __init__(self, folder: str):
        """Use a folder; it is created with its first file."""
        self._folder = folder
        self._loaded: dict[str, MachineCode] = {}

    def has(self, name: str) -> bool:
        """Return whether a file was loaded or compiled before."""
        return name in self._loaded or object_file(self._folder, name).exists()

    def code(self, name: str, make: Callable[[], bytes]) -> MachineCode:
        """Return the code of a file; ``make`` returns its content if there is no valid one.

        Other processes and threads that need the same file wait for it. What another thread has loaded meanwhile is in
        use.
        """
        if name not in self._loaded:
            self._loaded.setdefault(name, MachineCode(self._content(object_file(self._folder, name), make)))
        return self._loaded[name]

    def _content(self, path: Path, make: Callable[[], bytes]) -> bytes:
        """Return the content of a file, which is made under the lock of its path."""
        content = sealed_content(path)
        if content is not None:
            return content
        # LLVM's lock first, or two processes could each wait for a file of the other
        with LLVM, compile_lock(code_folder() / 'compiling', str(path)):
            CodeFolder.missed += 1
            content = sealed_content(path)
            if content is None:
                content = make()
                with suppress(OSError):
                    write_sealed(private_folder(path.parent) / path.name, content)
            return content


def object_file(folder: str, name: str) -> Path:
    """Return the path of an object file of the cache for this processor and this version of LLVM."""
    return code_folder() / folder / f'{name}.{_processor_digest()}.o'


def compiled(ir: str) -> bytes:
    """Return the object file of IR text. Other threads may use LLVM or fork: its lock is held by the caller."""
    # imported in 0.04 s, by processes that compile only
    from llvmlite import binding as llvm  # noqa: PLC0415

    with suppress(RuntimeError):  # recent versions do so themselves
        llvm.initialize()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    name, features = _chosen_processor()
    if name is None:
        name = llvm.get_host_cpu_name()
        features = llvm.get_host_cpu_features().flatten() if features is None else features
    target = llvm.Target.from_default_triple()
    options: dict = {'opt': 3, 'reloc': 'default', 'codemodel': 'jitdefault'}  # which is the large one
    machine = target.create_target_machine(cpu=name, features=features or '', **options)
    return machine.emit_object(llvm.parse_assembly(ir))


def lanes() -> int:
    """Return the number of states in a block of a batch: two vectors of the processor.

    Two independent vectors hide the latency of the instructions: the AUBO-i5's inverse dynamics needs 40 ns per state
    with 8 lanes, 23 ns with 16 (AVX-512, 2026-11-20).
    """
    return 16 if WIDE_VECTORS in _features() else 8


def _chosen_processor() -> tuple[str | None, str | None]:
    """Return name and features of the processor that Numba's environment variables select, as in Numba."""
    name = os.environ.get('NUMBA_CPU_NAME') or 'host'
    return None if name == 'host' else name, os.environ.get('NUMBA_CPU_FEATURES')


@cache
def _features() -> frozenset[str]:
    """Return the features of the processor."""
    name, features = _chosen_processor()
    if name is not None or features is not None:
        return frozenset(word.removeprefix('+') for word in (features or '').split(','))
    return frozenset(' '.join(_processor().values()).split())


@cache
def _processor() -> dict[str, str]:
    """Return what tells this processor from others: of the first one, where there are several kinds.

    Where ``/proc`` is hidden, LLVM asks the processor.
    """
    found = {}
    with suppress(OSError), open(CPUINFO, encoding='ascii', errors='replace') as lines:
        for line in lines:
            name, _, value = line.partition(':')
            if not line.strip():
                break
            if name.strip() in IDENTITY:
                found[name.strip()] = value.strip()
    return found or _processor_of_llvm()


def _processor_of_llvm() -> dict[str, str]:
    """Return name and features of the processor for which LLVM compiles."""
    with LLVM:
        from llvmlite import binding as llvm  # noqa: PLC0415

        features = llvm.get_host_cpu_features().items()
        return {'name': llvm.get_host_cpu_name(), 'flags': ' '.join(name for name, has in features if has)}


@cache
def _processor_digest() -> str:
    """Return the digest (16 hex digits) of the processor and of the compiler's version."""
    identity = *_chosen_processor(), os.uname().machine, *_processor().items(), llvmlite.__version__
    return hashlib.sha256(repr(identity).encode()).hexdigest()[:16]
