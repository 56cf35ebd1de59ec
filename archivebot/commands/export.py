"""scrapy export: captures as WARC, WACZ, CDXJ, JSON lines or HTML."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from archivebot.archive import ArchiveReader
from archivebot.cli import ArchiveCommand, print_json
from archivebot.exceptions import CorruptObject, NotArchived, UsageError
from archivebot.export.files import written
from archivebot.jobs.export import Choices, export_warc
from archivebot.jobs.exported import Exported, Progress
from archivebot.jobs.packages import export_cdxj, export_html, export_jsonl, export_wacz
from archivebot.jobs.selection import Selection
from archivebot.proof.signing import Signer
from archivebot.terminal import STDOUT, note, status, write, write_bytes
from archivebot.timestamps import parse_since, parse_time
from archivebot.topic.relevance import PageScorer
from archivebot.topic.training import profile_of
from archivebot.units import read_size, size
from archivebot.urls import key_range, parse_seed

FORMATS = ("warc", "wacz", "cdxj", "jsonl", "html")

# Other formats that users ask for, and where they are.
_ELSEWHERE = {
    "json": "; jsonl has a JSON document in each line",
    "csv": "; scrapy list --csv, scrapy changes --csv and scrapy crawl -O FILE.csv write CSV",
}

# The defaults of the options of WARC records: --blocks, --size, --revalidated-as.
_PLAIN = ("yes", "1GB", "not-modified")

# Captures between two lines of progress on a terminal.
PROGRESS = 100


class Command(ArchiveCommand):
    """Write captures in a format that other programs read"""

    arguments = f"{'|'.join(FORMATS)} [URL_PREFIX]"
    least, most = 1, 2
    explanation = (
        "Without a prefix or options all captures are written. html takes the URL of one page. The exit code"
        " is 4 if a capture is damaged; the others are written."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--output", metavar="PATH", help="a folder for warc, else a file; - is stdout")
        parser.add_argument("--site", metavar="URL", help="only the pages on this host")
        parser.add_argument("--topic", help="only pages on a topic: its name, or some words")
        parser.add_argument("--from", dest="since", metavar="TIME", help="captured at or after a time, or 7d")
        parser.add_argument("--to", dest="until", metavar="TIME", help="captured at or before a time")
        parser.add_argument(
            "--since-last", action="store_true", help="warc: only captures that the folder does not have"
        )
        parser.add_argument(
            "--blocks", choices=["yes", "no"], default=_PLAIN[0], help="warc, wacz: with the blocks of pages"
        )
        parser.add_argument("--size", default=_PLAIN[1], help="warc, wacz: size of one WARC file")
        parser.add_argument(
            "--revalidated-as",
            choices=["not-modified", "identical"],
            default=_PLAIN[2],
            help="warc, wacz: write a 304 as it was, or as the equal content that it stands for",
        )
        parser.add_argument("--key", metavar="FILE", help="wacz: sign with this private key, in PEM")

    def answer(self, archive: ArchiveReader, args: list[str], opts: argparse.Namespace) -> int:
        form = args[0]
        if form not in FORMATS:
            near = _ELSEWHERE.get(form, "")
            raise UsageError(f"there is no format {form!r}: write one of {', '.join(FORMATS)}{near}")
        _check(form, args, opts)
        result = self._exported(archive, form, args[1:], opts)
        if opts.json:
            print_json(result.record())
        elif result.records or not result.damaged:
            message = f"{result.records} records"
            if form in ("warc", "wacz"):
                message = (
                    f"{result.responses} responses, {result.revisits} revisits, {result.without} without"
                    f" answer, {size(result.bytes)}: {message}"
                )
                message += f"; {result.attached} attachments" if result.attached else ""
                message += f"; {result.pruned} captures are pruned" if result.pruned else ""
            (note if opts.output == STDOUT else write)(message)
        if result.damaged:
            return CorruptObject.exit_code
        return 0 if result.records or opts.since_last else NotArchived.exit_code

    def _exported(
        self, archive: ArchiveReader, form: str, prefix: list[str], opts: argparse.Namespace
    ) -> Exported:
        path, now, progress = Path(opts.output), datetime.now(UTC), Printed()
        if form == "html":
            return export_html(archive, archive.resolve(prefix[0]), path, progress)
        selection = self._selection(prefix, opts, now)
        choices = Choices(
            opts.blocks == "yes", opts.revalidated_as == "identical", read_size("--size", opts.size)
        )
        if form == "warc":
            since = opts.since_last
            return export_warc(archive, path, selection, now, choices, since_last=since, progress=progress)
        if form == "wacz":
            signer = Signer(Path(opts.key)) if opts.key else None
            return export_wacz(archive, path, selection, now, choices, signer, progress)
        result = Exported(files=[] if opts.output == STDOUT else [path.name])
        if form == "cdxj":
            lines: Iterable[str] = export_cdxj(archive, selection, result, progress)
        else:
            records = export_jsonl(archive, selection, result, progress)
            lines = (json.dumps(record, ensure_ascii=False) for record in records)
        result.bytes = _write(lines, opts.output)
        return result

    def _selection(self, prefix: list[str], opts: argparse.Namespace, now: datetime) -> Selection:
        chosen = Selection.below(prefix[0]) if prefix else Selection()
        if opts.site:
            chosen = Selection(*key_range(parse_seed(opts.site), "host"))
        return replace(
            chosen,
            since=parse_since(opts.since, now) if opts.since else None,
            until=parse_time(opts.until) if opts.until else None,
            topic=PageScorer(profile_of(opts.topic, self.topics)) if opts.topic else None,
        )


class Printed(Progress):
    """Prints the progress of an export."""

    def damaged(self, message: str) -> None:
        """Print why a capture is left out."""
        note(f"scrapy export: left out: {message}")

    def written(self, result: Exported) -> None:
        """Show the number of records on a terminal, from time to time."""
        if (result.responses + result.revisits) % PROGRESS == 0:
            status(f"{result.records} records, {size(result.bytes)}")


def _check(form: str, args: list[str], opts: argparse.Namespace) -> None:
    """Check that the options go together; raises UsageError."""
    if not opts.output:
        raise UsageError(f"where to? give --output {'FOLDER' if form == 'warc' else 'FILE'}")
    if opts.output == STDOUT and (form not in ("cdxj", "jsonl") or opts.json):
        raise UsageError("stdout takes either cdxj or jsonl, or the answer of --json: give --output a name")
    if len(args) > 1 and opts.site:
        raise UsageError("a URL prefix and --site both choose pages: give one of them")
    if form == "html" and len(args) == 1:
        raise UsageError("html is the history of one page: write scrapy export html URL")
    if form == "html" and any((opts.site, opts.topic, opts.since, opts.until)):
        raise UsageError("html is the whole history of one page: leave out --site, --topic, --from and --to")
    is_plain = (opts.blocks, opts.size, opts.revalidated_as) == _PLAIN
    if form not in ("warc", "wacz") and not is_plain:
        raise UsageError("--blocks, --size and --revalidated-as go with warc and wacz: leave them out")
    if opts.since_last and form != "warc":
        raise UsageError("--since-last goes with warc: a folder remembers what it has")
    if opts.key and form != "wacz":
        raise UsageError("--key signs a wacz package: leave it out, or export wacz")


def _write(lines: Iterable[str], output: str) -> int:
    """Write lines to a file or to stdout; return the number of bytes."""
    count = 0

    def write(out: BinaryIO) -> None:
        nonlocal count
        for line in lines:
            count += out.write(f"{line}\n".encode("utf-8", "replace"))

    if output != STDOUT:
        written(Path(output), write)
        return count
    for line in lines:
        data = f"{line}\n".encode("utf-8", "replace")
        write_bytes(data)
        count += len(data)
    return count
