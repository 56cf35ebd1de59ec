"""The spider recrawl: what is due is asked for by conditional requests, and nothing else is."""

from __future__ import annotations

import gzip
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from scrapy.utils.test import get_crawler

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.crawl.spider import ArchiveSpider
from archivebot.exceptions import NotArchived, UsageError
from archivebot.jobs.instance import only_instance
from archivebot.models import Link
from spiders.recrawl import RecrawlSpider
from tests.conftest import Crawl
from tests.factories import make_page
from tests.mockserver import MockServer, Reply, html

OFTEN = "100000/minute"  # a page is due again within milliseconds: two crawls may begin in the same second
SELDOM = "1/week"
TEXT = "A tern dives for fish where the tide turns at noon. " * 6


def page(text: str, tag: str) -> Reply:
    body = f"<html><body><p>{TEXT}</p><p>{text}</p><a href=/away>away</a></body></html>".encode()
    return Reply(body, headers=(("ETag", tag), ("Content-Type", "text/html")))


def asked(site: MockServer) -> list[str]:
    return sorted(site.paths())


def test_due_pages_are_visited_by_conditional_requests(tmp_path: Path) -> None:
    routes = {"/": html("/same", "/news"), "/same": page("Nothing new.", '"1"'), "/news": page("Old.", '"2"')}
    with MockServer(routes) as site:
        first = Crawl(tmp_path)(seeds=site.url(), depth=1)
        assert first.code == 0, first.log
        site.routes["/news"] = page("The ferry to the island does not sail.", '"3"')
        site.routes["/same"] = Reply(b"", 304)
        site.asked.clear()
        again = Crawl(tmp_path, "recrawl")(budget=OFTEN)
        assert again.code == 0, again.log
        assert asked(site) == ["/", "/news", "/same"]
        tags = {each.path: each.headers.get("If-None-Match") for each in site.asked}
        assert (tags["/same"], tags["/news"]) == ('"1"', '"2"')
        kinds = {record["url"].removeprefix(site.url("")): record["kind"] for record in again.records}
        assert kinds == {"/": "revisit", "/news": "changed", "/same": "revisit"}


@pytest.mark.long
def test_only_what_is_due_is_visited_and_no_more_than_the_limit(tmp_path: Path) -> None:
    with MockServer({"/": html("/one", "/two"), "/one": html(), "/two": html()}) as site:
        assert Crawl(tmp_path)(seeds=site.url()).code == 0
        site.asked.clear()
        none = Crawl(tmp_path, "recrawl")(budget=SELDOM)
        assert none.code == 0, none.log
        assert asked(site) == []
        assert "archivebot: no page is due: scrapy schedule shows when the next page is\n" in none.log
        assert "0 pages" not in none.log
        assert Crawl(tmp_path, "recrawl")(budget=OFTEN, pages=2).code == 0
        assert len(asked(site)) == 2


def sitemap(site: MockServer, *paths: str, changed: str = "") -> bytes:
    times = f"<lastmod>{changed}</lastmod>" if changed else ""
    urls = "".join(f"<url><loc>{site.url(path)}</loc>{times}</url>" for path in paths)
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'.encode()


def xml(body: bytes) -> Reply:
    return Reply(body, type="application/xml")


def test_new_removed_and_islanded_pages_of_a_site_are_found(tmp_path: Path) -> None:
    with MockServer({"/": html("/old", "/island"), "/old": html(), "/island": page("Alone.", '"1"')}) as site:
        assert Crawl(tmp_path)(seeds=site.url()).code == 0
        site.asked.clear()
        packed = gzip.compress(sitemap(site, "/deep", "http://other.example/"))
        index = f"<sitemapindex><sitemap><loc>{site.url('/more.xml.gz')}</loc></sitemap></sitemapindex>"
        feed = "<rss><channel><item><link>/post</link></item></channel></rss>"
        site.routes |= {
            "/robots.txt": Reply(f"Sitemap: {site.url('/index.xml')}".encode(), type="text/plain"),
            "/index.xml": xml(index.encode()),
            "/more.xml.gz": Reply(packed, type="application/gzip"),
            "/": html("/linked", "/feed"),
            "/feed": Reply(feed.encode(), type="application/rss+xml"),
            "/old": Reply(b"", 410),
            **dict.fromkeys(("/linked", "/deep", "/post"), html()),
        }
        done = Crawl(tmp_path, "recrawl")(budget=OFTEN, discover="yes")
        assert done.code == 0, done.log
        kinds = {record["url"].removeprefix(site.url("")): record["kind"] for record in done.records}
        new = ("/index.xml", "/more.xml.gz", "/feed", "/linked", "/deep", "/post")
        known = {"/": "changed", "/old": "gone", "/island": "revisit", "/sitemap.xml": "not_found"}
        assert kinds == dict.fromkeys(new, "new") | known
        site.asked.clear()
        again = Crawl(tmp_path, "recrawl")(budget=SELDOM, discover="yes")
        assert again.code == 0, again.log
        assert asked(site) == []


def begun(uri: str, **arguments: str) -> ArchiveSpider:
    """Return the spider as a crawl begins with it."""
    crawler = get_crawler(RecrawlSpider, {"ARCHIVE_URI": uri})
    return RecrawlSpider.from_crawler(crawler, budget=OFTEN, discover="yes", **arguments)


DUE = ["http://a.example/", "http://a.example/map", "http://b.example/"]
NEW = ["http://a.example/1", "http://a.example/2"]
MAPS = ["http://a.example/sitemap.xml", "http://b.example/sitemap.xml"]


@pytest.fixture
def archived(tmp_path: Path) -> str:
    """The URI of an archive with three pages that are due, one of them a sitemap that names two new pages."""
    uri = f"sqlite:///{tmp_path}/a.db"
    urls = "".join(f"<url><loc>{url}</loc></url>" for url in NEW)
    with Archive.open(ArchiveConfig(uri=uri)) as archive:
        for url in DUE:
            listed = f"<urlset>{urls}</urlset>".encode()
            kind, body = (
                ("application/xml", listed) if url == DUE[1] else ("text/html", b"<p>" + TEXT.encode())
            )
            archive.add(archive.segment(make_page(body, url=url, headers=(("Content-Type", kind),))))
    return uri


@pytest.mark.parametrize(("limit", "more"), [(2, []), (4, NEW[:1]), (7, NEW + MAPS)])
def test_new_pages_get_only_what_is_left_of_the_limit(archived: str, limit: int, more: list[str]) -> None:
    spider = begun(archived, pages=str(limit))
    seeds = list(spider.arguments.seeds)
    assert set(seeds[:3]) <= set(DUE)
    assert (len(seeds), seeds[3:]) == (min(limit, 3) + len(more), more)
    found = [f"http://a.example/found/{number}" for number in range(limit)]
    followed = [url for url in (*seeds, *found) if spider.is_news(Link(url))]
    assert followed == found[: limit - len(seeds)]
    spider.closed("finished")


def test_the_answer_to_a_post_is_not_visited_by_a_get(archived: str) -> None:
    posted = "http://a.example/find?__wb_method=POST&q=ships"
    with Archive.open(ArchiveConfig(uri=archived)) as archive:
        archive.add(archive.segment(make_page(b"<p>" + TEXT.encode(), url=posted)))
    spider = begun(archived)
    assert set(spider.arguments.seeds) == {*DUE, *NEW, *MAPS}
    spider.closed("finished")


def test_new_pages_have_no_limit_of_their_own(archived: str) -> None:
    spider = begun(archived)
    assert list(spider.arguments.seeds[3:]) == NEW + MAPS
    assert all(spider.is_news(Link(f"http://a.example/found/{number}")) for number in range(100))
    spider.closed("finished")


def test_a_crawl_that_cannot_begin_leaves_no_lock(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path}/none.db"
    with pytest.raises(NotArchived) as kept:  # with its traceback, and with that all that it refers to
        begun(uri)
    with only_instance(uri):
        assert kept.tb


@pytest.mark.long
def test_a_change_that_a_sitemap_states_makes_a_page_due(tmp_path: Path) -> None:
    with MockServer({"/": html("/one", "/two"), "/one": html(), "/two": html()}) as site:
        site.routes["/sitemap.xml"] = xml(sitemap(site, "/one", changed="2001-01-01"))
        crawl = Crawl(tmp_path)
        assert crawl(seeds=f"{site.url()},{site.url('/sitemap.xml')}").code == 0
        time.sleep(1)  # what is stated has whole seconds, and is after the visit
        stated = datetime.now(UTC).isoformat(timespec="seconds")
        site.routes["/sitemap.xml"] = xml(sitemap(site, "/one", "/never", changed=stated))
        assert crawl(seeds=site.url("/sitemap.xml"), scope="page").code == 0
        (due,) = crawl.ask("schedule", "--due", "--budget", SELDOM)
        assert due["url"] == site.url("/one")
        assert due["why"].endswith(f"by {site.url('/sitemap.xml')}")
        site.asked.clear()
        assert Crawl(tmp_path, "recrawl")(budget=SELDOM).code == 0
        assert asked(site) == ["/one"]  # without discover=yes no new page is visited
        assert Crawl(tmp_path, "recrawl")(budget=SELDOM).code == 0
        assert asked(site) == ["/one"]  # the change was seen


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"budget": "many"}, "the budget is 'many'"),
        ({"policy": "best"}, "policy is 'best'"),
        ({"discover": "all"}, "discover is 'all'"),
        ({"seeds": "http://a.example/"}, "unknown argument 'seeds'"),
    ],
)
def test_wrong_arguments_are_refused(tmp_path: Path, arguments: dict[str, str], words: str) -> None:
    done = Crawl(tmp_path, "recrawl")(**arguments)
    assert done.code == UsageError.exit_code
    assert words in done.log


def test_without_an_archive_there_is_nothing_to_visit(tmp_path: Path) -> None:
    done = Crawl(tmp_path, "recrawl")()
    assert done.code == NotArchived.exit_code
    assert "there is no archive" in done.log
