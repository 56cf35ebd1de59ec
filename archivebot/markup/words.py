"""The words of a body and of its blocks: of a page the visible text, of a document the text of the file."""

from __future__ import annotations

from archivebot.documents.document import document_text
from archivebot.markup.dom import visible_text
from archivebot.markup.formats import READABLE, format_of
from archivebot.markup.media import media_of


def block_text(data: bytes, charset: str, is_whole: bool, *, pictures: bool = False) -> str:
    """Return the text of a block; ``is_whole`` is whether it is its whole body, as that of a document is.

    >>> block_text(b"<li>a<li>b", "utf-8", False), block_text(b"{\\\\rtf1 c}", "utf-8", True)
    ('a\\nb', 'c')
    >>> block_text(b"GIF89a...", "utf-8", True), block_text(b"GIF89a is a format", "utf-8", False)
    ('', 'GIF89a is a format')
    """
    if is_whole and (known := format_of(data)):
        return document_text(data, known.type).text if known.type in READABLE else ""
    return visible_text(data, charset, pictures=pictures)


def wordless(body: bytes, content_type: str) -> str | None:
    """Return the name of a body without words, as of a picture or a scanned document; None if it has words.

    >>> wordless(b"GIF89a", ""), wordless(b"%PDF-1.4", ""), wordless(b"<p>x", "")
    ('a GIF picture', 'a PDF document', None)
    """
    media = media_of(body, content_type)
    if media.is_document:
        return None if document_text(body, media.type).text else media.name
    return media.without_text
