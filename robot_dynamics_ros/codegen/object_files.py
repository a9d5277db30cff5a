"""Machine code from LLVM's intermediate representation (IR), kept on disk and loaded without Numba.

An object file is compiled once for the processor of this machine. Loading it takes a millisecond; importing Numba takes
half a second.
"""

import hashlib
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

import llvmlite
from llvmlite import binding as llvm

from robot_dynamics_ros.codegen.compile_lock import CompileLock
from robot_dynamics_ros.jit.cache import code_folder, private_folder, sealed_content, write_sealed

WIDE_VECTORS = '+avx512f'
"""Feature of processors with vectors of eight float64."""
LLVM = threading.RLock()
"""Held while LLVM works. A fork waits for it: the child could never take a lock of a thread that it does not have."""
os.register_at_fork(before=LLVM.acquire, after_in_parent=LLVM.release, after_in_child=LLVM.release)


class MachineCode:
    """Functions of one object file in the memory of this process, as long as this object lives."""

    def __init__(self, content: bytes):
        """Load an object file."""
        with LLVM:
            self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(''), _target_machine())
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(content))
            self._engine.finalize_object()
        self._addresses: dict[str, int] = {}

    def address(self, name: str) -> int:
        """Return the address of a function; LLVM, which may be compiling something, is asked once."""
        if name not in self._addresses:
            with LLVM:
                self._addresses[name] = self._engine.get_function_address(name)
        return self._addresses[name]


class CodeFolder:
    """The object files of a folder in the cache; those that were used stay loaded as long as this object lives."""

    def __init__(self, folder: str):
        """Use a folder; it is created with its first file."""
        self._folder = folder
        self._loaded: dict[str, MachineCode] = {}

    def has(self, name: str) -> bool:
        """Return whether a file was loaded or compiled before."""
        return name in self._loaded or object_file(self._folder, name).exists()

    def code(self, name: str, make: Callable[[], bytes]) -> MachineCode:
        """Return the code of a file; ``make`` returns its content if there is no valid one.

        Other processes that need the same file wait for it. What another thread has loaded meanwhile is in use.
        """
        if name not in self._loaded:
            self._loaded.setdefault(name, MachineCode(self._content(object_file(self._folder, name), make)))
        return self._loaded[name]

    def _content(self, path: Path, make: Callable[[], bytes]) -> bytes:
        """Return the content of a file, which is made under the lock of its path."""
        content = sealed_content(path)
        if content is None:
            _lock().acquire(str(path))
            try:
                content = sealed_content(path)
                if content is None:
                    content = make()
                    with suppress(OSError):
                        write_sealed(private_folder(path.parent) / path.name, content)
            finally:
                _lock().release(str(path))
        return content


@cache
def _lock() -> CompileLock:
    """Return the lock of the object files, for all processes."""
    return CompileLock(code_folder() / 'compiling')


def object_file(folder: str, name: str) -> Path:
    """Return the path of an object file of the cache for this processor and this version of LLVM."""
    return code_folder() / folder / f'{name}.{_processor_digest()}.o'


def compiled(ir: str) -> bytes:
    """Return the object file of IR text."""
    with LLVM:
        return _target_machine().emit_object(llvm.parse_assembly(ir))


def lanes() -> int:
    """Return the number of states in a block of a batch: two vectors of the processor.

    Two independent vectors hide the latency of the instructions: the AUBO-i5's inverse dynamics needs 40 ns per state
    with 8 lanes, 23 ns with 16 (AVX-512, 2026-11-20).
    """
    return 16 if WIDE_VECTORS in _processor()[1].split(',') else 8


@cache
def _processor() -> tuple[str, str]:
    """Return name and features of the processor; Numba's environment variables select another one, as in Numba."""
    name, features = os.environ.get('NUMBA_CPU_NAME'), os.environ.get('NUMBA_CPU_FEATURES')
    if name:
        return name, features or ''
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten() if features is None else features


@cache
def _processor_digest() -> str:
    """Return the digest (16 hex digits) of the processor and of the compiler's version."""
    return hashlib.sha256(repr((*_processor(), llvmlite.__version__)).encode()).hexdigest()[:16]


def _target_machine():
    """Return a new LLVM compiler for the processor: an engine takes ownership of its compiler."""
    _initialize()
    name, features = _processor()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(cpu=name, features=features, opt=3, reloc='default', codemodel='jitdefault')


@cache
def _initialize() -> None:
    """Prepare LLVM once in this process."""
    with suppress(RuntimeError):  # recent versions do so themselves
        llvm.initialize()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
