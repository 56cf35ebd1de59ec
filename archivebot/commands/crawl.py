"""Runs a spider; an error in its arguments or its archive is one line and an exit code."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path

from scrapy.commands.crawl import Command as CrawlCommand
from scrapy.exceptions import UsageError
from scrapy.settings import SETTINGS_PRIORITIES, Settings

from archivebot.archive import Archive
from archivebot.cli import (
    TIME,
    LeftOut,
    check,
    check_feeds,
    check_log,
    check_options,
    name_in_usage,
    note_unknown,
    run_crawl,
)
from archivebot.config import ArchiveConfig, SearchConfig, WatchConfig
from archivebot.crawl.arguments import EXAMPLE
from archivebot.exceptions import ArchiveError, Conflict, NotArchived, Outdated
from archivebot.exceptions import UsageError as WrongUse
from archivebot.interrupt import INTERRUPTED
from archivebot.jobs.watch import begin, watch
from archivebot.terminal import guard, harmless, note
from archivebot.watch.file import Rules, read_rules


def _check(args: Sequence[str], spiders: Sequence[str]) -> None:
    """Raise an error if the arguments are not the name of one spider."""
    unknown = [arg for arg in args if arg.startswith("-")]
    if unknown:
        raise WrongUse(f"there is no option {unknown[0]}; see scrapy crawl -h")
    if not args:
        raise WrongUse(f"name one spider, {EXAMPLE}")
    if args[0] not in spiders:
        near = get_close_matches(args[0], spiders, 1)
        hint = f"did you mean {near[0]}?" if near else f"the spiders are {', '.join(spiders)}"
        raise WrongUse(f"there is no spider {args[0]!r}: {hint}")
    if len(args) > 1:
        raise WrongUse(f"{args[1]!r} is no argument of a spider: write NAME=VALUE behind -a, {EXAMPLE}")


class Command(CrawlCommand):
    """Scrapy's own ``crawl`` with the exit codes of archivebot's errors."""

    settings: Settings  # which Scrapy gives every command

    def short_desc(self) -> str:
        return "Archive pages with a spider: site, topic, deepweb, query or recrawl"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        guard()  # before anything is printed, also by Scrapy and argparse
        super().add_options(parser)
        name_in_usage(parser)
        parser.add_argument("-v", "--verbose", action="store_true", help="print the log of Scrapy as well")

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print no log line below a warning on the terminal, unless ``--verbose`` is given.

        A log file and the log of a job of scrapyd have all lines. Exits with the code of the error if an
        option or a setting is wrong.
        """
        try:
            check_options(self.settings, opts)
            super().process_options(args, opts)
            check_log(self.settings)
        except UsageError as error:
            note(f"archivebot: {error}")
            sys.exit(WrongUse.exit_code)
        try:
            check(self.settings)  # before Scrapy reads them
            note_unknown()
        except ArchiveError as error:
            self._report(error)
            sys.exit(error.exit_code)
        project = SETTINGS_PRIORITIES["project"]
        is_chosen = (self.settings.getpriority("LOG_LEVEL") or 0) > project
        if not (opts.verbose or is_chosen or self.settings["LOG_FILE"] or "_job" in opts.spargs):
            self.settings.set("LOG_LEVEL", "WARNING", priority="cmdline")
            self.settings.set("LOG_FORMAT", "archivebot: %(message)s", priority="cmdline")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Crawl; the exit code is 2 for wrong arguments, 3 for an unusable archive, 130 if interrupted."""
        assert self.crawler_process is not None
        has_crawled = False
        try:
            _check(args, self.crawler_process.spider_loader.list())
            check_feeds(self.settings)
            config = WatchConfig.from_settings(self.settings)
            rules = read_rules(config.watch) if config.watch else None
            if rules:
                self._begin_watching(rules)
            error_at_end = run_crawl(self.crawler_process, args[0], **opts.spargs)
            has_crawled = True
            if rules:
                self._watch(rules, config)
            if SearchConfig.from_settings(self.settings).search_update:
                from archivebot.commands.index import update_after  # other crawls need no index

                update_after(self.settings)
            if error_at_end:
                raise error_at_end
        except ArchiveError as error:
            self._report(error)
            self.exitcode = error.exit_code
        except KeyboardInterrupt:
            when = "after the crawl" if has_crawled else "before it began: nothing was crawled"
            note(f"archivebot: interrupted {when}")
            self.exitcode = INTERRUPTED

    def _report(self, error: ArchiveError) -> None:
        """Print an error, also into the log file: a service shows the log of a job that could not start."""
        note(f"archivebot: {error}")
        if name := self.settings["LOG_FILE"]:
            line = f"{datetime.now():{TIME}} [archivebot] ERROR: {harmless(str(error))}\n"
            with suppress(OSError), Path(name).open("a", encoding="utf-8") as file:
                file.write(line)

    def _begin_watching(self, rules: Rules) -> None:
        """Note the state of the archive before the first crawl with a rules file, so that it sends alerts.

        A crawl that makes its archive sends none: all its pages are new.
        """
        archive = ArchiveConfig.from_settings(self.settings)
        with suppress(NotArchived, Outdated, Conflict), Archive.reader(archive) as reader:
            begin(reader, archive.uri, rules, LeftOut())

    def _watch(self, rules: Rules, config: WatchConfig) -> None:
        """Send the alerts of a crawl that has ended.

        The crawl does not fail because an alert is not taken, or another run has judged its captures.
        """
        archive = ArchiveConfig.from_settings(self.settings)
        with Archive.reader(archive) as reader:
            try:
                found = watch(reader, archive.uri, rules, config, LeftOut())
            except Conflict as error:
                note(f"scrapy watch: {error}")
                return
        for line in found.lines():
            note(f"scrapy watch: {line}")
