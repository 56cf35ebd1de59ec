"""Bombs by markup, size and number: no process grows beyond 600 MB, the event loop does not stand still."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from contextlib import closing

import pytest

from archivebot import Archive, ArchiveConfig
from tests.conftest import Crawl, Crawled
from tests.mockserver import MockServer, Reply, html
from tests.test_pipelines import stages

MOST_MEGABYTES = 600
MOST_STALL = 1.0

PACKED = (("Content-Encoding", "gzip"),)
TWICE = (("Content-Encoding", "gzip, gzip"),)


def packed(body: bytes, kind: str = "text/html") -> Reply:
    return Reply(gzip.compress(body, 6), headers=PACKED, type=kind)


def strained(crawl: Crawl, site: MockServer, *options: str) -> Crawled:
    """Crawl under a probe, and hold memory and stalls against their bounds."""
    # Processes of their own: a forked one has the memory of the tests.
    process = crawl.start(
        *("-s", stages(**{"tests.probes.Strain": 200}), "-s", "ARCHIVE_READERS=1", "-s", "RETRY_TIMES=0"),
        *options,
        seeds=site.url(),
    )
    crawled = crawl.finish(process)
    assert crawled.code == 0
    for process in ("crawl", "writer", "reader"):
        assert 0 < crawled.stat(f"probe/memory/{process}") <= MOST_MEGABYTES, process
    assert crawled.stat("probe/stall") <= MOST_STALL
    return crawled


@pytest.mark.long
def test_markup_beyond_the_bounds_is_stored_uncut_byte_for_byte(site: MockServer, crawl: Crawl) -> None:
    rows = b"<html><a href=/first>x</a><table>" + b"<tr><td>" * 1_000_000
    site.routes |= {"/": html("/rows"), "/rows": packed(rows), "/first": html()}
    crawled = strained(crawl, site)
    record = crawled.of(site.url("/rows"))
    assert (record["outcome"], record["kind"], record["version"]) == ("fetched", "new", 1)
    assert record["reason"] == "not cut: 600000 tags or more"
    assert record["size"] == len(rows)
    assert record["blocks"]["count"] == 0
    assert crawled.of(site.url("/first"))  # the links at the beginning are followed
    with closing(Archive.open(ArchiveConfig(uri=crawl.uri))) as archive:
        (capture,) = archive.captures(site.url("/rows"))
        assert archive.body(capture) == rows


def links(count: int) -> bytes:
    return b"<html>" + b"".join(b"<a href=/to/%d>x</a>" % number for number in range(count))


BOMBS: dict[str, tuple[Callable[[], Reply], bool]] = {  # the answer, and whether it is cut
    "zeros": (lambda: packed(bytes(60_000_000)), False),
    "twice": (lambda: Reply(gzip.compress(gzip.compress(bytes(60_000_000))), headers=TWICE), False),
    "paragraphs": (lambda: packed(b"<html>" + b"<p>a" * 200_000), False),
    "controls": (lambda: packed(b"<html>" + b"\x01" * 16_000_000), False),
    "attributes": (lambda: packed(b"<html><p " + b"a " * 7_000_000 + b">"), True),
    "links": (lambda: packed(links(15_000)), True),
    "images": (lambda: packed(b"<html>" + b"<img src=/1 a b c d e f g h>" * 560_000), False),
}


@pytest.mark.long
@pytest.mark.parametrize("kind", BOMBS)
def test_bombs(site: MockServer, crawl: Crawl, kind: str) -> None:
    answer, cut = BOMBS[kind]
    site.routes |= {"/": html("/bomb"), "/bomb": answer()}
    record = strained(crawl, site, "-a", "depth=1").of(site.url("/bomb"))
    assert (record["outcome"], record["version"]) == ("fetched", 1)
    assert record["reason"].startswith("not cut: ") != cut
    assert (record["blocks"]["count"] > 0) == cut
    if kind == "links":
        assert record["links"] == 10_000


@pytest.mark.long
def test_large_texts_at_once_wait_for_each_other(site: MockServer, crawl: Crawl) -> None:
    text = b"some words of a text, " * 2_700_000
    texts = {f"/{number}": Reply(text + b"%d" % number, type="text/plain") for number in range(3)}
    texts["/packed"] = packed(text, "text/plain")
    site.routes |= {"/": html(*texts), **texts}
    crawled = strained(crawl, site)
    for path in texts:
        record = crawled.of(site.url(path))
        assert (record["outcome"], record["reason"]) == ("fetched", "not cut: more than 16777216 bytes")
        assert record["size"] > 59_000_000


@pytest.mark.long
def test_endless_headers(site: MockServer, crawl: Crawl) -> None:
    head = b"HTTP/1.1 200 OK\r\n"
    bombs = {
        "/lines": head + b"X-Line: 1\r\n" * 3_000_000,
        "/line": head + b"X-Line: " + b"1" * 30_000_000,
        "/first": b"HTTP/1.1 200 " + b"1" * 3_000_000,
        "/continue": b"HTTP/1.1 100 Continue\r\n\r\n" * 300_000,
    }
    site.routes |= {"/": html(*bombs), **{path: Reply(raw=raw) for path, raw in bombs.items()}}
    crawled = strained(crawl, site)
    assert [crawled.of(site.url(path))["outcome"] for path in bombs] == [
        *("incomplete", "incomplete", "protocol_error", "protocol_error")
    ]
    assert [crawled.of(site.url(path))["status"] for path in bombs] == [200, 200, None, None]
