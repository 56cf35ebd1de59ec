"""The description of the blocks of a page: label, topic, fingerprint, words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from archivebot.fingerprint.simhash import text_simhashes
from archivebot.labels.labeller import Labelled, label_blocks
from archivebot.markup.dom import visible_text
from archivebot.markup.media import media_of
from archivebot.models import Block, Label
from archivebot.segmentation.topic import topic
from archivebot.templates.parts import parts_of
from archivebot.templates.styletree import StyleTree
from archivebot.text import words


@dataclass(frozen=True, slots=True)
class Description:
    """One block: ``reason`` is the reason of its label, ``simhash`` is None if it is too short."""

    block: Block
    label: Label
    reason: str
    topic: str
    simhash: int | None
    words: int


def describe(
    body: bytes,
    blocks: Sequence[Block],
    content_type: str = "",
    site: StyleTree | None = None,
    kept: Sequence[Label | None] = (),
) -> list[Description]:
    """Return the descriptions of blocks of a body, in their order; blocks repeated on its site are furniture.

    ``kept`` are the labels stored with the blocks. They are the labels of the page alone, so they count if
    ``site`` is not known. The reason is not stored, but computed.

    >>> page = b"<nav><a href=a>Home</a></nav><p>The ferry runs all year."
    >>> [(str(d.label), d.topic, d.words) for d in describe(page, [Block(0, 29, 1), Block(29, 56, 1)])]
    [('navigation', 'Home', 1), ('main', 'ferry runs year', 5)]
    """
    charset = media_of(body, content_type).charset
    labels = label_blocks(body, blocks, content_type, _repeats(body, blocks, content_type, site))
    if kept and not site:
        labels = tuple(map(_as_kept, labels, kept))
    pieces = [body[block.start : block.end] for block in blocks]
    texts = [visible_text(piece, charset) for piece in pieces]
    return [
        Description(found.block, found.label, found.reason, topic(piece, charset), simhash, len(words(text)))
        for found, piece, text, simhash in zip(labels, pieces, texts, text_simhashes(texts), strict=True)
    ]


def _as_kept(found: Labelled, label: Label | None) -> Labelled:
    """Return the kept label of a block; an earlier labeller may have had another reason."""
    if label is None or label is found.label:
        return found
    return Labelled(found.block, label, "as labelled when it was stored")


def _repeats(
    body: bytes, blocks: Sequence[Block], content_type: str, site: StyleTree | None
) -> dict[Block, float]:
    page = parts_of(body, content_type) if site else None
    return site.repeats(page, blocks) if site and page else {}
