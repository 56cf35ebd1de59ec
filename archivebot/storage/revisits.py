"""The stored payload digests, by which revisits find their payload, and the waiting revisits."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from archivebot.models import Payload

# A waiting visit: its URL, its time and the payload that it repeats.
Waiting = tuple[str, datetime, Payload]


class RevisitStore(Protocol):
    """The store of payload digests, and of the visits whose payload is not in the archive yet."""

    def remember(self, payload: str, url: str, digest: str, again: bool) -> None:
        """Record that a version, named by its URL and the digest of its body, has a payload.

        An earlier record of the same payload is kept unless ``again`` is true.
        """

    def payload(self, payload: str) -> tuple[str, str] | None:
        """Return the URL of a version with a payload, and the digest of its body."""

    def wait(self, waiting: Waiting) -> None:
        """Record that a visit waits for its payload; recording it twice changes nothing."""

    def waiting(self, payload: str, url: str, when: datetime) -> list[Waiting]:
        """Return the visits that wait for a payload, or for the visit of a URL at a time to the second."""

    def release(self, url: str, when: datetime) -> None:
        """Remove a waiting visit, and its unresolved capture."""
