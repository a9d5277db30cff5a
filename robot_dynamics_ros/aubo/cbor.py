"""CBOR (RFC 8949) by cbor2, as far as a controller uses it: numbers, texts, arrays, maps and simple values, no tags."""

from functools import partial
from io import BytesIO
from typing import Any

from robot_dynamics_ros.errors import ArgumentError

LONGEST = 1 << 12
"""Bytes of a message; a controller's have some hundred.

cbor2 decodes a tag, such as a decimal fraction, before it is refused here: for so many bytes that takes some ms.
"""
DEEPEST = 16
"""Arrays and maps within each other; a controller's messages have two."""
PLAIN = {bool, float, str, type(None)}
"""Types that need no closer look."""
INTEGERS = range(-(1 << 64), 1 << 64)
"""What CBOR has without tags."""


def library():
    """Return the module cbor2; ArgumentError where it is not installed."""
    try:
        import cbor2  # noqa: PLC0415
    except ImportError as error:
        raise ArgumentError(
            f"the stream of a controller needs cbor2 (apt install python3-cbor2, or pip install 'cbor2>=5.4'): {error}"
        ) from None
    return cbor2


def encode(value) -> bytes:
    """Return ``value`` (bool, int, float, str, None, list or dict of these) as CBOR; floats as doubles."""
    return library().dumps(value)


def decode(data: bytes) -> Any:
    """Return the value of ``data``; ArgumentError where it is not one complete value of CBOR without tags."""
    cbor2 = library()
    if len(data) > LONGEST:
        raise ArgumentError(f'not CBOR: {len(data)} bytes, and a message has at most {LONGEST}')
    stream = BytesIO(data)
    try:
        value = cbor2.CBORDecoder(stream).decode()
    except Exception as error:  # cbor2's own, and whatever the decoders of its tags raise
        raise ArgumentError(f'not CBOR: {error}') from None
    if stream.tell() != len(data):
        raise ArgumentError(f'not CBOR: {len(data) - stream.tell()} bytes follow the value')
    return _plain(value, 0, set(), cbor2.undefined)


def _plain(value, depth: int, seen: set[int], undefined) -> Any:
    """Return ``value`` with None for ``undefined``; ArgumentError for what cbor2 makes of tags, and for bytes.

    ``seen`` has the identity of each array and map above and before it: a shared reference occurs twice.
    """
    kind = type(value)
    if kind in PLAIN or (kind is int and value in INTEGERS):
        return value
    if value is undefined:
        return None
    if kind not in (list, dict):
        what = 'an integer of more than 64 bits' if kind is int else f'a value of type {kind.__name__}'
        raise ArgumentError(f'not CBOR of a controller: {what}')
    if depth == DEEPEST or id(value) in seen:
        raise ArgumentError(f'not CBOR of a controller: {DEEPEST + 1} nested arrays and maps, or a shared one')
    seen.add(id(value))
    if kind is dict:
        plain = partial(_plain, seen=seen, undefined=undefined)
        return {plain(key, DEEPEST): plain(part, depth + 1) for key, part in value.items()}
    if PLAIN.issuperset(map(type, value)):
        return value
    return [_plain(part, depth + 1, seen, undefined) for part in value]
