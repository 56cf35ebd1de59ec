"""The attachments of captures as records of an export."""

from __future__ import annotations

from archivebot.export.record import NewRecord
from archivebot.wire import Attachment

# Fields that the writer of a file sets; all others stay as they are.
_WRITTEN = frozenset(("warc-type", "content-length", "warc-block-digest", "warc-warcinfo-id"))

_REFERENCES = frozenset(("warc-refers-to", "warc-concurrent-to"))


def attached(attachment: Attachment, old: str = "", answer: str = "") -> NewRecord:
    """Return an attachment as a record, with its named fields in their order.

    References to the ``old`` id of its capture become references to ``answer``, the id of the record that
    is written for the capture. If there is none of them, one is added; but a conversion that names another
    record may not name a second one. Without an answer nothing changes.
    """
    fields = []
    for name, value in attachment.fields:
        if name.lower() in _WRITTEN:
            continue
        if name.lower() in _REFERENCES and old and answer:
            value = " ".join(answer if each == old else each for each in value.split())
        fields.append((name, value))
    named = [value for name, value in fields if name.lower() in _REFERENCES]
    is_conversion = attachment.kind == "conversion"
    if answer and not any(answer in value.split() for value in named) and not (is_conversion and named):
        fields.append(("WARC-Refers-To" if is_conversion else "WARC-Concurrent-To", answer))
    return NewRecord(attachment.kind, tuple(fields), (attachment.block,))
