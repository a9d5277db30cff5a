"""Unusual values in any ROS message, and unusual bytes."""

import math
import struct
from random import Random

from rclpy.serialization import deserialize_message

ODD_NUMBERS = (
    *(math.nan, math.inf, -math.inf, 1.7e308, -1.7e308, 1e155, 5e-324, -1e-310, -0.0, -1.0, 2.0**53, 1e9, -1e5, 1e-12),
)
ODD_NAMES = ('', ' ', 'shoulder_joint ', 'SHOULDER_JOINT', 'élan', 'a\nb', '\x00', '../joint', '%s{0}', 'x' * 300)
ODD_LENGTHS = (0, 1, 2, 3, 5, 7, 8, 255, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32 - 8)
ODD_INTEGERS = {
    'int32': (-(2**31), -1, 0, 1, 2**31 - 1),
    'uint32': (0, 1, 10**9 - 1, 10**9, 2**32 - 1),
    'uint64': (0, 1, 2**64 - 1),
    'uint8': (0, 3, 255),
}
CODES = {'double': 'd', 'int32': 'i', 'uint32': 'I', 'int64': 'q', 'uint64': 'Q', 'uint8': 'B', 'boolean': '?'}


def spoil(random: Random, message) -> None:
    """Give one field of a message, or of one that is inside it, an unusual value."""
    name, kind = random.choice(list(message.get_fields_and_field_types().items()))
    value = getattr(message, name)
    if kind.startswith('sequence') or kind.endswith(']'):
        setattr(message, name, _spoiled_list(random, kind, list(value)))
    elif kind == 'double':
        setattr(message, name, random.choice((*ODD_NUMBERS, 100.0 * value)))
    elif kind == 'string':
        setattr(message, name, random.choice(ODD_NAMES))
    elif kind == 'boolean':
        setattr(message, name, not value)
    elif kind in ODD_INTEGERS:
        setattr(message, name, random.choice(ODD_INTEGERS[kind]))
    elif '/' in kind:
        spoil(random, value)


def _spoiled_list(random: Random, kind: str, values: list) -> list:
    """Return a list with an item that is odd, missing, repeated or in another place; an array keeps its length."""
    is_array, k = kind.endswith(']'), random.randrange(len(values) or 1)
    item, odd = item_of(kind), {'double': ODD_NUMBERS, 'string': ODD_NAMES}.get(item_of(kind))
    if values and (is_array or random.random() < 0.5):
        if odd:
            values[k] = random.choice((*odd, random.choice(values)))
        elif '/' in item:
            spoil(random, values[k])
        return values
    changed = [[], values[:k], values[:k] + values[k + 1 :], [*values, *values[k:]], random.sample(values, len(values))]
    if odd:
        changed.append([*values, *random.choices(odd, k=random.randint(1, 9))])
    return random.choice(changed)


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
    _write(data, '', message)
    return bytes(data) + bytes(-len(data) % 4 if len(data) > 4 else 4)


def _write(data: bytearray, kind: str, value) -> None:
    """Append a value of a kind, of a message its fields."""
    if '[' in kind or '<' in kind:
        if '<' in kind:
            _append(data, 'I', len(value))
        item = item_of(kind)
        if item in CODES and len(value):
            _append(data, CODES[item], *value)
        for each in () if item in CODES else value:
            _write(data, item, each)
    elif kind in CODES:
        _append(data, CODES[kind], value)
    elif kind == 'string':
        _write(data, 'sequence<uint8>', value.encode() + b'\0')
    elif kind == 'octet':
        data += value
    else:
        for name, field in value.get_fields_and_field_types().items():
            _write(data, field, getattr(value, name))


def item_of(kind: str) -> str:
    """Return the kind of the items of a sequence or an array."""
    return kind.partition('[')[0].removeprefix('sequence<').removesuffix('>')


def _append(data: bytearray, code: str, *numbers) -> None:
    data += bytes((4 - len(data)) % struct.calcsize(code))
    data += struct.pack(f'<{len(numbers)}{code}', *numbers)


def broken(random: Random, data: bytes, other: bytes) -> bytes:
    """Return the bytes of a message with up to four defects; bytes of ``other`` may be spliced in."""
    for _ in range(random.randint(1, 4)):
        data = _defect(random, data, other)
    return data


def _defect(random: Random, data: bytes, other: bytes) -> bytes:
    """Return bytes with one defect."""
    place, count = random.randint(0, len(data)), random.randint(0, 200)
    word, number = place - place % 4, max(place - (place - 4) % 8, 0)
    odd = struct.pack('<I', random.choice(ODD_LENGTHS)), struct.pack('<d', random.choice(ODD_NUMBERS))
    header = random.choice((b'\0\0', b'\0\2', b'\0\3', b'\1\1', b'\xff\xff'))
    return random.choice(
        (
            data[:place]
            + bytes(byte ^ 1 << random.randrange(8) for byte in data[place : place + 1])
            + data[place + 1 :],
            data[:word] + odd[0] + data[word + 4 :],
            data[:number] + odd[1] + data[number + 8 :],
            data[:place] + data[max(0, place + random.choice((-8, -4, -1, 1, 4, 8))) :],  # some are removed or repeated
            header + data[2:],  # another byte order or version
            data[:place],
            data[:place] + other[random.choice((place, random.randint(0, len(other)))) :],
            data[: random.choice((0, 4, 12, len(data)))] + random.randbytes(count),
        )
    )
