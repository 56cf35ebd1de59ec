"""The parsed pages: a page is parsed once for all stages while it is in the cache."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property

from archivebot.fields.about import about, merged
from archivebot.fields.sites import Site
from archivebot.fields.tree import Tree
from archivebot.labels.labeller import label_page
from archivebot.models import Block, Field, Label
from archivebot.quality.signs import Signs, signs_of
from archivebot.significance.reading import Reading

# Pages in the cache: a crawl processes up to twice as many pages as requests, of which there are 16. And the
# bytes of their bodies: a page takes about ten times its size. A larger page is kept alone.
KEPT_PAGES = 32
KEPT_BYTES = 4 * 1024 * 1024


class PageReading(Reading):
    """A parsed page, from which blocks, labels, main text, lines, fields and the signs of a wall are read."""

    _found: tuple[Site | None, str, tuple[Field, ...]] | None = None

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

    def drop(self, selectors: Sequence[str]) -> None:
        """Remove the elements that CSS selectors select, before anything is read from the page."""
        assert self.document is not None
        for css in selectors:
            for element in self.document.select(css):
                element.decompose()


class Readings:
    """The cache of the pages read last, so that a page is parsed once for all its stages."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[bytes, str, tuple[str, ...]], PageReading] = OrderedDict()
        self._size = 0

    def of(self, body: bytes, content_type: str, without: tuple[str, ...] = ()) -> PageReading:
        """Return the reading of a body that came with a Content-Type, without the parts selected by CSS.

        The page is parsed again only if it has such parts.
        """
        if without and not self.of(body, content_type).has(without):
            without = ()
        key = body, content_type, without
        found = self._kept.get(key)
        if found is None:
            while self._kept and (len(self._kept) >= KEPT_PAGES or self._size + len(body) > KEPT_BYTES):
                self._size -= len(self._kept.popitem(last=False)[1].body)
            found = self._kept[key] = PageReading(body, content_type)
            self._size += len(body)
            if without:
                found.drop(without)
        self._kept.move_to_end(key)
        return found
