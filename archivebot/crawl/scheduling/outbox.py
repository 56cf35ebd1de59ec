"""The pending writes of a crawl to its frontier, kept in order and written in one transaction."""

from __future__ import annotations

from dataclasses import dataclass, replace

from scrapy.statscollectors import StatsCollector

from archivebot.crawl.scheduling.budget import UrlBudget
from archivebot.frontier import Entry, Frontier, State
from archivebot.models import REQUISITE, Capture

# Maximum of links written in one transaction: 0.1 s, in which the crawl stands still.
STROKE = 1_000


@dataclass(frozen=True, slots=True)
class Settled:
    """The final state of a URL, and its capture if there is one."""

    url: str
    state: State
    reason: str = ""
    capture: Capture | None = None
    answered: bool = False


class Outbox:
    """Collects links, requests, refusals and outcomes of a crawl; true while anything is pending.

    ``links`` belong to pages that are not stored yet; they wait separately until they are staged, so that the
    best of them is fetched first. ``followed`` are the pages whose links are complete, which is written
    together with the last link. ``arrived`` are the URLs whose answers came, ``repeated`` the pages that
    repeat another page, ``scores`` new scores of queued URLs, which can wait for other writes.
    """

    def __init__(self, budget: UrlBudget, stats: StatsCollector) -> None:
        self._budget, self._stats = budget, stats
        self.links: list[Entry] = []
        self.followed: list[str] = []
        self.clear()

    def clear(self) -> None:
        """Remove everything that was written."""
        self.entries: list[Entry] = []
        self.refused: list[Entry] = []
        self.settled: list[Settled] = []
        self.repeated: list[str] = []
        self.arrived: list[str] = []
        self.scores: dict[str, float] = {}
        if not self.links:
            self.followed = []

    def __bool__(self) -> bool:
        return bool(self.refused or self.entries or self.followed or self.settled or self.arrived)

    @property
    def is_news(self) -> bool:
        """Whether anything is pending that may make another URL ready."""
        return bool(self.entries or self.settled or self.arrived)

    def stage(self, most: int | None = None) -> None:
        """Add links to the next write: all of them, or the first ``most``."""
        self.entries += self.links[:most]
        del self.links[:most]

    def put(self, frontier: Frontier, position: int) -> int:
        """Write to a frontier, and return the number of new URLs; ``position`` is that of the archive."""
        if self.refused:
            frontier.reject(self.refused)
        entries = self._within_budget(frontier)
        new = frontier.add(entries) if entries else 0
        if self.followed and not self.links:
            frontier.mark_followed(self.followed)
        if self.arrived:
            frontier.mark_arrived(self.arrived)
        for settled in self.settled:
            _settle(frontier, settled, position)
        if self.scores:
            frontier.reprioritise(self.scores)
        for url in self.repeated:  # last: after an error they are written again, and would count twice
            self._budget.repeat(frontier, url)
        return new

    def _within_budget(self, frontier: Frontier) -> list[Entry]:
        """Return the entries that a budget has room for; the others are recorded as rejected."""
        charges = {entry.url: charges for entry in self.entries if (charges := self._budget.charges(entry))}
        refused = frontier.charge(charges) if charges else {}
        if not refused:
            return self.entries
        for reason in refused.values():
            self._stats.inc_value(f"guard/{reason}")
        spent = (entry for entry in self.entries if entry.url in refused)
        frontier.reject([replace(entry, reason=refused[entry.url]) for entry in spent])
        return [entry for entry in self.entries if entry.url not in refused]


def _is_answer(capture: Capture) -> bool:
    """Return whether a capture counts towards the page limit."""
    return capture.status is not None and capture.origin != REQUISITE


def _settle(frontier: Frontier, settled: Settled, position: int) -> None:
    capture = settled.capture
    focus = capture.focus if capture else None
    frontier.settle(
        settled.url,
        settled.state,
        position=position,
        answered=settled.answered or (capture is not None and _is_answer(capture)),
        reason=settled.reason,
        relevance=focus.relevance if focus else None,
        relevant=focus.relevant if focus else None,
        note=focus.why if focus else "",
    )
