"""A WARC file gives the link graph that a crawl of the same site gives, and the facts of its exchanges."""

from __future__ import annotations

import gzip
import os
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.models import Outcome
from archivebot.sample.server import answer, paths
from tests.conftest import ROOT, Crawl
from tests.mockserver import MockServer, Reply, html, markup, redirect

ODD = {
    "/gzip": Reply(gzip.compress(markup(["/a", "b?c=d"])), headers=(("Content-Encoding", "gzip"),)),
    "/unasked": Reply(markup(["/e"]), headers=(("Content-Encoding", "utf-8"),)),
    "/nofollow": Reply(b'<a href=/yes>yes</a> <a rel="x nofollow" href=/no>no</a><base href=/base/>'),
    "/meta": html("/hidden", head='<meta name="robots" content="noindex, nofollow">'),
    "/gb": Reply("<a href=/上海>新闻</a><p>报纸".encode("gb18030"), type="text/html; charset=gb2312"),
    "/unnamed": Reply("<meta charset=windows-1251><a href=/я>Новости</a>".encode("cp1251"), type="text/html"),
    "/xhtml": Reply(markup(["/x"]), type="application/xhtml+xml"),
    "/sniffed": Reply(b"<html><a href=/y>y</a>", type=""),
    "/plain": Reply(b"<a href=/z>no link</a>", type="text/plain"),
    "/moved": redirect("/gzip"),
    "/choices": Reply(markup(["/one", "/two"]), 300),
    "/lost": Reply(markup(["/three"]), 404),
    "/script": Reply(b"<script>location.href = '/said'</script><iframe src=/frame></iframe>"),
    "/large": Reply(markup(map("/l{}".format, range(30))) + b"<p>" + b"word " * 150_000),
}


def exchange(url: str) -> tuple[bytes, bytes]:
    """Ask for a page over a socket; return the request and all that came."""
    parts = urlsplit(url)
    request = f"GET {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nCookie: a=b\r\nConnection: close\r\n\r\n"
    received = b""
    with socket.create_connection((parts.hostname, parts.port)) as client:
        client.sendall(request.encode())
        while data := client.recv(1 << 16):
            received += data
    return request.encode(), received


def record(block: bytes, kind: str, url: str, identity: str, **more: str) -> bytes:
    fields = {
        "WARC-Type": kind,
        "WARC-Record-ID": identity,
        "WARC-Date": "2026-11-20T12:00:00.250Z",
        "WARC-Target-URI": url,
        "Content-Length": str(len(block)),
        **{name.replace("_", "-"): value for name, value in more.items()},
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return gzip.compress(f"WARC/1.1\r\n{head}\r\n".encode() + block + b"\r\n\r\n")


def ingested(folder: Path, *records: bytes, options: tuple[str, ...] = ()) -> Archive:
    """An archive into which the command put a file of these records."""
    path, uri = folder / "site.warc.gz", f"sqlite:///{folder}/warc.db"
    path.write_bytes(b"".join(records))
    command = [sys.executable, "-m", "scrapy", "ingest", str(path), *options]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "ARCHIVE_URI": uri}, check=False)
    return Archive.open(ArchiveConfig(uri=uri))


def graph(archive: Archive) -> set[tuple[str, str, str, str, str]]:
    return {(link.source, link.target, link.anchor, link.role, link.kind) for link in archive.links.all()}


@pytest.mark.parametrize("obeys", ["1", pytest.param("0", marks=pytest.mark.long)])
def test_a_crawl_and_a_warc_file_of_a_site_give_the_same_links(
    site: MockServer, crawl: Crawl, obeys: str
) -> None:
    sample = {path: answer("first", path) for path in paths("first")}
    site.routes |= {path: Reply(page.body, type=page.kind) for path, page in sample.items()} | ODD
    site.routes["/"] = html(*site.routes)
    setting = f"ARCHIVE_OBEY_META_ROBOTS={obeys}"
    assert crawl("-s", setting, "-s", "RETRY_TIMES=0", seeds=site.url()).code == 0
    records = []
    with closing(Archive.open(ArchiveConfig(uri=crawl.uri))) as archive:
        crawled = graph(archive)
        counts = {url: archive.captures(url)[0].links for _, url in archive.pages()}
    for url in counts:
        request, received = exchange(url)
        identity = f"<urn:uuid:{uuid4()}>"
        records.append(record(received, "response", url, identity, WARC_IP_Address="127.0.0.1"))
        more = {"WARC_Concurrent_To": identity}
        records.append(record(request, "request", url, f"<urn:uuid:{uuid4()}>", **more))
    with closing(ingested(crawl.folder, *records, options=("-s", setting))) as archive:
        assert len(crawled) > 100
        assert graph(archive) == crawled
        assert {url: archive.captures(url)[0].links for _, url in archive.pages()} == counts


@pytest.mark.long
def test_a_record_tells_the_facts_of_its_exchange(tmp_path: Path) -> None:
    url, body = "http://a.example/", gzip.compress(b"<a href=/b>b</a>" * 20)
    head = (
        b"HTTP/1.1 200 Fine\r\nCONTENT-encoding: gzip\r\nContent-type: text/html\r\nX-A: 1\r\nx-a: 2\r\n\r\n"
    )
    asked = b"GET / HTTP/1.1\r\nHost: a.example\r\nCookie: a=b\r\nAuthorization: x\r\n\r\n"
    more = {"WARC_IP_Address": "192.0.2.1", "WARC_Truncated": "length"}
    protocols = "h2\r\nWARC-Protocol: tls/1.3"
    records = (
        record(head + body, "response", url, "<urn:uuid:1>", **more),
        record(asked, "request", url, "<urn:uuid:2>", WARC_Concurrent_To="<urn:uuid:1>"),
        record(
            head + body,
            "response",
            url + "whole",
            "<urn:uuid:3>",
            WARC_Protocol=protocols,
        ),
        record(b"text", "resource", url + "resource", "<urn:uuid:4>"),
    )
    with closing(ingested(tmp_path, *records)) as archive:
        (cut,), (whole,), (resource,) = map(archive.captures, (url, url + "whole", url + "resource"))
        assert [link.target for link in archive.links.of(url + "whole")] == [url + "b"]
        assert archive.body(whole) == gzip.decompress(body)
    assert cut.wire is not None
    assert whole.wire is not None
    assert resource.wire is not None
    assert (cut.outcome, cut.wire.truncated) == (Outcome.INCOMPLETE, "length")
    assert (cut.wire.received, cut.wire.record, cut.wire.address) == (head, "<urn:uuid:1>", "192.0.2.1")
    assert cut.wire.request == b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"
    assert cut.wire.left_out == ("Cookie", "Authorization")
    assert (cut.wire.started, cut.wire.protocols) == (cut.captured_at, ("http/1.1",))
    assert (cut.wire.length, cut.wire.decoded) == (len(body), True)
    assert (whole.wire.length, whole.wire.decoded, whole.wire.request) == (len(body), True, b"")
    assert whole.wire.protocols == ("h2", "tls/1.3")
    assert whole.headers == (
        ("CONTENT-encoding", "gzip"),
        ("Content-type", "text/html"),
        ("X-A", "1"),
        ("x-a", "2"),
    )
    assert (resource.wire.record, resource.wire.received) == ("<urn:uuid:4>", b"")


@pytest.mark.long
def test_what_did_not_change_keeps_the_links_of_its_content(tmp_path: Path) -> None:
    url = "http://a.example/"
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    profile = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
    records = (
        record(head + b"<a href=/b>b</a><a href=/c>c</a>", "response", url, "<urn:uuid:1>"),
        record(
            b"HTTP/1.1 304 Not Modified\r\n\r\n",
            "revisit", url, "<urn:uuid:2>", WARC_Profile=profile, WARC_Date="2026-11-21T12:00:00Z",
        ),
    )  # fmt: skip
    with closing(ingested(tmp_path, *records)) as archive:
        assert [capture.links for capture in archive.captures(url)] == [2, 2]
        assert {link.last.day for link in archive.links.of(url)} == {21}
