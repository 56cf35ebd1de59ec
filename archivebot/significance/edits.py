"""Distinguishes lines edited in place from added and removed lines."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from archivebot.text import words

# Maximum of lines between two unchanged lines that are compared by their order.
MOST_TOGETHER = 3

# Maximum of words of a line that may change completely in an edit; in a longer line half of the words must
# stay, otherwise it is a different line.
FEW_WORDS = 3
LEAST_KEPT = 0.5

_NUMBERS = re.compile(r"\d+")


def in_place(
    before: Sequence[str], removed: Sequence[int], after: Sequence[str], added: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Yield the pairs of lines edited in place, as their indices in both versions.

    ``removed`` and ``added`` come from :func:`archivebot.significance.linediff.changed`.

    >>> old, new = ["Home", "Terns", "In stock"], ["Home", "News", "Terns", "Sold out"]
    >>> list(in_place(old, [2], new, [1, 3]))
    [(2, 3)]
    """
    stretches: defaultdict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, indices in enumerate((removed, added)):
        for count, index in enumerate(indices):
            stretches[index - count][side].append(index)
    for old, new in stretches.values():
        if len(old) == len(new) <= MOST_TOGETHER:
            for pair in zip(old, new, strict=True):
                then, now = before[pair[0]], after[pair[1]]
                # Of repeated lines that were reordered, two equal ones may be in both lists.
                if then != now and _alike(then, now):
                    yield pair


def _alike(before: str, after: str) -> bool:
    old, new = Counter(words(before)), Counter(words(after))
    total = old.total() + new.total()
    return total <= 2 * FEW_WORDS or 2 * (old & new).total() >= LEAST_KEPT * total


def only_numbers(before: str, after: str) -> bool:
    """Return whether two lines differ in their numbers alone.

    >>> only_numbers("8 left", "12 left"), only_numbers("In stock", "Sold out")
    (True, False)
    """
    return _NUMBERS.sub("0", before) == _NUMBERS.sub("0", after)
