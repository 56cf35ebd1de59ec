"""Near-duplicates among pages: whole pages, and blocks of pages that differ otherwise."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple
from urllib.parse import urlsplit

from archivebot.duplicates.pairs import Collection
from archivebot.duplicates.rule import Likeness, fingerprint
from archivebot.fingerprint.simhash import MIN_WORDS
from archivebot.models import Fingerprint, PlacedBlock

PAGE, BLOCK = "page", "block"

# Minimum share of a content block's bytes in the elements of the main content.
LEAST_SHARE = 0.5

# Maximum of pages of one site that may share a block of content; a block on more pages is furniture of the
# site. In history-dev 116 blocks of content are on two or three pages, all of them copies; of 177 on more
# pages 80 apply to every page and 97 are in lists of pages.
MOST_OF_SITE = 3

KEPT = 64  # pages whose texts are kept while pairs are judged

Blocks = Sequence[tuple[PlacedBlock, str]]


class KnownBlock(NamedTuple):
    """A block of content by the fingerprint of its text."""

    lineage: str
    topic: str
    known: Fingerprint


@dataclass(frozen=True, slots=True)
class Reading:
    """The texts of a page: its main text, and its blocks of content, each with its text."""

    text: str
    blocks: Blocks = ()


@dataclass(frozen=True, slots=True)
class Member:
    """A page, or the block of a page with this lineage."""

    url: str
    words: int
    block: str = ""
    topic: str = ""

    @property
    def scope(self) -> str:
        """Whether it is a page or a block."""
        return BLOCK if self.block else PAGE


@dataclass(frozen=True, slots=True)
class Match:
    """Two near-duplicate pages or blocks, and their likeness."""

    a: Member
    b: Member
    likeness: Likeness


def content_blocks(blocks: Blocks, ranges: Sequence[tuple[int, int]]) -> Blocks:
    """Return the blocks of content, by the [start, end) of the elements with the main text.

    >>> blocks = [(PlacedBlock("x-1", 1, start, end, ""), "") for start, end in ((0, 9), (9, 20))]
    >>> [block.start for block, _ in content_blocks(blocks, [(8, 12), (13, 16)])]
    [9]
    """
    starts = [start for start, _ in ranges]
    sums = list(accumulate((end - start for start, end in ranges), initial=0))

    def before(position: int) -> int:
        """Return the number of bytes of the ranges before a position."""
        place = bisect_right(starts, position) - 1
        return sums[place] + min(position, ranges[place][1]) - starts[place] if place >= 0 else 0

    return [
        (block, text)
        for block, text in blocks
        if before(block.end) - before(block.start) >= LEAST_SHARE * (block.end - block.start)
    ]


def known_blocks(blocks: Blocks) -> list[KnownBlock]:
    """Return the fingerprints of blocks, without the blocks of few words."""
    found = (KnownBlock(block.lineage, block.topic, fingerprint(text)) for block, text in blocks)
    return [block for block in found if block.known.words >= MIN_WORDS]


class Survey:
    """Pages and their blocks of content; ``read`` returns the texts of a page, by its URL.

    Left out are blocks of two pages that are near-duplicates themselves,
    and blocks on more than three pages of one site.

    >>> pages = {"http://a.example/": Reading("Tea"), "http://b.example/": Reading("tea")}
    >>> survey = Survey(pages.__getitem__)
    >>> for url, reading in pages.items():
    ...     survey.add(url, fingerprint(reading.text))
    >>> [(match.a.url, match.b.url, match.likeness.jaccard) for match in survey.matches()]
    [('http://a.example/', 'http://b.example/', 1.0)]
    >>> list(survey.matches("http://b.example/"))[0].a.url, list(survey.matches("http://c.example/"))
    ('http://b.example/', [])
    """

    def __init__(self, read: Callable[[str], Reading]) -> None:
        self._read = lru_cache(KEPT)(read)
        self._pages = Collection(lambda number: self._read(self._page_members[number].url).text)
        self._blocks = Collection(self._block_text, skip=self._is_known)
        self._page_members: list[Member] = []
        self._block_members: list[Member] = []
        self._near: set[frozenset[str]] = set()

    def __len__(self) -> int:
        return len(self._pages)

    def add(self, url: str, known: Fingerprint, blocks: Iterable[KnownBlock] = ()) -> None:
        """Add a page by the fingerprint of its main text, and its blocks of content."""
        self._pages.add(known)
        self._page_members.append(Member(url, known.words))
        for block in blocks:
            self._blocks.add(block.known)
            self._block_members.append(Member(url, block.known.words, block.lineage, block.topic))

    def matches(self, url: str | None = None) -> Iterator[Match]:
        """Yield the near-duplicate pairs of pages, then of blocks: all, or those of one page.

        The member added first comes first, unless the other belongs to that page.
        """
        self._near.clear()
        for match in _matches(self._pages, self._page_members, url):
            self._near.add(frozenset((match.a.url, match.b.url)))
            yield match
        yield from _without_furniture(list(_matches(self._blocks, self._block_members, url)))

    def _is_known(self, one: int, other: int) -> bool:
        """Return whether two blocks belong to one page, or to pages that are near-duplicates themselves."""
        urls = frozenset((self._block_members[one].url, self._block_members[other].url))
        return len(urls) == 1 or urls in self._near

    def _block_text(self, number: int) -> str:
        """Return the text of a block; empty if a crawl has replaced it meanwhile."""
        member = self._block_members[number]
        texts = (text for block, text in self._read(member.url).blocks if block.lineage == member.block)
        return next(texts, "")


def _matches(collection: Collection, members: Sequence[Member], url: str | None) -> Iterator[Match]:
    if url is None:
        for first, second, likeness in collection.pairs():
            yield Match(members[first], members[second], likeness)
        return
    for number in [number for number, member in enumerate(members) if member.url == url]:
        for first, second, likeness in collection.near(number):
            yield Match(members[number], members[first + second - number], likeness)


def _without_furniture(matches: Sequence[Match]) -> Iterator[Match]:
    """Yield the matches without blocks that one site has on many pages."""
    others: dict[Member, set[str]] = defaultdict(set)
    for match in filter(_of_one_site, matches):
        others[match.a].add(match.b.url)
        others[match.b].add(match.a.url)
    for match in matches:
        pages = 1 + max(len(others[match.a]), len(others[match.b]))
        if pages <= MOST_OF_SITE or not _of_one_site(match):
            yield match


def _of_one_site(match: Match) -> bool:
    return urlsplit(match.a.url).netloc == urlsplit(match.b.url).netloc
