"""scrapy ingest: WARC and ARC files through the same stages as a crawl."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

from archivebot.archive import Archive
from archivebot.cli import WritingCommand, add_fields_option, print_json
from archivebot.config import CrawlConfig
from archivebot.crawl.reading.links import links_of
from archivebot.exceptions import WarcError
from archivebot.jobs.ingest import Ingested, LinksOf, by_date, ingest
from archivebot.terminal import note, status
from archivebot.units import size

# Records between two lines of progress on a terminal.
PROGRESS = 100


class Command(WritingCommand):
    """Put the pages of WARC and ARC files into the archive, dated by their records"""

    arguments = "FILE..."
    least, most = 1, sys.maxsize
    explanation = (
        "Damage is reported with file and offset, and the exit code is 5. Files may come in any order,"
        " and ingesting a file again adds nothing."
    )
    create = True

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_fields_option(parser)

    def change(self, archive: Archive, args: list[str], opts: argparse.Namespace) -> int:
        paths = list(map(Path, args))
        obeys = CrawlConfig.from_settings(self.settings or {}).obey_meta_robots
        links = partial(links_of, archive, skip_nofollow=obeys)
        done = {index: _file(archive, paths[index], links) for index in by_date(paths)}
        results = [done[index] for index in range(len(paths))]
        if opts.json:
            print_json({"archive": archive.uri, "files": [result.record() for result in results]})
        return WarcError.exit_code if any(result.damaged or result.error for result in results) else 0


def _file(archive: Archive, path: Path, links: LinksOf) -> Ingested:
    """Ingest a file with the links of its pages, and print the progress."""

    def done(number: int) -> None:
        if number % PROGRESS == 0:
            status(f"{path.name}: {number} records")

    result = ingest(archive, path, lambda damage: note(str(damage)), done, links)
    if result.error:
        note(f"scrapy ingest: {result.error}")
    note(_summary(result))
    return result


def _summary(result: Ingested) -> str:
    kinds = ", ".join(f"{count} {kind}" for kind, count in result.kinds.items()) or "nothing new"
    known = f"; {result.known} were there already" if result.known else ""
    damaged = f"; {len(result.damaged)} damaged" if result.damaged else ""
    return (
        f"{result.file}: {kinds}{known}{damaged};"
        f" {size(result.bytes_fetched)} read, {size(result.bytes_stored)} stored"
    )
