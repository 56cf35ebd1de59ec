"""Conditional requests: what did not change costs no body, and its links are followed all the same."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.settings import EXTENSIONS
from tests.conftest import Crawl
from tests.factories import make_page
from tests.mockserver import Asked, MockServer, Reply, html, markup

MODIFIED = "Fri, 02 Jan 2026 03:04:05 GMT"


def tagged(body: bytes, tag: str) -> Callable[[Asked], Reply]:
    def answer(asked: Asked) -> Reply:
        if asked.headers.get("If-None-Match") == tag:
            return Reply(status=304, headers=(("ETag", tag),))
        return Reply(body, headers=(("ETag", tag), ("Last-Modified", MODIFIED)))

    return answer


def test_a_second_crawl_sees_revisits_and_versions(site: MockServer, crawl: Crawl) -> None:
    site.routes |= {"/": tagged(markup(["/a", "/b"]), '"1"'), "/a": html(text="first"), "/b": html()}
    first = crawl(seeds=site.url())
    assert [record["kind"] for record in first.records] == ["new"] * 3
    assert "If-None-Match" not in site.asked[1].headers

    site.routes["/a"] = html(text="second")
    site.asked.clear()
    second = crawl(seeds=site.url())
    kinds = {record["url"].removeprefix(site.url()): record["kind"] for record in second.records}
    assert kinds == {"": "revisit", "a": "changed", "b": "revisit"}
    home = second.of(site.url())
    assert (home["status"], home["outcome"], home["version"]) == (304, "not_modified", 1)
    assert home["digest"] == first.of(site.url())["digest"]
    asked = next(asked for asked in site.asked if asked.path == "/")
    assert (asked.headers["If-None-Match"], asked.headers["If-Modified-Since"]) == ('"1"', MODIFIED)
    assert second.of(site.url("/a"))["version"] == 2


def test_what_a_clock_that_was_ahead_captured_is_not_asked_for(site: MockServer, crawl: Crawl) -> None:
    bodies = {tag: markup([], text) for tag, text in (('"1"', "The tide is low."), ('"2"', "It is high."))}
    with Archive.open(ArchiveConfig(uri=crawl.uri)) as archive:
        for day, (tag, body) in zip((0, 36_500), bodies.items(), strict=True):
            headers = (("Content-Type", "text/html"), ("ETag", tag))
            archive.add(archive.segment(make_page(body, day, url=site.url(), headers=headers)))
    site.routes["/"] = tagged(bodies['"2"'], '"2"')
    done = crawl(seeds=site.url()).of(site.url())
    assert (done["kind"], done["version"]) == ("changed", 2)


@pytest.mark.long
def test_unchanged_pages_are_asked_for_again_when_the_process_of_the_archive_was_killed(
    site: MockServer, crawl: Crawl
) -> None:
    links = [f"/{number}" for number in range(6)]
    site.routes |= {path: tagged(markup(links), f'"{path}"') for path in ("/", *links)}
    crawl(seeds=site.url())
    extensions = json.dumps(EXTENSIONS | {"tests.probes.KilledByRevisit": 99})
    killed = crawl("-s", f"EXTENSIONS={extensions}", seeds=site.url())
    assert killed.code == 3
    assert crawl.ask("frontier")["states"]["failed"] == 0
    again = crawl(seeds=site.url())
    assert (again.code, {record["kind"] for record in again.records}) == (0, {"revisit"})
    assert len(again.records) == 1 + len(links)


def test_it_can_be_switched_off(site: MockServer, crawl: Crawl) -> None:
    site.routes["/"] = tagged(markup([]), '"1"')
    crawl(seeds=site.url())
    again = crawl("-s", "ARCHIVE_CONDITIONAL=0", seeds=site.url())
    assert (again.of(site.url())["status"], again.of(site.url())["kind"]) == (200, "revisit")


def test_a_304_that_nobody_asked_for_is_recorded(site: MockServer, crawl: Crawl) -> None:
    site.routes["/"] = Reply(status=304)
    record = crawl(seeds=site.url()).of(site.url())
    assert (record["status"], record["outcome"], record["version"]) == (304, "not_modified", None)


@pytest.mark.long
def test_links_of_an_unchanged_page_are_followed_on_every_later_crawl(site: MockServer, crawl: Crawl) -> None:
    def front(asked: Asked) -> Reply:
        if asked.headers.get("If-None-Match") == '"1"':
            return Reply(status=304, type="")
        return Reply(b"<title>t</title><p><a href=/b>b</a>", headers=(("ETag", '"1"'),))

    site.routes |= {"/": front, "/b": Reply(b"<p>b</p>")}
    for _ in range(4):
        urls = {record["url"] for record in crawl(seeds=site.url()).records}
        assert urls == {site.url("/"), site.url("/b")}


def test_the_archived_links_of_an_unchanged_page_are_seen_again(site: MockServer, crawl: Crawl) -> None:
    site.routes |= {"/": tagged(markup(["/a", "/b"]), '"1"'), "/a": html(), "/b": html()}
    for _ in range(3):
        records = crawl(seeds=site.url()).records
        assert {record["url"] for record in records} == {site.url(path) for path in ("/", "/a", "/b")}
    with Archive.reader(ArchiveConfig(crawl.uri)) as archive:
        front, edges = archive.captures(site.url()), list(archive.links_from(site.url()))
    assert {edge.target for edge in edges} == {site.url("/a"), site.url("/b")}
    assert {(edge.first, edge.last) for edge in edges} == {(front[0].captured_at, front[-1].captured_at)}
    assert [capture.links for capture in front] == [2, 2, 2]


@pytest.mark.parametrize(
    "forbidden",
    [
        b"<meta name=robots content='noimageindex, nofollow'><p><a href=/b>b</a>",
        b"<meta name=robots content=non&#101;><p><a href=/b>b</a>",
        b"<p><a rel='author nofollow' href=/b>b</a>",
    ],
)
def test_what_forbids_to_follow_a_link_still_counts_when_the_page_is_unchanged(
    site: MockServer, crawl: Crawl, forbidden: bytes
) -> None:
    site.routes |= {"/": tagged(forbidden, '"1"'), "/b": html()}
    bold = crawl("-s", "ARCHIVE_OBEY_META_ROBOTS=0", seeds=site.url())
    assert site.url("/b") in {record["url"] for record in bold.records}
    again = crawl(seeds=site.url())
    assert [(record["url"], record["status"]) for record in again.records] == [(site.url(), 304)]


def test_what_the_archive_can_no_longer_read_is_fetched_anew(site: MockServer, crawl: Crawl) -> None:
    site.routes |= {"/": tagged(b"<p>front <a href=/b>b</a></p>", '"1"'), "/b": Reply(b"<p>b</p>")}
    crawl(seeds=site.url())
    with closing(sqlite3.connect(crawl.folder / "archive.db")) as database, database:
        database.execute("UPDATE frame SET data = x'00'")
    again = crawl(seeds=site.url())
    assert {record["url"]: record["status"] for record in again.records} == {
        site.url("/"): 200,
        site.url("/b"): 200,
    }
    assert "is damaged" in again.log
