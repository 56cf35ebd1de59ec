"""scrapy blocks: the partition of a version into blocks."""

from __future__ import annotations

import argparse

from archivebot.archive import Archive
from archivebot.cli import ArchiveCommand, print_json, print_table, say
from archivebot.exceptions import NotArchived
from archivebot.text import words
from archivebot.timestamps import parse_time


class Command(ArchiveCommand):
    """Show how a page is cut into blocks"""

    arguments = "URL"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--at", metavar="TIME", help="the version at that time; the last one by default")

    def answer(self, archive: Archive, args: list[str], opts: argparse.Namespace) -> int:
        capture = archive.at(archive.resolve(args[0]), parse_time(opts.at) if opts.at else None)
        if capture.number is None:
            raise NotArchived(
                f"{capture.url} was visited, but never had content; see scrapy history {args[0]}"
            )
        blocks = archive.blocks(archive.seen(capture))
        records = [
            {
                "lineage": block.lineage,
                "level": block.level,
                "start": block.start,
                "end": block.end,
                "size": block.end - block.start,
                "topic": block.topic,
                "words": len(words(text)),
            }
            for block, text in blocks
        ]
        if opts.json:
            print_json(records)
            return 0
        say(f"{capture.url}  version {capture.number}  {capture.size} bytes, cut at level {capture.level}")
        head = ["lineage", "level", "start", "end", "size", "words", "topic"]
        print_table(head, [[record[name] for name in head] for record in records])
        return 0
