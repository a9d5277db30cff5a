"""Serialised messages: intact, and with random defects."""

import math
import struct
from random import Random

from rclpy.serialization import deserialize_message

ODD_NUMBERS = (
    *(math.nan, math.inf, -math.inf, 1.7e308, -1.7e308, 1e155, 5e-324, -1e-310, -0.0, 2.0**53, 1e9, -1e5, 1e-12),
)
ODD_LENGTHS = (0, 1, 2, 3, 5, 7, 8, 255, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32 - 8)


def understood(data: bytes, kind):
    """Return the message of type ``kind`` that rclpy deserialises, or None if it fails."""
    if len(data) < 8:
        return None  # if the header states more padding than there is, rclpy reads beyond the message
    try:
        return deserialize_message(data, kind)
    except Exception:  # any exception
        return None


def serialized(message) -> bytes:
    """Return the CDR of a message, with zeros as padding: rclpy leaves uninitialised memory there."""
    data = bytearray(b'\0\1\0\0')
    _write(data, message)
    return bytes(data) + bytes(-len(data) % 4 if len(data) > 4 else 4)


def _write(data: bytearray, message) -> None:
    """Append the fields of a message."""
    for name, kind in message.get_fields_and_field_types().items():
        value = getattr(message, name)
        if kind.startswith('sequence'):
            _append(data, 'I', len(value))
            _write_items(data, kind[len('sequence<') : -1], value)
        elif kind.endswith(']'):
            _write_items(data, kind.partition('[')[0], value)
        else:
            _write_items(data, kind, [value])


NUMBERS = {'double': 'd', 'int32': 'i', 'uint32': 'I', 'int64': 'q', 'uint64': 'Q', 'uint8': 'B', 'boolean': '?'}


def _write_items(data: bytearray, kind: str, items) -> None:
    """Append values of one kind."""
    if kind == 'octet':
        data += b''.join(items)
    elif kind in NUMBERS:
        if len(items):
            _append(data, NUMBERS[kind], *items)
    else:
        write = _write_text if kind == 'string' else _write
        for item in items:
            write(data, item)


def _write_text(data: bytearray, text: str) -> None:
    """Append a string."""
    encoded = text.encode() + b'\0'
    _append(data, 'I', len(encoded))
    data += encoded


def _append(data: bytearray, code: str, *numbers) -> None:
    """Append numbers of one kind, aligned to their size relative to the end of the encapsulation header."""
    data += bytes((4 - len(data)) % struct.calcsize(code))
    data += struct.pack(f'<{len(numbers)}{code}', *numbers)


def _flip(random: Random, data: bytes, _) -> bytes:
    """Flip up to eight bits."""
    changed = bytearray(data)
    for _ in range(random.randint(1, 8) if data else 0):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _cut(random: Random, data: bytes, _) -> bytes:
    """Cut off the end."""
    return data[: random.randint(0, len(data))]


def _longer(random: Random, data: bytes, _) -> bytes:
    """Append noise."""
    return data + random.randbytes(random.randint(1, 40))


def _word(random: Random, data: bytes, _) -> bytes:
    """Overwrite a length, or other bytes, with an unusual length."""
    place = 4 * random.randint(0, len(data) // 4)
    return data[:place] + struct.pack('<I', random.choice(ODD_LENGTHS)) + data[place + 4 :]


def _number(random: Random, data: bytes, _) -> bytes:
    """Overwrite a number, or other bytes, with an unusual number."""
    place = 4 + 8 * random.randint(0, len(data) // 8)
    return data[:place] + struct.pack('<d', random.choice(ODD_NUMBERS)) + data[place + 8 :]


def _splice(random: Random, data: bytes, other: bytes) -> bytes:
    """Continue with the bytes of another message, from the same or another offset."""
    place = random.randint(0, len(data))
    return data[:place] + other[place if random.random() < 0.5 else random.randint(0, len(other)) :]


def _remove(random: Random, data: bytes, _) -> bytes:
    """Remove or repeat some bytes in the middle."""
    first = random.randint(0, len(data))
    return data[:first] + data[max(0, first + random.choice((-8, -4, -1, 1, 4, 8))) :]


def _encoding(random: Random, data: bytes, _) -> bytes:
    """State another byte order or version."""
    return random.choice((b'\0\0', b'\0\2', b'\0\3', b'\1\1', b'\xff\xff')) + data[2:]


def _noise(random: Random, data: bytes, _) -> bytes:
    """Replace all bytes, or all but the first ones, by noise."""
    return data[: random.choice((0, 4, 12))] + random.randbytes(random.randint(0, 200))


WAYS = (_flip, _cut, _longer, _word, _number, _splice, _remove, _encoding, _noise)
"""Defects of bytes: functions of a Random, the bytes, and those of another message."""
