"""The main text of a page, and of a file, as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from archivebot.content.agreement import agreement
from archivebot.content.page import Content
from archivebot.labels.description import Description
from archivebot.models import Capture, Quality
from archivebot.records.block import described_record
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


def file_record(name: str, media: str | None, page: Content, blocks: Iterable[Description]) -> dict[str, Any]:
    """Return a file with its main text and its blocks as a record."""
    return {
        "file": name,
        "media": media,
        "title": page.title,
        "title_agreement": agreement(page.title, page.text),
        "main_text": page.text,
        "blocks": [described_record(None, found) for found in blocks],
    }
