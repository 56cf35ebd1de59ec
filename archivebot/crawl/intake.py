"""The bytes of large bodies that a crawl holds at once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakKeyDictionary, ref

from scrapy import Request, signals
from scrapy.core.engine import ExecutionEngine
from scrapy.crawler import Crawler
from scrapy.exceptions import StopDownload

from archivebot.crawl.retry import pause

# Bodies up to this size are not counted: 32 of them, as many as are fetched at once, are 32 MB. Of
# 142,000 pages 0.2 % are larger.
LARGE = 1024 * 1024

# Bytes of large bodies in the crawl's process. Each is there twice while it is on its way to the process
# that stores it: eight texts of 60 MB at once took 1.9 GB without this bound, with it 420 MB.
ROOM = 128 * 1024 * 1024

# What DOWNLOAD_MAXSIZE=0 stands for, no limit, where a number is needed.
ENDLESS = 1 << 40

# Seconds between two looks whether there is room.
PATIENCE = 0.05


_INTAKES: WeakKeyDictionary[Crawler, Intake] = WeakKeyDictionary()


def most_bytes(crawler: Crawler) -> int:
    """Return the bytes that a body may have, coded and decoded."""
    return crawler.settings.getint("DOWNLOAD_MAXSIZE") or ENDLESS


class Intake:
    """Let large bodies in as long as there is room for them; others wait.

    A body counts from its headers on, by the announced length or else by DOWNLOAD_MAXSIZE, until it is
    stored. A download that finds no room is broken off, and begun again when there is some: a download
    that was paused would run into its timeout.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = ref(crawler)  # it is the key to this
        crawler.signals.connect(self.headers_received, signals.headers_received)
        crawler.signals.connect(self.bytes_received, signals.bytes_received)
        self.most = most_bytes(crawler)
        self.waiting: WeakKeyDictionary[Request, int] = WeakKeyDictionary()
        self._held: dict[object, int] = {}
        self._received: WeakKeyDictionary[Request, int] = WeakKeyDictionary()

    @classmethod
    def of(cls, crawler: Crawler) -> Intake:
        """Return the one of a crawl."""
        if crawler not in _INTAKES:
            _INTAKES[crawler] = cls(crawler)
        return _INTAKES[crawler]

    @property
    def _engine(self) -> ExecutionEngine:
        crawler = self._crawler()
        assert crawler is not None
        assert crawler.engine is not None
        return crawler.engine

    @property
    def taken(self) -> int:
        """The bytes that are being received or decoded, and those that are not stored yet."""
        slot = self._engine.scraper.slot
        return sum(self._held.values()) + (slot.active_size if slot else 0)

    @asynccontextmanager
    async def room(self, size: int) -> AsyncIterator[None]:
        """Wait until there is room for so many bytes, and hold it; a crawl that ends does not wait."""
        while not self._fits(size) and await pause(self._engine, PATIENCE):
            pass
        held = object()
        self._held[held] = size
        try:
            yield
        finally:
            del self._held[held]

    def headers_received(self, request: Request, body_length: object) -> None:
        """Hold room for a body that is announced as large. Raises StopDownload if there is none."""
        self._received[request] = 0
        if isinstance(body_length, int) and body_length <= self.most:
            self._hold(request, body_length)

    def bytes_received(self, data: bytes, request: Request) -> None:
        """Hold room for a body that turns out to be large. Raises StopDownload if there is none."""
        received = self._received.get(request, 0) + len(data)
        self._received[request] = received
        if received > LARGE:
            self._hold(request, self.most)

    def done(self, request: Request) -> None:
        """Let go of the room that was held while a body was received."""
        self._held.pop(request, None)

    def _hold(self, request: Request, size: int) -> None:
        if size <= LARGE or request in self._held or request in self.waiting:
            return
        if not self._fits(size):
            self.waiting[request] = size
            raise StopDownload
        self._held[request] = size

    def _fits(self, size: int) -> bool:
        taken = self.taken
        return not taken or taken + size <= ROOM
