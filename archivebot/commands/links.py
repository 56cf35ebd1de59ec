"""scrapy links: the links of a page, and the links to it."""

from __future__ import annotations

import argparse

from archivebot.archive import ArchiveReader
from archivebot.cli import TIME, ArchiveCommand, print_json, print_table
from archivebot.exceptions import ArchiveError, NotArchived
from archivebot.records import link_record
from archivebot.urls import parse_seed, variants


class Command(ArchiveCommand):
    """Show the links of a page, or the links to it"""

    arguments = "URL"
    explanation = "Links that were removed from their page are shown, too, with the time when last seen."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--to", action="store_true", help="show the links to the URL, archived or not")

    def answer(self, archive: ArchiveReader, args: list[str], opts: argparse.Namespace) -> int:
        url = _resolved(archive, args[0])
        links = list(archive.links_to(url) if opts.to else archive.links_from(url))
        if not links:
            raise NotArchived(
                f"{archive.uri} holds no link {'to' if opts.to else 'of'} {url}"
                + ("" if opts.to else f"; see what links to it with: scrapy links {url} --to")
            )
        if opts.json:
            print_json([link_record(link) for link in links])
            return 0
        head = ["last seen", "role", "kind", "anchor", "page" if opts.to else "links to"]
        print_table(
            head,
            [
                [
                    f"{link.last:{TIME}}",
                    link.role,
                    link.kind,
                    link.anchor,
                    link.source if opts.to else link.target,
                ]
                for link in links
            ],
        )
        return 0

    def failed(self, error: ArchiveError, opts: argparse.Namespace) -> int:
        if opts.json and isinstance(error, NotArchived):
            print_json([])
        return super().failed(error, opts)


def _resolved(archive: ArchiveReader, text: str) -> str:
    """Return the URL that was meant; links may lead to a page that was never fetched."""
    try:
        return archive.resolve(text)
    except NotArchived:
        linked = (url for url in variants(text) if any(archive.links_to(url, limit=1)))
        return next(linked, None) or parse_seed(text)
