"""Limits the bytes of large bodies that a crawl holds at once."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakKeyDictionary, WeakSet, finalize, ref

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import StopDownload
from scrapy.http import Response

from archivebot.crawl.retry import pause

# Bodies up to this size are not counted: 32 of them, the maximum fetched at once, are 32 MB. Of 142,000 pages
# 0.2 % are larger.
LARGE = 1024 * 1024

# Maximum bytes of large bodies that are received or wait to be stored, and the same for decoded bodies. Each
# body exists three times on its way to the process that stores it: eight texts of 60 MB took 1.9 GB at once.
ROOM = 96 * 1024 * 1024

# The number that stands for DOWNLOAD_MAXSIZE=0, no limit.
ENDLESS = 1 << 40

# Seconds between two checks for room, and the longest wait: storing 64 MB takes a few seconds.
STEP = 0.05
LONGEST = 600.0


_INTAKES: WeakKeyDictionary[Crawler, Intake] = WeakKeyDictionary()


def most_bytes(crawler: Crawler) -> int:
    """Return the maximum bytes of a body, coded or decoded."""
    return crawler.settings.getint("DOWNLOAD_MAXSIZE") or ENDLESS


class Room:
    """The memory that large bodies occupy, and its limit."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = ref(crawler)  # weak, because the crawler is the key to this object
        self._held: dict[object, int] = {}

    def fits(self, size: int) -> bool:
        """Return whether there is room for ``size`` bytes; there is always room for one body."""
        return not self._held or sum(self._held.values()) + size <= ROOM

    def hold(self, thing: object, size: int) -> None:
        """Reserve ``size`` bytes for an object."""
        self._held[thing] = size

    def free(self, thing: object) -> None:
        """Release the bytes that an object reserved."""
        self._held.pop(thing, None)

    def keep(self, response: Response) -> Response:
        """Reserve the bytes of the body of an answer for as long as the answer is referenced."""
        if len(response.body) > LARGE:
            thing = object()
            self.hold(thing, len(response.body))
            finalize(response, self.free, thing)
        return response

    @asynccontextmanager
    async def waited_for(self, size: int) -> AsyncIterator[None]:
        """Reserve ``size`` bytes when there is room for them; a crawl that is ending does not wait."""
        crawler, patience = self._crawler(), time.monotonic() + LONGEST
        assert crawler is not None
        assert crawler.engine is not None
        while not self.fits(size) and time.monotonic() < patience and await pause(crawler.engine, STEP):
            pass
        thing = object()
        self.hold(thing, size)
        try:
            yield
        finally:
            self.free(thing)


class Intake:
    """Admits large bodies as long as there is room for them; the others wait.

    A body counts from its headers on, by its announced length or else by DOWNLOAD_MAXSIZE, until its answer
    is released, after its page is stored. A download that finds no room is cancelled and started again when
    there is room: a paused download would time out. Decoded bodies have a separate limit, because received
    bodies may wait for it.
    """

    def __init__(self, crawler: Crawler) -> None:
        crawler.signals.connect(self.headers_received, signals.headers_received)
        crawler.signals.connect(self.bytes_received, signals.bytes_received)
        self.most = most_bytes(crawler)
        self.received, self.decoded = Room(crawler), Room(crawler)
        self.waiting: WeakKeyDictionary[Request, int] = WeakKeyDictionary()
        self._sizes: WeakKeyDictionary[Request, int] = WeakKeyDictionary()
        self._counted: WeakSet[Request] = WeakSet()

    @classmethod
    def of(cls, crawler: Crawler) -> Intake:
        """Return the instance of a crawl."""
        if crawler not in _INTAKES:
            _INTAKES[crawler] = cls(crawler)
        return _INTAKES[crawler]

    def headers_received(self, request: Request, body_length: object) -> None:
        """Reserve room for a body that is announced as large. Raises StopDownload if there is none."""
        self._sizes[request] = 0
        if isinstance(body_length, int) and body_length <= self.most:
            self._take(request, body_length)

    def bytes_received(self, data: bytes, request: Request) -> None:
        """Reserve room for a body that turns out to be large. Raises StopDownload if there is none."""
        self._sizes[request] = size = self._sizes.get(request, 0) + len(data)
        if size > LARGE:
            self._take(request, self.most)

    def done(self, request: Request) -> None:
        """Release the room reserved while a body was received."""
        self.received.free(request)
        self._counted.discard(request)

    def _take(self, request: Request, size: int) -> None:
        if size <= LARGE or request in self._counted or request in self.waiting:
            return
        if not self.received.fits(size):
            self.waiting[request] = size
            raise StopDownload
        self._counted.add(request)
        self.received.hold(request, size)
