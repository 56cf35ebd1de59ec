"""The main text of a page as JSON."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from archivebot.content.agreement import agreement
from archivebot.content.page import Content
from archivebot.models import Capture, Quality
from archivebot.timestamps import timestamp


def text_record(
    capture: Capture, page: Content, quality: Quality, since: datetime | None, media: str | None
) -> dict[str, Any]:
    """Return the main text of a capture as a record; ``media`` is the media kind of a body without words."""
    return {
        "url": capture.url,
        "captured_at": timestamp(capture.captured_at),
        "version": capture.number,
        "gone_since": timestamp(since) if since else None,
        "media": media,
        "title": page.title,
        "language": page.language,
        "published": page.published.isoformat() if page.published else None,
        "quality": quality.kind,
        "reason": quality.reason,
        "title_agreement": agreement(page.title, page.text),
        "text": page.text,
    }
