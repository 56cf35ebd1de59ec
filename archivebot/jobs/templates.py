"""Learns the template of a site: the parts that its pages have in common."""

from __future__ import annotations

from archivebot.archive import ArchiveReader
from archivebot.exceptions import CorruptObject, NotArchived
from archivebot.models import Block, Capture
from archivebot.templates.parts import Part, parts_of
from archivebot.templates.styletree import Share, StyleTree


def sample(urls: list[str], most: int) -> list[str]:
    """Return at most ``most`` URLs, evenly spread over the list.

    >>> sample(["a", "b", "c", "d", "e"], 2), sample(["a"], 2)
    (['a', 'c'], ['a'])
    """
    return [urls[number * len(urls) // most] for number in range(most)] if len(urls) > most else urls


def learn(archive: ArchiveReader, urls: list[str], most: int) -> StyleTree:
    """Merge the latest versions of at most ``most`` pages, spread over the list.

    Images, other bodies without markup, and pages that cannot be read are left out.
    """
    tree = StyleTree()
    for url in dict.fromkeys((*sample(urls, most), *urls)):
        if tree.pages == most:
            break
        try:
            page = parts_of(*archive.document(archive.at(url, None)))
        except (CorruptObject, NotArchived):
            continue
        if page is not None and not tree.add(page):
            break
    return tree


def shares(archive: ArchiveReader, capture: Capture, tree: StyleTree, page: Part) -> list[Share]:
    """Return the blocks of a page, each with the share of the site's pages with the same content there."""
    placed = [block for block, _ in archive.blocks(archive.seen(capture))]
    cut = [Block(block.start, block.end, block.level) for block in placed]
    repeats = tree.repeats(page, cut)
    return [
        Share(block.lineage, block.topic, round(repeats[place], 3))
        for block, place in zip(placed, cut, strict=True)
    ]
