"""A crawl that a test drives by hand: archive, frontier and extensions are real, nothing is fetched.

The engine of Scrapy would ask for requests by itself, so a small one stands in for it, which remembers what
it was told. The archive is open in this process: starting another one takes longer than the tests.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from scrapy.extension import ExtensionManager
from scrapy.utils.test import get_crawler

from archivebot.archive import Archive
from archivebot.archive.readings import Readings
from archivebot.config import ArchiveConfig
from archivebot.crawl.process.session import ArchiveSession
from archivebot.crawl.scheduling.dispatcher import Dispatcher
from archivebot.crawl.scheduling.entries import entry_of
from archivebot.crawl.spider import ArchiveSpider
from archivebot.frontier import Entry, Frontier, open_frontier
from archivebot.models import Capture, Outcome, Snapshot
from spiders.site import SiteSpider
from tests.factories import make_page

SITE = "http://a.example/"


class Engine:
    """Stands in for the engine of a crawl that runs."""

    def __init__(self) -> None:
        self.running = True
        self.spider: object = None
        self.reasons: list[str] = []  # why the crawl was to end
        self.looks = 0  # how often it was told to look for requests
        self._slot = SimpleNamespace(closing=None, nextcall=self)

    def schedule(self) -> None:
        self.looks += 1

    async def close_spider_async(self, *, reason: str) -> None:
        self.reasons.append(reason)
        self._slot.closing = reason


class NearArchive(ArchiveSession):
    """The session of an archive that is open in this process."""

    def __init__(self, config: ArchiveConfig) -> None:
        self.config = config
        self.stages, self._ahead = [], {}
        self.archive: Archive | None = None
        self.worker: Any = SimpleNamespace(position=None)
        self.pages: Any = SimpleNamespace(readings=Readings())

    async def opened(self) -> None:
        self.archive = Archive.open(self.config)

    async def run(self, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        assert self.archive is not None
        result = work(self.archive, *args, **kwargs)
        self.worker.position = self.archive.position()
        return result

    async def read_page(self, url: str, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return work(self.pages, *args, **kwargs)

    async def close(self) -> None:
        if self.archive:
            self.archive.close()
            self.archive = None


@dataclass
class Driven:
    """One crawl: its parts, and what a spider and a downloader would do with them."""

    crawler: Any
    session: NearArchive
    dispatcher: Dispatcher
    engine: Engine = field(default_factory=Engine)
    is_closed: bool = False
    _extensions: tuple[object, ...] = ()

    def extend(self, *extensions: object) -> None:
        """Add extensions to the crawl."""
        self._extensions += extensions
        self.crawler.extensions = ExtensionManager(*self._extensions, crawler=self.crawler)

    @property
    def frontier(self) -> Frontier:
        return self.dispatcher.frontier

    def request(self, url: str, score: float = 0.0, source: str = "", **given: Any) -> Request:
        """Make the request of a page; one with a ``source`` is that of a link."""
        spider: ArchiveSpider = self.crawler.spider
        meta = {"archive_score": score, **({"archive_source": source} if source else {})}
        return Request(url, callback=spider.parse, errback=spider.failed, meta=meta, **given)

    def entry(self, url: str) -> Entry:
        """Make the entry of a page as another worker would."""
        return entry_of(self.request(url), self.crawler.spider)

    def queue(self, *urls: str, score: float = 0.0, source: str = "") -> None:
        for url in urls:
            self.dispatcher.enqueue(self.request(url, score, source))

    def next(self) -> str | None:
        """Return the URL of the next request."""
        request = self.dispatcher.next()
        return request.url if request else None

    async def store(self, url: str, outcome: Outcome = Outcome.FETCHED, body: bytes = b"<p>x</p>") -> Capture:
        """Store the page of a URL, as the pipelines do."""
        status = 200 if outcome is Outcome.FETCHED else None
        page = make_page(body if status else b"", url=url, outcome=outcome, status=status)
        return await self.session.run(
            Archive.add, Snapshot(replace(page, captured_at=datetime.now(UTC)), None)
        )

    async def fetch(self) -> str | None:
        """Take the next request and store its page; return its URL."""
        url = self.next()
        if url:
            self.dispatcher.item_scraped(await self.store(url))
        return url

    def state(self, url: str) -> tuple[str, str]:
        """Return the state of a URL in the frontier and the reason for it."""
        record = self.frontier.get(url)
        return (str(record.state), record.entry.reason) if record else ("unknown", "")

    def close(self, reason: str) -> None:
        self.is_closed = True
        self.dispatcher.close(reason)


def prepared(
    folder: Path,
    given: Mapping[str, str] | None = None,
    spider: type[ArchiveSpider] = SiteSpider,
    **settings: Any,
) -> Driven:
    """Make a crawl on an archive in a folder; its frontier is open, the crawl has not begun.

    ``given`` are arguments of the ``spider`` besides its seed.
    """
    crawler: Any = get_crawler(spider, {"ARCHIVE_URI": f"sqlite:///{folder}/a.db", **settings})
    crawler.spider = spider.from_crawler(crawler, seeds=SITE, **(given or {}))
    session = NearArchive(ArchiveConfig.from_settings(crawler.settings))
    driven = Driven(crawler, session, Dispatcher.from_crawler(crawler))
    driven.extend(session, driven.dispatcher)
    crawler.engine = driven.engine
    return driven


@asynccontextmanager
async def begun(
    folder: Path,
    given: Mapping[str, str] | None = None,
    spider: type[ArchiveSpider] = SiteSpider,
    **settings: Any,
) -> AsyncIterator[Driven]:
    """Begin a crawl, or go on with the one in the folder; it is interrupted at last unless it ended."""
    driven = prepared(folder, given, spider, **settings)
    await driven.dispatcher.open(driven.crawler.spider)
    try:
        yield driven
    finally:
        if not driven.is_closed:
            driven.close("shutdown")
        await driven.session.close()


def other_worker(driven: Driven, folder: Path) -> Frontier:
    """Open the frontier of a crawl as another worker does."""
    return open_frontier(f"sqlite:///{folder}/a.frontier.db", driven.frontier.crawl)


def collected(outputs: Iterable[Any] | AsyncIterator[Any]) -> list[Any]:
    """Return all outputs of a callback that waits for nothing."""
    if isinstance(outputs, Iterable):
        return list(outputs)

    async def run() -> list[Any]:
        return [output async for output in outputs]

    with pytest.raises(StopIteration) as ended:
        run().send(None)
    found: list[Any] = ended.value.value
    return found


async def until(condition: Callable[[], object]) -> None:
    """Wait for what a timer or a task brings about."""
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.01)
