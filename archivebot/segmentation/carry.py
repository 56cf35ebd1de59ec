"""Carries the partition of a version over to the next one if only texts and attributes changed.

A new cut may have other boundaries because an edit made an item longer than a threshold or changed the words
that end a group: then the blocks beside the edit seem to change. If both versions consist of the same tags in
the same order, the boundaries stay at the same tags.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from turbohtml import TokenType, tokenize

from archivebot.markup.edits import Edits
from archivebot.markup.tree import Source
from archivebot.models import Block
from archivebot.segmentation.segmenter import BLANKS

TEXTS = (TokenType.TEXT, TokenType.CHARACTER_REFERENCE)

# Characters at the boundary of something other than a text; the end of the page counts, too.
ENDS = ("", "<", ">", *BLANKS)

# Characters read at first beyond twice the length of a changed piece, to find its end.
LOOK_AHEAD = 4096

# The contents of a piece: a tag or comment by type and name, or a text; and its end.
Part = tuple[tuple[int, str], int]


def carry(before: bytes, blocks: Sequence[Block], after: bytes) -> tuple[Block, ...] | None:
    """Return the blocks of ``after``, cut at the boundaries of the previous version's blocks.

    Returns None if tags were added, removed or reordered, or if a text appeared or vanished between two tags:
    such a body must be cut again. Not for UTF-16.

    >>> old = b"<ul><li>One</li><li>Two</li></ul>"
    >>> new = b"<ul><li>One, and more</li><li>Two</li></ul>"
    >>> carry(old, [Block(4, 16, 1), Block(16, 28, 1)], new)
    (Block(start=4, end=26, level=1), Block(start=26, end=38, level=1))
    >>> carry(old, [Block(4, 16, 1)], old.replace(b"Two", b"<b>Two</b>")) is None
    True
    """
    if before == after:
        return tuple(blocks)
    old, new = Source.of(before, "").text, Source.of(after, "").text
    carried: list[Block] = []
    since = at = 0
    for block in blocks:
        after_glue = _follow(old[since : block.start], new, at)
        if after_glue is None:
            return None
        start = _past_blanks(new, after_glue)
        end = _follow(old[block.start : block.end], new, start)
        if end is None or end <= start:
            return None
        carried.append(Block(start, end, block.level))
        since, at = block.end, end
    same = old[since:] == new[at:] or _kinds(old[since:]) == _kinds(new[at:])
    return tuple(carried) if same else None


def shifted(blocks: Sequence[Block], after: bytes, edits: Edits) -> tuple[Block, ...] | None:
    """Return the blocks of ``after`` as :func:`carry` does, by the edits since the previous version.

    Returns None if these do not show the boundaries.

    >>> from archivebot.markup.edits import edits
    >>> old, new = b"<p>One</p><p>Two</p>", b"<p>One, two</p><p>Two</p>"
    >>> shifted([Block(0, 10, 1), Block(10, 20, 1)], new, edits(old, new))
    (Block(start=0, end=15, level=1), Block(start=15, end=25, level=1))
    """
    if any(bool(text.before.strip()) != bool(text.after.strip()) for text in edits.texts):
        return None
    found = []
    for block in blocks:
        start, end = edits.moved(block.start), edits.moved(block.end)
        if start is None or end is None or end <= start or after[start : start + 1].isspace():
            return None
        found.append(Block(start, end, block.level))
    return tuple(found)


def _follow(piece: str, text: str, at: int) -> int | None:
    """Return the end of a piece in the new body that starts at ``at``, or None if it does not match."""
    after = at + len(piece)
    # A text of which only the beginning is unchanged extends to the next tag.
    if text.startswith(piece, at) and (piece[-1:] in ENDS or _next(text, after) in ENDS):
        return after
    wanted = _kinds(piece)
    length = 2 * len(piece) + LOOK_AHEAD
    while True:
        window = text[at : at + length]
        same, end = _matched(wanted, window)
        if at + length >= len(text) or end + 1 < len(window):
            return at + end if same else None
        length *= 2


def _matched(wanted: list[tuple[int, str]], text: str) -> tuple[bool, int]:
    """Return whether a text starts with the wanted parts, and the end of the last part that was read.

    What is read near the end of a text that goes on may be only a half of a part.
    """
    end = 0
    for kind, (found, until) in zip_longest(
        wanted, _parts(text, len(wanted)), fillvalue=((-1, ""), len(text))
    ):
        end = until
        if kind != found:
            return False, end
    return True, end


def _kinds(text: str) -> list[tuple[int, str]]:
    return [kind for kind, _ in _parts(text)]


def _parts(text: str, most: int | None = None) -> Iterator[Part]:
    """Yield tags, comments and texts other than white space, with their ends, without outer blanks."""
    at = count = 0
    since: int | None = None  # the start of the current text
    for token in tokenize(text, resolve_references=False, capture_source=True, capture_attributes=False):
        if count == most:
            return
        if token.type in TEXTS:
            since = at if since is None else since
            at += len(token.source or token.data or "")
            continue
        if since is not None and (shown := text[since:at].rstrip(BLANKS)):
            count += 1
            yield (TokenType.TEXT, ""), since + len(shown)
            if count == most:
                return
        since = None
        at += len(token.source or "")
        count += 1
        yield (token.type, token.tag or ""), at
    if since is not None and count != most and (shown := text[since:at].rstrip(BLANKS)):
        yield (TokenType.TEXT, ""), since + len(shown)


def _next(text: str, at: int) -> str:
    at = _past_blanks(text, at)
    return text[at : at + 1]


def _past_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at] in BLANKS:
        at += 1
    return at
