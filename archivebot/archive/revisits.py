"""Resolves revisit records to their bytes, by payload digest, then by the capture they refer to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain

from archivebot.archive.bodies import Bodies
from archivebot.fingerprint import sha256_hex
from archivebot.fingerprint.payload import payload_keys
from archivebot.http import outcome_of
from archivebot.models import Capture, Outcome, Page, Payload
from archivebot.storage.base import ArchiveStore
from archivebot.storage.times import just_before

# The status of an answer without a body of its own.
NOT_MODIFIED = 304

# Outcomes whose body is not the complete page; a revisit of it is not complete either.
SHORT = frozenset((Outcome.INCOMPLETE, Outcome.TOO_LARGE))


class Revisits:
    """Finds payloads for revisits; never returns bytes that are known to have another digest."""

    def __init__(self, store: ArchiveStore, bodies: Bodies) -> None:
        self._store, self._bodies = store, bodies

    def resolved(self, page: Page) -> Page:
        """Return a revisit with the body that it repeats; unresolved if the archive does not hold it.

        A 304 stays as it is if it names neither a digest nor a capture, or the content before it.
        """
        payload = page.payload
        if page.outcome not in (Outcome.NOT_MODIFIED, Outcome.UNRESOLVED) or payload is None:
            return page
        if not payload.digest and payload.when is None:
            return page
        found = self._by_digest(page, payload) or self._by_reference(page, payload)
        if found and page.outcome is Outcome.NOT_MODIFIED and self._is_latest(found):
            return page
        return found or replace(page, outcome=Outcome.UNRESOLVED)

    def _is_latest(self, found: Page) -> bool:
        """Return whether the body of a visit is that of the content before it, as a 304 states."""
        latest = self._store.latest(found.url, found.captured_at)
        return latest is not None and latest.digest == sha256_hex(found.body)

    def released(self, page: Page) -> Iterator[Page]:
        """Yield the unresolved visits whose body this page has brought."""
        digest = page.payload.digest if page.payload else ""
        for url, when, payload in self._store.revisits.waiting(digest, page.url, page.captured_at):
            visits = [each for each in self._within_second(url, when) if each.outcome is Outcome.UNRESOLVED]
            visit = next((each.page() for each in visits if each.captured_at == when), None)
            if visit is None:  # its writer was killed in between
                visit = Page(url, when, Outcome.UNRESOLVED)
            found = self.resolved(replace(visit, payload=payload))
            if found.outcome is not Outcome.UNRESOLVED:
                yield found

    def _by_digest(self, page: Page, payload: Payload) -> Page | None:
        url, digest = (self._store.revisits.payload(payload.digest) if payload.digest else None) or ("", "")
        other: Capture | None = None
        # A page may have 10,000 visits with this body: the one that is referred to is found at once.
        referred = self._within_second(url, payload.when) if payload.when else []
        for each in chain(referred, self._store.captures(url)):
            if each.digest == f"sha256:{digest}":
                if each.outcome is Outcome.FETCHED:
                    return self._with(page, each)
                other = other or each
        return self._with(page, other) if other else None

    def _by_reference(self, page: Page, payload: Payload) -> Page | None:
        """Resolve by URL and second of the capture referred to; its bytes must not have another digest."""
        if payload.when is None:
            return None
        for original in sorted(self._within_second(payload.url or page.url, payload.when), key=_worth):
            found = self._with(page, original)
            if found and (not payload.digest or payload.digest in payload_keys(found.body)):
                return found
        return None

    def _within_second(self, url: str, when: datetime) -> list[Capture]:
        """Return the captures of a URL in the same second: WARC 1.0 writes no fractions."""
        second = when.replace(microsecond=0)
        last = second + timedelta(milliseconds=999)
        return list(self._store.captures(url, since=just_before(second), until=last))

    def _with(self, page: Page, original: Capture) -> Page | None:
        """Return a visit with the body of a capture; None if the capture has no readable body."""
        version = self._store.find(original.url, original.sha256)
        content = self._bodies.readable(version)
        if content is None:
            return None
        own = page.status is not None and page.status != NOT_MODIFIED and original.outcome not in SHORT
        return replace(
            page,
            body=content.body,
            status=page.status if own else original.status,
            outcome=outcome_of(page.status or 0, content.body) if own else original.outcome,
            location=page.location if own else original.location,
            headers=page.headers if own or page.header("Content-Type") else original.headers,
        )


def _worth(capture: Capture) -> tuple[bool, datetime]:
    """Return the sort key that puts captures of content first."""
    return capture.outcome is not Outcome.FETCHED, capture.captured_at
