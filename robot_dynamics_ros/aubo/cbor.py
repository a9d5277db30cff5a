"""CBOR (RFC 8949), as far as an AUBO controller uses it: integers, floats, texts, arrays, maps and simple values."""

import math
import struct
from typing import Any

from robot_dynamics_ros.errors import ArgumentError

DEEPEST = 16
"""Arrays and maps within each other; a controller's messages have two."""
BREAK = object()
"""Ends an array or a map whose length is not given."""
SIMPLE = {20: False, 21: True, 22: None, 23: None}
FLOATS = {25: ('>e', 2), 26: ('>f', 4), 27: ('>d', 8)}


def encode(value) -> bytes:
    """Return ``value`` (bool, int, float, str, None, list or dict of these) as CBOR; floats as doubles."""
    if value is None or isinstance(value, bool):
        return {None: b'\xf6', True: b'\xf5', False: b'\xf4'}[value]
    if isinstance(value, int):
        return _head(0, value) if value >= 0 else _head(1, -1 - value)
    if isinstance(value, float):
        return struct.pack('>Bd', 0xFB, value)
    if isinstance(value, str):
        text = value.encode()
        return _head(3, len(text)) + text
    if isinstance(value, dict):
        return _head(5, len(value)) + b''.join(encode(key) + encode(part) for key, part in value.items())
    return _head(4, len(value)) + b''.join(map(encode, value))


def decode(data: bytes) -> Any:
    """Return the value of ``data``; ArgumentError where it is not one complete value of CBOR."""
    try:
        value, end = _value(data, 0, 0)
    except (IndexError, struct.error, UnicodeDecodeError, TypeError) as error:
        raise ArgumentError(f'not CBOR: {error}') from None
    if end != len(data) or value is BREAK:
        raise ArgumentError(f'not CBOR: {len(data) - end} bytes follow the value')
    return value


def _head(major: int, number: int) -> bytes:
    """Return the first bytes of a value: its major type and a number, in the shortest form."""
    if number < 24:
        return bytes([major << 5 | number])
    for length, size in enumerate((1, 2, 4, 8)):
        if number < 1 << 8 * size:
            return bytes([major << 5 | 24 + length]) + number.to_bytes(size, 'big')
    raise ArgumentError(f'{number}: no number of CBOR')


def _value(data: bytes, at: int, depth: int) -> tuple[Any, int]:
    """Return the value that begins at offset ``at`` of ``data``, and where it ends."""
    first = data[at]
    major, info, at = first >> 5, first & 31, at + 1
    if major == 7:
        return _simple(data, info, at)
    number: float
    if info < 24:
        number = info
    elif info < 28:
        size = 1 << info - 24
        number, at = int.from_bytes(data[at : at + size], 'big'), at + size
    elif info == 31 and major in (4, 5):
        number = math.inf
    else:
        raise ArgumentError(f'not CBOR: first byte {first:#04x}')
    if at > len(data) or (number != math.inf and major > 1 and at + number > len(data)):
        raise ArgumentError(f'not CBOR: ends within a value of {number} elements')
    if major < 2:
        return (number if major == 0 else -1 - number), at
    if major == 3:
        end = at + int(number)
        return data[at:end].decode(), end
    if major == 2 or major == 6 or depth == DEEPEST:
        raise ArgumentError(f'not read: value of major type {major} at depth {depth}')
    return (_array if major == 4 else _map)(data, at, number, depth + 1)


def _simple(data: bytes, info: int, at: int) -> tuple[Any, int]:
    if info in SIMPLE:
        return SIMPLE[info], at
    if info in FLOATS:
        form, size = FLOATS[info]
        return struct.unpack_from(form, data, at)[0], at + size
    if info == 31:
        return BREAK, at
    raise ArgumentError(f'not CBOR: simple value {info}')


def _array(data: bytes, at: int, count: float, depth: int) -> tuple[list, int]:
    found: list = []
    while len(found) < count:
        value, at = _value(data, at, depth)
        if value is BREAK:
            break
        found.append(value)
    return found, at


def _map(data: bytes, at: int, count: float, depth: int) -> tuple[dict, int]:
    found: dict = {}
    while len(found) < count:
        key, at = _value(data, at, depth)
        if key is BREAK:
            break
        found[key], at = _value(data, at, depth)
    return found, at
