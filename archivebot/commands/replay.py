"""scrapy replay: the exact bytes of a page as it was at a time."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from archivebot.archive import Archive
from archivebot.cli import ArchiveCommand, print_json, say
from archivebot.exceptions import UsageError
from archivebot.models import Capture
from archivebot.timestamps import parse_time, timestamp


class Command(ArchiveCommand):
    """Write a page as it was at a time, byte for byte"""

    arguments = "URL"
    explanation = (
        "The capture nearest at or before the time is taken, or the first one; without a time the last."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--at", metavar="TIME", help="14 digits (or fewer), an ISO or an HTTP date")
        parser.add_argument("--output", metavar="FILE", help="write the body there instead of to stdout")
        parser.add_argument("--headers", action="store_true", help="print the recorded headers, not the body")

    def answer(self, archive: Archive, args: list[str], opts: argparse.Namespace) -> int:
        when = parse_time(opts.at) if opts.at else None
        capture = archive.at(archive.resolve(args[0]), when)
        body = archive.body(capture)
        brought = archive.brought(capture)
        if opts.output:
            _write(Path(opts.output), body)
        if opts.json:
            print_json(_record(capture, brought, opts.output))
        elif opts.headers:
            say(_headers(brought))
        elif not opts.output:
            sys.stdout.flush()
            sys.stdout.buffer.write(body)
        if not opts.json:
            version = f", version {capture.number}" if capture.number else ""
            print(f"{capture.url} at {timestamp(capture.captured_at)}{version}", file=sys.stderr)
        return 0


def _write(path: Path, body: bytes) -> None:
    try:
        path.write_bytes(body)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error


def _headers(capture: Capture) -> str:
    lines = [f"HTTP {capture.status}"] if capture.status else []
    return "\n".join([*lines, *(f"{name}: {value}" for name, value in capture.headers)])


def _record(capture: Capture, brought: Capture, output: str | None) -> dict[str, object]:
    return {
        "url": capture.url,
        "captured_at": timestamp(capture.captured_at),
        "status": brought.status,
        "version": capture.number,
        "digest": capture.digest,
        "bytes": capture.size,
        "headers": [list(header) for header in brought.headers],
        "output": output,
    }
