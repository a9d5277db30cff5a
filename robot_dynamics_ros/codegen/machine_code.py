"""Machine code in the memory of this process: object files of LLVM are loaded here, without LLVM.

They are in the ELF format of 64 bits, and compiled for the large code model: code refers to constants and functions by
their addresses, wherever these are. Memory is written first, and executable and read-only afterwards.
"""

import ctypes
import mmap
import os
from typing import Any

import numpy as np

from robot_dynamics_ros.native import call

HEADER = np.dtype(
    {
        'names': ['magic', 'machine', 'offset', 'sections', 'names'],
        'formats': ['S4', '<u2', '<u8', '<u2', '<u2'],
        'offsets': [0, 18, 40, 60, 62],
        'itemsize': 64,
    }
)
SECTION = np.dtype(
    {
        'names': ['name', 'kind', 'flags', 'offset', 'size', 'names', 'of', 'alignment'],
        'formats': ['<u4', '<u4', '<u8', '<u8', '<u8', '<u4', '<u4', '<u8'],
        'offsets': [0, 4, 8, 24, 32, 40, 44, 48],
        'itemsize': 64,
    }
)
SYMBOL = np.dtype([('name', '<u4'), ('kind', 'u1'), ('', 'u1'), ('section', '<u2'), ('value', '<u8'), ('size', '<u8')])
REFERENCE = np.dtype([('place', '<u8'), ('kind', '<u4'), ('symbol', '<u4'), ('addend', '<i8')])
"""Records of the ELF format."""
PROGRAM, SYMBOLS, REFERENCES = 1, 2, 4
"""Kinds of sections."""
IN_MEMORY = 2
"""Flag of a section."""
FUNCTION = 2
"""Kind of a symbol."""
MACHINES = {'x86_64': 62, 'aarch64': 183}
ADDRESSES = 1, 257
"""Kinds of references to an address of 64 bits, of x86-64 and of ARM64."""
QUARTERS, CALLS = (264, 266, 268, 269), (282, 283)
"""Kinds of ARM64: 16 bits of an address in an instruction, the lowest first; and a call without and with return."""
JUMP = np.array([0x58000050, 0xD61F0200], '<u4')
"""Instructions of ARM64, for functions more than 128 MB away: load the address that follows, and go there."""
JUMP_SIZE = 16
"""Bytes of a jump with its address."""
PROCESS: Any = ctypes.CDLL(None, use_errno=True)
OWN = {'robot_dynamics_ros_run': call.RUN}
"""Addresses of functions of this package, by their names in object files."""


class MachineCode:
    """Functions of an object file, in memory as long as this object lives.

    ValueError unless the file is for this processor, has code and constants only, and calls functions of this process
    or of ``OWN``.
    OSError where the system refuses to make memory executable.
    """

    def __init__(self, content: bytes):
        """Load an object file."""
        self._functions: dict[str, int] = {}
        try:
            self._load(content)
        except (ValueError, IndexError, KeyError, AttributeError) as error:
            raise ValueError('expected an object file of code and constants for this processor') from error

    def address(self, name: str) -> int:
        """Return the address of a function; KeyError if there is none of this name."""
        return self._functions[name]

    def _load(self, content: bytes) -> None:
        """Write code and constants to memory, with the addresses to which they refer."""
        (header,) = np.frombuffer(content, HEADER, 1)
        if (header['magic'], header['machine']) != (b'\x7fELF', MACHINES[os.uname().machine]):
            raise ValueError
        sections = np.frombuffer(content, SECTION, header['sections'], header['offset'])
        texts = [content[it['offset'] : it['offset'] + it['size']] for it in sections]
        names = [_name(texts[header['names']], it) for it in sections]
        # tables for exceptions, which this code does not raise, are left out
        loaded = (sections['kind'] == PROGRAM) & (sections['flags'] & IN_MEMORY > 0) & (np.array(names) != '.eh_frame')
        (table,) = np.flatnonzero(sections['kind'] == SYMBOLS)
        symbols = np.frombuffer(texts[table], SYMBOL)

        # memory: sections, then a jump for each symbol
        begins, size = np.zeros(len(sections), np.int64), 0
        for k in np.flatnonzero(loaded).tolist():
            begins[k] = _rounded_up(size, int(sections[k]['alignment']))
            size = begins[k].item() + len(texts[k])
        jumps = _rounded_up(size, JUMP_SIZE) + JUMP_SIZE * np.arange(len(symbols))
        self._memory = mmap.mmap(-1, int(jumps[-1]) + JUMP_SIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        memory, start = np.frombuffer(self._memory, np.uint8), ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        for k in np.flatnonzero(loaded).tolist():
            memory[begins[k] : begins[k] + len(texts[k])] = np.frombuffer(texts[k], np.uint8)

        addresses = np.zeros(len(symbols), np.int64)
        for k, it in enumerate(symbols):
            name = _name(texts[sections[table]['names']], it)
            if it['section'] == 0 and name:
                addresses[k] = OWN.get(name) or ctypes.cast(getattr(PROCESS, name), ctypes.c_void_p).value or 0
            elif it['section'] < len(sections) and loaded[it['section']]:
                addresses[k] = start + begins[it['section']] + it['value']
                if it['kind'] & 15 == FUNCTION:
                    self._functions[name] = int(addresses[k])
        for k in np.flatnonzero((sections['kind'] == REFERENCES) & loaded[sections['of'] % len(sections)]).tolist():
            it = np.frombuffer(texts[k], REFERENCE)
            values = addresses[it['symbol']] + it['addend']
            if not addresses[it['symbol']].all():
                raise ValueError
            _refer(
                memory,
                it['place'].astype(np.int64) + begins[sections[k]['of']],
                it['kind'],
                values,
                jumps[it['symbol']],
            )
        _make_executable(start, len(memory))


def _rounded_up(size: int, alignment: int) -> int:
    """Return the first multiple of an alignment that is not below a size."""
    return -(-size // alignment) * alignment


def _name(names: bytes, it) -> str:
    """Return the name of a section or symbol."""
    return names[it['name'] : names.index(b'\0', it['name'])].decode()


def _refer(memory: np.ndarray, places, kinds, values, jumps) -> None:
    """Write addresses ``values`` at ``places`` of memory that refer to them, by jumps where these are called."""

    def write(where, numbers) -> None:
        memory[where[:, None] + np.arange(numbers.itemsize)] = numbers[:, None].view(np.uint8)

    addresses, quarters, calls = (np.isin(kinds, some) for some in (ADDRESSES, QUARTERS, CALLS))
    if not (addresses | quarters | calls).all():
        raise ValueError
    write(places[addresses], values[addresses])
    if addresses.all():
        return
    instructions = memory[places[:, None] + np.arange(4)].view('<u4')[:, 0]
    bits = values[quarters] >> 16 * np.searchsorted(QUARTERS, kinds[quarters]) & 0xFFFF
    write(places[quarters], (instructions[quarters] & 0xFFE0001F) | (bits << 5).astype('<u4'))
    distances = (jumps - places)[calls] >> 2 & 0x3FFFFFF
    write(places[calls], (instructions[calls] & 0xFC000000) | distances.astype('<u4'))
    write(jumps[calls], np.tile(JUMP.view('<u8'), calls.sum()))
    write(jumps[calls] + JUMP.nbytes, values[calls])


def _make_executable(start: int, size: int) -> None:
    """Make memory executable and read-only; on ARM64 its old content may still be in the instruction cache."""
    begin, length = ctypes.c_void_p(start), ctypes.c_size_t(size)
    if os.uname().machine == 'aarch64':
        clear_cache: Any = getattr(ctypes.CDLL('libgcc_s.so.1'), '__clear_cache')
        clear_cache(begin, ctypes.c_void_p(start + size))
    if PROCESS.mprotect(begin, length, mmap.PROT_READ | mmap.PROT_EXEC) != 0:
        raise OSError(
            ctypes.get_errno(),
            'mprotect: the system refuses to make memory executable, which compiled code needs; '
            'allow it (systemd: MemoryDenyWriteExecute=no; SELinux: execmem)',
        )
