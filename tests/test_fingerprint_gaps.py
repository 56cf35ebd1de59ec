"""The gap codec gives back every fingerprint, and takes as little as theory says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archivebot.exceptions import CorruptObject
from archivebot.fingerprint.gaps import decode, encode


def array(values: list[int]) -> np.ndarray:
    return np.array(values, np.uint64)


@settings(deadline=None)
@given(st.lists(st.integers(0, 2**64 - 1)))
def test_the_fingerprints_come_back_in_order(values: list[int]) -> None:
    assert decode(encode(array(values))).tolist() == sorted(values)


@pytest.mark.parametrize("gap", [0, 1, 127, 128, 2**31, 2**35 - 1, 2**35, 2**63, 2**64 - 1])
def test_a_gap_of_any_size_comes_back(gap: int) -> None:
    data = encode(array([0, gap]))
    assert decode(data).tolist() == [0, gap]
    assert len(data) == 8 + max(1, -(-gap.bit_length() // 7))


def test_the_bytes_are_these() -> None:
    values = [0x0102030405060708, 0x0102030405060708, 0x0102030405060709, 0x0102030405060789]
    assert encode(array(values)).hex() == "0102030405060708" + "00" + "01" + "8001"


def test_a_million_random_fingerprints_take_less_than_seven_bytes_each() -> None:
    values = np.random.default_rng(1).integers(0, 2**64, 1 << 20, np.uint64)
    data = encode(values)
    assert np.array_equal(decode(data), np.sort(values))
    assert 0.84 < len(data) / values.nbytes <= 0.86


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"1234567", "cut"),
        (b"12345678\x80", "cut"),
        (b"12345678" + b"\x80" * 10 + b"\x01", "11 bytes"),
        (b"\xff" * 8 + b"\x01", "more than 64 bits"),
    ],
)
def test_broken_bytes_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(CorruptObject, match=message):
        decode(data)
