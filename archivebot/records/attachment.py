"""An attachment as JSON: its named fields, and its block as text or in Base64."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from typing import Any

from archivebot.timestamps import timestamp
from archivebot.wire import Attachment


def attachment_record(attachment: Attachment) -> dict[str, Any]:
    """Return an attachment as a record; ``base64`` has the block if it is no text in UTF-8.

    >>> from datetime import datetime, UTC
    >>> found = Attachment("http://a.example/", datetime(2026, 1, 2, tzinfo=UTC), b"", b"\\xff")
    >>> attachment_record(found)["text"], attachment_record(found)["base64"]
    (None, '/w==')
    """
    try:
        text = attachment.block.decode()
    except UnicodeDecodeError:
        text = None
    return {
        "url": attachment.url,
        "captured_at": timestamp(attachment.when),
        "type": attachment.kind,
        "target": attachment.target,
        "content_type": attachment.content_type,
        "bytes": len(attachment.block),
        "digest": f"sha256:{sha256(attachment.block).hexdigest()}",
        "fields": [list(field) for field in attachment.fields],
        "text": text,
        "base64": b64encode(attachment.block).decode() if text is None else None,
    }
