"""How many URLs of one pattern, or of one host, a crawl takes in: a trap without end comes to one."""

from __future__ import annotations

from dataclasses import dataclass

from scrapy.crawler import Crawler

from archivebot.config import FrontierConfig
from archivebot.frontier import Charge, Entry, Frontier
from archivebot.urls import pattern

# What a page that repeats another one of the archive counts in the budget of its pattern. A session id in
# each link gives the same pages for ever; a manual of near-duplicates is not to be cut.
REPEATED = 5


@dataclass(frozen=True, slots=True)
class UrlBudget:
    """How many URLs may share a path pattern, a pattern with a query, and a host; 0: any number."""

    paths: int
    queries: int
    host: int

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> UrlBudget:
        config = FrontierConfig.from_settings(crawler.settings)
        scope = getattr(getattr(crawler.spider, "arguments", None), "scope", "")
        # In every other scope the hosts are those that the operator named.
        host = config.budget_host if scope == "web" else 0
        return cls(config.budget_path, config.budget_query, host)

    def charges(self, entry: Entry) -> tuple[Charge, ...]:
        """Return what the URL of an entry counts in; a seed is the operator's wish and counts in nothing."""
        if not entry.source:
            return ()
        host = (Charge(entry.host, self.host, "budget_host"),) if self.host else ()
        name = pattern(entry.url)
        most = self.queries if name and "?" in name else self.paths
        return (*host, Charge(name, most, "budget_pattern")) if name and most else host

    def repeat(self, frontier: Frontier, url: str) -> None:
        """Count a page again that repeats another page."""
        if name := pattern(url):
            frontier.spend(name, REPEATED - 1)
