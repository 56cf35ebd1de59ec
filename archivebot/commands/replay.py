"""scrapy replay: the exact bytes of a page as it was at a time."""

from __future__ import annotations

import argparse
from pathlib import Path

from archivebot.archive import ArchiveReader
from archivebot.cli import ArchiveCommand, note_age, print_json, writing
from archivebot.exceptions import UsageError
from archivebot.markup.media import media_of
from archivebot.models import Capture
from archivebot.records import replay_record
from archivebot.terminal import STDOUT, harmless, is_terminal, note, write, write_bytes
from archivebot.timestamps import parse_time, timestamp
from archivebot.wire import text_lines


class Command(ArchiveCommand):
    """Write a page as it was at a time, byte for byte"""

    arguments = "URL"
    explanation = "Shows the last capture at or before the time, else the first; without a time the last."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--at", metavar="TIME", help="14 digits (or fewer), an ISO or an HTTP date")
        parser.add_argument(
            "--output", metavar="FILE", help="write the body to FILE; - is stdout, the default"
        )
        help_text = "print the original status line and headers, not the body"
        parser.add_argument("--headers", action="store_true", help=help_text)

    def answer(self, archive: ArchiveReader, args: list[str], opts: argparse.Namespace) -> int:
        when = parse_time(opts.at) if opts.at else None
        output = None if opts.output == STDOUT else opts.output
        if opts.output == STDOUT and (opts.json or opts.headers):
            raise UsageError("stdout takes either the body, or the answer of --json or --headers")
        capture = archive.at(archive.resolve(args[0]), when)
        body = archive.body(capture)
        brought = archive.brought(capture)
        since = note_age(archive, capture, when)
        if output:
            with writing(Path(output)):
                Path(output).write_bytes(body)
        if opts.json:
            print_json(replay_record(capture, brought, output, since))
        elif opts.headers:
            write(_headers(brought))
            if brought.wire is None:
                note("what went over the wire was not recorded: these are the headers as they were read")
        elif not output:
            _show(capture.url, *archive.document(capture))
        if not opts.json:
            version = f", version {capture.number}" if capture.number else ""
            note(f"{capture.url} at {timestamp(capture.captured_at)}{version}")
        return 0


def _show(url: str, body: bytes, content_type: str) -> None:
    """Write the bytes to stdout; to a terminal only harmless text."""
    if not is_terminal():
        write_bytes(body)
        return
    media = media_of(body, content_type)
    text = body.decode(media.charset, "replace").removeprefix("\ufeff").replace("\r\n", "\n")
    if not media.is_text or harmless(text) != text:
        kind = media.without_text or "a text with characters that could steer the terminal"
        raise UsageError(f"{url} is {kind}: give --output FILE, or write to a program")
    write(text.removesuffix("\n"))


def _headers(capture: Capture) -> str:
    """Return the original status line and headers, with the trailers after an empty line."""
    if capture.wire:
        lines = text_lines(capture.wire.received) + text_lines(capture.wire.trailers)
        return "\n".join(lines).removesuffix("\n")
    lines = [f"HTTP {capture.status}"] if capture.status else []
    return "\n".join([*lines, *(f"{name}: {value}" for name, value in capture.headers)])
