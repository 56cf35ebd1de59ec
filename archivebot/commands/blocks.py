"""scrapy blocks: the partition of a version into blocks."""

from __future__ import annotations

import argparse

from archivebot.archive import ArchiveReader
from archivebot.cli import (
    ArchiveCommand,
    add_visual_options,
    coherence,
    note_age,
    print_json,
    print_table,
    print_visual,
    visual_blocks,
)
from archivebot.exceptions import NotArchived
from archivebot.labels.description import describe
from archivebot.markup.media import Media, media_of
from archivebot.models import Block, Capture
from archivebot.records import described_record
from archivebot.templates.styletree import StyleTree
from archivebot.terminal import write
from archivebot.timestamps import parse_time
from archivebot.urls import host_of
from archivebot.vision.render import Browser


class Command(ArchiveCommand):
    """Show how a page is cut into blocks, and what each of them is"""

    arguments = "URL"
    explanation = "Repeated parts of a site are marked after it was learned with: scrapy template URL."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--at", metavar="TIME", help="the version at that time; the last one by default")
        add_visual_options(parser)

    def answer(self, archive: ArchiveReader, args: list[str], opts: argparse.Namespace) -> int:
        when = parse_time(opts.at) if opts.at else None
        doc = coherence(opts)
        capture = archive.at(archive.resolve(args[0]), when)
        if capture.number is None:
            raise NotArchived(
                f"{capture.url} was visited, but never had content; see scrapy history {args[0]}"
            )
        body, content_type = archive.document(capture)
        if opts.visual:
            note_age(archive, capture, when)
            return _visual(capture, media_of(body, content_type), body, doc, as_json=opts.json)
        placed = [block for block, _ in archive.blocks(archive.seen(capture))]
        known = archive.templates.latest(host_of(capture.url))
        site = StyleTree.from_json(known.tree) if known else None
        cut = [Block(block.start, block.end, block.level) for block in placed]
        labels = [block.label for block in placed]
        records = [
            described_record(block.lineage, found) | {"topic": block.topic}
            for block, found in zip(placed, describe(body, cut, content_type, site, labels), strict=True)
        ]
        note_age(archive, capture, when)
        if opts.json:
            print_json(records)
            return 0
        write(f"{capture.url}  version {capture.number}  {capture.size} bytes, cut at level {capture.level}")
        if kind := media_of(body, content_type).without_text:
            write(f"{kind}, kept as it is")
            return 0
        head = ["lineage", "level", "start", "end", "size", "words", "label", "topic"]
        print_table(head, [[record[name] for name in head] for record in records])
        return 0


def _visual(capture: Capture, media: Media, body: bytes, doc: int, *, as_json: bool) -> int:
    """Print the blocks of a version as a browser lays it out."""
    text = body.decode(media.charset, "replace") if media.is_text else ""
    with Browser() as browser:
        blocks = visual_blocks(browser, text, doc) if text else []
    if as_json:
        print_json(blocks)
    else:
        write(f"{capture.url}  version {capture.number}  {media.without_text or ''}".rstrip())
        print_visual(blocks)
    return 0
