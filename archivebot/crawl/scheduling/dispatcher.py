"""Connects Scrapy with a frontier: requests go in, leases come out as requests, items settle them."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import deque
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils.asyncio import AsyncioLoopingCall, create_looping_call
from twisted.internet.task import LoopingCall
from twisted.python.failure import Failure

from archivebot.archive import Archive
from archivebot.config import FrontierConfig
from archivebot.crawl.arguments import HasArguments
from archivebot.crawl.compat.engine import forget_spider, is_closing, look_again
from archivebot.crawl.extension import Extension
from archivebot.crawl.process.session import ArchiveSession
from archivebot.crawl.retry import has_failed
from archivebot.crawl.scheduling.budget import UrlBudget
from archivebot.crawl.scheduling.entries import SOURCE, entry_of, key_of, request_of
from archivebot.crawl.scheduling.held import HeldLeases
from archivebot.crawl.scheduling.identity import crawl_name, starts_over
from archivebot.crawl.scheduling.outbox import STROKE, Outbox, Settled
from archivebot.crawl.scheduling.pace import FrontierPaces
from archivebot.crawl.scheduling.patience import PAUSE, Patience
from archivebot.crawl.scheduling.requisites import are_requisites_left
from archivebot.exceptions import ArchiveError, StorageError
from archivebot.frontier import EXTRA, Frontier, Lease, State, chosen_uri, open_frontier
from archivebot.models import Capture, Page, Snapshot

logger = logging.getLogger(__name__)

_OVER = frozenset(("finished", "pages"))
_SOON = 0.05  # seconds until the next request to the frontier while a better URL is waited for
_POLL = 1.0  # seconds until the next request to a frontier that other workers use
_LATE = 5.0  # seconds until the next check whether others are done, if all hosts have long delays
_BEGINNING = 30.0  # seconds for another worker to remove the data of an earlier crawl


class Dispatcher(Extension):
    """The only user of the frontier of a crawl; ``most`` is the page limit.

    Writes wait in order until :meth:`flush`, or until the next lease, with which they form one transaction.
    An unavailable frontier is retried until ``ARCHIVE_FRONTIER_PATIENCE`` seconds have passed; then the crawl
    ends.
    """

    def __init__(self, crawler: Crawler, frontier: Frontier) -> None:
        settings = crawler.settings
        self.crawler, self.frontier = crawler, frontier
        config = FrontierConfig.from_settings(settings)
        self.lease_seconds = config.lease_seconds
        # Set by a focused crawl: the slack of scores, and a function that rejects a leased URL after all.
        self.slack: float | None = None
        self.refusal: Callable[[str], str | None] = lambda _: None
        self.resumed = False
        self._outbox = Outbox(UrlBudget.from_crawler(crawler), crawler.stats)
        self._held = HeldLeases(settings.getint("CONCURRENT_REQUESTS"), time.monotonic)
        self._again: deque[Request] = deque()
        self._paces = FrontierPaces(crawler, frontier)
        self._patience = Patience(
            config.frontier_patience,
            self._away,
            lambda error: self.fail("The frontier stays away", error),
        )
        self._checks: set[asyncio.Task[None]] = set()
        self._wake: asyncio.TimerHandle | None = None
        self._beat: AsyncioLoopingCall | LoopingCall | None = None
        self._resting = False  # nothing is ready, and nothing has happened since that could change this
        self._bytes = 0
        self._begun = False
        self.failed = False  # whether the archive or the frontier failed, so that the crawl ends

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Dispatcher:
        settings = crawler.settings
        spider: HasArguments = crawler.spider  # type: ignore[assignment]  # only ours have arguments
        name = crawl_name(spider.name, spider.arguments.identity)
        frontier = open_frontier(
            chosen_uri(settings), name, FrontierConfig.from_settings(settings).lease_seconds
        )
        frontier.crawls()  # an unreachable server is reported before anything starts
        dispatcher = cls(crawler, frontier)
        crawler.signals.connect(dispatcher.item_scraped, signals.item_scraped)
        crawler.signals.connect(dispatcher.item_dropped, signals.item_dropped)
        crawler.signals.connect(dispatcher.item_error, signals.item_error)
        crawler.signals.connect(dispatcher.spider_error, signals.spider_error)
        crawler.signals.connect(dispatcher.response_downloaded, signals.response_downloaded)
        return dispatcher

    async def open(self, spider: HasArguments) -> None:
        """Open the archive, and begin the crawl or continue an interrupted one. Raises ArchiveError."""
        try:
            await self._open(spider)
        except ArchiveError:
            self.close("storage_error")
            await ArchiveSession.of(self.crawler).close()
            forget_spider(self.crawler.engine)
            raise

    async def _open(self, spider: HasArguments) -> None:
        await ArchiveSession.of(self.crawler).opened()
        arguments = spider.arguments
        self.most, self.most_bytes, self.requisites = arguments.pages, arguments.bytes, arguments.requisites
        relied = self.frontier.relied()
        # Read after the frontier: an archive that others write to can only have advanced since.
        position = await ArchiveSession.of(self.crawler).run(Archive.position)
        why = starts_over(relied, position, self.crawler.settings.getbool("SCHEDULER_FLUSH_ON_START"))
        identity = json.dumps(arguments.identity, ensure_ascii=False)
        begin = partial(self.frontier.begin, identity, self.most, position, relied if why else None)
        self.resumed = await self._patience.insist(begin, _BEGINNING)
        self._begun = True
        counts = self.frontier.counts()
        self.crawler.stats.set_value("scheduler/enqueued", counts.queued)
        if self.resumed:
            logger.info(
                "Goes on with an interrupted crawl: %d pages done, %d queued (`scrapy frontier --forget` "
                "makes it start over)",
                counts.done,
                counts.queued,
            )
        elif why:
            logger.warning("The crawl starts over, because %s; its pages are fetched again", why)
        self._beat = create_looping_call(self._renew)
        self._beat.start(self.lease_seconds / 4, now=False)

    def close(self, reason: str) -> None:
        """Write what is pending, return leases, and mark the crawl as ended if it was not interrupted."""
        if self._beat and self._beat.running:
            self._beat.stop()
        if self._wake:
            self._wake.cancel()
        if self._begun:
            self._patience.ask(lambda: self._end(reason), last=True)
        self.frontier.close()

    def enqueue(self, request: Request) -> None:
        """Queue a request; a new request for a URL that is leased keeps the lease.

        The links of a page are written together, so that the best of them is fetched first.
        """
        if request.dont_filter and key_of(request) in self._held:
            self._again.append(request)
        else:
            waiting = self._outbox.links if SOURCE in request.meta else self._outbox.entries
            waiting.append(entry_of(request, self.crawler.spider))

    def refuse(self, request: Request, reason: str) -> None:
        """Record why a link is not followed, if its URL is not known yet."""
        self._outbox.refused.append(entry_of(request, self.crawler.spider, reason))

    def turn_down(self, request: Request, reason: str) -> None:
        """Record why a leased request is not made after all; its lease ends."""
        if (url := key_of(request)) in self._held:
            self._settle(Settled(url, State.REJECTED, reason))
        else:
            self.refuse(request, reason)

    def repeated(self, url: str) -> None:
        """Note a page that repeats another page: the budget of its pattern shrinks."""
        self._outbox.repeated.append(url)

    def reprioritise(self, scores: Mapping[str, float]) -> None:
        """Set new scores of queued URLs; they are written before the next lease."""
        self._outbox.scores.update(scores)
        self._resting = False

    def next(self) -> Request | None:
        """Return the next request, or None if none is ready; in that case a new attempt is scheduled."""
        if self._again:
            return self._again.popleft()
        while (self._outbox or not self._resting) and not self._held.is_full:
            waits = bool(self._outbox)
            writes = waits or self._outbox.scores
            lease = self._patience.ask(self._turn if writes else self._lease, proof=waits)
            if lease is None:
                self._rest()
                return None
            self.crawler.stats.inc_value("scheduler/dequeued")
            self._held.add(lease.entry.url, judged=lease.entry.score >= EXTRA)
            if reason := self.refusal(lease.entry.url):
                self._settle(Settled(lease.entry.url, State.REJECTED, reason))
                continue
            if lease.lost is None:
                return request_of(lease, self.crawler.spider)
            check = asyncio.ensure_future(self._check(lease, lease.lost))
            self._checks.add(check)
            check.add_done_callback(self._checks.discard)
        return None

    def pending(self) -> bool:
        """Return whether any URL is queued, or leased by any worker."""
        if self._patience.is_over:
            return False
        if self._again or not self.publish():
            return True
        counts = self._patience.ask(self.frontier.counts)
        return counts is None or counts.open > 0

    def flush(self) -> bool:
        """Write what is pending; return False if the frontier is unavailable."""
        waits = bool(self._outbox)
        is_idle = not waits and not self._outbox.scores
        return is_idle or self._patience.ask(self._write, proof=waits) is not None

    def publish(self) -> bool:
        """Write all that is pending, also links of unfinished pages; return False while some are left."""
        self._outbox.stage(STROKE)
        return self.flush() and not self._outbox.links

    def learn(self) -> None:
        """Let few URLs be under way at first: the pages of the crawl say which are asked for next."""
        self._held.learns = True

    async def safe(self, url: str) -> None:
        """Wait until the links found so far are in the frontier; their page may be stored only afterwards.

        Raises StorageError if the crawl ends first.
        """
        self._outbox.followed.append(url)
        self._outbox.stage(STROKE)
        if self._held.judged(url):
            look_again(self.crawler.engine)
        await asyncio.sleep(0)  # pages that were read at the same time are written together, or with a lease
        while not self.publish():
            if self._patience.is_over or (self._patience.is_waiting and is_closing(self.crawler.engine)):
                raise StorageError("the crawl ended before the frontier took the links of the page")
            await asyncio.sleep(PAUSE if self._patience.is_waiting else 0)

    def fail(self, what: str, error: StorageError) -> None:
        """End the crawl because the archive or the frontier failed, and log the reason once."""
        if not self.failed:
            self.failed = True
            logger.error("%s, so the crawl ends: %s", what, error)
            self._close("storage_error")

    def response_downloaded(self, response: Response, request: Request) -> None:
        """Note an answer: its host may get the next request while the page is judged and stored."""
        if self._held.arrived(url := key_of(request)):
            self._outbox.arrived.append(url)

    def item_scraped(self, item: object) -> None:
        """Settle the URL of a page that passed all stages: done, or failed if no answer came."""
        page = item.page if isinstance(item, Snapshot) else item
        if isinstance(page, Capture | Page):
            state = State.FAILED if has_failed(page.outcome, page.reason) else State.DONE
            stored = page if isinstance(page, Capture) else None
            self._settle(Settled(page.url, state, page.reason, stored))

    def item_dropped(self, item: object, exception: BaseException) -> None:
        """Settle the URL of a page that a pipeline dropped."""
        if isinstance(item, Page | Snapshot):
            self._settle(Settled(_url(item), State.DONE, str(exception)))

    def item_error(self, item: object, failure: Failure) -> None:
        """Handle a page that could not be stored: fetch it again, or give it up if a stage is at fault.

        If the archive failed, the crawl ends, because later pages would be lost.
        """
        if isinstance(item, Page | Snapshot):
            self._not_stored(_url(item), failure)

    def spider_error(self, failure: Failure, response: Response) -> None:
        """Handle a failure of the spider or the archive on a page; the links found before are kept."""
        self.publish()
        if response is not None and response.request is not None:
            self._not_stored(key_of(response.request), failure)

    def _not_stored(self, url: str, failure: Failure) -> None:
        state, error = State.FAILED, failure.value
        if isinstance(error, StorageError):
            self.fail("A page cannot be stored", error)
            state = State.QUEUED
        self._settle(Settled(url, state, failure.getErrorMessage()))

    def _settle(self, settled: Settled) -> None:
        self._outbox.settled.append(settled)
        self._held.remove(settled.url)  # it is written before the next lease
        self._bytes += settled.capture.size if settled.capture else 0
        if self.most_bytes is not None and self._bytes >= self.most_bytes:
            self._close("bytes")
        elif self.most is not None and self.flush():
            self._close_at(self.most)

    def _close_at(self, most: int) -> None:
        """End the crawl at its page limit, whichever worker fetched the last page, after the requisites."""
        counts = self._patience.ask(self.frontier.counts)
        if counts and counts.answered >= most:
            left = partial(are_requisites_left, self.frontier, counts)
            if not (self.requisites and self._patience.ask(left)):
                self._close("pages")

    def _close(self, reason: str) -> None:
        if not is_closing(self.crawler.engine):
            asyncio.ensure_future(self.crawler.engine.close_spider_async(reason=reason))  # noqa: RUF006 (engine waits)

    def _end(self, reason: str) -> bool:
        """Write what is pending, return leases, and mark the crawl as ended if it is."""
        self._outbox.stage()
        self._write()
        self.frontier.release()
        if reason in _OVER and (reason != "finished" or not self.frontier.counts().open):
            self.frontier.end(reason)
        return True

    def _turn(self) -> Lease | None:
        """Write what is pending and lease the next URL, in one transaction."""
        with self.frontier.together():
            new = self._put()
            lease = self._lease()
        self._written(new)
        return lease

    def _write(self) -> bool:
        with self.frontier.together():
            new = self._put()
        self._written(new)
        return True

    def _put(self) -> int:
        """Write what is pending to the frontier; return the number of new URLs."""
        self._paces.renew(entry.host for entry in self._outbox.entries)
        position = ArchiveSession.of(self.crawler).worker.position
        return self._outbox.put(self.frontier, position.number if position else 0)

    def _written(self, new: int) -> None:
        """Clear the outbox: its contents are in the frontier now."""
        if self._outbox.is_news:
            self._resting = False
        self.crawler.stats.inc_value("scheduler/enqueued", new)
        self._outbox.clear()

    def _lease(self) -> Lease | None:
        lease = self.frontier.lease(self.most, self.slack, self._held.hold)
        if lease:
            self._paces.write(lease.entry.host)
        return lease

    async def _check(self, lease: Lease, lost: float) -> None:
        """Request the page of a dead worker again, unless that worker stored it; see Lease for its links."""
        url, session = lease.entry.url, ArchiveSession.of(self.crawler)
        try:
            stored = await session.run(Archive.seen_since, url, datetime.fromtimestamp(lost, UTC))
        except StorageError as error:
            self.fail("The archive cannot be read", error)
            return
        if stored:
            reason = "stored before the crawl was interrupted"
            self._settle(Settled(url, State.DONE, reason, answered=lease.entry.score < EXTRA))
        else:
            self._again.append(request_of(lease, self.crawler.spider))
        self._go_on()

    def _renew(self) -> None:
        self._patience.ask(self.frontier.renew, proof=not self._outbox)

    def _rest(self) -> None:
        """Pause until a delay has passed, another worker may be done, or something is written."""
        self._resting = True
        if self.most is not None:
            self._close_at(self.most)
        due = self._patience.ask(self.frontier.due)
        self._go_on_in(_POLL if due is None else min(max(due, _SOON), _LATE))

    def _go_on_in(self, seconds: float) -> None:
        if self._wake:
            self._wake.cancel()
        self._wake = asyncio.get_running_loop().call_later(seconds, self._go_on)

    def _go_on(self) -> None:
        self._resting = False
        if self._patience.is_waiting and self.publish():
            self._renew()
        look_again(self.crawler.engine)

    def _away(self) -> None:
        self._paces.clear()
        self._go_on_in(PAUSE)


def _url(item: Page | Snapshot) -> str:
    return item.url if isinstance(item, Page) else item.page.url
