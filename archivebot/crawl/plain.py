"""Spiders that are not of archivebot: they run with the components of Scrapy, and store nothing."""

from __future__ import annotations

from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings, default_settings

from archivebot.crawl.spider import ArchiveSpider

COMPONENTS = (
    "DOWNLOADER",
    "DOWNLOADER_MIDDLEWARES",
    "DOWNLOADER_MIDDLEWARES_BASE",
    "DOWNLOAD_HANDLERS",
    "EXTENSIONS",
    "FEED_EXPORTERS",
    "ITEM_PIPELINES",
    "SCHEDULER",
    "SPIDER_MIDDLEWARES",
    "SPIDER_MIDDLEWARES_BASE",
)


class PlainSpiders:
    """The add-on for spiders without an archive, such as that of ``scrapy shell`` and ``scrapy fetch``.

    The project's settings for politeness and identity hold for them, too.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._is_plain = not issubclass(crawler.spidercls, ArchiveSpider)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> PlainSpiders:
        return cls(crawler)

    def update_settings(self, settings: BaseSettings) -> None:
        """Take Scrapy's own components, except for those that the command line names."""
        if self._is_plain:
            for name in COMPONENTS:
                settings.set(name, getattr(default_settings, name), priority="project")
