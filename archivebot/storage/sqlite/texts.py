"""Packs: the URLs and labels of links with consecutive numbers, compressed together.

A row for each text with an index took 95 bytes a text in an archive of 237 pages with their histories; packs
with an index of checksums take 41 (2026-11).
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache

# Bytes of the texts of a pack before compression. With 2 KB the archive of 237 pages with their histories is
# 1.4 % larger, with 12 KB 0.5 % smaller, but a page that is stored writes its last pack again.
MOST_BYTES = 6144

# Packs that stay decompressed: the texts of 15,000 links.
REMEMBERED = 128

# DEFLATE without header and checksum, which the row has.
RAW = -zlib.MAX_WBITS


def packs(first: int, texts: Sequence[str]) -> Iterator[tuple[int, bytes]]:
    """Yield the packs of texts, each with the number of its first text; ``first`` is that of all.

    >>> [(number, unpacked(data)) for number, data in packs(7, ["a", "b" * MOST_BYTES, "c"])]
    ... # doctest: +ELLIPSIS
    [(7, ('a', 'bbb...bbb')), (9, ('c',))]
    """
    start = size = 0
    for index, text in enumerate(texts, 1):
        size += len(text.encode()) + 1
        if size > MOST_BYTES or index == len(texts):
            yield first + start, packed(texts[start:index])
            start, size = index, 0


def packed(texts: Sequence[str]) -> bytes:
    """Return texts as one pack. None of them contains a zero byte.

    >>> unpacked(packed(("http://example.com/", "footer\\tlink\\tHome")))
    ('http://example.com/', 'footer\\tlink\\tHome')
    """
    packer = zlib.compressobj(9, zlib.DEFLATED, RAW)
    return packer.compress("\0".join(texts).encode()) + packer.flush()


@lru_cache(maxsize=REMEMBERED)
def unpacked(data: bytes) -> tuple[str, ...]:
    """Return the texts of a pack."""
    return tuple(zlib.decompress(data, RAW).decode().split("\0"))


def text_at(data: bytes, place: int) -> str | None:
    """Return the text at a place in a pack; None if there is none, or if the pack cannot be read.

    >>> text_at(packed(("a", "b")), 1), text_at(packed(("a", "b")), 2), text_at(b"?", 0)
    ('b', None, None)
    """
    try:
        return unpacked(data)[place]
    except (zlib.error, UnicodeDecodeError, TypeError, IndexError):
        return None


def listed(data: bytes) -> str:
    """Return the texts of a pack as JSON; an empty list if they cannot be read.

    >>> listed(packed(("a", "b"))), listed(b"?")
    ('["a", "b"]', '[]')
    """
    try:
        return json.dumps(unpacked(data), ensure_ascii=False)
    except (zlib.error, UnicodeDecodeError, TypeError):
        return "[]"
