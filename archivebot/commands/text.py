"""scrapy text: the main text of a page as it was at a time."""

from __future__ import annotations

import argparse
import sys

from archivebot.archive import Archive
from archivebot.cli import ArchiveCommand, harmless, print_json, say
from archivebot.content.agreement import agreement
from archivebot.content.page import body_content
from archivebot.models import QualityKind
from archivebot.quality.quality import quality
from archivebot.timestamps import parse_time, timestamp


class Command(ArchiveCommand):
    """Print the main text of a page"""

    arguments = "URL"
    explanation = "Menus, adverts and other furniture are left out."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--at", metavar="TIME", help="the page at that time; the last one by default")

    def answer(self, archive: Archive, args: list[str], opts: argparse.Namespace) -> int:
        capture = archive.at(archive.resolve(args[0]), parse_time(opts.at) if opts.at else None)
        body, content_type = archive.document(capture)
        read = body_content(body, content_type)
        found = quality(archive.brought(capture).status or 200, body, content_type, capture.url)
        if opts.json:
            print_json(
                {
                    "url": capture.url,
                    "captured_at": timestamp(capture.captured_at),
                    "version": capture.number,
                    "title": read.title,
                    "language": read.language,
                    "published": read.published.isoformat() if read.published else None,
                    "quality": found.kind,
                    "reason": found.reason,
                    "title_agreement": agreement(read.title, read.text),
                    "text": read.text,
                }
            )
            return 0
        told = [read.title, read.language, f"published {read.published}" if read.published else ""]
        print(harmless("  ".join(filter(None, told))), file=sys.stderr)
        if found.kind is not QualityKind.GOOD:
            print(harmless(f"This may be no page but a {found.kind}: {found.reason}"), file=sys.stderr)
        say(read.text)
        return 0
