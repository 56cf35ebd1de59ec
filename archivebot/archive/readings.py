"""The cache of the pages read last: stages share a parsed page, and comparisons the version before."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from weakref import WeakSet

from archivebot.archive.compressed import Compressed
from archivebot.content.summary import is_kept as description_is_kept
from archivebot.duplicates.rule import fingerprint
from archivebot.fields.about import about, merged
from archivebot.fields.sites import Site
from archivebot.fields.tree import Tree
from archivebot.garbage import release_memory
from archivebot.labels.labeller import label_page
from archivebot.markup.charset import is_wide
from archivebot.markup.edits import Edits, count, edits
from archivebot.markup.media import media_of
from archivebot.models import Block, Field, Fingerprint, Label, Link, Quality
from archivebot.quality.quality import is_kept as quality_is_kept
from archivebot.quality.quality import judged
from archivebot.quality.signs import Signs, signs_of
from archivebot.significance.reading import Reading

# Pages in the cache: a crawl processes up to twice as many pages as requests, of which there are 16. And the
# bytes of their bodies: a page takes about ten times its size. A larger page is kept alone.
KEPT_PAGES = 32
KEPT_BYTES = 4 * 1024 * 1024

# Bytes of memory for pages that are kept without their trees, and the bytes that such a page takes for each
# of its lines and elements beside its body: 370 to 490 on the sites of history-dev. While two processes read
# them in time order, 179 of 3,094 later versions find the version before only compressed, and 43 in no cache:
# mostly the first of its page.
READ_BYTES = 16 * 1024 * 1024
ITEM_BYTES = 400

# Bytes of the bodies of pages that lose their trees until the freed memory is returned to the system.
RELEASED_BYTES = 2 * 1024 * 1024

_TITLE_END = re.compile(rb"</title\b[^>]*>", re.IGNORECASE)

Key = tuple[bytes, str, tuple[str, ...]]


LinksFound = tuple[tuple[str, bool], tuple[Link, ...]]


@dataclass(frozen=True, slots=True)
class Since:
    """The edits of a page since a version with another ``body``; None if their elements differ.

    ``links_found`` are the links of that version, if they were read, with the arguments of the reading.
    """

    body: bytes = field(repr=False)
    edits: Edits | None
    links_found: LinksFound | None


class PageReading(Reading):
    """A parsed page, from which blocks, labels, main text, lines, fields and the signs of a wall are read."""

    _found: tuple[Site | None, str, tuple[Field, ...]] | None = None
    _judged: tuple[int, str, Quality] | None = None
    since: Since | None = None
    links_found: LinksFound | None = None
    held = 0  # the bytes that it counts for in the cache
    is_past = False  # whether a later version was compared with it
    has_past = False  # whether it was compared with an earlier version

    @property
    def weight(self) -> int:
        """The bytes of memory that the reading takes without its tree, about."""
        walk = vars(self.content).get("walk") if self.content is not None else None
        return len(self.body) + (ITEM_BYTES * (len(walk.lines) + len(walk.places)) if walk else 0)

    @cached_property
    def fingerprint(self) -> Fingerprint | None:
        """The fingerprint of the main text; None if there is no text, as for a picture."""
        return fingerprint(self.main_text) if self.main_text else None

    def since_version(self, before: PageReading) -> Since:
        """Return what happened since an earlier version that was read; it is found once."""
        if self.since is None or self.since.body is not before.body:
            same = self.media == before.media and not is_wide(self.media.charset)
            same = same and self.content is not None and self.pieces == before.pieces
            found = edits(before.body, self.body) if same else None
            self.since = Since(before.body, found, before.links_found)
        return self.since

    @cached_property
    def pieces(self) -> int:
        """The number of tags outside scripts: versions with other numbers need not be compared."""
        return count(self.body)

    def follow(self, before: PageReading) -> None:
        """Take over what a reading of the version before found, as far as it must be the same here.

        That is the choice of the main text if the lines are the same, the fingerprint if the main text is,
        and all that the edits since that version do not touch. What ``before`` has not read is not read for
        this.
        """
        if self.content is None or before.content is None or not before.has_main_text:
            return
        found = self.since_version(before).edits
        if found is not None and not self.has_main_text:
            self.take_over(before, found)
            if before._judged and quality_is_kept(before._judged[2], found):
                self._judged = before._judged
        self.content.follow(before.content, found)
        known = vars(before).get("fingerprint")
        if known is not None and self.main_text == before.main_text:
            self.fingerprint = known
            if found is not None and before._found and not before._has_rules and description_is_kept(found):
                self._found = before._found

    @property
    def has_main_text(self) -> bool:
        """Whether the main text was chosen."""
        return self.content is not None and "choice" in vars(self.content)

    def quality(self, status: int, url: str) -> Quality:
        """Return the quality of a capture of the page at a URL."""
        if self._judged is None or self._judged[:2] != (status, url):
            self._judged = status, url, judged(status, self.body, self.media, lambda: self.signs, url)
        return self._judged[2]

    @property
    def _has_rules(self) -> bool:
        """Whether the fields were read by the selectors of a site."""
        site = self._found[0] if self._found else None
        return bool(site and site.rules)

    @cached_property
    def signs(self) -> Signs:
        """The signs that distinguish a wall or an error from content; for pages only."""
        assert self.document is not None
        return signs_of(self.document)

    def labels(self, blocks: Sequence[Block]) -> tuple[Label, ...]:
        """Return the labels of blocks of the page, by the page alone."""
        page = self.content.page if self.content is not None else None
        return tuple(found.label for found in label_page(page, blocks))

    def fields(self, site: Site | None, url: str) -> tuple[Field, ...]:
        """Return the fields of the page at a URL: its own, and what the selectors of a site find."""
        if self.content is None:
            return ()
        if self._found is None or self._found[:2] != (site, url):
            found: tuple[Field, ...] = ()
            if site and site.rules:
                found = site.fields(Tree(self.content.page.source, is_xml=not self.media.is_page), url)
            self._found = site, url, merged(about(self.content), found)
        return self._found[2]

    def has(self, selectors: Sequence[str]) -> bool:
        """Return whether the page has an element that one of some CSS selectors selects."""
        document = self.document
        return document is not None and any(document.select_one(css) is not None for css in selectors)

    def forget_tree(self) -> None:
        """Drop the tree, which takes most of the memory; if it is needed, the page is parsed again.

        The signs are dropped as well: they hold scripts, and are needed only before a page is stored. The
        title is needed for each comparison with a later version.
        """
        vars(self).pop("signs", None)
        if self.content is not None:
            if self.content.page.has_tree:
                _ = self.title
            self.content.forget_tree()

    def drop(self, selectors: Sequence[str]) -> None:
        """Remove the elements that CSS selectors select, before anything is read from the page."""
        assert self.document is not None
        for css in selectors:
            for element in self.document.select(css):
                element.decompose()


class Readings:
    """The cache of the pages read last, so that a page is parsed once for all its stages.

    A page that was not used for a while loses its tree, but keeps its lines and main text. Later these are
    compressed, if an earlier version was compared with it: then the next version is likely to come, too.
    """

    def __init__(self) -> None:
        self._parsed = _Pages()
        self._read = _Pages()
        self._compressed = Compressed[PageReading]()
        self._compared: WeakSet[PageReading] = WeakSet()  # of the pages in _read, those that hold edits
        self._freed = 0

    def of(self, body: bytes, content_type: str, without: tuple[str, ...] = ()) -> PageReading:
        """Return the reading of a body that came with a Content-Type, without the parts selected by CSS.

        The page is parsed again only if it has such parts.
        """
        if without and not self.of(body, content_type).has(without):
            without = ()
        key = body, content_type, without
        found = self._parsed.taken(key) or self._read.taken(key) or self._restored(key)
        if found is None:
            found = PageReading(body, content_type)
            if without:
                found.drop(without)
        self._put_away(self._parsed.put(key, found, len(body), KEPT_BYTES, KEPT_PAGES))
        return found

    def title(self, body: bytes, content_type: str) -> str:
        """Return the title element of a body, "" if it has none; only what stands before it is parsed."""
        end = _TITLE_END.search(body)
        if end:
            media = media_of(body, content_type)  # of all bytes: they decide what the charset is
            if title := Reading(body[: end.end()], media.header).full_title:
                return title
        return self.of(body, content_type).full_title

    def forget_trees(self) -> None:
        """Drop the trees of all pages, and their edits; what else was read from them stays."""
        self._parsed.size = 0
        self._put_away([self._parsed.popitem(last=False) for _ in range(len(self._parsed))])
        for page in self._compared:
            page.since = None
        self._compared.clear()

    def _put_away(self, pages: Iterable[tuple[Key, PageReading]]) -> None:
        """Drop the trees of pages, and keep what was read from them."""
        for key, page in pages:
            if not key[2]:  # a tree parsed again has all parts
                page.forget_tree()
                self._keep(key, page)
            self._freed += len(key[0])
        if self._freed > RELEASED_BYTES:
            self._freed = 0
            release_memory()

    def _keep(self, key: Key, page: PageReading) -> None:
        """Keep a page without its tree; the reading of a past version only where there is room."""
        if page.since is not None:
            self._compared.add(page)
        weight = page.weight
        if page.is_past and self._read.size + weight > READ_BYTES:
            return
        for gone, dropped in self._read.put(key, page, weight, READ_BYTES):
            if dropped.has_past and not dropped.is_past:
                dropped.since = None
                self._compressed.keep(hash(gone), dropped)
        if page.is_past:
            self._read.move_to_end(key, last=False)

    def _restored(self, key: Key) -> PageReading | None:
        """Return the reading of a page that lost its place; None if it is not kept."""
        found = self._compressed.get(hash(key))
        return found if found is not None and found.body == key[0] else None


class _Pages(OrderedDict[Key, PageReading]):
    """Pages in the order of their last use, and the ``size`` of all in bytes."""

    size = 0

    def taken(self, key: Key) -> PageReading | None:
        """Remove a page and return it; None if it is not here."""
        found = self.pop(key, None)
        self.size -= found.held if found else 0
        return found

    def put(
        self, key: Key, page: PageReading, weight: int, most_bytes: int, most: float = inf
    ) -> list[tuple[Key, PageReading]]:
        """Add a page of a weight in bytes, and return those removed for it, used longest ago."""
        removed = []
        while self and (len(self) >= most or self.size + weight > most_bytes):
            removed.append(self.popitem(last=False))
            self.size -= removed[-1][1].held
        self[key], page.held = page, weight
        self.size += weight
        return removed
