"""scrapy text: the main text of a page as it was at a time."""

from __future__ import annotations

import argparse

from archivebot.archive import ArchiveReader
from archivebot.cli import TIME, ArchiveCommand, note_age, print_json
from archivebot.content.page import body_content
from archivebot.markup.words import wordless
from archivebot.models import QualityKind
from archivebot.quality.quality import quality
from archivebot.records import text_record
from archivebot.terminal import note, write
from archivebot.timestamps import parse_time
from archivebot.units import size


class Command(ArchiveCommand):
    """Print the main text of a page"""

    arguments = "URL"
    explanation = "Menus, adverts and other furniture are left out."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--at", metavar="TIME", help="the page at that time; the last one by default")

    def answer(self, archive: ArchiveReader, args: list[str], opts: argparse.Namespace) -> int:
        when = parse_time(opts.at) if opts.at else None
        capture = archive.at(archive.resolve(args[0]), when)
        body, content_type = archive.document(capture)
        since = note_age(archive, capture, when)
        if when and capture.captured_at > when:
            note(
                f"{capture.url}: nothing is as old as {when:{TIME}}; this is of {capture.captured_at:{TIME}}"
            )
        kind, read = wordless(body, content_type), body_content(body, content_type)
        found = quality(archive.brought(capture).status or 200, body, content_type, capture.url)
        if opts.json:
            print_json(text_record(capture, read, found, since, kind))
            return 0
        if kind:
            note(f"{capture.url} is {kind}, {size(len(body))}: write it with scrapy replay URL --output FILE")
            return 0
        facts = [read.title, read.language, f"published {read.published}" if read.published else ""]
        note("  ".join(filter(None, facts)))
        if found.kind is not QualityKind.GOOD:
            note(f"This may be no page but a {found.kind}: {found.reason}")
        write(read.text)
        return 0
