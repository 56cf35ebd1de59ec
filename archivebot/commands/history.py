"""scrapy history: the captures and versions of a page, or the life of one block."""

from __future__ import annotations

import argparse

from archivebot.archive import ArchiveReader
from archivebot.cli import ArchiveCommand, print_json, print_table
from archivebot.exceptions import ArchiveError, NotArchived
from archivebot.models import Capture
from archivebot.records import life_record, page_record
from archivebot.terminal import write
from archivebot.units import size


class Command(ArchiveCommand):
    """Show every capture of a page, or the life of one of its blocks"""

    arguments = "URL"
    explanation = (
        "The kinds are new, changed, touched (only furniture changed), revisit (nothing changed), redirect,"
        " gone (no longer there), not_found (never there), failed, excluded and unresolved (a revisit of"
        " bytes that are not in the archive). The bytes of a pruned version were removed by scrapy prune."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--block", metavar="LINEAGE", help="show the contents of this block through time")

    def answer(self, archive: ArchiveReader, args: list[str], opts: argparse.Namespace) -> int:
        url = archive.resolve(args[0])
        if opts.block:
            return self._block(archive, url, opts)
        captures = archive.captures(url)
        if opts.json:
            print_json(page_record(url, captures, archive.gone_since(url)))
            return 0
        write(url)
        head = ["captured", "kind", "status", "version", "blocks", "new", "size", "stored", "digest"]
        print_table(head, map(_row, captures))
        return 0

    def _block(self, archive: ArchiveReader, url: str, opts: argparse.Namespace) -> int:
        states = archive.block_history(url, opts.block)
        if opts.json:
            print_json(life_record(url, opts.block, states))
            return 0
        for state in states:
            write(f"{state.captured_at:%Y-%m-%d %H:%M:%S}  version {state.version}  {state.topic}".rstrip())
            text = "(not on the page)" if state.text is None else state.text or "(no text)"
            write("\n".join(f"    {line}" for line in text.splitlines()))
        return 0

    def failed(self, error: ArchiveError, opts: argparse.Namespace) -> int:
        if opts.json and isinstance(error, NotArchived):
            print_json({"captures": []})
        return super().failed(error, opts)


def _row(capture: Capture) -> list[object]:
    note = capture.location or capture.reason or capture.sha256[:12] or "-"
    return [
        f"{capture.captured_at:%Y-%m-%d %H:%M:%S}",
        capture.kind.value,
        capture.status,
        capture.number,
        capture.block_count,
        capture.new_blocks,
        size(capture.size),
        "pruned" if capture.pruned else size(capture.stored_bytes),
        note,
    ]
