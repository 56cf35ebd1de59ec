"""Frames: one body compressed against another that the archive already holds.

A frame is one Zstandard frame whose raw-content prefix is the body of its base version, so that
``zstd -d --patch-from=BASE`` reads it by hand. A frame without a base stands alone.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from archivebot.exceptions import CorruptObject

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

# The minimum cost of reading a frame, however small; it counts towards the bound on a chain.
LEAST_COST = 256 * 1024

# The longest chain of versions if two versions of a page already exceed the bound on a chain.
LONGEST_PAGES_CHAIN = 4

# Zstandard refuses a shorter prefix; such a base is used neither for encoding nor for decoding.
LEAST_PREFIX = 8

# Bytes of a body and its base beyond which far matches are searched for separately, and the least level that
# indexes so much without that. The separate search finds only long matches, and hides shorter ones: without
# it the frames of 226 later versions of history-dev take 7.5 % less at level 10, and those of a page of
# 2.7 MB, too. At level 9 a random body of 7 MB is not found in itself, at level 10 it is.
LONG_DISTANCE = 8 * 1024 * 1024
LEAST_LEVEL = 10

# Other decoders refuse windows beyond 128 MiB without an option.
MOST_WINDOW_LOG = 27


def cost(length: int, base_cost: int = 0) -> int:
    """Return the bytes to decode when reading a version: its own bytes and those of its bases."""
    return base_cost + max(length, LEAST_COST)


def most_cost(length: int, bound: int) -> int:
    """Return the maximum cost of a version of ``length`` bytes, by the ``bound`` of the settings.

    >>> most_cost(1_000, 16_000_000), most_cost(10_000_000, 16_000_000)
    (16000000, 40000000)
    """
    return max(bound, LONGEST_PAGES_CHAIN * length)


def encode(body: bytes, base: bytes | None, level: int) -> bytes:
    """Compress a body against a base at a Zstandard level (1 to 19).

    >>> page = bytes(range(256)) * 40
    >>> len(encode(page + b"news", page, 12)) < 64
    True
    """
    if base is None or len(base) < LEAST_PREFIX:
        return zstd.compress(body, level=level)
    size = len(body) + len(base)
    window = min(size.bit_length(), MOST_WINDOW_LOG)
    far = size > LONG_DISTANCE or level < LEAST_LEVEL
    options: dict[int, int] = {
        zstd.CompressionParameter.compression_level: level,
        zstd.CompressionParameter.enable_long_distance_matching: int(far),
        zstd.CompressionParameter.window_log: max(window, 10),
    }
    return zstd.compress(body, options=options, zstd_dict=zstd.ZstdDict(base, is_raw=True).as_prefix)


class Dictionary:
    """Contents of a site that the frames of its other pages are compressed against.

    Digested once, a dictionary of 2 MB takes 1 ms a page, as a prefix 20 ms. The frames are the same to a
    decoder: the bytes of the dictionary are the base.

    >>> page = bytes(range(256)) * 40
    >>> dictionary = Dictionary(page + b"old")
    >>> frame = dictionary.encode(page + b"news", 10)
    >>> decode([frame], dictionary.content) == dictionary.decode(frame) == page + b"news"
    True
    """

    def __init__(self, content: bytes) -> None:
        self._zstd = zstd.ZstdDict(content, is_raw=True)

    @property
    def content(self) -> bytes:
        """The bytes of the dictionary, a copy."""
        return self._zstd.dict_content

    def frame(self, level: int) -> bytes:
        """Compress the dictionary itself, with a checksum of its content.

        The digests of versions do not notice a fault in a part of the dictionary that they do not use.
        """
        options: dict[int, int] = {
            zstd.CompressionParameter.compression_level: level,
            zstd.CompressionParameter.checksum_flag: 1,
        }
        return zstd.compress(self.content, options=options)

    def encode(self, body: bytes, level: int) -> bytes:
        """Compress a body against the dictionary at a Zstandard level (1 to 19)."""
        return zstd.compress(body, level=level, zstd_dict=self._zstd.as_digested_dict)

    def decode(self, frame: bytes) -> bytes:
        """Decode a frame against the dictionary, which is not copied; raises CorruptObject."""
        return _decoded(frame, self._zstd)


def decode(chain: Iterable[bytes], body: bytes = b"") -> bytes:
    """Decode frames, each against the body of the previous frame; the last body is the result.

    ``body`` is the base of the first frame, empty if that frame has no base.

    Raises CorruptObject if a frame cannot be read.

    >>> page = b"some page" * 10
    >>> decode([encode(page, None, 3), encode(page + b"!", page, 3)]) == page + b"!"
    True
    """
    for frame in chain:
        body = _decoded(frame, zstd.ZstdDict(body, is_raw=True) if len(body) >= LEAST_PREFIX else None)
    return body


def _decoded(frame: bytes, base: zstd.ZstdDict | None) -> bytes:
    options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: MOST_WINDOW_LOG}
    try:
        return zstd.decompress(frame, zstd_dict=base.as_prefix if base else None, options=options)
    except zstd.ZstdError as error:
        raise CorruptObject(f"a frame cannot be decompressed ({error})") from error
