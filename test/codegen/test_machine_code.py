"""Loading of object files: constants, calls, protection of the memory, and files that are refused."""

import ctypes
import math
import subprocess
import sys
from pathlib import Path

import pytest

from robot_dynamics_ros.codegen.machine_code import MachineCode
from robot_dynamics_ros.codegen.object_files import compiled

IR = """
declare double @cbrt(double)
define double @first(double %x) noinline {
  %tenth = fdiv double %x, 10.0
  %root = call double @cbrt(double %tenth)
  ret double %root
}
define double @second(double %x) {
  %y = call double @first(double %x)
  %z = fmul double %y, 1.5
  ret double %z
}
"""


PROTECTED = """
import ctypes, sys
if ctypes.CDLL(None).prctl(65, 1, 0, 0, 0) != 0:  # PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN: since Linux 6.3
    sys.exit('no such protection')
from robot_dynamics_ros.codegen.machine_code import MachineCode
try:
    MachineCode(sys.stdin.buffer.read())
except OSError as error:
    print(error)
"""
"""Loads an object file where memory that was written cannot become executable, as under systemd's setting."""


@pytest.fixture
def code() -> MachineCode:
    return MachineCode(compiled(IR))


def permissions(address: int) -> str | None:
    """Return the permissions of the memory at an address, such as r-xp; None for an address without memory."""
    for line in Path('/proc/self/maps').read_text(encoding='utf-8').splitlines():
        begin, end = (int(word, 16) for word in line.split()[0].split('-'))
        if begin <= address < end:
            return line.split()[1]
    return None


def test_code_reads_its_constants_and_calls_functions_of_its_own_and_of_the_process(code):
    function = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(code.address('second'))
    assert function(80.0) == 1.5 * math.pow(8.0, 1 / 3) == 3.0


def test_nobody_may_write_where_code_is_executed(code):
    assert permissions(code.address('first')) == permissions(code.address('second')) == 'r-xp'


def test_memory_is_released_with_its_code():
    code = MachineCode(compiled(IR))
    address = code.address('first')
    del code
    assert permissions(address) != 'r-xp'


def test_an_unknown_function_is_a_key_error(code):
    with pytest.raises(KeyError, match='third'):
        code.address('third')


@pytest.mark.parametrize(
    'content',
    [
        b'',
        b'\x7fELF',
        bytes(1000),
        compiled(IR)[:200],
        compiled(IR)[:18] + bytes(2) + compiled(IR)[20:],
        compiled(IR.replace('@cbrt', '@is_nowhere')),
    ],
    ids=['empty', 'short', 'zeros', 'torn', 'another processor', 'an unknown function'],
)
def test_what_cannot_be_loaded_is_refused(content):
    with pytest.raises(ValueError, match='expected an object file of code and constants for this processor'):
        MachineCode(content)


def test_a_system_that_refuses_executable_memory_is_named():
    command = [sys.executable, '-c', PROTECTED]
    done = subprocess.run(command, input=compiled(IR), capture_output=True, timeout=60, check=False)
    if b'no such protection' in done.stderr:
        pytest.skip('Linux before 6.3 cannot deny executable memory to a process')
    assert done.stdout.startswith(b'[Errno 13] mprotect: ') and b'MemoryDenyWriteExecute' in done.stdout
