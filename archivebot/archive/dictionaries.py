"""The dictionaries of sites: when one is made, of which pages, and which pages are compressed against it."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from archivebot.archive.bodies import Bodies, Content
from archivebot.exceptions import CorruptObject
from archivebot.garbage import release_memory
from archivebot.storage import frames
from archivebot.storage.base import ArchiveStore, StoredDictionary, StoredVersion, VersionId

logger = logging.getLogger(__name__)

# Bytes of pages of which the dictionaries of a site are made, one after the other; each replaces the one
# before. On five sites (benchmarks/firstcrawl.py) the frames take 0.50 of WARC.gz, 0.64 if the last one has
# 512 kB, 0.87 without dictionaries.
SIZES = (128 * 1024, 512 * 1024, 2 * 1024 * 1024)

# A page that takes more than this share of its bytes gains little by the dictionary, and after as many bytes
# of such pages as a dictionary has, they become the next one: the site was redesigned.
POOR = 0.25

# A version that takes more than this share of its bytes is an image, a PDF or a font: it gains nothing by the
# dictionary, and is no part of one. Alone, 22 of 10,331 pages (sites-dev, articles-dev, history-dev, webkb)
# take more, each of less than 500 bytes. In warc-dev so do all JPEG and WOFF files (0.92 or more), and PNG
# files with 98 % of their bytes; of 14 PDFs those with 96 %.
HARDLY = 0.8

# A larger page would be most of a dictionary, and is no part of one. Up to the size of the last dictionary it
# is compressed against one that is made later: so the front pages of two newspapers take 10 and 16 % less.
LARGEST = 256 * 1024

# Maximum of versions of a site of which a dictionary is made.
MOST_VERSIONS = 4096

# Sites whose growth is followed.
MOST_SITES = 10_000

# Dictionaries kept ready, each with 24 MB.
READY = 2


@dataclass(frozen=True, slots=True)
class Base:
    """What a frame is compressed against: a version, a dictionary, or nothing.

    ``sketch`` are the smallest ids of the page's blocks, if they were needed to choose it.
    """

    id: VersionId | None = None
    cost: int = 0
    content: bytes | frames.Dictionary | None = field(default=None, repr=False)
    sketch: tuple[int, ...] | None = None

    @classmethod
    def of(cls, version: StoredVersion, content: Content, sketch: tuple[int, ...] | None = None) -> Base:
        """Return a version with its content as a base."""
        return cls(version.id, version.cost, content.packed, sketch)

    def encode(self, packed: bytes, level: int) -> bytes:
        """Compress packed bytes against the base at a Zstandard level."""
        if isinstance(self.content, frames.Dictionary):
            return self.content.encode(packed, level)
        return frames.encode(packed, self.content, level)


@dataclass(slots=True)
class _Site:
    """The latest dictionary of a host, and the bytes of pages stored since that may be part of the next."""

    latest: StoredDictionary | None
    waiting: int = 0

    @property
    def length(self) -> int:
        return self.latest.length if self.latest else 0

    @property
    def grows(self) -> bool:
        """Whether the next dictionary replaces the latest."""
        return 2 * self.length < SIZES[-1]

    @property
    def size(self) -> int:
        """The bytes of the next dictionary."""
        return next((size for size in SIZES if size > 2 * self.length), SIZES[-1])

    @property
    def wanted(self) -> int:
        """The bytes of pages that must wait for the next dictionary to be made."""
        return self.size - self.length if self.grows else self.size


class Dictionaries:
    """Finds the dictionary for a new page, and makes and replaces dictionaries as sites grow."""

    def __init__(self, store: ArchiveStore, bodies: Bodies, level: int) -> None:
        self._store, self._bodies, self._level = store, bodies, level
        self._sites: OrderedDict[str, _Site] = OrderedDict()
        self._ready: OrderedDict[object, frames.Dictionary] = OrderedDict()
        self._undone = 0  # of the store when these were read

    def of(self, host: str) -> Base | None:
        """Return the dictionary of a host as a base; None if it has none, or if it is damaged."""
        latest = self._site(host).latest
        if latest is None:
            return None
        try:
            return Base(latest.id, latest.length, self._digested(latest))
        except CorruptObject as error:
            logger.error("%s", error)
            return None

    def grow(self, host: str, version: StoredVersion) -> None:
        """Note a stored version, which may become a part of the next dictionary."""
        site = self._site(host)
        if not self._waits(site, version):
            return
        site.waiting += version.length
        if site.waiting >= site.wanted:
            self._make(host, site)

    def forget(self) -> None:
        """Read again which dictionaries there are: another writer may have replaced one."""
        self._sites.clear()

    def _site(self, host: str) -> _Site:
        if self._undone != self._store.undone:  # another dictionary may get the id of one rolled back
            self._undone = self._store.undone
            self._sites.clear()
            self._ready.clear()
        site = self._sites.get(host)
        if site is None:
            site = self._sites[host] = _Site(self._store.dictionaries.latest(host))
            origins = self._store.dictionaries.origins(host, MOST_VERSIONS)
            waiting = sum(version.length for version in origins if self._waits(site, version))
            site.waiting = max(0, waiting - site.length) if site.grows else waiting
            if len(self._sites) > MOST_SITES:
                self._sites.popitem(last=False)
        self._sites.move_to_end(host)
        return site

    def _waits(self, site: _Site, version: StoredVersion) -> bool:
        """Return whether a version may be a part of the next dictionary of its site."""
        return version.length <= LARGEST and self._gains(site, version)

    def _gains(self, site: _Site, version: StoredVersion) -> bool:
        """Return whether a version probably takes less against the next dictionary of its site."""
        is_page = version.segmenter and version.stored_bytes <= HARDLY * version.length
        if not is_page or version.length > SIZES[-1] or not self._begins(version):
            return False
        latest = site.latest.id if site.latest else None
        is_last = version.base == latest or not self._is_dictionary(version)
        return site.grows or (is_last and self._is_poor(version))

    def _begins(self, version: StoredVersion) -> bool:
        """Return whether a version is the first of its page, or needs no other version."""
        return version.number == 1 or version.base is None or self._is_dictionary(version)

    def _is_poor(self, version: StoredVersion) -> bool:
        """Return whether a version gains little by the dictionary, or was compressed against another page."""
        is_large = version.stored_bytes > POOR * version.length
        return is_large or not (version.base is None or self._is_dictionary(version))

    def _is_dictionary(self, version: StoredVersion) -> bool:
        return self._store.dictionaries.is_dictionary(version.base)

    def _digested(self, stored: StoredDictionary) -> frames.Dictionary:
        if stored.id not in self._ready:
            self._make_room()
            self._ready[stored.id] = frames.Dictionary(self._bodies.dictionary(stored))
        self._ready.move_to_end(stored.id)
        return self._ready[stored.id]

    def _make_room(self) -> None:
        """Drop the dictionary used longest ago if no other may be kept ready."""
        if len(self._ready) == READY:
            self._ready.popitem(last=False)

    def _make(self, host: str, site: _Site) -> None:
        """Make the next dictionary of a host, and compress against it the versions that waited for it.

        If it replaces the one before, so are all versions that need that one, however large they are: also
        the bodies of errors.
        """
        site.waiting = 0
        dictionaries = self._store.dictionaries
        with self._store.together():
            before = dictionaries.latest(host)
            if before != site.latest:  # another writer made it
                site.latest = before
                return
            origins = dictionaries.origins(host, MOST_VERSIONS)
            parts = (version for version in origins if self._waits(site, version))
            content = b"".join(_within(self._contents(parts), site.size))
            if len(content) < SIZES[0] // 2:  # the others cannot be read
                return
            if before and site.grows:
                self._ready.pop(before.id, None)
            self._make_room()
            release_memory()  # of the dictionaries before
            made = frames.Dictionary(content)
            # Level 17 would make the archive of a first crawl 2 % smaller, but takes 0.5 s for 2 MB.
            frame = made.frame(self._level)
            latest = dictionaries.add(host, len(content), frame)
            dictionaries.rebase(latest, self._encoded(self._rebased(site, origins), made))
            if before and site.grows:
                dictionaries.remove(before)
        site.latest = latest
        self._ready[latest.id] = made

    def _rebased(self, site: _Site, origins: Iterable[StoredVersion]) -> Iterator[StoredVersion]:
        """Yield the versions to compress against the next dictionary of a site."""
        for version in origins:
            if self._gains(site, version) or (site.grows and self._is_dictionary(version)):
                yield version
        if site.latest and site.grows:  # now only errors and all beyond the last origins need it
            yield from self._store.retention.dependents([site.latest])

    def _contents(self, versions: Iterable[StoredVersion]) -> Iterator[bytes]:
        """Yield the packed contents of the versions that can be read, each when it is asked for."""
        for version in versions:
            if known := self._bodies.readable(version):
                yield known.packed

    def _encoded(
        self, versions: Iterable[StoredVersion], made: frames.Dictionary
    ) -> Iterator[tuple[StoredVersion, bytes]]:
        """Yield the versions that can be read with their frames against a dictionary."""
        for version in versions:
            if known := self._bodies.readable(version):
                yield version, made.encode(known.packed, self._level)


def _within(contents: Iterable[bytes], size: int) -> Iterator[bytes]:
    """Yield the first contents that are not too large, up to about a size in all."""
    for content in contents:
        if size <= 0:
            return
        if len(content) <= 2 * LARGEST:
            size -= len(content)
            yield content
