"""The base of extensions that other parts of a crawl find through its crawler."""

from __future__ import annotations

from typing import Self

from scrapy.crawler import Crawler


class Extension:
    """A Scrapy extension that every crawl needs."""

    @classmethod
    def of(cls, crawler: Crawler) -> Self:
        """Return the instance of a crawl; raises RuntimeError if it is switched off."""
        extension = crawler.get_extension(cls)
        if extension is None:
            raise RuntimeError(f"{cls.__name__} is not among the EXTENSIONS")
        return extension
