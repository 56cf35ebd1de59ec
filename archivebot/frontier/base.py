"""The contract of a frontier: the URLs that wait, those being fetched, and the outcomes of the others.

* A URL is in one state at a time, and in one crawl only once, however often it is added.
* :meth:`Frontier.lease` returns the URL with the best score; among equals, the oldest. A host is skipped
  while all its requests are under way or its delay has not passed.
* A lease is not a pop: the URL is settled only after its page is stored. The leases of an owner that is
  dead, or silent past the deadline, return to the queue.
* After a kill, either all changes of a call are present, or none.
* Several processes may work on one crawl at once.
* Writing raises StorageError if the crawl was not begun, or was forgotten since; reading finds nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields
from enum import StrEnum
from hashlib import blake2b
from typing import Protocol

from archivebot.models import Position

# The minimum seconds that a lease waits for a better host. Waiting longer than a fetch takes costs more than
# fetching a poorer page meanwhile, and a host silent for longer may never answer.
HOLD = 2.0

# URLs with at least this score belong to pages fetched before, and are no pages of their own. Other scores,
# which are depths, nats and weighted sums, are far below.
EXTRA = 1e9

# Maximum of hosts checked for one worth waiting for, the best first, so that a lease stays fast even if many
# good hosts have long delays.
LOOK = 8


@dataclass(frozen=True, slots=True)
class Charge:
    """The charge of one URL to a budget: name and size of the budget, and the reason if it is spent."""

    name: str
    most: int
    reason: str


class State(StrEnum):
    """The state of a URL in its crawl."""

    QUEUED = "queued"
    LEASED = "leased"  # handed out, not yet settled
    DONE = "done"  # an outcome is stored
    FAILED = "failed"  # no answer came, after all tries
    REJECTED = "rejected"  # not fetched, for a reason


# The states of the URLs that are queued again, unless others are named.
RETRIED = (State.FAILED, State.REJECTED)


def key_of(url: str, crawl: str = "") -> bytes:
    """Return the 16-byte key of a URL in a frontier: BLAKE2b of the crawl, a line feed, and the URL.

    >>> key_of("http://example.com/").hex()
    'c4d99dbe88ef54356cb22de8e4623956'
    >>> key_of("http://example.com/", "one") == key_of("http://example.com/", "two")
    False
    """
    return blake2b(f"{crawl}\n{url}".encode(), digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class Entry:
    """One URL to be added to the frontier.

    ``host`` is the unit of politeness; ``request`` the serialized request, opaque here; ``score`` its
    priority, higher first; ``source`` the URL of the page that links to it, empty for a seed; ``distance``
    the off-topic pages in a row before it; ``parts`` the parts of the score, as JSON; ``reason`` why it is
    rejected, if it is.
    """

    url: str
    host: str
    score: float = 0.0
    request: str = field(default="", repr=False)
    source: str = ""
    distance: int = 0
    parts: str = field(default="", repr=False)
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Lease:
    """A URL handed out: ``order`` counts the leases of the crawl from 1.

    ``lost`` is the Unix time of the first lease since the URL was last settled, if such leases were lost,
    released or settled as queued after :meth:`Frontier.mark_followed`; else None. Only if it is set, the page
    may already be stored, and its links are certainly in the frontier.
    """

    entry: Entry
    order: int
    lost: float | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """All data of the frontier on one URL.

    ``order`` is the number of its last lease, ``relevance`` the relevance of its page (0..1), ``note`` the
    crawler's judgement of the page, as JSON. Each is None or empty if there is none.
    """

    entry: Entry
    state: State
    order: int | None = None
    relevance: float | None = None
    relevant: bool | None = None
    note: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Counts:
    """The number of URLs in each state; ``answered`` counts those in ``done`` that a server answered."""

    queued: int = 0
    leased: int = 0
    done: int = 0
    failed: int = 0
    rejected: int = 0
    answered: int = 0

    @property
    def open(self) -> int:
        """The number of URLs that may still lead to pages."""
        return self.queued + self.leased


COUNTS = tuple(field.name for field in fields(Counts))


@dataclass(frozen=True, slots=True)
class HostCounts:
    """The URL counts of one host."""

    host: str
    queued: int
    leased: int
    done: int
    failed: int
    rejected: int


@dataclass(frozen=True, slots=True)
class CrawlInfo:
    """One crawl of a frontier: its name, its arguments as JSON, when it began (Unix time), how it ended.

    ``ended`` is the reason, empty while the crawl runs or if it was interrupted.
    """

    name: str
    arguments: str
    began: float
    ended: str
    counts: Counts


class FrontierReader(Protocol):
    """The frontier of one crawl, for reading."""

    crawl: str

    def relied(self) -> Position | None:
        """Return the position of the archive when a page was settled last; None if unknown."""

    def get(self, url: str) -> Record | None:
        """Return the record of a URL, or None."""

    def records(self, *states: State, limit: int | None = None) -> Iterator[Record]:
        """Yield the records of URLs in the given states (default: all), state by state.

        Queued URLs come in the order of leasing, as if every host were ready; others by order, then URL.
        """

    def counts(self) -> Counts:
        """Return the number of URLs in each state."""

    def hosts(self) -> list[HostCounts]:
        """Return the URL counts of each host, hosts with the most queued URLs first."""

    def crawls(self) -> list[CrawlInfo]:
        """Return all crawls in the same file or database, the latest begun first."""

    def close(self) -> None:
        """Close the frontier; leases stay until they are released, settled or expired."""


class Frontier(FrontierReader, Protocol):
    """The frontier of one crawl, for one worker."""

    owner: str

    def together(self) -> AbstractContextManager[None]:
        """Run the calls inside it as one transaction, if the frontier supports that.

        Otherwise each call takes effect separately, in order.
        """

    def begin(
        self,
        arguments: str,
        most: int | None,
        archive: Position | None = None,
        distrusted: Position | None = None,
    ) -> bool:
        """Open the crawl; True if it continues an interrupted one.

        A crawl that ended starts over, empty. It continues only if it ended at its page limit, still has URLs
        queued, and ``most`` (None: no limit) is now above the number of answered pages. If several workers
        begin at once, one empties the crawl and the others join, which also returns True. Leases of dead
        owners return to the queue. ``arguments`` and ``most`` replace earlier values.

        ``archive`` is the position of the archive. A crawl that relied on ``distrusted`` or on another
        archive starts over although it could continue: the archive lacks pages that it relied on, or the
        operator wants that. Raises StorageError if other workers are active in such a crawl.
        """

    def end(self, reason: str) -> None:
        """Mark the crawl as ended; not called for an interrupted crawl."""

    def add(self, entries: Sequence[Entry]) -> int:
        """Queue the URLs not yet known and return their number.

        A queued URL with a higher new score takes the new entry and keeps its place among equals. A rejected
        URL is queued after all. A URL that is leased, done or failed stays.
        """

    def reject(self, entries: Sequence[Entry]) -> int:
        """Record URLs not yet known as rejected, each with its reason; return the number of new ones."""

    def charge(self, wanted: Mapping[str, Sequence[Charge]]) -> dict[str, str]:
        """Charge URLs that are not known yet, or rejected, to their budgets.

        Returns the URLs for which a budget is spent, each with the reason; they are charged to no budget.
        """

    def spend(self, name: str, count: int) -> None:
        """Charge an additional amount to a budget, for a page that turned out to cost more."""

    def pace(self, host: str, concurrency: int, delay: float) -> None:
        """Set the maximum of concurrent requests to a host, and the seconds between two requests.

        Without it a host gets one request at a time and no delay.
        """

    def lease(self, most: int | None = None, slack: float | None = None, hold: float = HOLD) -> Lease | None:
        """Hand out the best URL of a host that is ready; None if there is none.

        If answered pages and current leases together reach ``most``, only a URL with a score of EXTRA or more
        is handed out. With ``slack``, it returns None if it is worth waiting for a host that is not ready.
        Then the host's best score is more than ``slack`` higher but below EXTRA, and its delay passes within
        ``hold`` seconds, or passed at most that long ago while its requests are under way. Of such hosts the
        best LOOK are considered.
        """

    def due(self) -> float | None:
        """Return the seconds until a host with queued URLs is past its delay (0: now); None if there is none.

        It may be 0 while ``lease`` waits for a better host.
        """

    def renew(self) -> int:
        """Send the heartbeat of this owner; requeue the leases of dead owners and return their number."""

    def mark_followed(self, urls: Iterable[str]) -> None:
        """Record that the links of leased URLs are complete; their pages may be stored only afterwards."""

    def mark_arrived(self, urls: Iterable[str]) -> None:
        """Record the answers to leased URLs: they no longer count as requests under way to their hosts."""

    def settle(
        self,
        url: str,
        state: State,
        *,
        position: int = 0,
        answered: bool = False,
        reason: str = "",
        relevance: float | None = None,
        relevant: bool | None = None,
        note: str = "",
    ) -> bool:
        """End the lease of a URL; False if this owner holds none.

        QUEUED returns it to the queue like a lost lease; any other state is its outcome. ``position`` is the
        position of the archive with its page.
        """

    def release(self) -> int:
        """Requeue all leases of this owner and return their number."""

    def reprioritise(self, scores: Mapping[str, float]) -> int:
        """Set new scores of queued URLs, up or down; return how many changed. Other URLs are ignored."""

    def forget(self, urls: Iterable[str] | None = None) -> int:
        """Remove URLs in any state, or the whole crawl; return the number of removed URLs."""

    def retry(self, *states: State) -> int:
        """Queue the URLs in the given settled states again (default: failed and rejected).

        A crawl that had ended continues at the next ``begin``. Returns the number of queued URLs.
        """
