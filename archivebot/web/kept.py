"""Values that take long to make, and are kept until what they were made from changes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, NamedTuple, TypeVar

Value = TypeVar("Value")


class Kept(Generic[Value]):
    """The values used last, by their keys; ``weight`` is the weight of a value.

    Together they weigh at most ``most``, or there is only one.

    >>> kept = Kept(len, most=5)
    >>> kept.put("a", "one"), kept.put("b", "two"), kept.get("a"), kept.get("b")
    (None, None, None, 'two')
    >>> kept.put("b", "4"), kept.put("c", "long"), kept.get("b"), kept.get("c")
    (None, None, '4', 'long')
    """

    def __init__(self, weight: Callable[[Value], int], most: int) -> None:
        self._weight, self._most = weight, most
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._total = 0

    def get(self, key: Hashable) -> Value | None:
        """Return the value of a key, None if it is not kept."""
        if key in self._values:
            self._values.move_to_end(key)
        return self._values.get(key)

    def put(self, key: Hashable, value: Value) -> None:
        """Keep the value of a key."""
        before = self._values.pop(key, None)
        self._total += self._weight(value) - (self._weight(before) if before is not None else 0)
        self._values[key] = value
        while len(self._values) > 1 and self._total > self._most:
            _, dropped = self._values.popitem(last=False)
            self._total -= self._weight(dropped)


class Answer(NamedTuple):
    """The bytes of an answer and their type."""

    body: bytes
    type: str
    resume: str = ""  # the key at which a client continues
