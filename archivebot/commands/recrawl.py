"""scrapy recrawl: visits the pages that are due, once or as a service."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime, timedelta

from archivebot.cli import TIME, ArchiveCommand, print_json
from archivebot.crawl.arguments import RecrawlArguments
from archivebot.exceptions import NotArchived, UsageError
from archivebot.jobs.damage import leave_out
from archivebot.jobs.instance import only_instance
from archivebot.jobs.schedule import schedule
from archivebot.jobs.service import Service
from archivebot.schedule.policy import Policy
from archivebot.terminal import PROGRAMS, flush, note, program
from archivebot.timestamps import timestamp
from archivebot.units import read_seconds

# Exit codes of a round that the next round would only repeat: wrong arguments, no archive.
_FINAL = (NotArchived.exit_code, UsageError.exit_code)

_SHORTEST = 1.0  # seconds between two rounds


class Command(ArchiveCommand):
    """Visit the pages that are due: once, or --forever"""

    least, most = 0, 0
    explanation = (
        "Each round is scrapy crawl recrawl with the same -a arguments. SIGINT or SIGTERM ends the service"
        " after the fetched pages are stored, a second signal at once. An archive has one service at a time."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--forever", action="store_true", help="go on until a signal")
        parser.add_argument(
            "--every",
            default="15m",
            metavar="TIME",
            help="longest pause between two rounds, as 90m or 12h (default: 15m)",
        )
        parser.add_argument(
            "-a",
            dest="spargs",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="an argument of the spider recrawl (may be repeated)",
        )

    def work(self, args: list[str], opts: argparse.Namespace) -> int:
        self._given = RecrawlArguments.parse(dict(map(_pair, opts.spargs)))
        self._longest = float(read_seconds("--every", opts.every))
        self._json = bool(opts.json)
        self.archive().close()  # is there one? An older one is upgraded here
        self._service = Service(self._round(opts))
        self._began = datetime.now(UTC)  # of the round
        if not opts.forever:
            return self._service.run(lambda code: None)
        with only_instance(self.config.uri, "service"):
            code = self._service.run(self._pause)
        if self._service.stopping:
            note("scrapy recrawl: ended by a signal")
            return 0
        return code

    def _round(self, opts: argparse.Namespace) -> list[str]:
        """Return the command of a round."""
        module = "scrapy" if program() == PROGRAMS[0] else "archivebot.program"
        words = [sys.executable, "-m", module, "crawl", "recrawl"]
        if opts.loglevel:
            words += ["--loglevel", opts.loglevel]
        if opts.logfile:
            words += ["--logfile", opts.logfile]
        for name, values in (("-a", opts.spargs), ("-s", opts.set)):
            words += [word for value in values for word in (name, value)]
        return words

    def _pause(self, code: int) -> float | None:
        """Return the seconds until the next round; None after a round that would fail again."""
        if code in _FINAL:
            return None
        now = datetime.now(UTC)
        wait = self._longest if code else min(self._longest, self._until_due(now))
        self._began = now + timedelta(seconds=wait)
        if self._json:
            print_json({"ended": timestamp(now), "exit_code": code, "wait": round(wait, 1)})
            flush()
        else:
            again = f"the next round is in {wait:.0f} s"
            note(f"{now:{TIME}} " + (f"the round failed with exit code {code}; {again}" if code else again))
        return wait

    def _until_due(self, now: datetime) -> float:
        with self.archive() as archive:
            given = self._given
            pages = schedule(archive, given.budget, Policy(given.policy), given.collection, leave_out)
        following = min((page.next for page in pages if page.next), default=None)
        if following is None:
            return self._longest
        if following <= self._began and all(page.last < self._began for page in pages):
            return self._longest  # the pages that are due were all refused, as those at private addresses
        return max((following - now).total_seconds(), _SHORTEST)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"-a {text!r} has no value: write NAME=VALUE")
    return name, value
