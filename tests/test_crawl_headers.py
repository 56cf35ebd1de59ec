"""Headers of any kind: whatever a server says of itself, each answer gives a capture."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request
from scrapy.responsetypes import responsetypes
from scrapy.utils.test import get_crawler

from archivebot import Archive, ArchiveConfig
from archivebot import settings as project
from archivebot.crawl import spider as spider_module
from archivebot.crawl.middlewares.decoding import DecodingMiddleware
from archivebot.crawl.process.session import ArchiveSession
from archivebot.crawl.spider import ArchiveSpider
from archivebot.models import Outcome, Page, Snapshot
from tests.conftest import Crawl
from tests.mockserver import Asked, MockServer, Reply, html

CASES = int(os.environ.get("ARCHIVE_TEST_HEADERS", "3000"))  # 200,000 take some minutes

STATUSES = (200, 200, 200, 201, 202, 206, 300, 301, 302, 304, 307, 404, 408, 410, 429, 500, 503, 599, 999)
NAMES = """Location Refresh Link Set-Cookie X-Robots-Tag Content-Type Content-Encoding Content-Length
    Retry-After ETag Last-Modified Date Age Expires Vary Content-Disposition Content-Language Warning
    Transfer-Encoding Connection Content-Range Content-Location""".split()
VALUES = [
    *("", " ", "0", "-1", "1e9", "NaN", "9" * 400, "9" * 5000, "0x10", "+5", "1,2", "\u0663"),
    *("Wed, 21 Oct 2026 07:28:30 GMT", "Wed, 21 Oct 99999 07:28:30 GMT", "Mon, 32 Foo 0000 99:99:99 +9999"),
    *("Wed, 21 Oct 2026 07:28:30 +99999999999", "1 Jan 999999999999 00:00:00 GMT", "0 Jan 0 0:0:0 -0000"),
    *("text/html; charset=nonsense", "text/html; charset=utf-16", "text/html; charset=idna", "text/html;;;="),
    *(
        "text/plain; charset=unicode_escape",
        "image/png",
        "text/",
        "/",
        "application/xhtml+xml; charset=base64",
    ),
    *("gzip", "br", "deflate", "zstd", "gzip, gzip, gzip, gzip, gzip, gzip", "identity", "utf-8", "x" * 9000),
    *("http://[::1", "//", "http://a.example:99999999/", "javascript:0", "\\\\a\\b", "http:/x", "/\x00\x01"),
    *("http://\ud83d\ude00.example/", "http://xn--a/", "mailto:", "?" * 3000, "http://1.2.3.4.5/", "%%%"),
    *('W/"x"', '"', "\x7f\x80\xff", "noindex", "none: archivebot: all", "unavailable_after: 31-Feb-99999"),
    *("a=b; Max-Age=1e999", "5; url=http://[", "<a>; rel=next", "</" + "x" * 500 + ">; rel", ";;;,,,"),
]
BODY = b"<title>t</title><a href=/next>next</a><p>some words"


def headers(chance: random.Random) -> list[tuple[bytes, bytes]]:
    """Some headers, many of them known by name, of odd values; a few are any bytes."""
    found = []
    for _ in range(chance.randrange(1, 7)):
        name = chance.choice(NAMES).encode() if chance.random() < 0.95 else chance.randbytes(5)
        value = chance.choice(VALUES).encode("utf-8", "replace")
        if chance.random() < 0.3:
            at = chance.randrange(len(value) + 1)
            value = value[:at] + chance.randbytes(chance.randrange(1, 4)) + value[at + chance.randrange(3) :]
        if chance.random() < 0.05:
            value += b", " + chance.choice(VALUES).encode("utf-8", "replace")
        found.append((name, value.replace(b"\n", b"").replace(b"\r", b"")))
    return found


class SiteSpider(ArchiveSpider):
    name = "site"


def a_spider() -> ArchiveSpider:
    """A spider of a crawl that never begins: the settings that it reads, no extensions."""
    names = ("RETRY_TIMES", "ROBOTSTXT_USER_AGENT", "ARCHIVE_OBEY_META_ROBOTS", "DOWNLOAD_MAXSIZE")
    retries = (name for name in dir(project) if name.startswith("ARCHIVE_RETRY"))
    crawler = get_crawler(SiteSpider, {name: getattr(project, name) for name in (*names, *retries)})
    spider = SiteSpider.from_crawler(crawler, seeds="http://a.example/")
    crawler.spider, crawler.engine = spider, object()  # which only tells when the crawl ends
    return spider


class Here:
    """An archive in this very process."""

    stages = (Archive.cut, Archive.mark, Archive.judge)

    def __init__(self, archive: Archive) -> None:
        self.archive = archive

    async def read_page(self, url: str, work: Callable[..., Any], *page: Any) -> Any:
        return work(self.archive, *page)

    def keep_ahead(self, page: Page, found: Snapshot) -> None:
        assert (found.page.url, found.page.captured_at) == (page.url, page.captured_at)


async def parsed(
    spider: ArchiveSpider, middleware: DecodingMiddleware, request: Request, made: Any
) -> list[Any]:
    response = await middleware.process_response(request, made)
    response.request = request
    found = spider.parse(response)
    return [each async for each in found] if isinstance(found, AsyncIterator) else list(found)


@pytest.mark.long
def test_each_answer_gives_one_capture_that_can_be_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def at_once(engine: object, seconds: float) -> bool:
        assert 0 <= seconds <= 120
        return False

    monkeypatch.setattr(spider_module, "pause", at_once)
    spider = a_spider()
    middleware = DecodingMiddleware(spider.crawler)
    chance = random.Random(14)

    async def work(archive: Archive) -> None:
        monkeypatch.setattr(ArchiveSession, "of", lambda crawler: Here(archive))
        for number in range(CASES):
            url = f"http://a.example/{number}"
            request = spider.request(url)
            fields, status = headers(chance), chance.choice(STATUSES)
            given: dict[bytes, list[bytes]] = {}
            for name, value in fields:
                given.setdefault(name, []).append(value)
            kind = responsetypes.from_args(url=url, body=BODY)
            response = kind(url, status=status, headers=given, body=BODY)
            if status == 304:
                response = response.replace(status=200)  # without an archive beside the crawl
            outputs = await parsed(spider, middleware, request, response)
            pages = [page for page in outputs if isinstance(page, Page)]
            assert len(pages) == 1, fields
            assert isinstance(pages[0].outcome, Outcome)
            if not number % 20:
                archive.add(archive.segment(pages[0]))
                assert len(archive.captures(url)) == 1, fields

    with closing(Archive.open(ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db"))) as archive:
        asyncio.run(work(archive))


@pytest.mark.long
def test_each_answer_over_http_gives_one_capture(site: MockServer, crawl: Crawl) -> None:
    chance = random.Random(15)
    paths = [f"/{number}" for number in range(150)]
    answers = {}
    for path in paths:
        lines = b"".join(b"%s: %s\r\n" % field for field in headers(chance))
        status = chance.choice([*STATUSES, 10**6, -1])
        answers[path] = b"HTTP/1.1 %d odd\r\nConnection: close\r\n%s\r\n%s" % (status, lines, BODY)

    def reply(asked: Asked) -> Reply:
        return Reply(raw=answers[asked.path])

    site.routes |= {"/": html(*paths), **dict.fromkeys(paths, reply)}
    options = ("-s", "RETRY_TIMES=1", "-s", "ARCHIVE_RETRY_AFTER_MAX=0.1", "-s", "DOWNLOAD_TIMEOUT=3")
    crawled = crawl(*options, seeds=site.url(), depth=1)
    urls = [record["url"] for record in crawled.records]
    for path in paths:
        assert urls.count(site.url(path)) == 1, answers[path]
    assert "Traceback" not in crawled.log, crawled.log[crawled.log.find("Traceback") - 200 :][:3000]
