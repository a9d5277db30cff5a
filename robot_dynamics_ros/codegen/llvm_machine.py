"""Object files from LLVM's intermediate representation (IR), by llvmlite: for this processor, or for a kind of it."""

import os
import platform
from contextlib import suppress
from functools import cache

from llvmlite import binding as llvm

LEVELS = {
    'x86_64': (('x86-64', ''), ('x86-64', '+avx,+avx2,+fma')),
    'aarch64': (('generic', ''),) * 2,
}
"""Processor and features of the levels of ``native/run.h``, by machine."""


def host_processor() -> str:
    """Return the name of this processor, or the one that Numba's environment variable NUMBA_CPU_NAME has."""
    name = os.environ.get('NUMBA_CPU_NAME') or 'host'
    return llvm.get_host_cpu_name() if name == 'host' else name


def host_features() -> str:
    """Return the features of this processor, or of NUMBA_CPU_FEATURES; '' for those that NUMBA_CPU_NAME implies."""
    features, named = os.environ.get('NUMBA_CPU_FEATURES'), os.environ.get('NUMBA_CPU_NAME') or 'host'
    if features is None:
        features = llvm.get_host_cpu_features().flatten() if named == 'host' else ''
    return features


def host_machine() -> llvm.TargetMachine:
    """Return what compiles for this processor, for functions of this process however far away they are."""
    return _machine(host_processor(), host_features(), reloc='default', codemodel='jitdefault')


def host_object(code: str) -> bytes:
    """Return the object file of IR for this processor."""
    return host_machine().emit_object(llvm.parse_assembly(code))


def level_object(code: str, level: int, entry: str, symbol: str) -> bytes:
    """Return the object file of IR for a level of processors; its function ``entry`` is the one visible ``symbol``."""
    module = llvm.parse_assembly(code)
    for it in (*module.functions, *module.global_variables):
        if it.name == entry:
            it.name = symbol
        elif not it.is_declaration:
            it.linkage = 'internal'
    return _machine(*LEVELS[platform.machine()][level], reloc='pic', codemodel='default').emit_object(module)


def _machine(processor: str, features: str, **options) -> llvm.TargetMachine:
    """Return what compiles for a processor."""
    return _target().create_target_machine(cpu=processor, features=features, opt=3, **options)


@cache
def _target() -> llvm.Target:
    """Return the target of this machine."""
    with suppress(RuntimeError):  # recent versions do so themselves
        llvm.initialize()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple()
