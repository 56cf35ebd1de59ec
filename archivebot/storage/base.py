"""The contract of an archive's store: what is kept, and what every back end promises.

* A capture is visible wholly or not at all. When :meth:`CaptureStore.add` returns, it survives the death of
  the process; when :meth:`ArchiveStore.sync` returns, a power cut. None survives without those before it.
* Adding the same capture twice changes nothing.
* Version numbers and lineages of a page are given once; of two writers the second gets
  :class:`~archivebot.exceptions.Conflict` and has stored nothing.
* Reading never writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from archivebot.exceptions import NotArchived, Outdated, StorageError
from archivebot.models import Capture, Duplicate, Fingerprint, FoundForm, Link, Outcome, Position
from archivebot.storage.revisits import RevisitStore

VersionId = int | str
When = datetime | None

# What is known of a page or of one of its versions: the URL, the number of the version, and it.
Fingerprinted = tuple[str, int, Fingerprint]
Marked = tuple[str, int, Duplicate]

# An anchor is a few words; a page that is one link would be kept a second time.
LONGEST_ANCHOR = 200

# Pages that are given for one key. More share it where a text is on every page (a wall, an empty shell): the
# first of them stands for all. Among 10 million random fingerprints 150 share 16 bits, so none is lost there.
MOST_NEAR = 256


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """One distinct body of one URL.

    ``number`` counts the versions of content from 1; None for the body of an error or redirect.
    ``digest`` is the SHA-256 of the body (64 hex digits), ``layout`` the id of the bytes around
    the blocks, ``new_blocks`` and ``new_bytes`` the blocks that differ from the version before,
    ``cost`` the bytes that reading it decodes, ``base`` the version it is compressed against,
    ``stored_bytes`` the size of its frame.
    """

    id: VersionId
    url: str
    number: int | None
    digest: str
    length: int
    charset: str
    level: int
    segmenter: int
    layout: int
    blocks: int
    new_blocks: int
    new_bytes: int
    cost: int
    base: VersionId | None
    stored_bytes: int


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A version to be stored: its record (``id`` is ignored), its frame, and its page's counters after it.

    ``sketch`` are the least piece ids of the page's blocks, by which similar pages are found; None
    leaves that of the page as it is. ``fingerprint`` is that of its main text, ``duplicate`` the page that
    it repeats; only versions of content have them. ``latest`` tells whether no visit of content comes
    after it in time: the fingerprint of the page is that of its latest version.
    """

    record: StoredVersion
    frame: bytes = field(repr=False)
    lineages: int
    sketch: tuple[int, ...] | None
    fingerprint: Fingerprint | None = None
    duplicate: Duplicate | None = None
    latest: bool = True


@dataclass(frozen=True, slots=True)
class PageHead:
    """What the next version of a page follows: how many versions and lineages there are."""

    versions: int = 0
    lineages: int = 0


@dataclass(frozen=True, slots=True)
class LearnedTemplate:
    """What the pages of a site have in common: when it was learned, from how many, and their style tree."""

    site: str
    learned_at: datetime
    pages: int
    tree: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class KeptForm:
    """A form of a site: what was said of it last, when it was seen first and last (aware UTC times).

    ``page`` is the one on which it was seen first, ``pages`` counts all on which it was seen.
    """

    site: str
    form: FoundForm
    first: datetime
    last: datetime
    page: str
    pages: int


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over the whole archive or one host; ``bytes_stored`` of a host counts frames only."""

    captures: int
    urls: int
    versions: int
    blocks: int
    bytes_fetched: int
    bytes_stored: int


@dataclass(frozen=True, slots=True)
class Edge:
    """A link of one page to another through time.

    ``anchor`` (200 characters at most), ``role`` and ``kind`` are those of the link when it was seen
    last, see :class:`~archivebot.models.Link`; ``first`` and ``last`` are aware UTC times.
    """

    source: str
    target: str
    anchor: str
    role: str
    kind: str
    first: datetime
    last: datetime


def edges_of(source: str, links: Iterable[Link], when: datetime) -> list[Edge]:
    """Return the links of a page as they are kept: one for each target, the first that has an anchor.

    >>> links = [Link("http://a.example/"), Link("http://a.example/", "News" * 99, role="navigation")]
    >>> [(edge.anchor[:8], len(edge.anchor), edge.role) for edge in edges_of("", links, datetime.max)]
    [('NewsNews', 200, 'navigation')]
    """
    told: dict[str, Link] = {}
    for link in links:
        if link.url not in told or (link.anchor and not told[link.url].anchor):
            told[link.url] = link
    return [
        Edge(source, link.url, link.anchor[:LONGEST_ANCHOR], link.role, link.kind, when, when)
        for link in told.values()
    ]


def missing(uri: str) -> NotArchived:
    """Return the error that tells that there is no archive at a URI."""
    return NotArchived(f"there is no archive at {uri} yet: crawl or ingest first, or set ARCHIVE_URI")


def outdated(uri: str, schema: int, command: str = "stats") -> Outdated:
    """Return the error of an older schema that is not brought up, with the command that does."""
    return Outdated(
        f"{uri} was written by an older archivebot (schema {schema}), and a reader changes nothing:"
        f" scrapy {command} brings it up"
    )


def read_only(uri: str) -> StorageError:
    """Return the error of a store that is open to be read only, and is asked to store something."""
    return StorageError(f"{uri} is open to be read only; Archive.open opens it for writing")


class CaptureStore(Protocol):
    """The visits of an archive, and the pages that they were of."""

    def add(self, capture: Capture, head: PageHead, version: NewVersion | VersionId | None) -> bool:
        """Store a capture, with the version it brings or points at; False if it was there already.

        ``head`` is what :meth:`VersionStore.head` gave when the version was made; Conflict is raised where it
        is no longer true.
        """

    def amend(self, old: Capture, new: Capture) -> None:
        """Replace what is kept of a visit; only its kind, its reason and the version it points at differ.

        A visit that brought a version keeps pointing at it.
        """

    def captures(
        self, url: str, newest_first: bool = False, until: When = None, since: When = None
    ) -> Iterator[Capture]:
        """Return the captures of a URL, at or before ``until`` and after ``since`` if given.

        They are read as they are asked for.
        """

    def holds(self, url: str, when: datetime, outcome: Outcome, digest: str | None) -> bool:
        """Return whether there is a capture of that URL, time, outcome and body (None: any body)."""

    def urls(self, start: str, end: str, after: str = "") -> Iterator[tuple[str, str]]:
        """Yield (urlkey, url) of the pages whose urlkey is in [start, end), sorted.

        Of the pages whose urlkey is ``start`` only those are given whose URL comes after ``after``.
        """

    def totals(self) -> dict[str, Totals]:
        """Return the sums per host, and those of the whole archive under ""."""


class VersionStore(Protocol):
    """The versions of pages, and the frames that hold their bytes."""

    def head(self, url: str) -> PageHead:
        """Return the counters of a page; all 0 for one never seen."""

    def latest(self, url: str, when: datetime | None = None) -> StoredVersion | None:
        """Return the version of content seen last, at or before ``when`` if given.

        A failed visit saw none.
        """

    def find(self, url: str, digest: str) -> StoredVersion | None:
        """Return the version of a URL with that body."""

    def version(self, version: VersionId) -> StoredVersion:
        """Return a version by its id; raises NotArchived."""

    def versions(self, url: str, last: int | None = None) -> list[StoredVersion]:
        """Return the versions of a URL in the order they were stored, all or only the last ones."""

    def versions_after(self, url: str, after: VersionId | None = None) -> Iterator[StoredVersion]:
        """Yield the versions of content of a URL in the order they were stored, those after one or all.

        They are read as they are asked for.
        """

    def version_ids(self) -> Iterator[VersionId]:
        """Yield the ids of all versions, page by page in the order they were stored."""

    def similar(self, urlkey: str, sketch: tuple[int, ...], most_cost: int) -> StoredVersion | None:
        """Return a version of content of the same host that shares most blocks, at most that dear to read."""

    def frame(self, version: VersionId) -> bytes:
        """Return the frame of a version; raises NotArchived."""

    def frames(self, version: VersionId) -> list[bytes]:
        """Return the frames that rebuild a version, the one that stands alone first; raises NotArchived."""


class LinkStore(Protocol):
    """The links of pages through time."""

    def add(self, source: str, links: Sequence[Link], when: datetime) -> None:
        """Store the links that a page had at a time, all or none of them.

        A link seen before keeps its first time, and the words that it had when it was seen last.
        """

    def all(self) -> Iterator[Edge]:
        """Yield all links, in no promised order, read as they are asked for."""

    def of(self, url: str, after: str = "", limit: int | None = None) -> Iterator[Edge]:
        """Yield the links of a page: all in no promised order, or at most ``limit`` in an order that stays.

        With a limit only those come that follow the link to the URL ``after``, none if there is no such link.
        """

    def to(self, url: str, after: str = "", limit: int | None = None) -> Iterator[Edge]:
        """Yield the links to a URL, whether that was ever asked for or not; order and limit as in :meth:`of`.

        With a limit only those come that follow the link from the page ``after``.
        """


class FingerprintStore(Protocol):
    """The fingerprints of pages, and the marks of near-duplicates; both come with a version."""

    def near(self, keys: Sequence[int]) -> Iterator[Fingerprinted]:
        """Yield the pages whose fingerprint has one of the keys, those stored first before others.

        A page has the fingerprint of its latest version of content, none where that has none. Of the pages
        that share one key the first MOST_NEAR are given.
        """

    def all(self) -> Iterator[Fingerprinted]:
        """Yield the fingerprints of all pages, in no promised order, read as they are asked for."""

    def marks(self, url: str | None = None) -> Iterator[Marked]:
        """Yield the versions that were marked as near-duplicates, of one page in order or of all."""


class TemplateStore(Protocol):
    """What was learned of the templates of sites."""

    def add(self, template: LearnedTemplate) -> None:
        """Store what was learned of a site; what was learned before stays."""

    def latest(self, site: str, when: datetime | None = None) -> LearnedTemplate | None:
        """Return what was learned of a site last, at or before ``when`` if given."""


class FormStore(Protocol):
    """The forms of sites, and the pages that they were seen on."""

    def add(self, site: str, url: str, forms: Sequence[FoundForm], when: datetime) -> None:
        """Store that a page of a site had forms at a time; the same told again changes nothing.

        A form of a site is known by its signature. What is said of it is replaced by what comes later.
        """

    def all(self, site: str | None = None) -> Iterator[KeptForm]:
        """Yield the forms of a site, or of all, those of one site together, by their first time."""

    def pages(self, site: str, signature: str) -> list[tuple[str, datetime, datetime]]:
        """Return the pages that a form was seen on, each with its first and last time, sorted by URL."""


class ArchiveStore(CaptureStore, VersionStore, Protocol):
    """All that is kept of an archive, in one place that is made durable as a whole."""

    uri: str
    links: LinkStore
    fingerprints: FingerprintStore
    templates: TemplateStore
    forms: FormStore
    revisits: RevisitStore

    def together(self) -> AbstractContextManager[None]:
        """Make one stroke of the calls inside it where the store can: all of them count, or none.

        Where it cannot, each counts by itself, in order.
        """

    def check(self) -> list[str]:
        """Look for damage: broken files, rows that are not what was stored, references to nothing."""

    @property
    def is_durable(self) -> bool:
        """Whether a sync has nothing to do."""

    def sync(self) -> Position | None:
        """Make durable what this instance stored, and return how far the archive has come with it.

        None if there was nothing to do. Raises StorageError if the archive was deleted, replaced or dropped
        since it was opened.
        """

    def position(self) -> Position:
        """Return which archive this is, and how far it has come: each sync that did something moves it on."""

    def close(self) -> None:
        """Make durable what was stored, and release the store."""
