"""scrapy changes: what happened to the pages of the archive since a time."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence

from archivebot.archive import ArchiveReader
from archivebot.cli import TIME, ArchiveCommand, LeftOut, print_csv, print_json, print_table
from archivebot.exceptions import NotArchived, UsageError
from archivebot.frontier import chosen_uri
from archivebot.jobs.changes import ChangedPage, changed_pages
from archivebot.jobs.frontier import LAST, since_of
from archivebot.models import SiteChange
from archivebot.terminal import note, write
from archivebot.timestamps import iso_time
from archivebot.urls import host_of, parse_seed

COLUMNS = ("url", "kind", "from", "to", "captured_at", "reason", "group", "time")


class Command(ArchiveCommand):
    """Show the pages that are new, changed, touched, gone, moved or back"""

    least, most = 0, 0
    explanation = "Pages of one site with the same change are shown as one row."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--since",
            default=LAST,
            metavar="TIME",
            help="a time, a duration before now (7d, 12h), or last: the begin of the last crawl (default)",
        )
        parser.add_argument("--site", metavar="URL", help="only the pages on this host")
        parser.add_argument(
            "--content-only", action="store_true", help="without pages whose furniture alone changed"
        )
        parser.add_argument("--csv", action="store_true", help="print a row for each page, with commas")

    def answer(self, archive: ArchiveReader, args: list[str], opts: argparse.Namespace) -> int:
        if opts.json and opts.csv:
            raise UsageError("--json and --csv both write to stdout: give one of them")
        since = since_of(opts.since, chosen_uri(self.settings))
        site = parse_seed(opts.site) if opts.site else None
        left_out = LeftOut()
        pages = changed_pages(archive, since, site, content_only=opts.content_only, damaged=left_out)
        if opts.json:
            print_json([page.record() for page in pages])
        elif opts.csv:
            print_csv(COLUMNS, ([*page.record().values(), iso_time(page.captured_at)] for page in pages))
        elif pages:
            _print(pages)
        elif site and next(archive.pages(site=site), None) is None:
            note(f"{archive.uri} has no page of {host_of(site)}")
        else:
            further = "; --since 30d looks further back" if opts.since == LAST else ""
            note(f"no page of {archive.uri} changed since {since:{TIME}}{further}")
        return left_out.exit_code(0 if pages else NotArchived.exit_code)


def _print(pages: Sequence[ChangedPage]) -> None:
    by_host: dict[str, list[ChangedPage]] = {}  # pages are sorted by urlkeys, which do not tell www apart
    for page in pages:
        by_host.setdefault(host_of(page.url), []).append(page)
    for host, of_site in by_host.items():
        counts = Counter(page.kind for page in of_site)
        write(f"{host}: " + ", ".join(f"{counts[kind]} {kind}" for kind in SiteChange if counts[kind]))
        print_table(["kind", "from", "to", "captured", "page", "reason"], _rows(of_site))


def _rows(pages: Sequence[ChangedPage]) -> Iterator[list[object]]:
    """Yield a row for each page, by kind; the pages of a group have one row."""
    groups = Counter(page.group for page in pages if page.group)
    order = list(SiteChange)
    for page in sorted(pages, key=lambda page: order.index(page.kind)):
        others = groups.pop(page.group, 0) - 1 if page.group else 0
        if others < 0:  # the row of its group is printed
            continue
        name = f"{page.url} and {others} more" if others else page.url
        when = f"{page.captured_at:{TIME}}"
        yield [page.kind, page.before, page.after, when, name, page.reason]
