"""The contract of a frontier: what waits to be fetched, what is being fetched, and what became of the rest.

* A URL is in one state at a time, and in one crawl only once, however often it is added.
* :meth:`Frontier.lease` gives the best score first; of equals, the one that came first. A host that
  has all its requests under way, or whose delay has not passed, is passed over until it is ready.
* A lease is not a pop: the URL is settled only after its page is stored. Leases of an owner that is
  dead, or silent past the deadline, go back to the queue.
* What a call changed is there after the process is killed, or none of it is.
* Several processes may work on one crawl at once.
* What writes raises StorageError if the crawl was not begun, or was forgotten since; reading it finds
  nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import blake2b
from typing import Protocol

from archivebot.models import Position

# The least seconds that a lease holds back for a host. To wait for longer than fetches take costs more than
# the poorer page that would be fetched meanwhile, and a host silent for longer may never answer.
HOLD = 2.0

# The hosts looked at for one that is worth waiting for, the best first; a bound, so that a lease stays quick
# where many good hosts have long delays.
LOOK = 8


@dataclass(frozen=True, slots=True)
class Charge:
    """One URL against a budget: its name, how many URLs it has room for, and the reason when it has none."""

    name: str
    most: int
    reason: str


class State(StrEnum):
    """Where a URL stands in its crawl."""

    QUEUED = "queued"
    LEASED = "leased"  # handed out, not yet settled
    DONE = "done"  # an outcome is stored
    FAILED = "failed"  # no answer came, after all tries
    REJECTED = "rejected"  # not to be fetched, with a reason


def key_of(url: str, crawl: str = "") -> bytes:
    """Return the 16 bytes by which a frontier knows a URL: BLAKE2b of the crawl, a line feed, and the URL.

    >>> key_of("http://example.com/").hex()
    'c4d99dbe88ef54356cb22de8e4623956'
    >>> key_of("http://example.com/", "one") == key_of("http://example.com/", "two")
    False
    """
    return blake2b(f"{crawl}\n{url}".encode(), digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class Entry:
    """One URL on its way into the frontier.

    ``host`` is the unit of politeness; ``request`` what the crawler needs to
    ask for it, opaque here; ``score`` its priority, higher first; ``source`` the URL of the page that
    led here, empty for a seed; ``distance`` the off-topic pages in a row before it; ``parts`` how the
    score came about, as JSON; ``reason`` why it is rejected, where it is.
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
    released or settled as queued after :meth:`Frontier.mark_followed`; else None. Only then the page may
    be stored already, and only then are its links certain to be in the frontier.
    """

    entry: Entry
    order: int
    lost: float | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """All that the frontier knows of one URL.

    ``order`` is the number of its last lease, ``relevance`` that of its page (0..1), ``note`` what the
    crawler says of the page, as JSON; each None or empty if there is none.
    """

    entry: Entry
    state: State
    order: int | None = None
    relevance: float | None = None
    relevant: bool | None = None
    note: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Counts:
    """How many URLs are in each state; ``answered`` are those of ``done`` that a server answered."""

    queued: int = 0
    leased: int = 0
    done: int = 0
    failed: int = 0
    rejected: int = 0
    answered: int = 0

    @property
    def open(self) -> int:
        """How many may still lead to pages."""
        return self.queued + self.leased


@dataclass(frozen=True, slots=True)
class HostCounts:
    """One host of a crawl."""

    host: str
    queued: int
    leased: int
    done: int
    failed: int
    rejected: int


@dataclass(frozen=True, slots=True)
class CrawlInfo:
    """One crawl of a frontier: its name, its arguments as JSON, when it began (Unix time), how it ended.

    ``ended`` is the reason, empty while the crawl runs or where it was interrupted.
    """

    name: str
    arguments: str
    began: float
    ended: str
    counts: Counts


class FrontierReader(Protocol):
    """The frontier of one crawl, as it can be looked at."""

    crawl: str

    def relied(self) -> Position | None:
        """Return how far the archive had come when a page of the crawl was settled last; None if unknown."""

    def get(self, url: str) -> Record | None:
        """Return what is known of a URL."""

    def records(self, *states: State, limit: int | None = None) -> Iterator[Record]:
        """Yield the URLs in some states, none named: in all, state by state.

        Queued ones come in the order of leasing, as if no host had to be waited for; others by order,
        then URL.
        """

    def counts(self) -> Counts:
        """Count the URLs by state."""

    def hosts(self) -> list[HostCounts]:
        """Count the URLs of each host, the most queued first."""

    def crawls(self) -> list[CrawlInfo]:
        """Return all crawls that lie where this one lies, the latest begun first."""

    def close(self) -> None:
        """Release the frontier; leases stay until they are released, settled or out of date."""


class Frontier(FrontierReader, Protocol):
    """The frontier of one crawl, as one worker of it sees it."""

    owner: str

    def together(self) -> AbstractContextManager[None]:
        """Make one stroke of the calls inside it where the frontier can: all of them count, or none.

        Where it cannot, each counts by itself, in order.
        """

    def begin(
        self,
        arguments: str,
        most: int | None,
        archive: Position | None = None,
        distrusted: Position | None = None,
    ) -> bool:
        """Open the crawl; True if it goes on with what an interrupted one left.

        A crawl that ended begins anew, empty, unless it ended at its page limit (as many answered
        pages as it was begun with), still has URLs queued, and ``most`` (None: no limit) is now above
        the pages it answered. Of workers that begin at once one empties the crawl, the others join,
        which is True as well. Leases of dead owners return. ``arguments`` and ``most`` replace earlier
        ones.

        ``archive`` is how far the archive has come. A crawl that relied on ``distrusted`` begins anew
        although it could go on: the archive has lost what it relied on. Raises StorageError if other
        workers are at work on such a crawl.
        """

    def end(self, reason: str) -> None:
        """Mark the crawl as ended by itself; not for one that is interrupted."""

    def add(self, entries: Sequence[Entry]) -> int:
        """Queue the URLs not yet known and give how many they were.

        A queued URL whose new score is higher takes over the new entry and keeps its place among
        equals; a rejected one is queued after all; what is leased, done or failed stays.
        """

    def reject(self, entries: Sequence[Entry]) -> int:
        """Record URLs not yet known as rejected, each with its reason; give how many were new."""

    def charge(self, wanted: Mapping[str, Sequence[Charge]]) -> dict[str, str]:
        """Count URLs that are not known yet, or rejected, in their budgets.

        Return those for which a budget has no room, each with the reason; they count in none.
        """

    def spend(self, name: str, count: int) -> None:
        """Take more from a budget, for what a page turned out to be."""

    def pace(self, host: str, concurrency: int, delay: float) -> None:
        """Say how many requests to a host may be under way at once, and the seconds between two.

        Without it a host gets one request at a time and no delay.
        """

    def lease(self, most: int | None = None, slack: float | None = None, hold: float = HOLD) -> Lease | None:
        """Hand out the best URL of a host that is ready; None if there is none.

        None also where pages answered and leases under way together reach ``most``, and, with ``slack``,
        where it is worth waiting for a host that is not ready: its best score is more than ``slack``
        higher, and its delay passes within ``hold`` seconds, or passed no longer ago than that while its
        requests are under way. Of such hosts the best LOOK are considered.
        """

    def due(self) -> float | None:
        """Return the seconds until a host with queued URLs has passed its delay, 0 if one has; else None.

        It may be 0 while ``lease`` holds back for a better host.
        """

    def renew(self) -> int:
        """Say that this owner lives; return leases of owners that do not, and give how many they were."""

    def mark_followed(self, urls: Iterable[str]) -> None:
        """Record that the links of the pages of leased URLs are in; only then may the pages be stored."""

    def mark_arrived(self, urls: Iterable[str]) -> None:
        """Record that the answers to leased URLs came: they count no more as under way to their hosts."""

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

        QUEUED puts it back as a lost lease is; each other state is what became of it. ``position`` is how
        far the archive had come with its page.
        """

    def release(self) -> int:
        """Put back all leases of this owner and give how many they were."""

    def reprioritise(self, scores: Mapping[str, float]) -> int:
        """Return queued URLs new scores, up or down; others are left alone. Give how many moved."""

    def forget(self, urls: Iterable[str] | None = None) -> int:
        """Remove URLs whatever their state, or the crawl with all that is known of it; give how many went."""

    def retry(self, *states: State) -> int:
        """Queue again what is in some settled states, failed and rejected unless others are named.

        A crawl that had ended then goes on at the next ``begin``. Give how many URLs were queued.
        """
