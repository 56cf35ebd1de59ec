"""Truncation is never content: cuts and broken framing over real HTTP."""

from __future__ import annotations

import gzip
import os
import random
import zlib
from collections.abc import Callable
from contextlib import closing

import brotli
import pytest
from backports import zstd

from archivebot import Archive, ArchiveConfig
from archivebot.models import Outcome
from tests.conftest import Crawl
from tests.mockserver import Asked, MockServer, Reply, html, markup

CUTS = int(os.environ.get("ARCHIVE_TEST_CUTS", "12"))  # for each coding and each framing; 100 takes a minute

PAGE = markup([], " ".join(f"word{number}" for number in range(3000)))


def deflated(body: bytes) -> bytes:
    coder = zlib.compressobj(wbits=-15)
    return coder.compress(body) + coder.flush()


CODERS: dict[str, Callable[[bytes], bytes]] = {
    "identity": bytes,
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "raw": deflated,
    "br": brotli.compress,
    "zstd": zstd.compress,
    "gzip, br": lambda body: brotli.compress(gzip.compress(body)),
}


def answer(body: bytes, coding: str = "identity", framing: str = "counted", status: str = "200 OK") -> bytes:
    """An answer as it goes over the wire."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n"
    if coding != "identity":
        head += f"Content-Encoding: {'deflate' if coding == 'raw' else coding}\r\n"
    if framing == "counted":
        head += f"Content-Length: {len(body)}\r\n"
    elif framing == "chunked":
        head += "Transfer-Encoding: chunked\r\n"
        parts = [body[at : at + 1000] for at in range(0, len(body), 1000)]
        body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in [*parts, b""])
    return head.encode() + b"\r\n" + body


def cases() -> dict[str, tuple[bytes, bytes]]:
    """For each path an answer that is whole, and one that is cut somewhere behind its status line."""
    chance = random.Random(13)
    found = {}
    for coding, coder in CODERS.items():
        for framing in ("counted", "chunked", "until-close"):
            whole = answer(coder(PAGE), coding, framing)
            head = whole.index(b"\r\n\r\n") + 4
            # Nobody can know that a body without coding and without length was cut.
            most = head - 2 if (coding, framing) == ("identity", "until-close") else len(whole) - 1
            spots = [chance.randrange(head if most > head else 20, most) for _ in range(CUTS - 2)]
            for number, cut in enumerate([chance.randrange(20, head), *spots, most]):
                path = f"/{coding.replace(', ', '-')}-{framing}-{number}"
                found[path] = whole, whole[:cut]
    return found


@pytest.mark.long
def test_no_cut_of_any_coding_or_framing_is_content_or_a_change(site: MockServer, crawl: Crawl) -> None:
    answers = cases()
    site.routes |= {path: Reply(raw=whole) for path, (whole, _) in answers.items()}
    site.routes["/"] = html(*answers)
    options = ("-s", "RETRY_TIMES=0", "-s", "ROBOTSTXT_OBEY=0", "-s", "DOWNLOAD_TIMEOUT=20")
    first = {record["url"]: record for record in crawl(*options, seeds=site.url()).records}
    assert {first[site.url(path)]["outcome"] for path in answers} == {"fetched"}

    site.routes |= {path: Reply(raw=cut) for path, (_, cut) in answers.items()}
    second = {record["url"]: record for record in crawl(*options, seeds=site.url()).records}
    wrong = {
        path: (record["outcome"], record["kind"], record["status"])
        for path in answers
        if (record := second[site.url(path)])["kind"] != "failed" or record["status"] != 200
    }
    assert not wrong
    # Nothing comes of a body that is cut before its first byte.
    assert {second[site.url(path)]["outcome"] for path in answers} <= {"incomplete", "no_content"}
    with closing(Archive.open(ArchiveConfig(uri=crawl.uri))) as archive:
        assert {archive.version_count(site.url(path)) for path in answers} == {1}


def broken() -> dict[str, bytes]:
    page = b"<h1>page</h1>"
    plain = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Kept: yes\r\n"
    damaged = bytearray(gzip.compress(PAGE))
    damaged[-8] ^= 1  # in the CRC
    return {
        "/crc": answer(bytes(damaged), "gzip"),
        "/lie": answer(page, "gzip"),
        "/lie-br": answer(page, "br"),
        "/lie-zstd": answer(page, "zstd"),
        "/lie-deflate": answer(page, "deflate"),
        "/negative": plain + b"Content-Length: -5\r\n\r\n" + page,
        "/two": plain + b"Content-Length: 13\r\nContent-Length: 14\r\n\r\n" + page,
        "/text": plain + b"Content-Length: many\r\n\r\n" + page,
        "/transfer": plain + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + page,
        "/chunks": plain + b"Transfer-Encoding: chunked\r\n\r\nd\r\n" + page + b"\r\nxyz\r\n",
        "/endless": plain + b"X-Line: 1\r\n" * 40_000,
        "/endless-line": plain + b"X-Line: " + b"1" * 400_000,
        "/half": plain + b"X-Li",
    }


@pytest.mark.long
@pytest.mark.parametrize("keeps_open", [False, True])
def test_what_breaks_the_rules_keeps_its_status_and_what_came(
    site: MockServer, crawl: Crawl, keeps_open: bool
) -> None:
    answers = broken()
    if keeps_open:  # the server waits for the next request
        answers = {path: answers[path] for path in ("/negative", "/two", "/text", "/transfer", "/endless")}
    held = 6.0 if keeps_open else 0.0
    site.routes |= {path: Reply(raw=raw, hold=held) for path, raw in answers.items()}
    site.routes["/"] = html(*answers)
    crawled = crawl("-s", "RETRY_TIMES=0", "-s", "DOWNLOAD_TIMEOUT=5", seeds=site.url())
    for path in answers:
        record = crawled.of(site.url(path))
        assert (record["outcome"], record["status"], record["kind"]) == ("incomplete", 200, "failed"), path
        assert record["reason"], path
        no_body = path in ("/endless", "/endless-line", "/half")
        assert (record["digest"] is None) == no_body, path
    assert "Traceback" not in crawled.log


def test_the_bytes_of_what_cannot_be_decoded_are_kept_as_they_came(site: MockServer, crawl: Crawl) -> None:
    packed = gzip.compress(PAGE)[:-4]
    site.routes["/"] = Reply(packed, headers=(("Content-Encoding", "gzip"), ("X-Kept", "yes")))
    crawl("-s", "RETRY_TIMES=0", seeds=site.url())
    with closing(Archive.open(ArchiveConfig(uri=crawl.uri))) as archive:
        (capture,) = archive.captures(site.url())
        assert archive.body(capture) == packed
    assert (capture.outcome, capture.reason) == (Outcome.INCOMPLETE, "gzip body ends early")
    assert {("X-Kept", "yes"), ("Content-Encoding", "gzip")} <= set(capture.headers)


def test_a_long_header_line_does_not_lose_the_page(site: MockServer, crawl: Crawl) -> None:
    site.routes["/"] = Reply(PAGE, headers=(("X-Long", "x" * 100_000),))
    record = crawl(seeds=site.url()).of(site.url())
    assert (record["outcome"], record["status"], record["size"]) == ("fetched", 200, len(PAGE))


def test_a_body_that_unpacks_beyond_the_limit_keeps_its_status(site: MockServer, crawl: Crawl) -> None:
    bomb = gzip.compress(bytes(3_000_000))
    site.routes["/"] = html("/one", "/two")
    site.routes["/one"] = Reply(bomb, headers=(("Content-Encoding", "gzip"),))
    site.routes["/two"] = Reply(gzip.compress(bomb), headers=(("Content-Encoding", "gzip, gzip"),))
    crawled = crawl("-s", "DOWNLOAD_MAXSIZE=2000000", seeds=site.url())
    for path in ("/one", "/two"):
        record = crawled.of(site.url(path))
        assert (record["outcome"], record["status"], record["kind"]) == ("too_large", 200, "failed")
        assert record["reason"] == "gzip body decodes to more than the limit"


def test_a_robots_txt_that_cannot_be_decoded_forbids_everything(site: MockServer, crawl: Crawl) -> None:
    site.routes |= {"/robots.txt": Reply(b"User-agent: *", headers=(("Content-Encoding", "gzip"),))}
    site.routes["/"] = html()
    record = crawl("-s", "RETRY_TIMES=0", seeds=site.url()).of(site.url())
    assert (record["outcome"], record["status"]) == ("robots_denied", None)


def test_codings_that_hold_are_undone_and_others_left(site: MockServer, crawl: Crawl) -> None:
    def reply(asked: Asked) -> Reply:
        coding = asked.path.removeprefix("/").replace("-", ", ")
        coder = CODERS.get(coding, bytes)
        return Reply(coder(PAGE), headers=(("Content-Encoding", coding),))

    paths = ["/gzip", "/deflate", "/br", "/zstd", "/gzip-br", "/utf8", "/identity"]
    site.routes |= {"/": html(*paths), **dict.fromkeys(paths, reply)}
    crawled = crawl(seeds=site.url())
    for path in paths:
        record = crawled.of(site.url(path))
        assert (record["outcome"], record["size"]) == ("fetched", len(PAGE))
    with closing(Archive.open(ArchiveConfig(uri=crawl.uri))) as archive:
        wires = {path: archive.captures(site.url(path))[0].wire for path in paths}
    assert [path for path, wire in wires.items() if not (wire and wire.decoded)] == ["/utf8"]
    assert all(wire and dict(wire.headers)["Content-Encoding"] for wire in wires.values())
    assert "gzip, deflate, br, zstd" in {asked.headers["Accept-Encoding"] for asked in site.asked}
