"""The wire format: CBOR by the examples of its standard, frames cut anywhere, and what is no message."""

import json
import math
import random
import sys

import pytest

from robot_dynamics_ros.aubo import cbor
from robot_dynamics_ros.aubo.frames import FrameReader, frame, value_of
from robot_dynamics_ros.errors import ArgumentError

# RFC 8949, appendix A
EXAMPLES = {
    '00': 0,
    '17': 23,
    '1818': 24,
    '1903e8': 1000,
    '1a000f4240': 1000000,
    '1b000000e8d4a51000': 1000000000000,
    '20': -1,
    '3903e7': -1000,
    'f93c00': 1.0,
    'f97bff': 65504.0,
    'fa47c35000': 100000.0,
    'fb3ff199999999999a': 1.1,
    'fbc010666666666666': -4.1,
    'f97c00': math.inf,
    'f4': False,
    'f5': True,
    'f6': None,
    'f7': None,
    '6449455446': 'IETF',
    '62c3bc': 'ü',
    '80': [],
    '8301820203820405': [1, [2, 3], [4, 5]],
    '98190102030405060708090a0b0c0d0e0f101112131415161718181819': list(range(1, 26)),
    'a26161016162820203': {'a': 1, 'b': [2, 3]},
    '9f018202039f0405ffff': [1, [2, 3], [4, 5]],
    'bf61610161629f0203ffff': {'a': 1, 'b': [2, 3]},
}
CANONICAL = [data for data in EXAMPLES if data[:2] not in ('f9', 'fa', 'f7', '9f', 'bf')]


@pytest.mark.parametrize('data', EXAMPLES)
def test_examples_of_the_standard_are_read(data):
    found = cbor.decode(bytes.fromhex(data))
    assert found == EXAMPLES[data]
    assert type(found) is type(EXAMPLES[data])


@pytest.mark.parametrize('data', CANONICAL)
def test_examples_of_the_standard_are_written(data):
    assert cbor.encode(EXAMPLES[data]).hex() == data


@pytest.mark.parametrize('value', ['f97e00', 'fa7fc00000', 'fb7ff8000000000000'])
def test_a_number_that_is_none_is_read_in_every_size(value):
    assert math.isnan(cbor.decode(bytes.fromhex(value)))


@pytest.mark.parametrize('data', [data for data in EXAMPLES if len(data) > 2])
def test_a_value_that_is_cut_or_continued_is_refused(data):
    whole = bytes.fromhex(data)
    for broken in [*(whole[:k] for k in range(len(whole))), whole + b'\0']:
        with pytest.raises(ArgumentError, match='CBOR'):
            cbor.decode(broken)


@pytest.mark.parametrize('data', ['ff', '1c', 'f8', '9b7fffffffffffffff', 'c249', '81' * 40 + '00', 'a1800', 'bfff00'])
def test_what_no_controller_sends_is_refused(data):
    with pytest.raises(ArgumentError):
        cbor.decode(bytes.fromhex(data + '0' * (len(data) % 2)))


TAGGED = {
    'bignum': 'c249010000000000000000',
    'date': 'c11a514b67b0',
    'decimal fraction': 'c48221196ab3',
    'regular expression': 'd8236161',
    'set': 'd90102820102',
    'tag without a meaning': 'd9ffff00',
    'array that contains itself': 'd81c81d81d00',
    'array that occurs twice': '82d81c8100d81d00',
    'bytes': '4161',
    'simple value': 'f0',
    'array as a key': 'a18000',
    'map as a key': 'a1a000',
}


@pytest.mark.parametrize('value', TAGGED.values(), ids=TAGGED)
def test_what_is_no_number_text_array_or_map_is_refused_at_any_depth(value):
    for data in (value, f'82{value}00', f'a100{value}', f'a1{value}00'):
        with pytest.raises(ArgumentError, match='CBOR'):
            cbor.decode(bytes.fromhex(data))


def test_nesting_and_size_are_limited():
    deepest = b'\x81' * (cbor.DEEPEST - 1) + b'\x80'
    assert str(cbor.decode(deepest)).count('[') == cbor.DEEPEST
    for refused in (b'\x81' + deepest, b'\xa1\0' + deepest, b'\x81' * cbor.LONGEST):
        with pytest.raises(ArgumentError, match='CBOR'):
            cbor.decode(refused)
    longest = cbor.encode('x' * (cbor.LONGEST - 3))
    assert len(longest) == cbor.LONGEST == len(cbor.decode(longest)) + 3
    with pytest.raises(ArgumentError, match='4097 bytes'):
        cbor.decode(cbor.encode('x' * (cbor.LONGEST - 2)))


def test_arrays_of_one_content_are_not_taken_for_shared_ones():
    value = [[1], [1], [], [], {'a': [1]}, {'a': [1]}, [1.5], [1.5]] * 20
    assert cbor.decode(cbor.encode(value)) == value


def test_without_cbor2_json_is_read_and_the_error_names_what_to_install(monkeypatch):
    data = cbor.encode([0, 1.5])
    monkeypatch.setitem(sys.modules, 'cbor2', None)  # what an import finds where it is not installed
    assert value_of(b'[0, 1.5]') == [0, 1.5]
    for call in (lambda: value_of(data), lambda: cbor.encode([0])):
        with pytest.raises(ArgumentError, match=r"pip install 'cbor2"):
            call()


def test_random_bytes_are_read_or_refused():
    source, refused = random.Random(5), 0
    for _ in range(3000):
        try:
            cbor.decode(source.randbytes(source.randrange(1, 40)))
        except ArgumentError:
            refused += 1
    assert 0 < refused < 3000


def test_frames_are_found_however_the_stream_is_cut():
    payloads = [b'', b'[1]', b'SOF inside', bytes(range(256)) * 3]
    junk = b'SO', b'SOF\x07', b'SOFSO', b''  # the longest beginning of a frame that is none
    data = b''.join(
        part + frame(payload, kind) for part, payload, kind in zip(junk, payloads, (0, 1, 0, 1), strict=True)
    )
    for size in (1, 2, 3, 7, 64, len(data)):
        reader = FrameReader()
        found = [payload for k in range(0, len(data), size) for payload in reader.feed(data[k : k + size])]
        assert found == payloads
        assert reader.skipped == sum(map(len, junk))
        assert reader.pending == 0


def test_a_frame_that_has_not_ended_is_pending_and_a_length_beyond_reason_is_not_awaited():
    reader = FrameReader()
    assert reader.feed(frame(b'12345')[:-1]) == []
    assert reader.pending == 10
    reader = FrameReader()
    assert reader.feed(b'SOF\1\xff\xff\xff\xff' + frame(b'next')) == [b'next']


def test_a_payload_is_cbor_or_json():
    value = [0, 1.5, 'Running', [1.0, None], {'a': True}]
    assert value_of(cbor.encode(value)) == value_of(json.dumps(value).encode()) == value
    for broken in (b'', b'[1', b'{', b'\xff', b'[' * 500_000):
        with pytest.raises(ArgumentError, match=r'not (CBOR|JSON)'):
            value_of(broken)
