"""What the parts of a crawl share, found through its crawler."""

from __future__ import annotations

from typing import Self

from scrapy.crawler import Crawler


class Extension:
    """An extension of Scrapy that a crawl cannot do without."""

    @classmethod
    def of(cls, crawler: Crawler) -> Self:
        """Return the one of a crawl; raises RuntimeError if it is switched off."""
        extension = crawler.get_extension(cls)
        if extension is None:
            raise RuntimeError(f"{cls.__name__} is not among the EXTENSIONS")
        return extension
