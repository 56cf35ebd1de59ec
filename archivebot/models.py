"""The data model of the archive as frozen values: page, snapshot, version, capture, delta."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime

from archivebot.kinds import Attribute as Attribute
from archivebot.kinds import Change as Change
from archivebot.kinds import ChangeKind as ChangeKind
from archivebot.kinds import Kind as Kind
from archivebot.kinds import Label as Label
from archivebot.kinds import Outcome as Outcome
from archivebot.kinds import QualityKind as QualityKind
from archivebot.kinds import SiteChange as SiteChange
from archivebot.metadata import NONE, Metadata
from archivebot.wire import Headers as Headers
from archivebot.wire import Wire
from archivebot.wire import first_header as first_header


@dataclass(frozen=True, slots=True)
class Position:
    """The position of an archive: its identity, and a number that grows with each durable write."""

    archive: str
    number: int


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
class Field:
    """A named value of a page as JSON: a text, a number, a list, or null if the page has none.

    ``counts`` is whether a change of it is a change of content.
    """

    name: str
    data: str
    counts: bool = True


@dataclass(frozen=True, slots=True)
class Payload:
    """The payload of a page as its WARC record names it.

    ``digest`` is the key that equal payloads share (see :mod:`archivebot.fingerprint.payload`), or "".
    ``url`` and ``when`` name the capture that a revisit refers to.
    """

    digest: str = ""
    url: str | None = None
    when: datetime | None = None


# The origins of a page of a crawl, and of a page that another page needs to look as it does; the latter is
# stored as it came.
CRAWL = "crawl"
REQUISITE = "requisite"


@dataclass(frozen=True, slots=True)
class SeenLinks:
    """The links of a page that the archive saw at a time: how many, without naming them again."""

    count: int
    when: datetime


@dataclass(frozen=True, slots=True)
class Page:
    """The result of one fetch of one URL; the body is the bytes received, after content decoding.

    ``url`` is the canonical URL, ``captured_at`` an aware UTC time, ``status`` the HTTP status or None if no
    answer came, ``location`` the absolute redirect target, ``links`` the links found, ``seen_links`` these
    instead if the archive saw them last time, too, ``level`` the block level that the operator chose
    (None: from the URL's history), ``focus`` the judgement of a focused crawl, ``forms`` the forms that a
    search for forms found, ``payload`` the payload of its WARC record, ``wire`` the facts of the exchange,
    None if they are not known, ``metadata`` what an exported WARC file states about it. ``origin`` is
    ``crawl``, REQUISITE, or the place in a WARC file.
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
    origin: str = CRAWL
    focus: Focus | None = None
    forms: tuple[FoundForm, ...] = field(default=(), repr=False)
    payload: Payload | None = None
    wire: Wire | None = None
    seen_links: SeenLinks | None = None
    metadata: Metadata = NONE

    def header(self, name: str) -> str | None:
        """Return the first header with that name, ignoring case, or None."""
        return first_header(self.headers, name)


@dataclass(frozen=True, slots=True)
class Block:
    """One unit of a page: the byte range [start, end) of its body, cut at depth ``level``."""

    start: int
    end: int
    level: int


@dataclass(frozen=True, slots=True)
class Partition:
    """The blocks of one body in order; the bytes between them are the layout.

    ``labels`` has the label of each block; it is empty if the blocks were not labelled.
    """

    length: int
    level: int
    charset: str
    segmenter: int
    blocks: tuple[Block, ...] = field(repr=False)
    labels: tuple[Label, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class PlacedBlock:
    """A block of a stored version with its identity through time.

    ``lineage`` is the stable id of the block through all versions of its page. While a version is being
    stored, ``change`` is what happened to the block since the previous version, and ``new`` whether its bytes
    were never seen on the page. ``label`` is None if it was not recorded.
    """

    lineage: str
    level: int
    start: int
    end: int
    topic: str
    change: Change | None = None
    new: bool = False
    label: Label | None = None


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
    previous version, None if that is not determined yet, ``fields`` its description, its summary, and the
    values that selectors find, ``title`` its title element.
    """

    page: Page
    partition: Partition | None
    quality: Quality | None = None
    fingerprint: Fingerprint | None = None
    duplicate: Duplicate | None = None
    change: PageChange | None = None
    fields: tuple[Field, ...] = ()
    title: str = ""

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
    blocks; ``quality`` and ``duplicate`` as in :class:`Snapshot`; ``wire`` as in :class:`Page`; ``fields`` is
    filled only by the visit itself, as are ``metadata``, ``title`` and ``edits``, the blocks that differ from
    those of the version before, if it lists its blocks. ``pruned`` is whether the bytes of the version were
    removed.
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
    origin: str = CRAWL
    headers: Headers = field(default=(), repr=False)
    blocks: tuple[PlacedBlock, ...] = field(default=(), repr=False)
    focus: Focus | None = None
    quality: Quality | None = None
    duplicate: Duplicate | None = None
    wire: Wire | None = None
    fields: tuple[Field, ...] = ()
    pruned: bool = False
    metadata: Metadata = NONE
    title: str = ""
    edits: tuple[BlockChange, ...] = field(default=(), repr=False)

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


@dataclass(frozen=True, slots=True)
class BlockState:
    """The content of one block from ``version`` on; no text while it was not on the page."""

    version: int
    captured_at: datetime
    topic: str
    text: str | None


@dataclass(frozen=True, slots=True)
class Damage:
    """One damage and its description; without URL and version if it concerns no version."""

    url: str
    version: int | None
    digest: str
    reason: str
