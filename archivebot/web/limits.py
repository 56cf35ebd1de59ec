"""How often a client may ask: a bucket of tokens for each address."""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass

# Seconds of requests that a client may send at once after a pause.
BURST = 5.0

# Clients that are remembered, those asked last: a forgotten one begins with a full bucket.
CLIENTS = 10_000


@dataclass(slots=True)
class _Bucket:
    tokens: float
    filled: float


class Buckets:
    """One bucket for each client, which fills at ``rate`` tokens a second; a rate of 0 admits everyone."""

    def __init__(self, rate: float) -> None:
        self._rate, self._most = rate, max(rate * BURST, 1.0)
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def wait(self, client: str, now: float) -> int:
        """Take a token; return 0, or the seconds to wait if there is none.

        >>> buckets = Buckets(0.5)
        >>> [buckets.wait("a", now) for now in (0, 0, 0, 0)], buckets.wait("b", 0), buckets.wait("a", 4)
        ([0, 0, 1, 1], 0, 0)
        """
        if not self._rate:
            return 0
        bucket = self._buckets.setdefault(client, _Bucket(self._most, now))
        self._buckets.move_to_end(client)
        while len(self._buckets) > CLIENTS:
            self._buckets.popitem(last=False)
        bucket.tokens = min(self._most, bucket.tokens + (now - bucket.filled) * self._rate)
        bucket.filled = now
        if bucket.tokens < 1:
            return math.ceil((1 - bucket.tokens) / self._rate)
        bucket.tokens -= 1
        return 0
