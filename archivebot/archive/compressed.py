"""The cache of what is seldom needed: compressed, a tenth of its size in memory."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

from archivebot.storage import frames

# Bytes of compressed objects in a cache.
KEPT_BYTES = 4 * 1024 * 1024

# The level of Zstandard. To read a page of history-dev takes 12 ms on average. To compress its reading takes
# 2.4 ms and 46 kB, to restore it 2.2 ms; its lines alone take 0.3 ms and 6 kB.
LEVEL = 1

T = TypeVar("T")


class Compressed(Generic[T]):
    """Keeps objects compressed, those used last; each is restored as a copy.

    >>> past = Compressed[tuple[str, ...]]()
    >>> past.keep("monday", ("A tern", ""))
    >>> past.get("monday"), past.get("tuesday")
    (('A tern', ''), None)
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()
        self._size = 0

    def get(self, key: Hashable) -> T | None:
        """Return a copy of the object of a key; None if none is kept."""
        packed = self._kept.get(key)
        if packed is None:
            return None
        self._kept.move_to_end(key)
        found: T = pickle.loads(frames.decode([packed]))
        return found

    def keep(self, key: Hashable, value: T) -> None:
        """Keep an object, unless one is kept for the key already."""
        if key in self._kept:
            return
        packed = frames.encode(pickle.dumps(value, pickle.HIGHEST_PROTOCOL), None, LEVEL)
        self._kept[key] = packed
        self._size += len(packed)
        while self._size > KEPT_BYTES:
            self._size -= len(self._kept.popitem(last=False)[1])
