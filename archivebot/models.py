"""The data model of the archive as frozen values: page, snapshot, version, capture, delta."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from archivebot.block import Block as Block
from archivebot.block import Change as Change
from archivebot.block import Label as Label
from archivebot.block import Partition as Partition
from archivebot.block import PlacedBlock as PlacedBlock
from archivebot.wire import Headers as Headers
from archivebot.wire import Wire
from archivebot.wire import first_header as first_header


@dataclass(frozen=True, slots=True)
class Position:
    """The position of an archive: its identity, and a number that grows with each durable write."""

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
    EXCLUDED = "excluded"  # not kept: noindex, off topic, or beyond a limit of the crawl
    TIMEOUT = "timeout"  # no complete answer in time
    UNREACHABLE = "unreachable"  # name not resolved, connection refused or lost
    INCOMPLETE = "incomplete"  # the headers or the body ended early, or cannot be decoded
    TOO_LARGE = "too_large"  # more than DOWNLOAD_MAXSIZE
    PROTOCOL_ERROR = "protocol_error"  # not an HTTP answer
    UNRESOLVED = "unresolved"  # a revisit of a WARC file whose payload is not in the archive yet


class Kind(StrEnum):
    """The kind of a capture, compared with the earlier state of its page in the archive."""

    NEW = "new"  # first content of this URL
    CHANGED = "changed"  # content that differs from the latest version
    TOUCHED = "touched"  # different bytes, the same content: only furniture changed
    REVISIT = "revisit"  # the same bytes as the latest version, or 304
    REDIRECT = "redirect"  # points elsewhere
    GONE = "gone"  # 404 or 410 of a page that had content before
    NOT_FOUND = "not_found"  # 404 or 410 of a page that never had any
    FAILED = "failed"  # any other outcome without content; a wall or an error in place of a page
    EXCLUDED = "excluded"  # refused by robots, or beyond a limit of the crawl
    UNRESOLVED = "unresolved"  # a revisit of bytes that are not in the archive yet


class QualityKind(StrEnum):
    """What a fetch returned in place of the page."""

    GOOD = "good"
    SOFT_404 = "soft_404"  # "not found" with the status of a page
    LOGIN_WALL = "login_wall"
    CONSENT_WALL = "consent_wall"
    BOT_WALL = "bot_wall"
    ERROR_PAGE = "error_page"
    SCRIPT_SHELL = "script_shell"  # a frame that scripts would fill
    EMPTY = "empty"


class Attribute(StrEnum):
    """An attribute of a page, beside its text, that may change."""

    TITLE = "title"
    LINK = "link"  # where it leads
    IMAGE = "image"  # its source
    ALT = "alt"  # the text of an image


class ChangeKind(StrEnum):
    """Whether a change concerns content or furniture."""

    CONTENT = "content"
    FURNITURE = "furniture"  # menus, head and foot, adverts, counters, times


@dataclass(frozen=True, slots=True)
class Link:
    """One link of a page with its context, the evidence by which its target is judged.

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
    """The judgement of a focused crawl on one fetched page.

    ``relevance`` (0..1) and ``relevant`` judge the page; they are None if it has no text to judge. ``score``
    is the score of the link that led here, ``distance`` the number of off-topic pages in a row before it,
    ``order`` the number of the fetch in its crawl, from 1, ``why`` the parts of the judgement, as JSON.
    """

    relevance: float | None
    relevant: bool | None
    score: float
    distance: int
    order: int
    why: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class FoundForm:
    """A form of a page: its ``signature`` and its description as JSON; see archivebot.forms."""

    signature: str
    data: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Payload:
    """The payload of a page as its WARC record names it.

    ``digest`` is the key that equal payloads share (see :mod:`archivebot.fingerprint.payload`), or "".
    ``url`` and ``when`` name the capture that a revisit refers to.
    """

    digest: str = ""
    url: str | None = None
    when: datetime | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """The result of one fetch of one URL; the body is the bytes received, after content decoding.

    ``url`` is the canonical URL, ``captured_at`` an aware UTC time, ``status`` the HTTP status or None if no
    answer came, ``location`` the absolute redirect target, ``links`` the links found, ``level`` the block
    level that the operator chose (None: from the URL's history), ``focus`` the judgement of a focused crawl,
    ``forms`` the forms that a search for forms found, ``payload`` the payload of its WARC record, ``wire``
    the facts of the exchange, None if they are not known.
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
        """Return the first header with that name, ignoring case, or None."""
        return first_header(self.headers, name)


@dataclass(frozen=True, slots=True)
class Quality:
    """The quality of a capture, and the sign that decided."""

    kind: QualityKind
    reason: str


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The fingerprint of a text, by which similar texts are found.

    ``digest`` (signed, 64 bits) is the same for equal texts. ``simhash`` (unsigned) is None if there are too
    few ``words``. Similar texts share one of the ``keys`` (signed, 64 bits).
    """

    digest: int
    simhash: int | None
    keys: tuple[int, ...] = field(repr=False)
    words: int


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The page and version that another page is a near-duplicate of, and how near it is.

    ``distance`` is the distance of the SimHashes in bits, None if one of them is missing; ``jaccard`` (0..1)
    the share of the shingles that both texts have; ``rule`` the scheme that decided.
    """

    url: str
    number: int
    distance: int | None
    jaccard: float
    rule: str


# The reason of a change if the page could not be compared with the previous version.
UNTOLD = "it cannot be told what changed"


@dataclass(frozen=True, slots=True)
class PageChange:
    """The difference of a page from the version with the digest ``before`` ("" if none was readable)."""

    before: str
    kind: ChangeKind
    reason: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A page together with its partition, ready to be stored.

    ``fingerprint`` is the fingerprint of its main text, ``duplicate`` the archived page that it repeats,
    ``quality`` what came instead of the page (None: it is the page), ``change`` the difference from the
    previous version, None if that is not determined yet.
    """

    page: Page
    partition: Partition | None
    quality: Quality | None = None
    fingerprint: Fingerprint | None = None
    duplicate: Duplicate | None = None
    change: PageChange | None = None

    @classmethod
    def uncut(cls, page: Page, reason: str = "") -> Snapshot:
        """Return an uncut page, to be kept as it is; ``reason`` is why it was not read."""
        page = replace(page, reason=page.reason or reason)
        return cls(page, None, change=PageChange("", ChangeKind.CONTENT, UNTOLD))


@dataclass(frozen=True, slots=True)
class Capture:
    """One visit: the URL, the outcome, and the version that it points at.

    ``number`` counts the versions of content of a URL from 1 and is None for a visit without content;
    ``digest`` is ``sha256:<hex>`` of the body; ``blocks`` is filled only if this visit cut the version into
    blocks; ``quality`` and ``duplicate`` as in :class:`Snapshot`; ``wire`` as in :class:`Page`.
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
        """Return the page of this capture, with this body."""
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

    ``kind`` is the kind of the change, None if nothing changed; ``label`` is the label in the later version,
    of a removed block in the earlier one.
    """

    change: Change
    lineage: str
    topic: str
    before: str | None = field(repr=False)
    after: str | None = field(repr=False)
    similarity: float
    kind: ChangeKind | None = None
    label: Label | None = None


@dataclass(frozen=True, slots=True)
class AttributeChange:
    """A title, link or image that changed.

    ``of`` is the text of the link, the text of an image whose source changed, or the source of an image whose
    text changed. ``content`` is whether it belongs to the content of the page.
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
