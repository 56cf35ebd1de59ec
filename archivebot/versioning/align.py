"""Aligns versions: which block of a new version continues which block of the previous one.

There are four steps, each on the remaining blocks: the same bytes; the same or nearly the same words at the
same place, the most similar first; the same elsewhere; the same place between two matched blocks.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, product

from archivebot.models import Change
from archivebot.text import words

# Minimum share of common words (Dice) of an edited block: at the same place half is enough; elsewhere on the
# page, menus and teasers that are similar by chance must be excluded.
NEAR_IN_PLACE = 0.5
NEAR_ELSEWHERE = 0.75

# The same minimum for two blocks between the same neighbours without another candidate, and the maximum of
# words of a label, which may become any other label ("In stock", "Sold out"). Of 151 such pairs of longer
# blocks in 128 changes of real pages 103 are less similar: other headlines, or the text in another language;
# the more similar pairs are lists and boxes with a new part.
NEAR_IN_SAME_PLACE = 0.25
FEW_WORDS = 3

# Up to this many pairs at one place, all are compared; beyond that, only pairs that share rare words.
FEW_PAIRS = 36

# A word that occurs in more blocks than this does not identify a block.
COMMON_WORD = 24


@dataclass(frozen=True, slots=True)
class Match:
    """Block ``after`` of the new version continues block ``before`` of the old one.

    One of the two is None for a block that was added or removed; ``similarity`` is 1.0 for the
    same words and 0.0 if there is no counterpart.
    """

    before: int | None
    after: int | None
    change: Change
    similarity: float


def align(
    before: Sequence[Hashable],
    after: Sequence[Hashable],
    text_before: Callable[[int], str],
    text_after: Callable[[int], str],
) -> list[Match]:
    """Match the blocks of two versions: the blocks of the new version in order, then the removed ones.

    ``before`` and ``after`` are the ids of the blocks' bytes; the texts are read only if the ids differ.

    >>> old, new = ["menu", "one two three", "ad"], ["menu", "x", "one two four"]
    >>> [(m.before, m.after, m.change.value) for m in align(old, new, old.__getitem__, new.__getitem__)]
    [(0, 0, 'UNCHANGED'), (None, 1, 'ADDED'), (1, 2, 'MODIFIED'), (2, None, 'REMOVED')]
    """
    pairs = dict(_equal(before, after))
    bags = _Bags(text_before, text_after)
    left_before, left_after = _left(before, pairs.values()), _left(after, pairs)
    similarity: dict[int, float] = {}
    if left_before and left_after:
        near = _edited(left_before, left_after, pairs, bags)
        similarity = {new: score for new, (_, score) in near.items()}
        edited = {new: old for new, (old, _) in near.items()}
    else:
        edited = {}
    moved = _moved(pairs)
    changes = {new: Change.MOVED if new in moved else Change.UNCHANGED for new in pairs}
    changes.update(dict.fromkeys(edited, Change.MODIFIED))
    pairs.update(edited)
    matches = [
        Match(pairs.get(new), new, changes.get(new, Change.ADDED), similarity.get(new, float(new in pairs)))
        for new in range(len(after))
    ]
    return matches + [Match(old, None, Change.REMOVED, 0.0) for old in _left(before, pairs.values())]


def kept(before: Sequence[Hashable], after: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Return the blocks (new, old) with the same ids on both sides that keep their order.

    >>> kept(["menu", "one", "two", "ad"], ["menu", "two", "one", "ad"])
    [(0, 0), (2, 1), (3, 3)]
    """
    return in_order(dict(_equal(before, after)))


def _left(ids: Sequence[Hashable], taken: Iterable[int]) -> list[int]:
    gone = set(taken)
    return [index for index in range(len(ids)) if index not in gone]


def _equal(before: Sequence[Hashable], after: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    """Pair equal ids (new, old): from both ends first, then the rest in order of appearance."""
    least = min(len(before), len(after))
    head = 0
    while head < least and before[head] == after[head]:
        yield head, head
        head += 1
    tail = 0
    while tail < least - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
        yield len(after) - tail, len(before) - tail
    places: defaultdict[Hashable, list[int]] = defaultdict(list)
    for old in range(len(before) - tail - 1, head - 1, -1):
        places[before[old]].append(old)
    for new in range(head, len(after) - tail):
        if places.get(after[new]):
            yield new, places[after[new]].pop()


def in_order(pairs: dict[int, int]) -> list[tuple[int, int]]:
    """Return the longest run of pairs (new, old) that keep their order on both sides.

    Longest increasing subsequence by patience sorting (Fredman, 1975), O(n log n).
    """
    tops: list[int] = []
    piles: list[tuple[int, int]] = []
    previous: dict[tuple[int, int], tuple[int, int] | None] = {}
    for new, old in sorted(pairs.items()):
        place = bisect_left(tops, old)
        previous[new, old] = piles[place - 1] if place else None
        if place == len(tops):
            tops.append(old)
            piles.append((new, old))
        else:
            tops[place], piles[place] = old, (new, old)
    run: list[tuple[int, int]] = []
    last = piles[-1] if piles else None
    while last is not None:
        run.append(last)
        last = previous[last]
    return run[::-1]


def _moved(pairs: dict[int, int]) -> set[int]:
    return set(pairs) - {new for new, _ in in_order(pairs)}


class _Gaps:
    """The gaps between the blocks that have the same order in both versions."""

    def __init__(self, pairs: dict[int, int]) -> None:
        run = in_order(pairs)
        self._new, self._old = [new for new, _ in run], [old for _, old in run]

    def filled(self, before: list[int], after: list[int]) -> list[tuple[list[int], list[int]]]:
        """Return the blocks of both versions gap by gap, for the gaps with blocks of both."""
        places: defaultdict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for old in before:
            places[bisect_right(self._old, old)][0].append(old)
        for new in after:
            places[bisect_right(self._new, new)][1].append(new)
        return [(olds, news) for olds, news in places.values() if olds and news]


class _Bags:
    """The words of blocks with their counts, read once each."""

    def __init__(self, text_before: Callable[[int], str], text_after: Callable[[int], str]) -> None:
        self.old = cache(lambda index: Counter(words(text_before(index))))
        self.new = cache(lambda index: Counter(words(text_after(index))))

    def likeness(self, old: int, new: int) -> float:
        return dice(self.old(old), self.new(new))

    def longest(self, old: int, new: int) -> int:
        return max(self.old(old).total(), self.new(new).total())


def dice(one: Counter[str], other: Counter[str]) -> float:
    """Return the share of common words of two bags, 0.0 to 1.0 (Dice, 1945: 2 |A and B| / (|A| + |B|)).

    >>> dice(Counter("abcd"), Counter("abce")), dice(Counter(), Counter()), dice(Counter("a"), Counter())
    (0.75, 1.0, 0.0)
    """
    total = one.total() + other.total()
    few, many = (one, other) if len(one) < len(other) else (other, one)
    shared = sum([min(count, many[word]) for word, count in few.items() if word in many])
    return 2 * shared / total if total else 1.0


def _edited(
    before: list[int], after: list[int], pairs: dict[int, int], bags: _Bags
) -> dict[int, tuple[int, float]]:
    """Pair edited blocks, new -> (old, similarity): near in place, near elsewhere, then by place alone."""
    found: dict[int, tuple[int, float]] = {}
    for near in (_near_in_place, _near_elsewhere, _by_place):
        gaps = _Gaps(pairs | {new: old for new, (old, _) in found.items()})
        taken = {old for old, _ in found.values()}
        left_before = [old for old in before if old not in taken]
        left_after = [new for new in after if new not in found]
        if not left_before or not left_after:
            break
        candidates = sorted(near(left_before, left_after, gaps, bags), key=lambda pair: -pair[0])
        for score, old, new in candidates:
            if new not in found and old not in taken:
                found[new] = (old, score)
                taken.add(old)
    return found


Candidates = Iterator[tuple[float, int, int]]


def _near_in_place(before: list[int], after: list[int], gaps: _Gaps, bags: _Bags) -> Candidates:
    for olds, news in gaps.filled(before, after):
        pairs = product(olds, news) if len(olds) * len(news) <= FEW_PAIRS else _sharing(olds, news, bags)
        for old, new in pairs:
            score = bags.likeness(old, new)
            if score >= NEAR_IN_PLACE:
                yield score, old, new


def _near_elsewhere(before: list[int], after: list[int], gaps: _Gaps, bags: _Bags) -> Candidates:
    for old, new in _sharing(before, after, bags):
        score = bags.likeness(old, new)
        if score >= NEAR_ELSEWHERE:
            yield score, old, new


def _sharing(before: Sequence[int], after: Sequence[int], bags: _Bags) -> Iterator[tuple[int, int]]:
    """Yield for each new block the few old blocks that share most of its rare words."""
    holders: defaultdict[str, list[int]] = defaultdict(list)
    for old in before:
        for word in bags.old(old):
            holders[word].append(old)
    for new in after:
        rare = (places for word in bags.new(new) if len(places := holders.get(word, ())) <= COMMON_WORD)
        shared = Counter(chain.from_iterable(rare))
        yield from ((old, new) for old, _ in shared.most_common(4))


def _by_place(before: list[int], after: list[int], gaps: _Gaps, bags: _Bags) -> Candidates:
    """Pair the remaining blocks between the same neighbours, if both sides have the same number.

    A text of several words with hardly any word in common is a different block, unless it is the only
    rewritten text of the page.
    """
    rewritten = len(before) == len(after) == 1
    for olds, news in gaps.filled(before, after):
        if len(olds) == len(news):
            for old, new in zip(olds, news, strict=True):
                score = bags.likeness(old, new)
                if rewritten or score >= NEAR_IN_SAME_PLACE or bags.longest(old, new) <= FEW_WORDS:
                    yield score, old, new
