"""The cache of the lines of earlier versions, which show the habits of a line."""

from __future__ import annotations

from collections import OrderedDict

from archivebot.significance.habits import Lines
from archivebot.storage import frames

# Bytes of compressed lines in the cache. Of each page up to eight versions before the latest one are read.
KEPT_BYTES = 4 * 1024 * 1024

# The level of Zstandard: the lines of a page of history-dev take 0.3 ms and 6 kB on average.
LEVEL = 1

# The digest of a version, the Content-Type that it was read with, and the selectors of its ignored parts.
Key = tuple[str, str, tuple[str, ...]]


class PastLines:
    """Keeps lines of versions compressed, those used last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Key, bytes] = OrderedDict()
        self._size = 0

    def get(self, key: Key) -> Lines | None:
        """Return the lines of a version; None if they are not kept."""
        packed = self._kept.get(key)
        if packed is None:
            return None
        self._kept.move_to_end(key)
        return tuple(frames.decode([packed]).decode("utf-8", "surrogatepass").split("\n")[:-1])

    def keep(self, key: Key, lines: Lines) -> None:
        """Keep the lines of a version, unless they are kept already."""
        if key in self._kept:
            return
        text = "".join(f"{line}\n" for line in lines)  # no line contains a line break
        packed = frames.encode(text.encode("utf-8", "surrogatepass"), None, LEVEL)
        self._kept[key] = packed
        self._size += len(packed)
        while self._size > KEPT_BYTES:
            self._size -= len(self._kept.popitem(last=False)[1])
