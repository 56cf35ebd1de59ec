"""Pages for tests: a few blocks, a time, an outcome."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from archivebot.archive import Archive
from archivebot.models import Capture, Headers, Outcome, Page

START = datetime(2026, 1, 1, tzinfo=UTC)
URL = "http://example.com/page"


def html(*paragraphs: str, head: str = "") -> bytes:
    """Build a page of paragraphs, a block each."""
    body = "".join(f"<p>{text}</p>\n" for text in paragraphs)
    return f"<html><head><title>Page</title>{head}</head><body>\n{body}</body></html>".encode()


def make_page(
    body: bytes = b"",
    day: float = 0,
    *,
    url: str = URL,
    outcome: Outcome = Outcome.FETCHED,
    status: int | None = 200,
    headers: Headers = (("Content-Type", "text/html; charset=utf-8"),),
    level: int | None = None,
    location: str | None = None,
) -> Page:
    """Build what a fetch returned on some day."""
    return Page(
        url=url,
        captured_at=START + timedelta(days=day),
        outcome=outcome,
        status=status,
        headers=headers,
        body=body,
        level=level,
        location=location,
    )


def visit(archive: Archive, page: Page) -> Capture:
    """Store a page as a crawl does."""
    return archive.add(archive.segment(page))
