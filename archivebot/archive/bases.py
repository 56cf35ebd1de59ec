"""Chooses what the frame of a new version is compressed against."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from archivebot.archive.bodies import Bodies
from archivebot.archive.dictionaries import MOST_SITES, Base, Dictionaries
from archivebot.archive.placement import Cut
from archivebot.config import ArchiveConfig
from archivebot.fingerprint import piece_id
from archivebot.models import REQUISITE, Page
from archivebot.storage import frames
from archivebot.storage.base import ArchiveStore, StoredVersion
from archivebot.storage.sketch import sketch
from archivebot.urls import host_part, urlkey

# The least frame for which other bases are tried. On history-dev 538 of 3,084 later versions have such a
# frame, and these frames have nine tenths of all bytes of later versions.
LARGE = 2000

# The pages of a host that were stored last, whose versions are tried as bases.
SIBLINGS = 2

# The level at which another base is tried first. Frames against other pages are some 10 % larger at it, so
# that a base that saves WORTH at the level of the archive has a smaller frame at this one, too: the archives
# of history-dev and of sites-dev are the same with and without this trial.
TRIAL_LEVEL = 3

# The least share of a frame that another base must save: the frame depends on that page from then on.
WORTH = 0.125

# A new page that takes up to this share of its bytes resembles the dictionary of its site. The new pages that
# take more save a third of their frames by other pages in history-dev, and 2 % in sites-dev; those that take
# between 0.1 and this share save 2 % and 0.1 %.
GOOD = 0.15


class Bases:
    """Chooses the bases of frames; one for each writer of an archive."""

    def __init__(
        self, store: ArchiveStore, bodies: Bodies, dictionaries: Dictionaries, config: ArchiveConfig
    ) -> None:
        self._store, self._bodies, self._config = store, bodies, config
        self._dictionaries = dictionaries
        self._last: OrderedDict[str, OrderedDict[str, str]] = OrderedDict()  # of each host, digests by URL

    def encoded(
        self, page: Page, cut: Cut, packed: bytes, latest: StoredVersion | None
    ) -> tuple[Base, bytes]:
        """Return the base of a new version, whose page had the version ``latest`` before, and its frame.

        Other bases are tried if the frame is large, but not for a new page that resembles the dictionary.
        """
        base = self._first(page, cut, latest)
        frame = base.encode(packed, self._config.zstd_level)
        by_dictionary = latest is None and self._store.dictionaries.is_dictionary(base.id)
        is_good = by_dictionary and len(frame) <= GOOD * len(page.body)
        if is_good or len(frame) < LARGE or not cut.partition.segmenter:
            return base, frame
        most = len(frame) * (1 - WORTH)
        for sibling in self._siblings(page, base, latest):
            if len(sibling.encode(packed, TRIAL_LEVEL)) >= len(frame):
                continue
            other = sibling.encode(packed, self._config.zstd_level)
            if len(other) <= most:
                base, frame = sibling, other
                most = len(frame) - 1
        return base, frame

    def stored(self, host: str, version: StoredVersion) -> None:
        """Note a version of content that was stored: pages that change together have the same news."""
        self._dictionaries.grow(host, version)
        if not version.segmenter:
            return
        pages = self._last.setdefault(host, OrderedDict())
        self._last.move_to_end(host)
        pages[version.url] = version.digest
        pages.move_to_end(version.url)
        if len(pages) > SIBLINGS + 1:
            pages.popitem(last=False)
        if len(self._last) > MOST_SITES:
            self._last.popitem(last=False)

    def _first(self, page: Page, cut: Cut, latest: StoredVersion | None) -> Base:
        """Return the latest version, else the dictionary of the site.

        While a site has none, the base is its most similar page, for which the blocks are sketched. The base
        of a requisite is the same body of another URL, if there is one.
        """
        room = self._room(page)
        if latest and latest.cost <= room and (content := self._bodies.readable(latest)):
            return Base.of(latest, content)
        if page.origin == REQUISITE:
            return self._twin(page, room)
        if known := self._dictionaries.of(host_part(urlkey(page.url))):
            return known
        pieces = sketch(map(piece_id, cut.blocks))
        room = self._room(page, new_chain=True)
        similar = self._store.similar(urlkey(page.url), pieces, room) if room > 0 else None
        if similar and (content := self._bodies.readable(similar)):
            return Base.of(similar, content, pieces)
        return Base(sketch=pieces)

    def _room(self, page: Page, new_chain: bool = False) -> int:
        """Return the most bytes that decoding the base of a page may take.

        A new chain begins with at most half of what a chain may have, so that other versions can follow.
        """
        bound = frames.most_cost(len(page.body), self._config.frame_bound)
        return (bound // 2 if new_chain else bound) - frames.cost(len(page.body))

    def _siblings(self, page: Page, base: Base, latest: StoredVersion | None) -> Iterator[Base]:
        """Yield the versions of other pages of the host that were stored last as bases."""
        follows = latest is not None and base.id == latest.id
        room = self._room(page, new_chain=not follows)
        last = self._last.get(host_part(urlkey(page.url)))
        others = [each for each in last.items() if each[0] != page.url] if last else []
        for url, digest in reversed(others[-SIBLINGS:]):
            version = self._store.find(url, digest)
            is_near = version is not None and version.id != base.id and version.cost <= room
            content = self._bodies.readable(version) if is_near else None
            if version and content:
                yield Base.of(version, content, base.sketch)

    def _twin(self, page: Page, room: int) -> Base:
        """Return the same body of another URL as a base, if reading it decodes at most ``room`` bytes."""
        known = self._store.revisits.payload(page.payload.digest) if page.payload else None
        twin = self._store.find(*known) if known else None
        content = self._bodies.readable(twin) if twin and twin.cost <= room else None
        return Base.of(twin, content) if twin and content and content.body == page.body else Base()
