"""scrapy blocks: the partition of a version into blocks."""

from __future__ import annotations

import argparse

from archivebot.archive import ArchiveReader
from archivebot.cli import ArchiveCommand, print_json, print_table, tell_age
from archivebot.exceptions import NotArchived
from archivebot.labels.description import describe
from archivebot.markup.media import media_of
from archivebot.models import Block
from archivebot.records import described_record
from archivebot.templates.styletree import StyleTree
from archivebot.terminal import say
from archivebot.timestamps import parse_time
from archivebot.urls import host_of


class Command(ArchiveCommand):
    """Show how a page is cut into blocks, and what each of them is"""

    arguments = "URL"
    explanation = "Repeated parts of a site are marked after it was learned with: scrapy template URL."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--at", metavar="TIME", help="the version at that time; the last one by default")

    def answer(self, archive: ArchiveReader, args: list[str], opts: argparse.Namespace) -> int:
        when = parse_time(opts.at) if opts.at else None
        capture = archive.at(archive.resolve(args[0]), when)
        if capture.number is None:
            raise NotArchived(
                f"{capture.url} was visited, but never had content; see scrapy history {args[0]}"
            )
        placed = [block for block, _ in archive.blocks(archive.seen(capture))]
        body, content_type = archive.document(capture)
        known = archive.templates.latest(host_of(capture.url))
        site = StyleTree.from_json(known.tree) if known else None
        cut = [Block(block.start, block.end, block.level) for block in placed]
        records = [
            described_record(block.lineage, found) | {"topic": block.topic}
            for block, found in zip(placed, describe(body, cut, content_type, site), strict=True)
        ]
        tell_age(archive, capture, when)
        if opts.json:
            print_json(records)
            return 0
        say(f"{capture.url}  version {capture.number}  {capture.size} bytes, cut at level {capture.level}")
        if kind := media_of(body, content_type).without_text:
            say(f"{kind}, kept as it is")
            return 0
        head = ["lineage", "level", "start", "end", "size", "words", "label", "topic"]
        print_table(head, [[record[name] for name in head] for record in records])
        return 0
