"""Packets: what goes in comes out, and what a stranger sends is read with distrust."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinode.player.packet import (
    PacketError,
    decode_series,
    encode_series,
    read_json,
    read_packet,
    write_json,
    write_packet,
)

ARRAYS = {
    "t": np.linspace(0, 1, 5),
    "pose": np.arange(30, dtype=np.float32).reshape(5, 2, 3),
    "flags": np.array([1, 0, 255], dtype=np.uint8),
    "short": np.array([[1, 65535]], dtype=np.uint16),
    "many": np.array([4294967295], dtype=np.uint32),
    "index": np.array([-1, 2**31 - 1], dtype=np.int32),
    "none": np.zeros((0, 7), dtype=np.float32),
    "single": np.array(2.5),
}


def build(header, body=b"", length=None):
    """A packet by hand, from a header that may be anything."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    text += b" " * (-(4 + len(text)) % 8)
    return (len(text) if length is None else length).to_bytes(4, "little") + text + body


def entry(**changes):
    return {"name": "a", "dtype": "f8", "shape": [2], "offset": 0, "bytes": 16} | changes


def test_arrays_come_back_as_they_went():
    header, arrays = read_packet(write_packet({"kind": "run", "seq": 3}, ARRAYS))
    assert header == {"kind": "run", "seq": 3}
    assert list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)
        assert not arrays[name].flags.writeable


@pytest.mark.parametrize("extra", range(9))
def test_the_layout_is_what_the_page_reads(extra):
    data = write_packet({"x": "é" * extra}, ARRAYS)
    length = int.from_bytes(data[:4], "little")
    header = json.loads(data[4 : 4 + length].decode())
    assert length % 4 == 0 and (4 + length) % 8 == 0
    end = 0
    for place, array in zip(header["arrays"], ARRAYS.values()):
        assert place["offset"] % 8 == 0 and end <= place["offset"] < end + 8
        assert place["bytes"] == array.nbytes and place["shape"] == list(array.shape)
        end = place["offset"] + place["bytes"]
        assert data[4 + length + place["offset"] :][: place["bytes"]] == array.tobytes()


def test_arrays_of_other_orders_travel_too():
    swapped, turned = np.array([1.0, 2.0], dtype=">f8"), np.arange(6, dtype=np.float32).reshape(2, 3).T
    _, arrays = read_packet(write_packet({}, {"swapped": swapped, "turned": turned}))
    np.testing.assert_array_equal(arrays["swapped"], swapped)
    np.testing.assert_array_equal(arrays["turned"], turned)


@pytest.mark.parametrize("array", [np.arange(3), np.array([True]), np.array([1j]), np.array(["a"]), np.array([None])])
def test_other_kinds_of_arrays_are_refused(array):
    with pytest.raises(PacketError, match=r"^q: arrays of"):
        write_packet({}, {"q": array})


def test_a_header_may_not_write_arrays_itself():
    with pytest.raises(PacketError, match="arrays"):
        write_packet({"arrays": []}, {})


def test_two_arrays_of_one_name_are_refused():
    with pytest.raises(PacketError, match="'a:low' stands twice"):
        write_packet({}, {"a": encode_series(np.zeros(3)), "a:low": np.zeros(1)})


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "at least 4"),
        (b"\0\0\0", "at least 4"),
        (b"\xff\xff\xff\xff", "length"),
        (build({"arrays": []}, length=16) [:12], "length"),
        (build({"arrays": []}, length=5), "length"),
        (build(b"[1, 2]      "), "object"),
        (build(b"nonsense"), "header"),
        (build(b'{"arrays": [], "x": NaN}'), "NaN"),
        (build(b'{"arrays": [], "x": "\xff"}'), "header"),
        (build(b"[" * 100_000), "header"),
        (build({}), "'arrays'"),
        (build({"arrays": {}}), "'arrays'"),
        (build({"arrays": [3]}), "without a name"),
        (build({"arrays": [entry(name=3)]}), "without a name"),
        (build({"arrays": [entry(dtype="O")]}, bytes(16)), "dtype"),
        (build({"arrays": [entry(dtype="f16")]}, bytes(16)), "dtype"),
        (build({"arrays": [entry(dtype=["f8"])]}, bytes(16)), "dtype"),
        (build({"arrays": [entry(shape=[-2])]}, bytes(16)), "shape"),
        (build({"arrays": [entry(shape=[2.0])]}, bytes(16)), "shape"),
        (build({"arrays": [entry(shape=[True, 2])]}, bytes(16)), "shape"),
        (build({"arrays": [entry(shape="2")]}, bytes(16)), "shape"),
        (build({"arrays": [entry(shape=[1] * 40 + [2])]}, bytes(16)), "shape"),
        (build({"arrays": [entry(shape=[3])]}, bytes(16)), "does not have 16 bytes"),
        (build({"arrays": [entry(shape=[2**39, 2**39, 2**39])]}, bytes(16)), "does not have"),
        (build({"arrays": [entry(shape=[2**64])]}, bytes(16)), "shape"),
        (build({"arrays": [entry(shape=[2**39], bytes=2**42)]}, bytes(16)), "whole numbers"),
        (build({"arrays": [entry(shape=[2**36], bytes=2**39)]}, bytes(16)), "not there"),
        (build({"arrays": [entry(offset=-8)]}, bytes(16)), "whole numbers"),
        (build({"arrays": [entry(offset=4)]}, bytes(24)), "not its own"),
        (build({"arrays": [entry(offset=8)]}, bytes(16)), "not there"),
        (build({"arrays": [entry(offset=2**39)]}, bytes(16)), "not there"),
        (build({"arrays": [entry()]}, bytes(15)), "not there"),
        (build({"arrays": [entry(), entry()]}, bytes(32)), "stands twice"),
        (build({"arrays": [entry(), entry(name="b", offset=8)]}, bytes(32)), "not its own"),
        (build({"arrays": [entry(encoding="zip", dtype="u2", bytes=4)]}, bytes(16)), "encoding"),
        (build({"arrays": [entry(encoding="delta")]}, bytes(16)), "encoding"),
        (build({"arrays": [entry(encoding=["delta"], dtype="u2", bytes=4)]}, bytes(16)), "encoding"),
        (build({"arrays": [entry(encoding="delta", dtype="u2", bytes=4, values="i4")]}, bytes(16)), "encoding"),
        (build({"arrays": [entry(encoding="delta", dtype="u2", bytes=4, values=["f4"])]}, bytes(16)), "encoding"),
        (build({"arrays": [entry(encoding="delta", dtype="u2", bytes=2, shape=[])]}, bytes(16)), "encoding"),
        (build({"arrays": [entry(encoding="delta", dtype="u1", bytes=2)]}, bytes(16)), "encoding"),
        (build({"arrays": [entry(encoding="delta", dtype="u2", bytes=4)]}, bytes(16)), "a:low: is missing"),
        (build({"arrays": [entry(encoding="delta", dtype="u2", bytes=4),
                           entry(name="a:low", shape=[1], offset=8, bytes=8),
                           entry(name="a:step", shape=[], offset=16, bytes=8)]}, bytes(24)), "a:low: is missing"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(data, said):
    with pytest.raises(PacketError, match=said):
        read_packet(data)


@given(st.binary(max_size=200), st.integers(0, 400))
def test_no_bytes_do_harm(noise, at):
    data = bytearray(write_packet({"kind": "x"}, {"a": np.arange(4.0), "s": encode_series(np.arange(6.0))}))
    data[at : at + len(noise)] = noise
    try:
        header, arrays = read_packet(data)
    except PacketError:
        return
    assert isinstance(header, dict) and all(isinstance(array, np.ndarray) for array in arrays.values())


@pytest.mark.parametrize("bits", [16, 24])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_series_come_back_within_half_a_step(bits, dtype):
    rng = np.random.default_rng(4)
    values = (rng.normal(size=(3, 2, 200)).cumsum(axis=-1) * [[[1], [1e6]]] - 5e3).astype(dtype)
    series = encode_series(values, bits)
    back = decode_series(series)
    reach = np.ptp(values.astype(float), axis=-1, keepdims=True)
    np.testing.assert_allclose(series.step[..., None], reach / (2**bits - 2), rtol=1e-12)
    rounding = np.abs(values).max() * np.finfo(dtype).eps
    assert np.all(np.abs(back - values.astype(float)) <= reach / (2**bits - 2) * 0.5000001 + rounding)
    assert back.dtype == dtype and back.shape == values.shape


def test_series_by_hand():
    """The numbers of the format itself: k = 1, 32768, 65535, NaN, 1 and their second differences modulo 2^16."""
    series = encode_series(np.array([0.0, 32767.0, 65534.0, math.nan, 0.0]), 16)
    assert (series.low, series.step) == (0.0, 1.0)
    k = [0, 0, 1, 32768, 65535, 0, 1]
    second = [(c - 2 * b + a) % 65536 for a, b, c in zip(k, k[1:], k[2:])]
    assert series.data.tolist() == [x & 255 for x in second] + [x >> 8 for x in second]


def test_constant_columns_are_exact():
    values = np.array([[0.1] * 4, [-3e-200] * 4, [1e300] * 4])
    series = encode_series(values)
    assert series.step.tolist() == [0, 0, 0]
    np.testing.assert_array_equal(decode_series(series), values)


def test_nan_stays_and_infinity_becomes_nan():
    values = np.array([[math.nan] * 3, [1.0, math.inf, 2.0], [-math.inf, 5.0, 5.0]])
    expected = [[math.nan] * 3, [1.0, math.nan, 2.0], [math.nan, 5.0, 5.0]]
    np.testing.assert_allclose(decode_series(encode_series(values)), expected, rtol=1e-15)


@pytest.mark.parametrize("values", [[-8e307, 8e307, 0.0], [5e-324, 1e-323, 0.0], [1.0, 1.0 + 2**-52, 1.0]])
def test_extreme_ranges(values):
    back = decode_series(encode_series(np.array(values), 24))
    reach = max(values) / 2**24 - min(values) / 2**24
    assert np.all(np.abs(back / 2 - np.array(values) / 2) <= reach + 1e-320)


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 4), (1,)])
def test_small_shapes(shape):
    header, arrays = read_packet(write_packet({}, {"s": encode_series(np.ones(shape))}))
    assert header == {} and list(arrays) == ["s"]
    np.testing.assert_array_equal(arrays["s"], np.ones(shape))


def test_series_travel_in_packets():
    values = np.sin(np.linspace(0, 9, 500)).astype(np.float32).reshape(1, 500)
    _, arrays = read_packet(write_packet({}, {"s": encode_series(values, 24), "s:other": np.zeros(1)}))
    assert set(arrays) == {"s:other", "s"}
    np.testing.assert_allclose(arrays["s"], values, atol=1e-7)


@pytest.mark.parametrize("bits", [8, 32, 0])
def test_other_bits_are_refused(bits):
    with pytest.raises(PacketError, match="16 or 24"):
        encode_series(np.zeros(3), bits)


def test_a_number_is_no_series():
    with pytest.raises(PacketError, match="time"):
        encode_series(np.array(3.0))


def test_json_without_nan():
    value = {"a": [1.0, math.nan, np.float64(-math.inf)], "b": np.array([1.0, math.nan]), "c": np.int32(3)}
    assert read_json(write_json(value)) == {"a": [1.0, None, None], "b": [1.0, None], "c": 3}
    with pytest.raises(TypeError, match="set cannot be sent"):
        write_json({"x": {1}})


@pytest.mark.parametrize("order", [2, 3])
def test_differences_of_either_order_come_back(order):
    values = np.sin(np.linspace(0.0, 9.0, 200)).reshape(2, 100).astype(np.float32)
    data = write_packet({}, {"s": encode_series(values, 16, order=order)})
    _, arrays = read_packet(data)
    assert np.all(abs(arrays["s"] - values) <= np.ptp(values, axis=-1, keepdims=True) / 65534)


def test_a_common_range_makes_steps_coarser():
    values = np.array([[0.0, 1.0], [0.0, 1e-3]])
    steps = encode_series(values, 16, span=1.0).step
    np.testing.assert_allclose(steps, 1 / 65534)
    assert encode_series(values, 16, span=1e-6).step[1] == pytest.approx(1e-3 / 65534)


def test_an_unknown_order_is_refused():
    data = write_packet({}, {"s": encode_series(np.arange(6.0), order=3)})
    with pytest.raises(PacketError, match="does not know"):
        read_packet(data.replace(b'"order":3', b'"order":7'))
