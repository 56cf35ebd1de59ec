"""Extensions that a crawl cannot do without."""

from __future__ import annotations

import pytest
from scrapy.utils.test import get_crawler

from archivebot.crawl.extension import Extension
from archivebot.crawl.process.session import ArchiveSession
from archivebot.crawl.scheduling.dispatcher import Dispatcher


@pytest.mark.parametrize("extension", [ArchiveSession, Dispatcher])
def test_an_extension_that_is_switched_off_is_named(extension: type[Extension]) -> None:
    with pytest.raises(RuntimeError, match=f"^{extension.__name__} is not among the EXTENSIONS"):
        extension.of(get_crawler())
