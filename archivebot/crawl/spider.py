"""The base of all spiders: yields one item for every outcome, after the links of the page."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, ClassVar, TypeVar
from urllib.parse import urlsplit

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.settings import BaseSettings
from twisted.python.failure import Failure

from archivebot.archive.process.worker import Crashed
from archivebot.config import FIELDS, ArchiveConfig, CrawlConfig
from archivebot.crawl.arguments import Arguments
from archivebot.crawl.collections import with_collection
from archivebot.crawl.exchange import WIRE
from archivebot.crawl.process.session import ArchiveSession
from archivebot.crawl.process.stages import read_ahead
from archivebot.crawl.reading.convert import (
    location_of,
    media_of_response,
    outcome_of_failure,
    outcome_of_response,
    page_of,
    read,
    reason_of,
)
from archivebot.crawl.reading.metarobots import ALL, Directives, directives
from archivebot.crawl.reading.pages import STRETCH
from archivebot.crawl.reading.unchanged import NOTHING, read_unchanged
from archivebot.crawl.refusals import Interrupted, Refused, RobotsDenied
from archivebot.crawl.retry import RetryPolicy, asked_by, pause
from archivebot.crawl.scheduling.dispatcher import Dispatcher
from archivebot.crawl.scheduling.entries import (
    DISTANCE,
    FRAME,
    LINK,
    ORDER,
    READING,
    REQUISITE,
    SCORE,
    SOURCE,
    key_of,
    origin_of,
)
from archivebot.exceptions import StorageError, TooLarge
from archivebot.fields.file import read_sites
from archivebot.frontier import EXTRA, SeenCache
from archivebot.hypertext import Hypertext
from archivebot.markup.media import Media
from archivebot.models import Focus, Link, Outcome, Page, SeenLinks
from archivebot.replay.requisites import has_requisites
from archivebot.urls import Scope, host_of, is_loopback
from archivebot.wire import Wire

logger = logging.getLogger(__name__)

Answer = TypeVar("Answer")

_CARRIED = ("depth", "archive_hops", "archive_seed", SCORE, DISTANCE, ORDER, SOURCE, REQUISITE)

# Several processes share one crawl through scrapy-redis, with our own queue, filter and serializer.
REDIS_SCHEDULER = "archivebot.crawl.scheduling.redis.LeaseScheduler"


def add_contact(settings: BaseSettings) -> bool:
    """Put the contact into the User-Agent, unless the command line gives another one.

    Returns whether there is a contact.
    """
    contact = CrawlConfig.from_settings(settings).contact
    if contact:
        settings.set("USER_AGENT", f"{settings['USER_AGENT']} (+{contact})", priority="project")
    return bool(contact)


class ArchiveSpider(Spider):
    """Fetches pages breadth first inside a scope; yields the links of a page first, then the page.

    A redirect is a capture whose target is a link at the same depth; it counts towards the page limit. Takes
    the arguments of ``arguments_class``; raises UsageError if they are wrong. ``context`` is whether links
    are read with the text around them, ``forms`` whether forms are read. ``idle`` is why a crawl requested
    nothing, and is printed in place of its summary. ``named`` are the hosts that may have private addresses.
    """

    arguments_class: ClassVar[type[Arguments]] = Arguments
    context: ClassVar[bool] = False
    forms: ClassVar[bool] = False
    idle: str = ""

    retries: RetryPolicy
    obeys_meta: bool
    agent: str
    depth_limit: int | None

    def __init__(self, **given: str) -> None:
        super().__init__()
        self.arguments = self.arguments_class.parse(given)
        self.scope = Scope.from_seeds(self.arguments.seeds, self.arguments.scope)
        self.named = frozenset(map(host_of, self.arguments.seeds))
        self.seen, self.needed = SeenCache(), SeenCache()

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        super().update_settings(settings)
        if settings["REDIS_URL"]:
            settings.set("SCHEDULER", REDIS_SCHEDULER, priority="spider")

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> ArchiveSpider:
        settings = crawler.settings
        kwargs = with_collection(kwargs, settings, cls.arguments_class)
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.introduce(settings)
        if spider.arguments.fields:
            settings.set(FIELDS, spider.arguments.fields, priority="cmdline")
        read_sites(ArchiveConfig.from_settings(settings).fields)  # an error is better known before the crawl
        if spider.arguments.time is not None:
            settings.set("CLOSESPIDER_TIMEOUT", spider.arguments.time, priority="spider")
        spider.retries = RetryPolicy.from_settings(settings)
        spider.obeys_meta = CrawlConfig.from_settings(settings).obey_meta_robots
        spider.agent = settings["ROBOTSTXT_USER_AGENT"]
        limit = spider.arguments.depth
        spider.depth_limit = limit if limit is not None else settings.getint("DEPTH_LIMIT") or None
        return spider

    def introduce(self, settings: BaseSettings) -> None:
        """Put the contact into the User-Agent; warn if there is none."""
        if not add_contact(settings) and not all(
            is_loopback(urlsplit(seed).hostname or "") for seed in self.arguments.seeds
        ):
            logger.warning("ARCHIVE_CONTACT is not set: the operators of sites cannot contact you")

    async def start(self) -> AsyncIterator[Request]:
        for seed in self.arguments.seeds:
            yield self.request(seed, archive_seed=True)

    def request(self, url: str, **meta: Any) -> Request:
        """Return a request for a page. Redirects come back as answers; pages near a seed go first."""
        meta = {"depth": 0, "dont_redirect": True, "handle_httpstatus_all": True, **meta}
        accepts = {"Accept": "*/*"} if REQUISITE in meta else None
        return Request(
            url, self.parse, headers=accepts, errback=self.failed, priority=-meta["depth"], meta=meta
        )

    def parse(self, response: Response) -> Iterator[Any] | AsyncIterator[Any]:
        """Yield the links and the page of an answer, or retry later."""
        request = response.request
        assert request is not None
        outcome = outcome_of_response(response)
        media = media_of_response(response)
        if self._is_page_after_all(request, media, outcome):
            del request.meta[REQUISITE]
        wait = self.retries.wait(outcome, request.meta.get("archive_attempt", 1), asked_by(response))
        when, level, origin = datetime.now(UTC), self.arguments.level, origin_of(request)
        page = page_of(response, key_of(request), when, outcome, level=level, origin=origin)
        if wait is None and outcome is Outcome.NOT_MODIFIED:
            return self._unchanged(response, request, page)
        if wait is None:
            is_wanted = _is_wanted(response, outcome)
            if is_wanted and self._is_read_apart(request, media):
                return self._settle_slowly(response, request, page)
            is_read = is_wanted and REQUISITE not in request.meta
            reading = self.read_links(response) if is_read else Hypertext()
            return self.settle(response, request, page, reading)
        return self._later(request, page, wait)

    def failed(self, failure: Failure) -> Iterable[Any] | AsyncIterator[Any]:
        """Yield one page with the reason why there is no answer, or retry later."""
        error: BaseException = failure.value  # type: ignore[assignment]  # it is never None here
        request: Request = failure.request  # type: ignore[attr-defined]  # added by Scrapy
        if isinstance(error, Refused | Interrupted):
            return ()
        if isinstance(error, StorageError):
            Dispatcher.of(self.crawler).fail("The archive cannot be read", error)
            return ()
        denied = isinstance(error, RobotsDenied)
        wire: Wire | None = request.meta.get(WIRE)
        page = Page(
            url=key_of(request),
            captured_at=(wire and wire.started) or datetime.now(UTC),
            outcome=Outcome.ROBOTS_DENIED if denied else outcome_of_failure(error),
            headers=wire.headers if wire else (),
            reason=reason_of(error),
            level=self.arguments.level,
            origin=origin_of(request),
            focus=None if REQUISITE in request.meta else self.focus(request),
            wire=wire,
        )
        wait = self.retries.wait(page.outcome, request.meta.get("archive_attempt", 1))
        return (page,) if wait is None else self._later(request, page, wait)

    async def _later(self, request: Request, page: Page, wait: float) -> AsyncIterator[Any]:
        """Wait, then retry; if the crawl ends meanwhile, the answer at hand is recorded.

        Without an answer the lease of the URL returns to the queue. The wait takes no download slot. Scrapy
        counts the response as in work, so the crawl does not end.
        """
        self.crawler.stats.inc_value(f"retry/{page.outcome.value}")
        if not await pause(self.crawler.engine, wait):
            if page.status is not None:
                yield page
            return
        yield self._again(request, archive_attempt=request.meta.get("archive_attempt", 1) + 1)

    def _again(self, request: Request, **meta: Any) -> Request:
        """Return a new request for the same page, under the same lease."""
        carried = {name: request.meta[name] for name in _CARRIED if name in request.meta}
        again = self.request(request.url, **carried, **meta).replace(dont_filter=True)
        if key_of(request) == request.url:
            return again  # without the headers of a conditional request
        return again.replace(method=request.method, body=request.body, headers=request.headers)

    async def _unchanged(self, response: Response, request: Request, page: Page) -> AsyncIterator[Any]:
        """Follow the archived links of a page: a 304 has none.

        If the archive can no longer read the page, it is fetched again.
        """
        session = ArchiveSession.of(self.crawler)
        asking = session.read_page(request.url, read_unchanged, request.url, response.url, self._asked)
        known = await self._survived(asking, response.url, NOTHING)
        if known is None and ("If-None-Match" in request.headers or "If-Modified-Since" in request.headers):
            yield self._again(request, archive_anew=True)
            return
        known = known or NOTHING
        if self._is_page_after_all(request, known.media, Outcome.FETCHED):
            del request.meta[REQUISITE]
            page = replace(page, origin=origin_of(request))
        is_read = REQUISITE not in request.meta or self._is_read_apart(request, known.media)
        reading = known.reading if is_read else Hypertext()
        async for output in _with_pauses(self.settle(response, request, page, reading, known.seen)):
            yield output

    async def _settle_slowly(self, response: Response, request: Request, page: Page) -> AsyncIterator[Any]:
        """Read a page in a process of the archive, with its stages if it was just fetched, then settle it."""
        asking = read_ahead(ArchiveSession.of(self.crawler), page, response.url, self._asked)
        reading = await self._survived(asking, response.url, Hypertext())
        async for output in _with_pauses(self.settle(response, request, page, reading)):
            yield output

    def settle(
        self,
        response: Response,
        request: Request,
        page: Page,
        reading: Hypertext,
        seen: SeenLinks | None = None,
    ) -> Iterator[Any]:
        """Yield the requests of a page, then the page; ``seen`` if the archive has seen its links."""
        allowed = self._directives(response, reading)
        response.meta[READING] = reading
        yield from self._redirected(response, request)
        links = reading.links if REQUISITE not in request.meta else ()
        if allowed.follow:
            yield from self._followed(links, request)
        if allowed.store:
            yield from self._needed(reading, request)
        if not allowed.store and page.outcome is Outcome.FETCHED:
            page = replace(page, outcome=Outcome.EXCLUDED, body=b"", reason=allowed.reason)
        yield replace(page, seen_links=seen) if links and seen else replace(page, links=links)

    def _is_read_apart(self, request: Request, media: Media) -> bool:
        """Return whether a body may have links or requisites, so that a process of the archive reads it.

        Of the pages that came for requisites only the contents of frames are read.
        """
        if media.is_page:
            return REQUISITE not in request.meta or request.meta[REQUISITE] == FRAME
        return self.arguments.requisites and has_requisites(media)

    def _is_page_after_all(self, request: Request, media: Media, outcome: Outcome) -> bool:
        """Return whether a requisite is a page of the crawl; False if links are chosen by their evidence."""
        if REQUISITE not in request.meta or self.context or outcome is not Outcome.FETCHED:
            return False
        near = self.depth_limit is None or request.meta["depth"] <= self.depth_limit
        return near and not self.scope.refusal(request.url) and media.is_page

    def read_links(self, response: Response) -> Hypertext:
        """Return what is read from an answer that no process of the archive reads."""
        return read(response, **self._asked)

    async def _survived(self, asking: Awaitable[Answer], url: str, otherwise: Answer) -> Answer:
        """Return the answer of a process of the archive; ``otherwise`` if the page is too much for it."""
        try:
            return await asking
        except (Crashed, TooLarge) as error:
            logger.error("The links of %s could not be read: %s", url, error)
            self.crawler.stats.inc_value("links/unreadable")
            return otherwise

    @property
    def _asked(self) -> dict[str, bool]:
        asked = {"skip_nofollow": self.obeys_meta, "context": self.context, "forms": self.forms}
        asked |= {"dated": True} if self.arguments.limits.dated else {}
        return asked | ({"requisites": True} if self.arguments.requisites else {})

    def _directives(self, response: Response, reading: Hypertext) -> Directives:
        if not self.obeys_meta:
            return ALL
        values = [value.decode("latin-1") for value in response.headers.getlist("X-Robots-Tag")]
        return directives(reading.robots, values, self.agent) if reading.robots or values else ALL

    def _followed(self, links: Iterable[Link], request: Request) -> Iterator[Request]:
        depth = request.meta["depth"] + 1
        meta = {"depth": depth, SOURCE: request.url}
        for link in links:
            if self.is_news(link, depth):
                yield self.request(link.url, **meta, **({LINK: link} if self.context else {}))

    def _needed(self, reading: Hypertext, request: Request) -> Iterator[Request]:
        """Yield the requests for requisites, in the name of the page that needs them.

        A frame is a requisite if it is out of scope; in scope it is a link.
        """
        is_page = REQUISITE not in request.meta
        page = request.url if is_page else request.meta[SOURCE]
        meta = {"depth": request.meta["depth"] + is_page, SOURCE: page, SCORE: EXTRA}
        for url in reading.requisites:
            if self.needed.add(url):
                yield self.request(url, **meta, **{REQUISITE: True})
        for link in reading.links if self.arguments.requisites else ():
            if link.kind == FRAME and self.scope.refusal(link.url) and self.needed.add(link.url):
                yield self.request(link.url, **meta, **{REQUISITE: FRAME})

    def focus(self, request: Request) -> Focus | None:
        """Return the judgement of a focused crawl on a page without an answer."""
        return None

    def is_news(self, link: Link, depth: int = 0) -> bool:
        """Return whether a link may be new to the frontier: one written before at this depth is not."""
        return self.seen.add(link.url, depth)

    def forget(self, link: Link) -> None:
        """Make a dropped link new again."""
        self.seen.discard(link.url)

    def _redirected(self, response: Response, request: Request) -> Iterator[Request]:
        target = location_of(response)
        if target is not None:
            passed = (SCORE, DISTANCE, REQUISITE)
            carried = {name: request.meta[name] for name in passed if name in request.meta}
            source = request.meta[SOURCE] if REQUISITE in carried else request.url
            hops = request.meta.get("archive_hops", 0) + 1
            depth = request.meta["depth"]
            moved = self.request(target, depth=depth, archive_hops=hops, **{SOURCE: source}, **carried)
            if response.status in (307, 308) and request.body:  # the target gets the same request
                kind = {name: value for name, value in request.headers.items() if name == b"Content-Type"}
                headers = {**moved.headers, **kind}
                moved = moved.replace(method=request.method, body=request.body, headers=headers)
            yield moved


async def _with_pauses(outputs: Iterable[Any]) -> AsyncIterator[Any]:
    """Yield the outputs of a page; others take turns with a page of many links."""
    for number, output in enumerate(outputs, 1):
        yield output
        if not number % STRETCH:
            await asyncio.sleep(0)


def _is_wanted(response: Response, outcome: Outcome) -> bool:
    """Return whether an answer is read for links: it is the page, or a choice of pages."""
    return outcome is Outcome.FETCHED or response.status == 300
