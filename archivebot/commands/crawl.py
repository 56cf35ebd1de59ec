"""Run a spider; what is wrong with its arguments or its archive is one line and an exit code."""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
from collections.abc import Awaitable

from scrapy.commands.crawl import Command as CrawlCommand
from scrapy.crawler import Crawler
from scrapy.exceptions import UsageError

from archivebot.exceptions import ArchiveError, StorageError

logger = logging.getLogger(__name__)


class Command(CrawlCommand):
    """Scrapy's own ``crawl`` with the exit codes of archivebot's errors."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Crawl; exit code 2 says wrong arguments, 3 an archive that cannot be used."""
        if len(args) != 1:
            raise UsageError("name one spider, for example: scrapy crawl site -a seeds=https://example.org/")
        assert self.crawler_process is not None
        spiders = self.crawler_process.spider_loader.list()
        if args[0] not in spiders:
            raise UsageError(f"there is no spider {args[0]!r}; the spiders are: {', '.join(spiders)}")
        crawler = self.crawler_process.create_crawler(args[0])
        crawl = self.crawler_process.crawl(crawler, **opts.spargs)
        self.crawler_process.start()
        self.exitcode = self._exit_code(crawl, crawler)

    def _exit_code(self, crawl: Awaitable[None], crawler: Crawler) -> int:
        error = crawl.exception() if isinstance(crawl, asyncio.Task) and crawl.done() else None
        if isinstance(error, ArchiveError):
            print(f"archivebot: {error}", file=sys.stderr)
            return error.exit_code
        assert self.crawler_process is not None
        if self.crawler_process.bootstrap_failed:
            logger.error("The crawl could not start", exc_info=error)
            return 1
        broken = crawler.stats.get_value("finish_reason") == "storage_error"
        return StorageError.exit_code if broken else 0
