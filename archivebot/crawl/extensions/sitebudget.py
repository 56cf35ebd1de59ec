"""The budget of a site in a search for forms: a maximum of forms and of pages."""

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
from archivebot.urls import host_of, site_of

# Seconds between two reads of what other workers have fetched from the sites.
REFRESH = 5.0


class SiteBudget(Extension):
    """Counts the pages and the query forms of each site, over all workers.

    A site is left after ``most_forms`` + 1 distinct query forms, or ``most_pages`` + 1 pages of its host:
    "more than 5", "more than 100", taken literally. Requests already under way are still completed.
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
        crawler.stats.set_value("archive/query_forms", 0)  # so the summary also says that there are none
        return cls(crawler, config.site_forms, config.site_pages)

    @cached_property
    def since(self) -> datetime:
        """The time when the crawl began, possibly before an interruption."""
        frontier = Dispatcher.of(self.crawler).frontier
        return next(
            datetime.fromtimestamp(known.began, UTC)
            for known in frontier.crawls()
            if known.name == frontier.crawl
        )

    def saw(self, url: str, forms: Iterable[FoundForm]) -> None:
        """Note the forms of a page; only query interfaces count."""
        query = (form.signature for form in forms if FormRecord.read(form).decision.multi_field)
        self._forms[site_of(url)].update(query)
        self.crawler.stats.set_value("archive/query_forms", sum(map(len, self._forms.values())))

    def stored(self, url: str, forms: int) -> None:
        """Note how many query forms of the site of a URL all workers have stored since the crawl began."""
        self._stored[site_of(url)] = forms

    async def spent(self, url: str) -> str | None:
        """Return which of the two budgets of the site of a URL is spent, or None."""
        self._refresh()
        site = site_of(url)
        if site not in self._stored and Dispatcher.of(self.crawler).resumed:
            session = ArchiveSession.of(self.crawler)
            self._stored[site] = await session.run(query_forms, site, self.since)
        if max(len(self._forms[site]), self._stored[site]) > self.most_forms:
            return "site_forms"
        return "site_pages" if self._pages[host_of(url)] > self.most_pages else None

    def fetch(self, url: str) -> None:
        """Count a page that is about to be fetched."""
        self._pages[host_of(url)] += 1

    def _refresh(self) -> None:
        """Add the counts in the frontier: those of other workers, and those from before a restart."""
        now = time.monotonic()
        if now - self._asked >= REFRESH:
            self._asked = now
            with suppress(StorageError):  # if the frontier is unreachable for a while, our own counts apply
                for known in Dispatcher.of(self.crawler).frontier.hosts():
                    self._pages[known.host] = max(self._pages[known.host], known.done + known.failed)
