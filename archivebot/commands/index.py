"""scrapy index: the index of words, brought up to date with the archive."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from archivebot.archive import Archive, ArchiveReader
from archivebot.cli import ArchiveCommand, print_json
from archivebot.config import ArchiveConfig, SearchConfig
from archivebot.exceptions import CorruptObject
from archivebot.jobs.indexing import Indexed, IndexProgress, update_index
from archivebot.search import index_path
from archivebot.terminal import note, status, write
from archivebot.units import amount, size


class Command(ArchiveCommand):
    """Bring the index of words up to date, for scrapy search"""

    least, most = 0, 0
    explanation = "Only the pages captured since the last run are read. An interrupted run may be repeated."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--rebuild", action="store_true", help="make the index anew")

    def answer(self, archive: ArchiveReader, args: list[str], opts: argparse.Namespace) -> int:
        path = index_path(self.config, SearchConfig.from_settings(self.settings))
        done = update_index(archive, path, Printed(), rebuild=opts.rebuild)
        for damage in done.damaged:
            note(f"left out: {damage}")
        if opts.json:
            print_json({"index": f"sqlite:///{path}", **done.record()})
        else:
            write(summary(path, done))
        return CorruptObject.exit_code if done.damaged else 0


class Printed(IndexProgress):
    """Prints the progress of a run."""

    def began(self, anew: str) -> None:
        """Print why the index is made anew."""
        if anew:
            note(f"the index is made anew: {anew}")

    def read(self, done: int, pages: int) -> None:
        """Show the number of pages on a terminal."""
        status(f"{done} of {pages} pages")


def update_after(settings: Mapping[str, Any]) -> None:
    """Bring the index up to date after a crawl or an ingest, if ARCHIVE_SEARCH_UPDATE says so."""
    search = SearchConfig.from_settings(settings)
    if search.search_update:
        config = ArchiveConfig.from_settings(settings)
        path = index_path(config, search)
        with Archive.reader(config) as archive:
            note(summary(path, update_index(archive, path, Printed())))


def summary(path: str, done: Indexed) -> str:
    """Return the result of a run as a line."""
    pages, texts = amount(done.pages, "page"), amount(done.texts, "new text")
    return f"sqlite:///{path}: {pages} read, {texts}; {size(done.size)}"
