"""scrapy history: the captures and versions of a page, or the life of one block."""

from __future__ import annotations

import argparse

from archivebot.archive import ArchiveReader
from archivebot.cli import TIME, ArchiveCommand, print_json, print_table
from archivebot.exceptions import ArchiveError, NotArchived, UsageError
from archivebot.models import Capture
from archivebot.records import attachment_record, life_record, page_record
from archivebot.terminal import write
from archivebot.units import size
from archivebot.wire import Attachment


class Command(ArchiveCommand):
    """Show every capture of a page, its attachments, or the life of one of its blocks"""

    arguments = "URL"
    least, most = 0, 1  # --attachments needs no URL
    explanation = (
        "The kinds are new, changed, touched (only furniture changed), revisit (nothing changed), redirect,"
        " gone (no longer there), not_found (never there), failed, excluded and unresolved (a revisit of"
        " bytes that are not in the archive). The bytes of a pruned version were removed by scrapy prune."
        " --attachments lists the metadata, conversion and resource records of WARC files, without a URL all"
        " of them; with --json it has their fields and their content."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--block", metavar="LINEAGE", help="show the contents of this block through time")
        help_text = "list the WARC records that are kept with the captures of a URL, or of another URI"
        parser.add_argument("--attachments", action="store_true", help=help_text)

    def answer(self, archive: ArchiveReader, args: list[str], opts: argparse.Namespace) -> int:
        if opts.attachments:
            return self._attachments(archive, args, opts)
        if not args:
            raise UsageError(f"write: scrapy history {self.syntax()}")
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
            write(f"{state.captured_at:{TIME}}  version {state.version}  {state.topic}".rstrip())
            text = "(not on the page)" if state.text is None else state.text or "(no text)"
            write("\n".join(f"    {line}" for line in text.splitlines()))
        return 0

    def _attachments(self, archive: ArchiveReader, args: list[str], opts: argparse.Namespace) -> int:
        named = archive.attachments.of(_named(archive, args[0])) if args else archive.attachments.all()
        found = list(named)
        if not found:
            raise NotArchived(f"{args[0] if args else archive.uri} has no attachments")
        if opts.json:
            print_json(list(map(attachment_record, found)))
        else:
            print_table(["captured", "type", "content type", "size", "target"], map(_attachment_row, found))
        return 0

    def failed(self, error: ArchiveError, opts: argparse.Namespace) -> int:
        if opts.json and isinstance(error, NotArchived):
            print_json([] if opts.attachments else {"captures": []})
        return super().failed(error, opts)


def _named(archive: ArchiveReader, text: str) -> str:
    """Return the URL, or other URI, whose attachments are meant."""
    return text if archive.attachments.has(text) else archive.resolve(text)


def _attachment_row(attachment: Attachment) -> list[object]:
    return [
        f"{attachment.when:{TIME}}",
        attachment.kind,
        attachment.content_type or "-",
        size(len(attachment.block)),
        attachment.target or attachment.record or attachment.url,
    ]


def _row(capture: Capture) -> list[object]:
    note = capture.location or capture.reason or capture.sha256[:12] or "-"
    return [
        f"{capture.captured_at:{TIME}}",
        capture.kind.value,
        capture.status,
        capture.number,
        capture.block_count,
        capture.new_blocks,
        size(capture.size),
        "pruned" if capture.pruned else size(capture.stored_bytes),
        note,
    ]
