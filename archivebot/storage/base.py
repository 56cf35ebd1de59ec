"""The contract of an archive's store, which every back end fulfils.

* A capture is visible completely or not at all. When :meth:`CaptureStore.add` returns, it survives a crash
  of the process; when :meth:`ArchiveStore.sync` returns, a power cut. No capture survives without all
  captures stored before it.
* Adding the same capture twice changes nothing.
* Version numbers and lineages of a page are assigned once. If two writers compete, the second gets
  :class:`~archivebot.exceptions.Conflict` and has stored nothing.
* Reading never writes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from archivebot.exceptions import CorruptObject, NotArchived, Outdated, StorageError
from archivebot.models import Capture, Duplicate, Fingerprint, FoundForm, Outcome, Position
from archivebot.storage.attachments import AttachmentStore
from archivebot.storage.edges import LinkStore
from archivebot.storage.log import LogStore
from archivebot.storage.retention import RetentionStore
from archivebot.storage.revisits import RevisitStore
from archivebot.storage.versions import PageHead as PageHead
from archivebot.storage.versions import StoredDictionary as StoredDictionary
from archivebot.storage.versions import StoredVersion as StoredVersion
from archivebot.storage.versions import VersionId as VersionId

When = datetime | None

# Gets the error of something that cannot be read, which is left out unless the error is raised again.
Damaged = Callable[[CorruptObject], None]

# A value that belongs to a page or a version: the URL, the number of the version, and the value.
Fingerprinted = tuple[str, int, Fingerprint]
Marked = tuple[str, int, Duplicate]

# Maximum of pages returned for one key. More pages share a key if a text is on every page (a wall, an empty
# shell): the first of them stands for all. Among 10 million random fingerprints 150 share 16 bits, so none of
# them is lost.
MOST_NEAR = 256


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A version to be stored: its record (``id`` is ignored), its frame, and the page's new counters.

    ``sketch`` are the smallest ids of the page's blocks, by which similar pages are found; None leaves the
    sketch of the page unchanged. ``fingerprint`` is the fingerprint of its main text, ``duplicate`` the page
    that it repeats; only versions of content have them. ``latest`` is whether no later visit has content: the
    fingerprint of a page is the fingerprint of its latest version.
    """

    record: StoredVersion
    frame: bytes = field(repr=False)
    lineages: int
    sketch: tuple[int, ...] | None
    fingerprint: Fingerprint | None = None
    duplicate: Duplicate | None = None
    latest: bool = True


@dataclass(frozen=True, slots=True)
class LearnedTemplate:
    """The template of a site: when it was learned, from how many pages, and their style tree."""

    site: str
    learned_at: datetime
    pages: int
    tree: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class KeptForm:
    """A form of a site: its last description, and when it was seen first and last (aware UTC times).

    ``page`` is the page on which it was seen first, ``pages`` the number of pages on which it was seen.
    """

    site: str
    form: FoundForm
    first: datetime
    last: datetime
    page: str
    pages: int


@dataclass(frozen=True, slots=True)
class Totals:
    """Totals of the whole archive, or of a host: the ``bytes_stored`` of a host exclude rows and indexes."""

    captures: int
    urls: int
    versions: int
    blocks: int
    bytes_fetched: int
    bytes_stored: int
    bytes_frames: int = 0
    bytes_dictionaries: int = 0


def missing(uri: str) -> NotArchived:
    """Return the error for a URI without an archive."""
    return NotArchived(f"there is no archive at {uri} yet: crawl or ingest first, or set ARCHIVE_URI")


def outdated(uri: str, schema: int, command: str = "stats") -> Outdated:
    """Return the error of an older schema, with the command that upgrades it."""
    return Outdated(
        f"{uri} was written by an older archivebot (schema {schema}), and a reader changes nothing:"
        f" scrapy {command} brings it up"
    )


def raised(error: CorruptObject) -> None:
    """Raise the error of something that cannot be read, instead of leaving it out."""
    raise error


def left_out(error: CorruptObject) -> None:
    """Leave out what cannot be read, without a word: ``scrapy verify`` reports it."""


def read_only(uri: str) -> StorageError:
    """Return the error of an attempt to write to a read-only store."""
    return StorageError(f"{uri} is open to be read only; Archive.open opens it for writing")


class CaptureStore(Protocol):
    """The visits of an archive, and their pages."""

    def add(self, capture: Capture, head: PageHead, version: NewVersion | VersionId | None) -> bool:
        """Store a capture, with the version it brings or points at; False if it was already stored.

        ``head`` is the result of :meth:`VersionStore.head` when the version was made. Raises Conflict if it
        has changed since.
        """

    def amend(self, old: Capture, new: Capture) -> None:
        """Replace a stored visit; only its kind, its reason and the version it points at may differ.

        A visit that brought a version keeps pointing at it.
        """

    def captures(
        self,
        url: str,
        newest_first: bool = False,
        until: When = None,
        since: When = None,
        brief: bool = False,
        damaged: Damaged = raised,
    ) -> Iterator[Capture]:
        """Return the captures of a URL, at or before ``until`` and after ``since`` if given.

        They are read lazily. With ``brief`` they come faster, without headers, exchanges and
        marks. ``damaged`` gets the errors of those that cannot be read.
        """

    def state(self, url: str) -> Hashable:
        """Return a value that changes with the captures of a URL.

        If a capture was replaced, the value may change only when the archive is made durable.
        """

    def holds(self, url: str, when: datetime, outcome: Outcome, digest: str | None) -> bool:
        """Return whether there is a capture of that URL, time, outcome and body (None: any body)."""

    def urls(
        self, start: str, end: str, after: str = "", damaged: Damaged | None = None
    ) -> Iterator[tuple[str, str]]:
        """Yield (urlkey, url) of the pages whose urlkey is in [start, end), sorted.

        Among the pages with the urlkey ``start``, only those with a URL after ``after`` are returned.
        ``damaged`` gets the errors of those that cannot be read; without it, the last of these errors is
        raised at the end.
        """

    def tallies(self, damaged: Damaged | None = None) -> Iterator[tuple[str, int]]:
        """Yield each URL with a number that changes if a visit is added or amended; in unspecified order.

        Damaged pages are treated as by :meth:`urls`.
        """

    def totals(self) -> dict[str, Totals]:
        """Return the totals of each host, and of the whole archive under the key ""."""


class VersionStore(Protocol):
    """The versions of pages, and the frames that hold their bytes."""

    def head(self, url: str) -> PageHead:
        """Return the counters of a page; all are 0 for a page never seen."""

    def latest(self, url: str, when: datetime | None = None) -> StoredVersion | None:
        """Return the version of content seen last, at or before ``when`` if given.

        A failed visit has no version.
        """

    def find(self, url: str, digest: str) -> StoredVersion | None:
        """Return the version of a URL with that body; one of content, if the body also came with an error."""

    def version(self, version: VersionId) -> StoredVersion:
        """Return a version by its id; raises NotArchived."""

    def versions(self, url: str, last: int | None = None) -> list[StoredVersion]:
        """Return the versions of a URL in the order they were stored, all or only the last ones."""

    def versions_after(self, url: str, after: VersionId | None = None) -> Iterator[StoredVersion]:
        """Yield, lazily, the versions of content of a URL in the order they were stored, after ``after``."""

    def version_ids(self) -> Iterator[VersionId]:
        """Yield the ids of all versions, page by page in the order they were stored."""

    def similar(self, urlkey: str, sketch: tuple[int, ...], most_cost: int) -> StoredVersion | None:
        """Return the version of the same host that shares most blocks, with a cost up to ``most_cost``."""

    def frame(self, version: VersionId) -> bytes:
        """Return the frame of a version or a dictionary; raises NotArchived."""

    def frames(self, version: VersionId) -> list[bytes]:
        """Return the frames that rebuild a version, the one without a base first; raises NotArchived."""


class DictionaryStore(Protocol):
    """The dictionaries of hosts. A host is the part of a urlkey before the closing parenthesis."""

    def is_dictionary(self, base: VersionId | None) -> bool:
        """Return whether an id names a dictionary, present or removed, rather than a version."""

    def latest(self, host: str) -> StoredDictionary | None:
        """Return the latest dictionary of a host."""

    def add(self, host: str, length: int, frame: bytes) -> StoredDictionary:
        """Store a dictionary by its frame, which stands alone."""

    def origins(self, host: str, most: int) -> list[StoredVersion]:
        """Return a host's last ``most`` versions of content without an earlier version as base, in order."""

    def rebase(self, dictionary: StoredDictionary, frames: Iterable[tuple[StoredVersion, bytes]]) -> None:
        """Replace the frames of versions by frames against a dictionary.

        The frames are taken one after the other, so that they need not be in memory together. If versions
        name frames by their digest, it does nothing, and takes none.
        """

    def remove(self, dictionary: StoredDictionary) -> None:
        """Remove a dictionary that is no longer the base of any version; does nothing if it is."""


class FingerprintStore(Protocol):
    """The fingerprints of pages, and the marks of near-duplicates; both are stored with a version."""

    def put(self, capture: Capture, fingerprint: Fingerprint | None) -> None:
        """Replace the fingerprint of a page by that of the version of a stored capture; None removes it."""

    def near(self, keys: Sequence[int]) -> Iterator[Fingerprinted]:
        """Yield the pages whose fingerprint has one of the keys, in the order they were stored.

        A page has the fingerprint of its latest version of content, if that version has one. Of the pages
        that share one key the first MOST_NEAR are returned.
        """

    def all(self) -> Iterator[Fingerprinted]:
        """Yield the fingerprints of all pages in unspecified order, read lazily."""

    def marks(self, url: str | None = None) -> Iterator[Marked]:
        """Yield the versions marked as near-duplicates: of one page in order, or of all pages."""


class TemplateStore(Protocol):
    """The learned templates of sites."""

    def add(self, template: LearnedTemplate) -> None:
        """Store the template of a site; earlier templates are kept."""

    def latest(self, site: str, when: datetime | None = None) -> LearnedTemplate | None:
        """Return the latest template of a site, at or before ``when`` if given."""


class FormStore(Protocol):
    """The forms of sites, and the pages on which they were seen."""

    def add(self, site: str, url: str, forms: Sequence[FoundForm], when: datetime) -> None:
        """Store the forms of a page of a site at a time; storing the same again changes nothing.

        A form of a site is identified by its signature. A later description replaces the earlier one.
        """

    def all(self, site: str | None = None) -> Iterator[KeptForm]:
        """Yield the forms of a site or of all sites, grouped by site, by their first time."""

    def pages(self, site: str, signature: str) -> list[tuple[str, datetime, datetime]]:
        """Return the pages on which a form was seen, each with its first and last time, sorted by URL."""


class ArchiveStore(CaptureStore, VersionStore, Protocol):
    """The store of an archive, which is made durable as a whole."""

    uri: str
    dictionaries: DictionaryStore
    links: LinkStore
    fingerprints: FingerprintStore
    templates: TemplateStore
    forms: FormStore
    revisits: RevisitStore
    retention: RetentionStore
    attachments: AttachmentStore
    log: LogStore

    def together(self) -> AbstractContextManager[None]:
        """Run the calls inside it as one transaction, if the store supports that.

        Otherwise each call takes effect separately, in order.
        """

    @property
    def undone(self) -> int:
        """How many transactions were rolled back; the ids given in them may be given again."""

    def check(self) -> list[str]:
        """Return a description of each damage: broken files, changed rows, references to nothing."""

    @property
    def is_durable(self) -> bool:
        """Whether all stored data are durable, so that a sync has nothing to do."""

    def sync(self) -> Position | None:
        """Make everything durable that this instance stored, and return the position of the archive.

        Returns None if there was nothing to do. Raises StorageError if the archive was deleted, replaced or
        dropped since it was opened.
        """

    def position(self) -> Position:
        """Return the identity and position of the archive; each sync with new data advances the position."""

    def changes(self) -> Hashable | None:
        """Return a value that differs after each change by another process; None if only reading shows them.

        It takes a few microseconds, and reads nothing of the archive.
        """

    def size(self) -> int:
        """Return the bytes that the whole archive takes, as in :meth:`totals`."""

    def close(self) -> None:
        """Make everything stored durable, and close the store."""
