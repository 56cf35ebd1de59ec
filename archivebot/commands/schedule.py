"""scrapy schedule: how often pages change, and when they are worth the next visit."""

from __future__ import annotations

import argparse

from archivebot.archive import ArchiveReader
from archivebot.cli import TIME, ArchiveCommand, LeftOut, print_json, print_table
from archivebot.exceptions import NotArchived
from archivebot.jobs.schedule import ScheduledPage, days, now, schedule
from archivebot.schedule.budget import read_budget
from archivebot.schedule.policy import Policy
from archivebot.terminal import note


class Command(ArchiveCommand):
    """Show how often pages change, and when they are worth the next visit"""

    arguments = "[URL]"
    least, most = 0, 1
    explanation = (
        "The visits of a budget are divided among all pages, by what their earlier visits saw. A change of"
        " furniture is no change."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--due", action="store_true", help="only pages whose next visit is due")
        parser.add_argument(
            "--budget",
            metavar="N/day",
            help="visits of all pages together, as 500/day or 20/hour; without it one a day for each page",
        )
        parser.add_argument(
            "--policy",
            choices=[policy.value for policy in Policy],
            default=Policy.CHANGES.value,
            help="what the visits are divided by (changes: to see most changes)",
        )

    def answer(self, archive: ArchiveReader, args: list[str], opts: argparse.Namespace) -> int:
        budget = read_budget(opts.budget) if opts.budget else None
        url = archive.resolve(args[0]) if args else None
        time, left_out = now(), LeftOut()
        pages = [
            page
            for page in schedule(archive, budget, Policy(opts.policy), damaged=left_out)
            if url in (None, page.url) and (not opts.due or page.is_due(time))
        ]
        if opts.json:
            print_json([page.record(time) for page in pages])
        elif pages:
            print_table(["next", "interval", "changes", "visits", "a day", "page", "why"], map(_row, pages))
        else:
            note(f"no page of {archive.uri} is due" if opts.due else f"{archive.uri} has no page to visit")
        return left_out.exit_code(0 if pages else NotArchived.exit_code)


def _row(page: ScheduledPage) -> list[object]:
    found = page.estimate
    when = f"{page.next:{TIME}}" if page.next else "never"
    rate = None if page.rate is None else f"{page.rate:.3g}"
    return [when, days(page.interval), found.changes, found.visits, rate, page.url, page.why]
