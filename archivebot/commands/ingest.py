"""scrapy ingest: WARC and ARC files through the same stages as a crawl."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from archivebot.archive import Archive
from archivebot.archive.process.readers import Readers
from archivebot.cli import WritingCommand, add_fields_option, print_json
from archivebot.commands.index import update_after
from archivebot.config import CrawlConfig, FrontierConfig
from archivebot.crawl.reading.links import links_of
from archivebot.exceptions import WarcError
from archivebot.garbage import spare_collections
from archivebot.jobs.ingest import Ingested, Progress, ingest
from archivebot.terminal import note, status
from archivebot.units import size
from archivebot.warc import Input, Part, inputs

# Records between two lines of progress on a terminal.
PROGRESS = 100

# Files with fewer bytes in all are analysed in the process that stores them, until a large page comes: other
# processes take time to start.
SMALL = 256 * 1024


class Command(WritingCommand):
    """Put the pages of WARC, ARC and WACZ files into the archive, dated by their records"""

    arguments = "FILE|FOLDER|PATTERN|-..."
    least, most = 1, sys.maxsize
    explanation = (
        "Damage is reported with file and offset, and the exit code is 5. Files may come in any order,"
        " and ingesting a file again adds nothing. ARCHIVE_READERS processes analyse the pages."
    )
    create = True

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_fields_option(parser)

    def change(self, archive: Archive, args: list[str], opts: argparse.Namespace) -> int:
        results: list[Ingested] = []

        def refuse(path: Path, error: WarcError) -> None:
            note(f"scrapy ingest: {error}")
            results.append(Ingested(str(path), error=str(error)))

        with TemporaryDirectory(prefix="archivebot-") as folder:
            paths = inputs(args, Path(folder), refuse)
            results += asyncio.run(self._ingested(archive, paths))
        update_after(self.settings)
        if opts.json:
            print_json({"archive": archive.uri, "files": [result.record() for result in results]})
        return WarcError.exit_code if any(result.damaged or result.error for result in results) else 0

    async def _ingested(self, archive: Archive, paths: Sequence[Input]) -> list[Ingested]:
        """Ingest files with the links of their pages, and print the progress."""
        spare_collections()
        config = CrawlConfig.from_settings(self.settings)
        links = partial(links_of, skip_nofollow=config.obey_meta_robots)
        patience = FrontierConfig.from_settings(self.settings).frontier_patience
        with ExitStack() as stack:

            def start() -> Readers:
                return stack.enter_context(Readers(self.config, config.readers, patience))

            readers = None if config.readers == 1 or _bytes(paths) < SMALL else start()
            return await ingest(archive, paths, links, readers, Printed(paths), start)


class Printed(Progress):
    """Prints the progress of an ingest: the records, their rate and the time that is left."""

    def __init__(self, paths: Sequence[Input]) -> None:
        self._began = monotonic()
        self._total, self._before, self._records = _bytes(paths), 0, 0
        self._sizes = {str(path): _bytes([path]) for path in paths}

    def damaged(self, message: str) -> None:
        """Print a damage with its file and offset."""
        note(message)

    def stored(self, result: Ingested) -> None:
        """Show the number of records on a terminal, from time to time."""
        self._records += 1
        if self._records % PROGRESS == 0:
            passed = max(monotonic() - self._began, 0.001)
            done = max(self._before + result.position, 1)
            left = timedelta(seconds=int(passed * max(self._total - done, 0) / done))
            rate = f"{self._records / passed:.0f}/s, {left} left"
            status(f"{Path(result.file).name}: {result.records} records, {rate}")

    def finished(self, result: Ingested) -> None:
        """Print the counts of a file, and why its reading ended early."""
        self._before += self._sizes[result.file]
        if result.error:
            note(f"scrapy ingest: {result.error}")
        if not result.error or result.kinds or result.known or result.skipped or result.damaged:
            note(_summary(result))


def _bytes(paths: Sequence[Input]) -> int:
    """Return the size of files; those that cannot be read count as empty."""
    found = 0
    for path in paths:
        with suppress(OSError):
            found += path.size if isinstance(path, Part) else os.stat(path).st_size
    return found


def _summary(result: Ingested) -> str:
    kinds = ", ".join(f"{count} {kind}" for kind, count in result.kinds.items()) or "nothing new"
    known = f"; {result.known} were there already" if result.known else ""
    attached = f"; {result.attached.total()} attached" if result.attached else ""
    skipped = f"; {result.skipped.total()} of other types" if result.skipped else ""
    damaged = f"; {len(result.damaged)} damaged" if result.damaged else ""
    return (
        f"{result.file}: {kinds}{known}{attached}{skipped}{damaged};"
        f" {size(result.bytes_fetched)} read, {size(result.bytes_stored)} stored"
    )
