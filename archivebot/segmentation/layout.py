"""Splits a body into layout and blocks, and joins them again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import pairwise

from archivebot.models import Block


@dataclass(frozen=True, slots=True)
class Layout:
    """The bytes of a body around its blocks: ``glue[i]`` stands before block i, the last one after all."""

    glue: tuple[bytes, ...] = field(repr=False)

    def digest(self) -> bytes:
        """Return the hash of the glue and the positions of the slots (SHA-256, 32 bytes)."""
        digest = sha256()
        for piece in self.glue:
            digest.update(b"%d:" % len(piece))
            digest.update(piece)
        return digest.digest()


def split(body: bytes, blocks: Sequence[Block]) -> tuple[Layout, tuple[bytes, ...]]:
    """Split a body at ordered, disjoint ranges.

    >>> split(b"<p>a</p> <p>b</p>", [Block(0, 8, 1), Block(9, 17, 1)])[1]
    (b'<p>a</p>', b'<p>b</p>')
    """
    edges = [0, *(edge for block in blocks for edge in (block.start, block.end)), len(body)]
    pieces = [body[start:end] for start, end in pairwise(edges)]
    return Layout(tuple(pieces[::2])), tuple(pieces[1::2])


def join(layout: Layout, blocks: Iterable[bytes]) -> bytes:
    """Put the blocks back into their slots.

    >>> join(*split(b"<p>a</p> <p>b</p>", [Block(0, 8, 1), Block(9, 17, 1)]))
    b'<p>a</p> <p>b</p>'
    """
    before, *after = layout.glue
    return before + b"".join(piece for pair in zip(blocks, after, strict=True) for piece in pair)
