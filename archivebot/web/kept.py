"""Values that take long to make, and are kept until what they were made from changes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, NamedTuple, TypeVar

Value = TypeVar("Value")


class Kept(Generic[Value]):
    """The values used last, by their keys; ``weight`` is the weight of a value.

    Together they weigh at most ``most``, or there is only one. A value that has become heavier is put again.

    >>> kept = Kept(len, most=5)
    >>> kept.put("a", "one"), kept.put("b", "two"), kept.get("a"), kept.get("b")
    (None, None, None, 'two')
    >>> kept.put("b", "4"), kept.put("c", "long"), kept.get("b"), kept.get("c")
    (None, None, '4', 'long')
    """

    def __init__(self, weight: Callable[[Value], int], most: int) -> None:
        self._weight, self._most = weight, most
        self._values: OrderedDict[Hashable, tuple[Value, int]] = OrderedDict()
        self._total = 0

    def get(self, key: Hashable) -> Value | None:
        """Return the value of a key, None if it is not kept."""
        if key not in self._values:
            return None
        self._values.move_to_end(key)
        return self._values[key][0]

    def put(self, key: Hashable, value: Value) -> None:
        """Keep the value of a key."""
        weight = self._weight(value)
        _, before = self._values.pop(key, (None, 0))
        self._total += weight - before
        self._values[key] = value, weight
        while len(self._values) > 1 and self._total > self._most:
            _, (_, dropped) = self._values.popitem(last=False)
            self._total -= dropped


class Answer(NamedTuple):
    """The bytes of an answer and their type."""

    body: bytes
    type: str
    resume: str = ""  # the key at which a client continues
