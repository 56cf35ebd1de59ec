"""scrapy list: the spiders, or the pages of the archive, each with its title and its last capture."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain, islice

from scrapy.spiderloader import get_spider_loader

from archivebot.archive import ArchiveReader
from archivebot.cli import TIME, ArchiveCommand, LeftOut, print_csv, print_json, print_table
from archivebot.exceptions import NotArchived, UsageError
from archivebot.jobs.listing import Filter, ListedPage, listed_pages
from archivebot.models import Kind
from archivebot.terminal import PROGRAMS, note, program, status, write
from archivebot.timestamps import iso_time, parse_since
from archivebot.topic.relevance import PageScorer
from archivebot.topic.training import profile_of
from archivebot.units import amount
from archivebot.urls import parse_seed

OPTIONS = ("pages", "json", "csv", "site", "kind", "status", "since", "topic", "requisites")
COLUMNS = ("url", "title", "captured_at", "status", "kind", "versions", "time")


class Command(ArchiveCommand):
    """List the pages of the archive, or without options the spiders, as Scrapy does"""

    least, most = 0, 0
    explanation = "The other options choose pages by their last capture; --pages may then be left out."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--pages", action="store_true", help="list all pages")
        parser.add_argument("--site", metavar="URL", help="only the pages on this host")
        parser.add_argument("--kind", choices=[kind.value for kind in Kind], help="the kind of the capture")
        parser.add_argument("--status", type=int, help="the status of the answer, such as 404")
        parser.add_argument("--since", metavar="TIME", help="captured at or after a time, or in the last 7d")
        parser.add_argument("--topic", help="only pages on a topic: its name, or some words")
        parser.add_argument("--requisites", action="store_true", help="list what pages need, too")
        parser.add_argument("--csv", action="store_true", help="print a row for each page, with commas")

    def work(self, args: list[str], opts: argparse.Namespace) -> int:
        # scrapyd asks for the spiders by this command.
        given = (getattr(opts, name) for name in OPTIONS)
        if any(value is not None and value is not False for value in given):
            return super().work(args, opts)
        write("\n".join(sorted(get_spider_loader(self.settings).list())))
        if program() != PROGRAMS[0]:
            note("these are the spiders; scrapy list --pages lists the pages of the archive")
        return 0

    def answer(self, archive: ArchiveReader, args: list[str], opts: argparse.Namespace) -> int:
        if opts.json and opts.csv:
            raise UsageError("--json and --csv both write to stdout: give one of them")
        if opts.status is not None and not 100 <= opts.status <= 999:
            raise UsageError(f"--status is {opts.status}: give a status of HTTP, such as 404")
        only = Filter(
            Kind(opts.kind) if opts.kind else None,
            opts.status,
            parse_since(opts.since, datetime.now(UTC)) if opts.since is not None else None,
            PageScorer(profile_of(opts.topic, self.topics)) if opts.topic is not None else None,
            opts.requisites,
        )
        left_out = LeftOut()
        site = parse_seed(opts.site) if opts.site is not None else None
        found = _counted(listed_pages(archive, only, left_out, site))
        first = list(islice(found, 1))
        pages = chain(first, found)
        if opts.json:
            print_json([page.record() for page in pages])
        elif opts.csv:
            rows = ([*page.record().values(), iso_time(page.last.captured_at)] for page in pages)
            print_csv(COLUMNS, rows)
        elif first:
            print_table(["captured", "kind", "status", "versions", "page", "title"], map(_row, pages))
        else:
            note(f"{archive.uri} has no such page")
        return left_out.exit_code(0 if first else NotArchived.exit_code)


def _counted(pages: Iterator[ListedPage]) -> Iterator[ListedPage]:
    """Yield pages, and show their number on a terminal as they are read."""
    for number, page in enumerate(pages, 1):
        status(f"{amount(number, 'page')} read")
        yield page
    status("")


def _row(page: ListedPage) -> list[object]:
    last = page.last
    return [f"{last.captured_at:{TIME}}", last.kind, last.status, page.versions, last.url, page.title]
