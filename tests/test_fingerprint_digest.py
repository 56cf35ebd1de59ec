"""Digests of bodies and of pieces, pinned to known values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.fingerprint import piece_id, sha256_hex


@pytest.mark.parametrize(
    ("data", "digest"),
    [
        (b"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (b"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ],
)
def test_the_digest_of_a_body_is_sha_256_in_lower_case_hex(data: bytes, digest: str) -> None:
    assert sha256_hex(data) == digest


@pytest.mark.parametrize(("data", "number"), [(b"", -2039914840885289964), (b"abc", -5010229573455851542)])
def test_the_id_of_a_piece_is_the_same_for_ever(data: bytes, number: int) -> None:
    assert piece_id(data) == number


@given(st.binary())
def test_the_id_of_a_piece_fits_a_signed_column_of_64_bits(data: bytes) -> None:
    assert -(1 << 63) <= piece_id(data) < 1 << 63
    assert f"{piece_id(data) % (1 << 64):016x}" == sha256_hex(data)[:16]
