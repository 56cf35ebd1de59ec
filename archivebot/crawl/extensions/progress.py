"""The progress of a crawl on stderr: two live lines on a terminal, plain lines elsewhere, a summary."""

from __future__ import annotations

import logging
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TextIO

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.statscollectors import StatsCollector
from scrapy.utils.asyncio import AsyncioLoopingCall, create_looping_call
from scrapy.utils.log import get_scrapy_root_handler
from twisted.internet.task import LoopingCall

from archivebot.config import ARCHIVE, FRONTIER, ArchiveConfig, CrawlConfig, without_password
from archivebot.crawl.arguments import Arguments
from archivebot.crawl.extensions.summary import Failures, end_of, filled, quoted, shortened
from archivebot.models import Capture
from archivebot.terminal import Harmless, commanded, harmless, status
from archivebot.units import amount, size

logger = logging.getLogger(__name__)

LIVE_INTERVAL = 0.5
OUTSIDE = ("other_host", "other_domain", "outside_prefix")  # reasons of the guard, by scope


@dataclass(frozen=True, slots=True)
class Progress:
    """The statistics of a crawl at one moment; ``pages`` are those that count towards the page limit."""

    pages: int
    new: int
    changed: int
    touched: int
    unchanged: int
    gone: int
    redirects: int
    not_found: int
    excluded: int
    fetched: int
    stored: int
    warc: int
    errors: int
    queued: int
    seconds: float
    judged: int = 0
    relevant: int = 0
    query_forms: int | None = None  # None if the crawl looks for no forms
    forms: int = 0
    forms_left_out: int = 0
    dropped_in_tunnels: int = 0
    dropped_by_score: int = 0
    requisites: int = 0
    requisite_bytes: int = 0
    forbidden: int = 0
    unreachable: int = 0

    @classmethod
    def of(cls, stats: StatsCollector, queued: int, seconds: float) -> Progress:
        """Read the statistics from the stats of a crawl."""

        def count(name: str) -> int:
            return int(stats.get_value(name, 0))

        forbidden, unreachable = count("archive/outcome/robots_denied"), count("robots/unreachable")
        return cls(
            pages=count("archive/answered"),
            new=count("archive/new"),
            changed=count("archive/changed"),
            touched=count("archive/touched"),
            unchanged=count("archive/revisit"),
            gone=count("archive/gone"),
            redirects=count("archive/redirect"),
            not_found=count("archive/not_found"),
            excluded=count("archive/excluded") - forbidden,
            forbidden=max(0, forbidden - unreachable),
            unreachable=unreachable,
            fetched=count("archive/bytes_fetched"),
            stored=count("archive/bytes_stored"),
            warc=count("archive/bytes_warc_estimated"),
            errors=count("archive/failed") + count("requisites/failed") + count("log_count/ERROR"),
            queued=queued,
            seconds=seconds,
            judged=count("topic/judged"),
            relevant=count("topic/relevant"),
            query_forms=stats.get_value("archive/query_forms"),
            forms=count("archive/forms"),
            forms_left_out=count("doors/forms_left_out"),
            dropped_in_tunnels=count("topic/dropped/tunnel"),
            dropped_by_score=count("topic/dropped/link_score"),
            requisites=count("requisites/captures"),
            requisite_bytes=count("requisites/bytes"),
        )

    def parts(self) -> list[str]:
        """Return the statistics as parts of a text."""
        rare = [
            (self.gone, f"{self.gone} gone"),
            (self.redirects, amount(self.redirects, "redirect")),
            (self.not_found, f"{self.not_found} not found"),
            (self.excluded, f"{self.excluded} excluded"),
        ]
        found = [
            f"{amount(self.pages, 'page')} ({self.rate:.1f}/s): {self.new} new, {self.changed} changed, "
            f"{self.touched} touched, {self.unchanged} unchanged",
            ", ".join(words for count, words in rare if count),
            f"{amount(self.requisites, 'requisite')} ({size(self.requisite_bytes)})"
            if self.requisites
            else "",
            f"{size(self.fetched)} fetched, {size(self.stored)} stored",
            f"{self.queued} queued, {amount(self.errors, 'error')}",
            f"{self.forbidden} refused by robots.txt" if self.forbidden else "",
            f"{self.unreachable} without robots.txt: it cannot be reached" if self.unreachable else "",
            f"harvest {self.relevant} of {self.judged} on topic" if self.judged else "",
        ]
        if self.dropped_in_tunnels or self.dropped_by_score:
            by_score = f"{self.dropped_by_score} by their scores"
            found.append(f"links dropped: {self.dropped_in_tunnels} behind tunnels, {by_score}")
        if self.query_forms is not None:
            found.append(f"query forms: {self.query_forms}")
        if self.forms_left_out:
            found.append(f"forms left out on pages off topic: {self.forms_left_out}")
        return list(filter(None, found))

    def line(self) -> str:
        """Return the statistics as one line."""
        return "; ".join(self.parts())

    def live(self, url: str, columns: int) -> str:
        """Return two lines for a terminal: the figures, and the URL that was requested last."""
        figures = [
            amount(self.pages, "page"),
            f"{self.rate:.1f}/s",
            f"{self.queued} queued",
            amount(self.errors, "error"),
            f"{self.new} new",
            f"{self.changed} changed",
            f"{size(self.stored)} stored",
        ]
        while len("  ".join(figures)) > columns and len(figures) > 1:
            figures.pop()
        return "  ".join(figures)[:columns] + f"\n  {shortened(url, max(1, columns - 2))}"

    @property
    def rate(self) -> float:
        """Pages a second."""
        return self.pages / self.seconds if self.seconds > 0 else 0.0


class ProgressLog:
    """Prints the progress of a crawl and, at its end, the location of the archive and the next commands."""

    def __init__(
        self,
        crawler: Crawler,
        out: TextIO,
        interval: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.crawler = crawler
        self.out = out
        self.live = out.isatty()
        self.interval = LIVE_INTERVAL if self.live else interval
        self.clock = clock
        self.begun = clock()
        self._url = ""  # the last request
        self._failures = Failures()
        self._loop: AsyncioLoopingCall | LoopingCall | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ProgressLog:
        progress = cls(crawler, sys.stderr, CrawlConfig.from_settings(crawler.settings).progress_interval)
        crawler.signals.connect(progress.spider_opened, signals.spider_opened)
        crawler.signals.connect(progress.spider_closed, signals.spider_closed)
        crawler.signals.connect(progress.engine_stopped, signals.engine_stopped)
        crawler.signals.connect(progress.request_reached_downloader, signals.request_reached_downloader)
        crawler.signals.connect(progress.item_scraped, signals.item_scraped)
        return progress

    def spider_opened(self) -> None:
        """Begin to print progress."""
        handler = get_scrapy_root_handler()
        if isinstance(handler, logging.FileHandler):  # the file may be shown on a terminal, too
            handler.setStream(Harmless(handler.stream))  # type: ignore[arg-type]  # it writes and flushes
        if self.live and handler is not None:
            handler.addFilter(self._make_room)
        self.begun = self.clock()
        self._loop = create_looping_call(self._report)
        if self.interval:
            self._loop.start(self.interval, now=False)

    def spider_closed(self) -> None:
        """Stop printing progress, so that it does not mix with Scrapy's last log lines."""
        if self._loop and self._loop.running:
            self._loop.stop()
        handler = get_scrapy_root_handler()
        if self.live and handler is not None:
            handler.removeFilter(self._make_room)
            status("", self.out)

    def request_reached_downloader(self, request: Request) -> None:
        """Note the URL that is requested."""
        self._url = request.url

    def item_scraped(self, item: object) -> None:
        """Note a page that failed."""
        if isinstance(item, Capture):
            self._failures.add(item)

    def engine_stopped(self) -> None:
        """Print the summary, after all log lines of Scrapy."""
        self.out.write(commanded(harmless(self.summary())))
        self.out.flush()

    def summary(self) -> str:
        """Return why the crawl ended, the statistics, the location of the archive and the next commands."""
        uri = without_password(ArchiveConfig.from_settings(self.crawler.settings).uri)
        if idle := getattr(self.crawler.spider, "idle", ""):
            return f"archivebot: {idle}\n"
        arguments = getattr(self.crawler.spider, "arguments", None)
        why, again = end_of(self.crawler.stats.get_value("finish_reason", "stopped"), arguments)
        seed = quoted(next(iter(arguments.seeds if arguments else ()), "URL"))
        archive = self._given(ARCHIVE)
        frontier = self._given("REDIS_URL") or self._given(FRONTIER)
        figures = self._progress()
        after = f"scrapy forms{archive}" if figures.forms else f"scrapy frontier{archive}{frontier}"
        rows = [
            *filled(figures.parts()),
            *([f"again:   {again}"] if again else []),
            *self._failures.lines(),
            *self._outside(figures, arguments),
            f"stored:  {size(figures.stored)} of frames; {size(figures.warc)} as WARC.gz (estimated)",
            f"archive: {uri}",
            f"next:    scrapy changes{archive}",
            f"         scrapy stats{archive}",
            f"         {after}",
            f"         scrapy history {seed}{archive}",
        ]
        lines = "".join(f"  {row}\n" for row in rows)
        return f"\narchivebot: {why} after {self.clock() - self.begun:.1f} s\n{lines}"

    def _outside(self, figures: Progress, arguments: Arguments | None) -> Iterator[str]:
        """Yield a row about links out of scope, if a crawl found no page but its seeds."""
        count = sum(self.crawler.stats.get_value(f"guard/{reason}", 0) for reason in OUTSIDE)
        if arguments and count and not figures.queued and figures.pages <= len(arguments.seeds):
            verb = "leads" if count == 1 else "lead"
            links = f"{amount(count, 'link')} {verb} out of it ({arguments.scope})"
            yield f"scope:   {links}: scrapy frontier lists them"

    def _given(self, setting: str) -> str:
        """Return the option that sets a setting as the command line did, or ""."""
        settings = self.crawler.settings
        if (settings.getpriority(setting) or 0) <= SETTINGS_PRIORITIES["project"]:
            return ""
        return f" -s {quoted(f'{setting}={without_password(settings[setting])}')}"

    def _progress(self) -> Progress:
        return Progress.of(self.crawler.stats, self._queued(), self.clock() - self.begun)

    def _queued(self) -> int:
        stats = self.crawler.stats
        waiting = stats.get_value("scheduler/enqueued", 0) - stats.get_value("scheduler/dequeued", 0)
        return max(0, int(waiting))

    def _report(self) -> None:
        progress = self._progress()
        handler = get_scrapy_root_handler()
        if self.live:
            status(progress.live(self._url, shutil.get_terminal_size().columns - 1), self.out)
        elif self.crawler.settings.getbool("LOG_ENABLED") and handler and handler.level > logging.INFO:
            self.out.write(f"{progress.line()}\n")  # the log is quiet
            self.out.flush()
        else:
            logger.info(progress.line())

    def _make_room(self, record: logging.LogRecord) -> bool:
        """Clear the live line before the log writes; it comes back with the next tick."""
        status("", self.out)
        return True
