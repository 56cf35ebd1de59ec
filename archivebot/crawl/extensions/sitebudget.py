"""The budget of a site in a search for forms: after so many forms or pages the crawl leaves it."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from archivebot.config import SiteConfig
from archivebot.crawl.arguments import DeepWebArguments
from archivebot.crawl.extension import Extension
from archivebot.crawl.process.calls import query_forms
from archivebot.crawl.process.session import ArchiveSession
from archivebot.crawl.scheduling.dispatcher import Dispatcher
from archivebot.exceptions import StorageError
from archivebot.forms.record import FormRecord
from archivebot.models import FoundForm

# Seconds after which it is asked again what other workers have fetched of the sites.
REFRESH = 5.0


class SiteBudget(Extension):
    """Count the pages and the query forms of each site, whichever worker found them.

    A site is left after ``most_forms`` + 1 distinct query forms or ``most_pages`` + 1 pages: "more than 5",
    "more than 100", taken by the letter. What is under way by then is still fetched.
    """

    def __init__(self, crawler: Crawler, most_forms: int, most_pages: int) -> None:
        self.crawler, self.most_forms, self.most_pages = crawler, most_forms, most_pages
        self._forms: defaultdict[str, set[str]] = defaultdict(set)
        self._stored: Counter[str] = Counter()
        self._pages: Counter[str] = Counter()
        self._asked = -REFRESH

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> SiteBudget:
        if not isinstance(getattr(crawler.spider, "arguments", None), DeepWebArguments):
            raise NotConfigured
        config = SiteConfig.from_settings(crawler.settings)
        return cls(crawler, config.site_forms, config.site_pages)

    @cached_property
    def since(self) -> datetime:
        """When the crawl began, which may have been before an interruption."""
        frontier = Dispatcher.of(self.crawler).frontier
        return next(
            datetime.fromtimestamp(known.began, UTC)
            for known in frontier.crawls()
            if known.name == frontier.crawl
        )

    def saw(self, site: str, forms: Iterable[FoundForm]) -> None:
        """Take note of the forms of a page of a site; those that are no query interfaces do not count."""
        query = (form.signature for form in forms if FormRecord.read(form).decision.multi_field)
        self._forms[site].update(query)
        self.crawler.stats.set_value("archive/query_forms", sum(map(len, self._forms.values())))

    def stored(self, site: str, forms: int) -> None:
        """Take note of how many query forms of a site any worker has stored since the crawl began."""
        self._stored[site] = forms

    async def spent(self, site: str) -> str | None:
        """Say by which of the two a site is done with, or None."""
        self._refresh()
        if site not in self._stored and Dispatcher.of(self.crawler).resumed:
            session = ArchiveSession.of(self.crawler)
            self._stored[site] = await session.run(query_forms, site, self.since)
        if max(len(self._forms[site]), self._stored[site]) > self.most_forms:
            return "site_forms"
        return "site_pages" if self._pages[site] > self.most_pages else None

    def fetch(self, site: str) -> None:
        """Count a page that is about to be fetched."""
        self._pages[site] += 1

    def _refresh(self) -> None:
        """Take in what the frontier knows of the sites: of other workers, and from before a restart."""
        now = time.monotonic()
        if now - self._asked >= REFRESH:
            self._asked = now
            with suppress(StorageError):  # a frontier that is away for a while: our own counts hold
                for known in Dispatcher.of(self.crawler).frontier.hosts():
                    self._pages[known.host] = max(self._pages[known.host], known.done + known.failed)
