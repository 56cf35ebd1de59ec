"""A page as a tree of tags and contents, from which templates are learned."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import blake2b

from archivebot.markup.media import media_of
from archivebot.markup.seen import Box, look
from archivebot.markup.tags import INVISIBLE
from archivebot.markup.tree import Source

TEXT = "#text"
DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Part:
    """An element or a text: its presentation, its content, and its byte range.

    ``attributes`` is the part of the attributes that determines the presentation; ``feature`` is the content
    of a text or picture, or "" if there is none.
    """

    tag: str
    attributes: str = ""
    parts: tuple[Part, ...] = ()
    feature: str = ""
    start: int = 0
    end: int = 0

    @property
    def style(self) -> tuple[str, str]:
        return self.tag, self.attributes


def parts_of(body: bytes, content_type: str = "") -> Part | None:
    """Return a page as a tree of parts, or None if the body is not a page.

    Of the attributes only the class counts, without its digits, which are often numbering. Scripts, styles
    and similar elements are not parts. Contents are hashes, which are only compared for equality.

    >>> page = parts_of(b'<p class="post-17 new">Text<br></p><script>x</script>')
    >>> page.tag, page.parts[0].style, [part.tag for part in page.parts[0].parts]
    ('body', ('p', 'post- new'), ['#text', 'br'])
    >>> parts_of(b"%PDF-1.7") is None
    True
    """
    media = media_of(body, content_type)
    if not media.is_markup:
        return None
    source = Source.of(body, media.charset)
    page = look(source)
    return None if page is None else _part(page, source)


def _part(box: Box, source: Source) -> Part:
    node = box.node
    return Part(
        tag=node.tag or TEXT,
        attributes=DIGITS.sub("", " ".join(box.attribute("class").split())),
        parts=tuple(_part(part, source) for part in box.parts if part.node.tag not in INVISIBLE),
        feature=_feature(box, source),
        start=node.start * source.unit,
        end=node.end * source.unit,
    )


def _feature(box: Box, source: Source) -> str:
    text = (
        box.attribute("src") if box.node.element is not None else source.text[box.node.start : box.node.end]
    )
    text = " ".join(text.split())
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest() if text else ""
