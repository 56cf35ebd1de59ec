"""What a store keeps of payloads, so that the visits that repeat one find it: digests, and who waits."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from archivebot.models import Payload

# A visit that waits: its URL, its time and the payload that it repeats.
Waiting = tuple[str, datetime, Payload]


class RevisitStore(Protocol):
    """A place that keeps the digests of payloads, and the visits whose payload has not come yet."""

    def remember(self, payload: str, url: str, digest: str, again: bool) -> None:
        """Store that a payload is that of a version, named by its URL and the digest of its body.

        What was stored of the same payload stays unless ``again`` is true.
        """

    def payload(self, payload: str) -> tuple[str, str] | None:
        """Return the URL of a version with that payload, and the digest of its body."""

    def wait(self, waiting: Waiting) -> None:
        """Store that a visit waits for its payload; storing it twice changes nothing."""

    def waiting(self, payload: str, url: str, when: datetime) -> list[Waiting]:
        """Return the visits that wait for a payload, or for the visit of a URL at a time to the second."""

    def release(self, url: str, when: datetime) -> None:
        """Forget that a visit waits, and the capture that says so."""
