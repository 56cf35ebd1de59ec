"""HTTP responses taken apart: chunks, content codings, digests."""

from __future__ import annotations

import base64
import gzip
import hashlib
import zlib

import brotli
import pytest

from archivebot.http.codings import CodingError, decode, zstd
from archivebot.warc.payload import Response, State, is_digest_of, parse_response, read_body, unchunk

LIMIT = 1 << 20
TEXT = b"some text, " * 100


def response(payload: bytes, *headers: tuple[str, str]) -> Response:
    return Response(200, headers, payload)


def raw_deflate(data: bytes) -> bytes:
    coder = zlib.compressobj(wbits=-15)
    return coder.compress(data) + coder.flush()


def chunked(data: bytes, size: int = 100) -> bytes:
    parts = [data[at : at + size] for at in range(0, len(data), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in [*parts, b""])


@pytest.mark.parametrize(
    ("block", "status", "headers", "payload"),
    [
        (b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nx", 200, (("A", "b"),), b"x"),
        (b"HTTP/1.0 302 \nA: b\n c\n\nx", 302, (("A", "b c"),), b"x"),
        (b"HTTP/2 404\r\n\r\n", 404, (), b""),
        (b"HTTP/1.1 200 OK", 200, (), b""),
        (b"HTTP/1.1 200 OK\r\nA: \xfc\r\nno colon\r\nB: \r\n\r\n", 200, (("A", "ü"), ("B", "")), b""),
    ],
)
def test_blocks_are_taken_apart_as_they_are_found(
    block: bytes, status: int, headers: tuple[tuple[str, str], ...], payload: bytes
) -> None:
    head = block.removesuffix(payload)
    assert parse_response(block) == Response(status, headers, payload, head)


@pytest.mark.parametrize("coding", ["gzip", "x-gzip", "GZIP", "identity", ""])
def test_plain_and_gzip_codings_are_undone(coding: str) -> None:
    data = gzip.compress(TEXT) if "gzip" in coding.lower() else TEXT
    assert decode(data, [coding], LIMIT) == TEXT


def test_several_gzip_members_are_one_body_and_bytes_behind_them_ignored() -> None:
    assert decode(gzip.compress(b"a") + gzip.compress(b"b") + b"\0\0", ["gzip"], LIMIT) == b"ab"


@pytest.mark.parametrize("coder", [zlib.compress, raw_deflate])
def test_deflate_is_undone_with_and_without_its_wrapper(coder: type[bytes]) -> None:
    assert decode(coder(TEXT), ["deflate"], LIMIT) == TEXT


def test_brotli_is_undone() -> None:
    assert decode(brotli.compress(TEXT), ["br"], LIMIT) == TEXT
    large = bytes(range(256)) * 20000
    assert decode(brotli.compress(large, quality=1), ["br"], 10 * LIMIT) == large
    for data, why in [(brotli.compress(TEXT)[:-3], "ends early"), (b"\xff" * 50, "damaged")]:
        with pytest.raises(CodingError, match=why):
            decode(data, ["br"], LIMIT)
    with pytest.raises(CodingError, match="more than the limit"):
        decode(brotli.compress(bytes(10 * LIMIT)), ["br"], LIMIT)


def test_zstandard_is_undone() -> None:
    assert decode(zstd.compress(TEXT) * 2, ["zstd"], LIMIT) == TEXT * 2
    for data, why in [(zstd.compress(TEXT)[:-3], "ends early"), (b"\xff" * 50, "damaged")]:
        with pytest.raises(CodingError, match=why):
            decode(data, ["zstd"], LIMIT)
    with pytest.raises(CodingError, match="more than the limit"):
        decode(zstd.compress(bytes(10 * LIMIT)), ["zstd"], LIMIT)


@pytest.mark.parametrize(
    ("data", "coding", "why"),
    [
        (gzip.compress(TEXT, mtime=0)[:-9], "gzip", "ends early"),
        (TEXT, "gzip", "damaged"),
        (b"\xff", "deflate", "damaged"),
        (gzip.compress(bytes(2 * LIMIT), mtime=0), "gzip", "more than the limit"),
        (gzip.compress(bytes(LIMIT // 2), mtime=0) * 3, "gzip", "more than the limit"),
        (TEXT, "utf-8", "unknown content coding 'utf-8'"),
    ],
)
def test_what_cannot_be_decoded_says_why(data: bytes, coding: str, why: str) -> None:
    with pytest.raises(CodingError, match=why):
        decode(data, [coding], LIMIT)


@pytest.mark.parametrize(
    "headers",
    [
        (("Content-Encoding", "deflate, gzip"),),
        (("Content-Encoding", "deflate"), ("content-encoding", "gzip")),
    ],
)
def test_stacked_codings_are_undone_last_first(headers: tuple[tuple[str, str], ...]) -> None:
    assert read_body(response(gzip.compress(zlib.compress(TEXT)), *headers), LIMIT).content == TEXT


def test_chunks_are_joined_before_the_content_coding_is_undone() -> None:
    headers = (("Transfer-Encoding", "chunked"), ("Content-Encoding", "gzip"))
    coded = gzip.compress(TEXT)
    body = read_body(response(chunked(coded), *headers), LIMIT)
    assert (body.entity, body.content, body.wrong) == (coded, TEXT, "")


def test_trailers_and_extensions_of_chunks_are_left_out() -> None:
    assert unchunk(b"3 ; a=b\r\nabc\r\n0\r\nX-Trailer: y\r\n\r\n") == (b"abc", "")


@pytest.mark.parametrize(
    ("payload", "content", "why", "state"),
    [
        (b"3\r\nabc\r\n", b"abc", "chunks end early", State.CUT),
        (b"3\r\nab", b"ab", "chunks end early", State.CUT),
        (b"3\r\nabc\r\n1f", b"abc", "chunks end early", State.CUT),
        (b"3\r\nabc\r\n3\r\nabcdef", None, "chunk of 3 bytes does not end where it should", State.CUT),
        (b"3\r\nabc\r\nxyz\r\n", None, "malformed chunk size", State.CUT),
        (b"3\r\nabcdef\r\n0\r\n\r\n", None, "chunk of 3 bytes does not end where it should", State.WHOLE),
    ],
)
def test_wrong_chunks_are_joined_as_far_as_they_end_early_and_left_where_they_are_broken(
    payload: bytes, content: bytes | None, why: str, state: State
) -> None:
    body = read_body(response(payload, ("Transfer-Encoding", "chunked")), LIMIT)
    assert (body.content, body.wrong, body.state) == (content or payload, why, state)


@pytest.mark.parametrize(
    ("payload", "coding", "state"),
    [
        (gzip.compress(TEXT, mtime=0)[:-1], "gzip", State.CUT),
        (gzip.compress(TEXT, mtime=0)[:12] + b"\xff" * 20, "gzip", State.CUT),
        (zlib.compress(TEXT)[:-1], "deflate", State.CUT),
        (b"<p>" + TEXT, "gzip", State.WHOLE),  # undone by the writer
        (b"<p>" + TEXT, "deflate", State.WHOLE),
        (b"<p>" + TEXT, "utf-8", State.WHOLE),
        (gzip.compress(bytes(2 * LIMIT), mtime=0), "gzip", State.TOO_LONG),
    ],
)
def test_a_body_that_cannot_be_decoded_keeps_its_coding_and_is_whole_if_it_never_had_it(
    payload: bytes, coding: str, state: State
) -> None:
    body = read_body(response(payload, ("Content-Encoding", coding)), LIMIT)
    assert (body.content, body.state) == (payload, state)
    assert body.wrong


@pytest.mark.parametrize(
    ("headers", "state"),
    [
        ((("Content-Length", "5"),), State.CUT),
        ((("Content-Length", "3"),), State.WHOLE),
        ((("Content-Length", "2"),), State.WHOLE),
        ((("Content-Length", "x"),), State.WHOLE),
        ((("Content-Length", "4"), ("Content-Length", "5")), State.WHOLE),
        ((("Content-Length", "5"), ("Content-Encoding", "identity")), State.WHOLE),
    ],
)
def test_a_body_shorter_than_its_content_length_is_cut(
    headers: tuple[tuple[str, str], ...], state: State
) -> None:
    assert read_body(response(b"abc", *headers), LIMIT).state is state


def test_a_header_for_chunks_that_are_not_there_is_ignored() -> None:
    body = read_body(response(b"<p>text", ("Transfer-Encoding", "chunked")), LIMIT)
    assert (body.content, body.wrong) == (b"<p>text", "")


def test_chunks_whose_header_is_lost_are_joined() -> None:
    assert read_body(response(chunked(TEXT)), LIMIT).content == TEXT


@pytest.mark.parametrize("payload", [b"0\r\n\r\n", b"3\r\nabc", b"3\r\nabcde\r\n0\r\n\r\n"])
def test_text_that_only_resembles_chunks_stays(payload: bytes) -> None:
    assert read_body(response(payload), LIMIT).content == payload


def test_an_empty_body_needs_no_decoding() -> None:
    assert read_body(response(b"", ("Content-Encoding", "gzip")), LIMIT).wrong == ""


def test_a_digest_fits_any_form_of_the_payload_in_any_spelling() -> None:
    headers = (("Transfer-Encoding", "chunked"), ("Content-Encoding", "gzip"))
    body = read_body(response(chunked(gzip.compress(TEXT)), *headers), LIMIT)
    for form in (body.stored, body.entity, body.content):
        raw = hashlib.sha256(form).digest()
        assert is_digest_of(f"sha256:{raw.hex()}", body)
        assert is_digest_of(f"SHA-256:{base64.b32encode(raw).decode()}", body)
    assert not is_digest_of("sha256:" + "0" * 64, body)
    assert is_digest_of("blake3:0", body)
