"""scrapy ingest: WARC and ARC files through the same stages as a crawl."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from archivebot.archive import Archive
from archivebot.archive.process.readers import Readers
from archivebot.cli import WritingCommand, add_fields_option, print_json
from archivebot.commands.index import update_after
from archivebot.config import CrawlConfig
from archivebot.crawl.reading.links import links_of
from archivebot.exceptions import WarcError
from archivebot.jobs.ingest import Ingested, Progress, ingest
from archivebot.terminal import note, status
from archivebot.units import size

# Records between two lines of progress on a terminal.
PROGRESS = 100

# Files with fewer bytes in all are analysed in the process that stores them: others take time to start.
SMALL = 256 * 1024


class Command(WritingCommand):
    """Put the pages of WARC and ARC files into the archive, dated by their records"""

    arguments = "FILE..."
    least, most = 1, sys.maxsize
    explanation = (
        "Damage is reported with file and offset, and the exit code is 5. Files may come in any order,"
        " and ingesting a file again adds nothing. ARCHIVE_READERS processes analyse the pages."
    )
    create = True

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_fields_option(parser)

    def change(self, archive: Archive, args: list[str], opts: argparse.Namespace) -> int:
        paths = list(map(Path, args))
        results = asyncio.run(self._ingested(archive, paths))
        update_after(self.settings or {})
        if opts.json:
            print_json({"archive": archive.uri, "files": [result.record() for result in results]})
        return WarcError.exit_code if any(result.damaged or result.error for result in results) else 0

    async def _ingested(self, archive: Archive, paths: Sequence[Path]) -> list[Ingested]:
        """Ingest files with the links of their pages, and print the progress."""
        config = CrawlConfig.from_settings(self.settings or {})
        links = partial(links_of, skip_nofollow=config.obey_meta_robots)
        if config.readers == 1 or _bytes(paths) < SMALL:
            return await ingest(archive, paths, links, None, Printed())
        with Readers(self.config, config.readers) as readers:
            return await ingest(archive, paths, links, readers, Printed())


class Printed(Progress):
    """Prints the progress of an ingest."""

    def damaged(self, message: str) -> None:
        """Print a damage with its file and offset."""
        note(message)

    def stored(self, result: Ingested) -> None:
        """Show the number of records on a terminal, from time to time."""
        if result.records % PROGRESS == 0:
            status(f"{Path(result.file).name}: {result.records} records")

    def finished(self, result: Ingested) -> None:
        """Print the counts of a file, and why its reading ended early."""
        if result.error:
            note(f"scrapy ingest: {result.error}")
        note(_summary(result))


def _bytes(paths: Sequence[Path]) -> int:
    """Return the size of files; those that cannot be read count as empty."""
    found = 0
    for path in paths:
        with suppress(OSError):
            found += os.stat(path).st_size
    return found


def _summary(result: Ingested) -> str:
    kinds = ", ".join(f"{count} {kind}" for kind, count in result.kinds.items()) or "nothing new"
    known = f"; {result.known} were there already" if result.known else ""
    damaged = f"; {len(result.damaged)} damaged" if result.damaged else ""
    return (
        f"{result.file}: {kinds}{known}{damaged};"
        f" {size(result.bytes_fetched)} read, {size(result.bytes_stored)} stored"
    )
