"""Frames: one body compressed against another."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from archivebot.exceptions import CorruptObject
from archivebot.storage.frames import LEAST_COST, LEAST_PREFIX, MOST_WINDOW_LOG, cost, decode, encode
from tests.strict_skips import ALLOWED

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

BODIES = st.binary(max_size=400)


@given(BODIES, BODIES, st.integers(1, 19))
@example(b"", b"", 1)
@example(b"any", b"short", 1)
@example(b"", b"a base of many words", 19)
@example(b"x", bytes(LEAST_PREFIX), 1)
def test_any_body_rebuilds_against_any_base(body: bytes, base: bytes, level: int) -> None:
    assert decode([encode(body, None, level)]) == body
    assert decode([encode(body, base, level)], base) == body
    assert decode([encode(base, None, level), encode(body, base, level)]) == body


@given(st.lists(BODIES, max_size=6))
def test_any_chain_rebuilds(bodies: list[bytes]) -> None:
    frames = [encode(body, base, 3) for body, base in zip(bodies, [None, *bodies], strict=False)]
    assert decode(frames) == (bodies[-1] if bodies else b"")


@given(st.binary(max_size=100), BODIES)
def test_any_bytes_are_decoded_or_are_corrupt(frame: bytes, base: bytes) -> None:
    with suppress(CorruptObject):
        decode([frame], base)


@given(BODIES, st.data())
def test_a_frame_with_a_fault_is_decoded_or_is_corrupt(body: bytes, data: st.DataObject) -> None:
    frame = bytearray(encode(body, b"a base of many words", 3))
    frame[data.draw(st.integers(0, len(frame) - 1))] ^= data.draw(st.integers(1, 255))
    with suppress(CorruptObject):
        decode([bytes(frame)], b"a base of many words")


@pytest.mark.parametrize("cut", [0, 1, 5, -1])
def test_a_frame_cut_short_is_corrupt(cut: int) -> None:
    with pytest.raises(CorruptObject, match="cannot be decompressed"):
        decode([encode(b"some page" * 10, None, 3)[: cut or 2]])


def test_bytes_after_a_frame_are_corrupt() -> None:
    with pytest.raises(CorruptObject):
        decode([encode(b"some page", None, 3) + b"rest"])


@pytest.mark.parametrize("level", [3, 9, 10])
def test_a_small_change_of_a_large_body_is_a_small_frame(level: int) -> None:
    body = random.Random(1).randbytes(3_000_000)
    frame = encode(body[:1_500_000] + b"news" + body[1_500_000:], body, level)
    assert len(frame) < 6000
    assert decode([frame], body) == body[:1_500_000] + b"news" + body[1_500_000:]


def test_no_frame_asks_for_a_window_that_other_decoders_refuse() -> None:
    body = bytes(range(256)) * 4096
    info = zstd.get_frame_info(encode(body, body, 19))
    assert info.decompressed_size == len(body)
    data = zstd.decompress(
        encode(body, body, 19),
        zstd_dict=zstd.ZstdDict(body, is_raw=True).as_prefix,
        options={zstd.DecompressionParameter.window_log_max: MOST_WINDOW_LOG},
    )
    assert data == body


def test_the_zstd_program_reads_a_frame(tmp_path: Path) -> None:
    if shutil.which("zstd") is None:
        pytest.skip(f"{ALLOWED} the zstd program is not installed")
    base, body = b"some page " * 100, b"some page " * 100 + b"and news"
    (tmp_path / "base").write_bytes(base)
    (tmp_path / "frame").write_bytes(encode(body, base, 12))
    command = ["zstd", "-d", "-q", "-c", f"--patch-from={tmp_path}/base", f"{tmp_path}/frame"]
    assert subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout == body


@given(st.integers(0, 1 << 40), st.integers(0, 1 << 40))
def test_the_cost_of_a_version_is_that_of_its_bases_and_its_own(length: int, base: int) -> None:
    assert cost(length, base) == base + cost(length)
    assert cost(length) == max(length, LEAST_COST)
