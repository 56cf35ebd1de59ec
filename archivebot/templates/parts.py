"""A page as the tree of tags and contents that templates are made of."""

from __future__ import annotations

import re
from collections.abc import Iterator
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
    """An element or a text: how it is presented, what it says, and its byte range.

    ``attributes`` is what of the attributes tells the presentation; ``feature`` is the content of a
    text or picture, or "" if there is none.
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

    def walk(self) -> Iterator[Part]:
        """Yield the part and all within it in order."""
        stack = [self]
        while stack:
            part = stack.pop()
            yield part
            stack.extend(reversed(part.parts))


def parts_of(body: bytes, content_type: str = "") -> Part | None:
    """Return a page as a tree of parts, or None for what is no page.

    Of the attributes the class counts, without digits, which number things. Scripts, styles and the
    like are no parts. Contents are hashes: equal ones are equal, more is not asked.

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
    said = (
        box.attribute("src") if box.node.element is not None else source.text[box.node.start : box.node.end]
    )
    said = " ".join(said.split())
    return blake2b(said.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest() if said else ""
