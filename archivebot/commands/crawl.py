"""Runs a spider; an error in its arguments or its archive is one line and an exit code."""

from __future__ import annotations

import argparse

from scrapy.commands.crawl import Command as CrawlCommand
from scrapy.exceptions import UsageError

from archivebot.cli import run_crawl
from archivebot.exceptions import ArchiveError
from archivebot.terminal import guard, note


class Command(CrawlCommand):
    """Scrapy's own ``crawl`` with the exit codes of archivebot's errors."""

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        guard()  # before anything is printed, also by Scrapy and argparse
        super().add_options(parser)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Crawl; the exit code is 2 for wrong arguments, 3 for an archive that cannot be used."""
        if len(args) != 1:
            raise UsageError("name one spider, for example: scrapy crawl site -a seeds=https://example.org/")
        assert self.crawler_process is not None
        spiders = self.crawler_process.spider_loader.list()
        if args[0] not in spiders:
            raise UsageError(f"there is no spider {args[0]!r}; the spiders are: {', '.join(spiders)}")
        try:
            run_crawl(self.crawler_process, args[0], **opts.spargs)
        except ArchiveError as error:
            note(f"archivebot: {error}")
            self.exitcode = error.exit_code
