"""Aligns pages of one template: their common parts, in order."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from archivebot.templates.parts import Part


def common(one: Sequence[Hashable], other: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Return a longest common subsequence as pairs of positions.

    The rows of the table are the bits of whole numbers (Hyyrö, "Bit-parallel LCS-length computation
    revisited", 2004): a 0 marks a growth of the length. The traceback picks one of several longest
    subsequences.

    >>> "".join("abcbdab"[i] for i, _ in common("abcbdab", "bdcaba"))
    'bdab'
    >>> common("abc", ""), common("abc", "xyz"), common("aa", "a")
    ([], [], [(0, 0)])
    """
    rows = _rows(one, other)
    pairs = []
    i, j = len(one), len(other)
    while i and j:
        if rows[i - 1] >> (j - 1) & 1:
            j -= 1
        else:
            i -= 1
            if not i or rows[i - 1] >> (j - 1) & 1:
                j -= 1
                pairs.append((i, j))
    return pairs[::-1]


def _rows(one: Sequence[Hashable], other: Sequence[Hashable]) -> list[int]:
    places: dict[Hashable, int] = {}
    for position, token in enumerate(other):
        places[token] = places.get(token, 0) | 1 << position
    every = (1 << len(other)) - 1
    row, rows = every, []
    for token in one:
        grown = row & places.get(token, 0)
        row = (row + grown | row - grown) & every
        rows.append(row)
    return rows


def similarity(one: Sequence[Hashable], other: Sequence[Hashable]) -> float:
    """Return twice the length of the longest common subsequence over the sum of both lengths (0..1).

    >>> round(similarity("abcbdab", "bdcaba"), 4), similarity("ab", "ab"), similarity("ab", "cd")
    (0.6154, 1.0, 0.0)
    >>> similarity("", ""), similarity("a", "")
    (1.0, 0.0)
    """
    length = len(one) + len(other)
    rows = _rows(one, other)
    grown = len(other) - rows[-1].bit_count() if rows else 0
    return 2 * grown / length if length else 1.0


def tokens(page: Part) -> list[Hashable]:
    """Return a page as start tags with their class, contents and end tags, in order.

    >>> tokens(Part("p", "x", (Part("#text", feature="17f"), Part("br"))))
    [('p', 'x'), '17f', ('br', ''), '/br', '/p']
    """
    found: list[Hashable] = []
    stack: list[Part | str] = [page]
    while stack:
        part = stack.pop()
        if isinstance(part, str):
            found.append(part)
        elif part.tag == "#text":
            found.append(part.feature)
        else:
            found.append(part.style)
            stack.append(f"/{part.tag}")
            stack.extend(reversed(part.parts))
    return found


def template_shares(page: Sequence[Hashable], neighbours: Sequence[Sequence[Hashable]]) -> list[float]:
    """Return for each token of a page the share of the neighbours that have it at the same place.

    One neighbour is weak evidence, as two pages share tokens by chance; a few pages of the same template
    distinguish furniture (1) from content (0).

    >>> template_shares("xay", ["xby", "xcy", "xa"])
    [1.0, 0.3333333333333333, 0.6666666666666666]
    """
    counts = [0] * len(page)
    for neighbour in neighbours:
        for position, _ in common(page, neighbour):
            counts[position] += 1
    return [count / len(neighbours) for count in counts] if neighbours else [0.0] * len(page)
