"""The words of the archive as frozen values: page, block, snapshot, version, capture, delta."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from archivebot.wire import Headers as Headers
from archivebot.wire import Wire
from archivebot.wire import first_header as first_header


@dataclass(frozen=True, slots=True)
class Position:
    """How far an archive has come: its identity, and a number that grows with what is made durable."""

    archive: str
    number: int


class Outcome(StrEnum):
    """How one attempt to fetch a page ended; exactly one is recorded for every attempt."""

    FETCHED = "fetched"  # 2xx with a body
    NO_CONTENT = "no_content"  # 204, 205
    ACCEPTED = "accepted"  # 202: not ready yet
    NOT_MODIFIED = "not_modified"  # 304
    REDIRECT = "redirect"  # other 3xx
    DENIED = "denied"  # 401, 403, 407, 451
    NOT_FOUND = "not_found"  # 404
    GONE = "gone"  # 410
    THROTTLED = "throttled"  # 408, 425, 429
    CLIENT_ERROR = "client_error"  # other 4xx
    SERVER_ERROR = "server_error"  # 5xx
    ROBOTS_DENIED = "robots_denied"  # robots.txt forbids it, or could not be read
    EXCLUDED = "excluded"  # fetched, but noindex or noarchive forbids to keep it
    TIMEOUT = "timeout"  # no complete answer in time
    UNREACHABLE = "unreachable"  # name not resolved, connection refused or lost
    INCOMPLETE = "incomplete"  # the headers or the body ended early, or cannot be decoded
    TOO_LARGE = "too_large"  # more than DOWNLOAD_MAXSIZE
    PROTOCOL_ERROR = "protocol_error"  # not an HTTP answer
    UNRESOLVED = "unresolved"  # a revisit of a WARC file whose payload is not in the archive yet


class Kind(StrEnum):
    """What a capture says about its page, compared with what the archive held before."""

    NEW = "new"  # first content of this URL
    CHANGED = "changed"  # other content than the latest version
    TOUCHED = "touched"  # other bytes, the same content: only furniture changed
    REVISIT = "revisit"  # the same bytes as the latest version, or 304
    REDIRECT = "redirect"  # points elsewhere
    GONE = "gone"  # 404 or 410 of a page that had content before
    NOT_FOUND = "not_found"  # 404 or 410 of a page that never had any
    FAILED = "failed"  # any other outcome without content; a wall or an error in place of a page
    EXCLUDED = "excluded"  # refused by robots.txt, META robots or X-Robots-Tag
    UNRESOLVED = "unresolved"  # a revisit of bytes that are not in the archive yet


class QualityKind(StrEnum):
    """What a fetch brought: the page, or something in its place."""

    GOOD = "good"
    SOFT_404 = "soft_404"  # "not found" with the status of a page
    LOGIN_WALL = "login_wall"
    CONSENT_WALL = "consent_wall"
    BOT_WALL = "bot_wall"
    ERROR_PAGE = "error_page"
    SCRIPT_SHELL = "script_shell"  # a frame that scripts would fill
    EMPTY = "empty"


class Change(StrEnum):
    """What happened to one block between two versions."""

    ADDED = "ADDED"
    REMOVED = "REMOVED"
    MODIFIED = "MODIFIED"
    MOVED = "MOVED"
    MARKUP = "MARKUP"  # the same text in other markup; only in a delta
    UNCHANGED = "UNCHANGED"


class Attribute(StrEnum):
    """What a page says beside its text that may be another."""

    TITLE = "title"
    LINK = "link"  # where it leads
    IMAGE = "image"  # its source
    ALT = "alt"  # the text of an image


class ChangeKind(StrEnum):
    """What a change is one of."""

    CONTENT = "content"
    FURNITURE = "furniture"  # menus, head and foot, adverts, counters, times


@dataclass(frozen=True, slots=True)
class Link:
    """One link of a page with what stands around it, the evidence by which its target is judged.

    ``url`` is the canonical target; ``anchor`` the text of the link or of its image, ``before`` and
    ``after`` the text on both sides, ``heading`` the nearest heading above; ``role`` the part of the
    page it stands in (``main``, ``navigation``, ``header``, ``footer``, ``aside``, ``form``), ``kind``
    how the page refers to the target (``link``, ``frame``, ``relation``, ``refresh``, ``redirect``).
    """

    url: str
    anchor: str = ""
    before: str = ""
    after: str = ""
    heading: str = ""
    role: str = "main"
    kind: str = "link"


@dataclass(frozen=True, slots=True)
class Focus:
    """What a focused crawl says of one fetched page.

    ``relevance`` (0..1) and ``relevant`` judge the page, None where it has no text to judge; ``score``
    is that of the link that led here, ``distance`` the number of off-topic pages in a row before it,
    ``order`` the number of the fetch in its crawl, from 1; ``why`` the parts of the judgement, as JSON.
    """

    relevance: float | None
    relevant: bool | None
    score: float
    distance: int
    order: int
    why: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class FoundForm:
    """A form of a page: its ``signature`` and, as JSON, all that is said of it, see archivebot.forms."""

    signature: str
    data: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Payload:
    """The payload of a page as its WARC record names it.

    ``digest`` is the key that equal payloads share, see :mod:`archivebot.fingerprint.payload`, empty
    for none; ``url`` and ``when`` name the capture that a revisit refers to.
    """

    digest: str = ""
    url: str | None = None
    when: datetime | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """What one fetch of one URL returned, bytes as received after content decoding.

    ``url`` is the canonical URL, ``captured_at`` an aware UTC time, ``status`` the HTTP status
    or None where no answer came, ``location`` the absolute redirect target, ``links`` the links
    found, ``level`` a wish of the operator (None: from the URL's history), ``focus`` what a focused
    crawl says of the page, ``forms`` those that a crawl for them found, ``payload`` that of its record,
    ``wire`` what went over the wire, None where that is not known.
    """

    url: str
    captured_at: datetime
    outcome: Outcome
    status: int | None = None
    headers: Headers = field(default=(), repr=False)
    body: bytes = field(default=b"", repr=False)
    reason: str = ""
    location: str | None = None
    links: tuple[Link, ...] = field(default=(), repr=False)
    level: int | None = None
    origin: str = "crawl"
    focus: Focus | None = None
    forms: tuple[FoundForm, ...] = field(default=(), repr=False)
    payload: Payload | None = None
    wire: Wire | None = None

    def header(self, name: str) -> str | None:
        """Return the first header of that name, case ignored, or None."""
        return first_header(self.headers, name)


@dataclass(frozen=True, slots=True)
class Block:
    """One unit of a page: the byte range [start, end) of its body, cut at depth ``level``."""

    start: int
    end: int
    level: int


@dataclass(frozen=True, slots=True)
class Partition:
    """The blocks of one body in order; the bytes between them are the layout."""

    length: int
    level: int
    charset: str
    segmenter: int
    blocks: tuple[Block, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Quality:
    """What a fetch brought, and the one sign that decided."""

    kind: QualityKind
    reason: str


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What a text is known by when texts like it are looked for.

    ``digest`` (signed, 64 bits) tells equal texts, ``simhash`` (unsigned) is None for one of too few
    ``words``; texts that are near share one of the ``keys`` (signed, 64 bits).
    """

    digest: int
    simhash: int | None
    keys: tuple[int, ...] = field(repr=False)
    words: int


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Of which page and version another page is a near-duplicate, and how near.

    ``distance`` is that of the SimHashes in bits, None where one has none; ``jaccard`` (0..1) the share
    of the shingles that both texts have; ``rule`` the scheme by which it was decided.
    """

    url: str
    number: int
    distance: int | None
    jaccard: float
    rule: str


# Why a page counts as changed that cannot be compared with the version before.
UNTOLD = "it cannot be told what changed"


@dataclass(frozen=True, slots=True)
class PageChange:
    """How a page differs from the version that has the digest ``before``; "" where none could be read."""

    before: str
    kind: ChangeKind
    reason: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A page together with its partition, ready to be stored.

    ``fingerprint`` is that of its main text, ``duplicate`` the page of the archive that it repeats,
    ``quality`` says what came instead of a page, None where nothing speaks against it; ``change`` how it
    differs from the version before, None where that is still to be told.
    """

    page: Page
    partition: Partition | None
    quality: Quality | None = None
    fingerprint: Fingerprint | None = None
    duplicate: Duplicate | None = None
    change: PageChange | None = None

    @classmethod
    def uncut(cls, page: Page, reason: str = "") -> Snapshot:
        """Return a page that cannot be read, to be kept as it is; the page says why."""
        page = replace(page, reason=page.reason or reason)
        return cls(page, None, change=PageChange("", ChangeKind.CONTENT, UNTOLD))


@dataclass(frozen=True, slots=True)
class PlacedBlock:
    """A block of a stored version with its identity through time.

    ``lineage`` is the stable id of the block through all versions of its page. While a version is
    being stored, ``change`` says what happened to the block since the version before, and ``new``
    whether its bytes were never seen on the page.
    """

    lineage: str
    level: int
    start: int
    end: int
    topic: str
    change: Change | None = None
    new: bool = False


@dataclass(frozen=True, slots=True)
class Capture:
    """One visit: what was asked, how it ended, and the version that it points at.

    ``number`` counts the versions of content of a URL from 1 and is None for a visit that saw
    none; ``digest`` is ``sha256:<hex>`` of the body; ``blocks`` is filled where the version was
    cut into blocks by this very visit; ``quality`` and ``duplicate`` as in :class:`Snapshot`; ``wire`` as
    in :class:`Page`.
    """

    url: str
    urlkey: str
    captured_at: datetime
    outcome: Outcome
    kind: Kind
    status: int | None
    number: int | None
    digest: str | None
    size: int
    stored_bytes: int
    level: int | None
    block_count: int
    new_blocks: int
    links: int
    reason: str = ""
    location: str | None = None
    origin: str = "crawl"
    headers: Headers = field(default=(), repr=False)
    blocks: tuple[PlacedBlock, ...] = field(default=(), repr=False)
    focus: Focus | None = None
    quality: Quality | None = None
    duplicate: Duplicate | None = None
    wire: Wire | None = None

    @property
    def sha256(self) -> str:
        """The digest as 64 hex digits; empty for none."""
        return (self.digest or "").removeprefix("sha256:")

    def page(self, body: bytes = b"") -> Page:
        """Return the page that the visit saw, with this body."""
        return Page(
            url=self.url,
            captured_at=self.captured_at,
            outcome=self.outcome,
            status=self.status,
            headers=self.headers,
            body=body,
            reason=self.reason,
            location=self.location,
            origin=self.origin,
            wire=self.wire,
        )


@dataclass(frozen=True, slots=True)
class BlockChange:
    """One block between two versions: its text before and after, and how alike they are (0..1).

    ``kind`` tells what changed in it, None where nothing did.
    """

    change: Change
    lineage: str
    topic: str
    before: str | None = field(repr=False)
    after: str | None = field(repr=False)
    similarity: float
    kind: ChangeKind | None = None


@dataclass(frozen=True, slots=True)
class AttributeChange:
    """A title, link or image that is another.

    ``of`` is the text of the link, or of an image that has another source; the source of an image with
    another text. ``content`` tells whether it stands in the content of the page.
    """

    attribute: Attribute
    of: str
    before: str
    after: str
    content: bool


@dataclass(frozen=True, slots=True)
class Delta:
    """All changes between two versions of one URL; ``kind`` and ``reason`` sum them up."""

    url: str
    before: int
    after: int
    layout_changed: bool
    kind: ChangeKind
    reason: str
    changes: tuple[BlockChange, ...] = field(repr=False)
    attributes: tuple[AttributeChange, ...] = ()
