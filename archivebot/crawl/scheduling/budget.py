"""The budget of URLs of one pattern or one host, which ends every trap."""

from __future__ import annotations

from dataclasses import dataclass

from scrapy.crawler import Crawler

from archivebot.config import FrontierConfig, RequisiteConfig
from archivebot.frontier import EXTRA, Charge, Entry, Frontier
from archivebot.urls import pattern

# The cost of a page that repeats another archived page, in the budget of its pattern. A session id in each
# link leads to the same pages endlessly; but a manual of near-duplicates must not be cut off.
REPEATED = 5


@dataclass(frozen=True, slots=True)
class UrlBudget:
    """The maximum of URLs that share a path pattern, a pattern with a query, or a host; 0: no maximum.

    Requisites have budgets of their own: of the crawl, and of the page that needs them.
    """

    paths: int
    queries: int
    host: int
    requisites: int = 0
    of_page: int = 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> UrlBudget:
        config = FrontierConfig.from_settings(crawler.settings)
        scope = getattr(getattr(crawler.spider, "arguments", None), "scope", "")
        # In every other scope the operator named the hosts.
        host = config.budget_host if scope == "web" else 0
        own = RequisiteConfig.from_settings(crawler.settings)
        return cls(config.budget_path, config.budget_query, host, own.requisites_crawl, own.requisites_page)

    def charges(self, entry: Entry) -> tuple[Charge, ...]:
        """Return the budgets that an entry is charged to; a seed is charged to none."""
        if not entry.source:
            return ()
        if entry.score >= EXTRA:
            crawl = Charge("requisites of the crawl", self.requisites, "budget_requisites")
            page = Charge(f"requisites of {entry.source}", self.of_page, "budget_page_requisites")
            return tuple(charge for charge in (crawl, page) if charge.most)
        host = (Charge(entry.host, self.host, "budget_host"),) if self.host else ()
        name = pattern(entry.url)
        most = self.queries if name and "?" in name else self.paths
        return (*host, Charge(name, most, "budget_pattern")) if name and most else host

    def repeat(self, frontier: Frontier, url: str) -> None:
        """Charge the extra cost of a page that repeats another page."""
        if name := pattern(url):
            frontier.spend(name, REPEATED - 1)
