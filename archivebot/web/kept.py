"""Values that take long to make, and are kept until what they were made from changes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, NamedTuple, TypeVar

Value = TypeVar("Value")

# Bytes of the answers that are kept. Those of the CDX server and TimeMaps have a megabyte, pages 300 kB.
KEPT = 64_000_000


class Kept(Generic[Value]):
    """The values used last, by their keys, for all threads; ``weight`` is the weight of a value.

    Together they weigh at most ``most``, or there is only one. If several threads ask for the same value, one
    of them makes it and the others wait.

    >>> kept = Kept(len, most=5)
    >>> kept.of("a", 1, lambda: "one"), kept.of("a", 1, lambda: "two"), kept.of("a", 2, lambda: "two")
    ('one', 'one', 'two')
    >>> kept.of("b", 1, lambda: "long"), kept.of("a", 2, lambda: "made again")
    ('long', 'made again')
    """

    def __init__(self, weight: Callable[[Value], int], most: int) -> None:
        self._weight, self._most = weight, most
        self._lock = Lock()
        self._places: OrderedDict[Hashable, _Place[Value]] = OrderedDict()

    def of(self, key: Hashable, state: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of a key in a state; ``make`` returns it if it is not kept."""
        with self._lock:
            place = self._places.setdefault(key, _Place())
            self._places.move_to_end(key)
        with place.lock:
            if place.found is None or place.found[0] != state:
                try:
                    place.found = state, make()
                finally:
                    self._limit(key, place)
            return place.found[1]

    def _limit(self, key: Hashable, last: _Place[Value]) -> None:
        with self._lock:
            if last.found is None:  # the value could not be made
                self._places.pop(key, None)
                return
            last.weight = self._weight(last.found[1])
            while len(self._places) > 1 and sum(each.weight for each in self._places.values()) > self._most:
                self._places.popitem(last=False)


class Answer(NamedTuple):
    """The bytes of an answer and their type."""

    body: bytes
    type: str
    resume: str = ""  # the key at which a client continues


Answers = Kept[Answer]


def answers() -> Answers:
    """Return a place for long answers."""
    return Kept(lambda answer: len(answer.body), KEPT)


class _Place(Generic[Value]):
    """The place of one value, which one thread at a time may fill."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.found: tuple[Hashable, Value] | None = None
        self.weight = 0
