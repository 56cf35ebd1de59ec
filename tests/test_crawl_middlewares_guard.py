"""The guard: links, redirects and requests from elsewhere pass the same rules."""

from pathlib import Path
from typing import Any

import pytest
from scrapy import Request
from scrapy.extension import ExtensionManager
from scrapy.utils.test import get_crawler

from archivebot.crawl.middlewares.guard import GuardDownloaderMiddleware, GuardSpiderMiddleware
from archivebot.crawl.refusals import Refused
from archivebot.crawl.scheduling.dispatcher import Dispatcher
from spiders.site import SiteSpider
from tests.conftest import Crawl
from tests.mockserver import MockServer, html, redirect


@pytest.fixture
def crawler(tmp_path: Path) -> Any:
    settings = {"ARCHIVE_URI": f"sqlite:///{tmp_path}/a.db", "ARCHIVE_LEASE_SECONDS": 60}
    crawler: Any = get_crawler(SiteSpider, settings)
    crawler.spider = SiteSpider(seeds="http://a.example/")
    crawler.extensions = ExtensionManager(Dispatcher.from_crawler(crawler), crawler=crawler)
    return crawler


def test_requests_from_elsewhere_are_stopped_before_the_download(crawler: Any) -> None:
    guard = GuardDownloaderMiddleware.from_crawler(crawler)
    guard.process_request(Request("http://a.example/x"))
    with pytest.raises(Refused):
        guard.process_request(Request("http://b.example/x"))


def test_links_are_dropped_and_items_pass(crawler: Any) -> None:
    guard = GuardSpiderMiddleware.from_crawler(crawler)
    kept, dropped = Request("http://a.example/x"), Request("http://b.example/x")
    assert list(guard.process_spider_output(None, [kept, dropped, "item"])) == [kept, "item"]
    assert crawler.stats.get_value("guard/other_host") == 1


@pytest.mark.parametrize("url", ["ftp://a.example/x", "http://a.example/" + "x" * 3000])
def test_schemes_and_lengths(crawler: Any, url: str) -> None:
    with pytest.raises(Refused):
        GuardDownloaderMiddleware.from_crawler(crawler).process_request(Request(url))


@pytest.mark.parametrize("meta", [{"archive_seed": True}, {"archive_robots": True}])
def test_seeds_and_robots_txt_pass(crawler: Any, meta: dict[str, Any]) -> None:
    GuardDownloaderMiddleware.from_crawler(crawler).process_request(Request("http://b.example/", meta=meta))


def test_links_and_redirects_that_leave_the_scope_are_not_fetched(site: MockServer, crawl: Crawl) -> None:
    with MockServer({"/": html(), "/x": html()}) as other:
        site.routes |= {"/": html("/away", other.url("/x")), "/away": redirect(other.url("/"))}
        crawled = crawl(seeds=site.url())
    assert other.asked == []
    assert crawled.of(site.url("/away"))["location"] == other.url("/")
    assert crawled.stat("guard/other_host") == 2


def test_a_seed_that_leads_elsewhere_says_what_to_do(site: MockServer, crawl: Crawl) -> None:
    site.routes["/"] = redirect("http://other.example/home")
    assert "add http://other.example/home to the seeds" in crawl(seeds=site.url()).log


def test_a_trap_is_left_alone(site: MockServer, crawl: Crawl) -> None:
    deeper = "/".join(["", "a", "b"] * 12)
    site.routes |= {"/": html(deeper, "/fine"), "/fine": html()}
    crawl(seeds=site.url())
    assert site.paths() == ["/", "/fine"]


def test_scopes(site: MockServer, crawl: Crawl) -> None:
    site.routes |= {"/docs/": html("/docs/a", "/other"), "/docs/a": html(), "/other": html()}
    crawl(seeds=site.url("/docs/"), scope="prefix")
    assert site.paths() == ["/docs/", "/docs/a"]
    site.asked.clear()
    crawl(seeds=site.url("/docs/"), scope="page")
    assert site.paths() == ["/docs/"]
