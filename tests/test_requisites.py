"""Crawls with ``requisites=yes``: what pages load is archived, within budgets, and once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.jobs.activity import events
from archivebot.markup.page import ParsedPage
from archivebot.replay.requisites import page_requisites
from tests.conftest import Crawl, Crawled
from tests.mockserver import Asked, MockServer, Reply, html, markup, redirect, robots
from tests.servers import mongo_server, mongo_uri

__all__ = ["mongo_server", "mongo_uri"]

ANYWHERE = ("-s", "ARCHIVE_PRIVATE_ADDRESSES=1")
PNG = Reply(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8, type="image/png")


def sheet(text: str, *headers: tuple[str, str]) -> Reply:
    return Reply(text.encode(), type="text/css", headers=headers)


def loads(*urls: str, links: tuple[str, ...] = ()) -> Reply:
    """A page that shows pictures."""
    return html(*links, text="".join(f'<img src="{url}">' for url in urls))


@pytest.fixture
def other() -> Iterator[MockServer]:
    with MockServer(host="127.0.0.2") as server:
        yield server


def kinds(done: Crawled, origin: str = "requisite") -> dict[str, Any]:
    """The kind of each capture of an origin, by the path of its URL."""
    assert done.code == 0, done.log
    found = [record for record in done.records if record["origin"] == origin]
    return {record["url"].partition("//")[2].partition("/")[2]: record["kind"] for record in found}


def rejected(crawl: Crawl, url: str) -> str:
    return str(crawl.ask("explain", url)["reason"])


def test_all_that_a_page_loads_is_archived_also_from_another_host(
    site: MockServer, other: MockServer, crawl: Crawl
) -> None:
    head = f"<link rel=stylesheet href=/a.css><link rel=icon href=/i.ico><script src={other.url('/s.js')}>"
    site.routes |= {
        "/": html(
            "/b", head=f"{head}</script>", text="<img srcset='/1.png 1x, /2.png 2x' style='mask:url(/m)'>"
        ),
        "/b": loads("/1.png"),
        "/a.css": sheet(f"@import 'b.css'; @font-face {{ src: url({other.url('/f.woff2')}) }}"),
        "/b.css": sheet("@import 'a.css'; p { background: url(d.svg) }"),
        "/d.svg": Reply(
            b"<svg xmlns='http://www.w3.org/2000/svg'><image href='/e.png'/></svg>", type="image/svg+xml"
        ),
        **dict.fromkeys(("/1.png", "/2.png", "/i.ico", "/m", "/e.png"), PNG),
    }
    other.routes |= {
        "/s.js": Reply(b"1", type="text/javascript"),
        "/f.woff2": Reply(b"wOF2", type="font/woff2"),
    }
    done = crawl(*ANYWHERE, seeds=site.url(), requisites="yes")
    names = "a.css b.css d.svg i.ico 1.png 2.png m e.png s.js f.woff2".split()
    assert kinds(done) == dict.fromkeys(names, "new")
    assert kinds(done, "crawl") == {"": "new", "b": "new"}
    assert "2 pages" in done.log
    assert "10 requisites (" in done.log
    asked = [*site.paths(), *other.paths()]
    assert len(asked) == len(set(asked)) == 12
    assert {asked.headers["Accept"] for asked in site.asked if asked.path == "/1.png"} == {"*/*"}
    copies = [record["stored_bytes"] for record in done.records if record["size"] == len(PNG.body)]
    assert len(copies) == 5
    assert sum(size > 100 for size in copies) == 1  # one body once
    with closing(Archive.open(ArchiveConfig(uri=crawl.uri))) as archive:
        for path in ("/1.png", "/2.png", "/m"):
            assert archive.body(archive.captures(site.url(path))[0]) == PNG.body
    assert crawl.ask("verify") == {"checked": 12, "pruned": 0, "damaged": []}
    assert not any(record["blocks"]["items"] for record in done.records if record["origin"] == "requisite")


def test_without_the_argument_nothing_else_is_fetched(site: MockServer, crawl: Crawl) -> None:
    site.routes |= {"/": loads("/1.png")}
    done = crawl(seeds=site.url())
    assert site.paths() == ["/"]
    assert "requisites" not in done.log


@pytest.mark.long
def test_each_outcome_is_recorded(site: MockServer, other: MockServer, crawl: Crawl) -> None:
    site.routes |= {
        "/": loads(
            "/none.png", "/moved.png", "/slow.png", "/huge.png", "/loop.png", other.url("/denied.png")
        ),
        "/moved.png": redirect(other.url("/new.png")),
        "/slow.png": Reply(b"late", delay=3),
        "/huge.png": Reply(bytes(9000), type="image/png"),
        "/loop.png": redirect("/loop.png"),
    }
    other.routes |= {"/new.png": PNG, "/robots.txt": robots("User-agent: *\nDisallow: /denied")}
    limits = ("-s", "ARCHIVE_REQUISITES_PAGE_BYTES=8000", "-s", "DOWNLOAD_TIMEOUT=1", "-s", "RETRY_TIMES=0")
    done = crawl(*ANYWHERE, *limits, seeds=site.url(), requisites="yes")
    outcomes = {record["url"].rpartition("/")[2]: record["outcome"] for record in done.records}
    assert outcomes == {
        "": "fetched",
        "none.png": "not_found",
        "moved.png": "redirect",
        "new.png": "fetched",
        "slow.png": "timeout",
        "huge.png": "too_large",
        "loop.png": "redirect",
        "denied.png": "robots_denied",
    }
    assert "/denied.png" not in other.paths()


def test_a_private_address_is_refused(site: MockServer, other: MockServer, crawl: Crawl) -> None:
    site.routes |= {"/": loads(other.url("/1.png"), "http://localhost:1/2.png")}
    done = crawl(seeds=site.url(), requisites="yes")
    assert (kinds(done), other.asked) == ({}, [])
    assert done.stat("guard/private_address") == 2
    assert rejected(crawl, other.url("/1.png")) == "private_address"


def test_the_budgets_of_a_page_and_of_the_crawl_by_number(site: MockServer, crawl: Crawl) -> None:
    site.routes |= {
        "/": loads("/1.png", "/2.png", "/3.png", links=("/b",)),
        "/b": loads("/1.png", "/4.png", "/5.png", "/6.png"),
        **{f"/{number}.png": PNG for number in range(1, 7)},
    }
    limits = ("-s", "ARCHIVE_REQUISITES_PAGE=2", "-s", "ARCHIVE_REQUISITES_CRAWL=3")
    done = crawl(*limits, seeds=site.url(), requisites="yes")
    assert set(kinds(done)) == {"1.png", "2.png", "4.png"}
    assert rejected(crawl, site.url("/3.png")) == "budget_page_requisites"
    assert rejected(crawl, site.url("/5.png")) == "budget_requisites"


@pytest.mark.parametrize("limit", ["PAGE_BYTES", "CRAWL_BYTES"])
def test_the_budgets_of_bytes_end_the_requests(site: MockServer, crawl: Crawl, limit: str) -> None:
    names = [f"/{number}.png" for number in range(9)]
    site.routes |= {"/": loads(*names), **dict.fromkeys(names, Reply(bytes(1000), type="image/png"))}
    given = ("-s", f"ARCHIVE_REQUISITES_{limit}=2000", "-s", "ARCHIVE_LOCAL_CONCURRENCY=1")
    done = crawl(*given, seeds=site.url(), requisites="yes")
    assert len(kinds(done)) == 2
    assert done.stat("requisites/bytes") == 2000
    name = "budget_page_requisite_bytes" if limit == "PAGE_BYTES" else "budget_requisite_bytes"
    assert rejected(crawl, site.url("/8.png")) == name
    assert done.stat(f"guard/{name}") == 7


@pytest.mark.long
def test_the_page_limit_counts_pages_and_waits_for_their_requisites(site: MockServer, crawl: Crawl) -> None:
    links = tuple(f"/p{number}" for number in range(20))
    names = [f"/{number}.png" for number in range(30)]
    site.routes |= {"/": loads(*names, links=links), **dict.fromkeys(names, PNG)}
    site.routes |= {link: loads(f"{link}.png") for link in links} | {f"{link}.png": PNG for link in links}
    done = crawl(seeds=site.url(), requisites="yes", pages=3)
    pages = kinds(done, "crawl")
    assert len(pages) == 3
    shown = {f"{page}.png" for page in pages if page}
    assert set(kinds(done)) == {name[1:] for name in names} | shown
    assert "archivebot: stopped at your limit of 3 pages after" in done.log
    assert len(kinds(crawl(seeds=site.url(), requisites="yes", pages=5), "crawl")) == 2


@pytest.mark.long
def test_html_in_scope_is_a_page_and_other_html_is_not_followed(
    site: MockServer, other: MockServer, crawl: Crawl
) -> None:
    away = other.url("/frame.html")
    known = Reply(markup(["/deeper"]), headers=(("ETag", '"1"'), ("Cache-Control", "max-age=3600")))

    def tagged(asked: Asked) -> Reply:
        return Reply(status=304) if "If-None-Match" in asked.headers else known

    site.routes |= {
        "/": html(text=f"<object data=/in.html></object><object data={away}></object>"),
        "/in.html": tagged,
        "/deeper": html(),
    }
    other.routes["/frame.html"] = html("/further", text="<img src=/none.png>")
    done = crawl(*ANYWHERE, seeds=site.url(), requisites="yes")
    assert set(kinds(done, "crawl")) == {"", "in.html", "deeper"}
    assert set(kinds(done)) == {"frame.html"}
    again = crawl(*ANYWHERE, seeds=site.url(), requisites="yes")
    assert kinds(again, "crawl") == dict.fromkeys(["", "in.html", "deeper"], "revisit")
    assert again.of(site.url("/in.html"))["status"] == 304


def test_a_frame_out_of_scope_is_archived_with_what_it_loads(
    site: MockServer, other: MockServer, crawl: Crawl
) -> None:
    frame = f"<iframe src={other.url('/frame')}></iframe><iframe src=/own></iframe><img src=/gone.png>"
    site.routes |= {"/": html(text=frame), "/own": html(), "/gone.png": redirect(other.url("/sorry"))}
    inner = f"<img src=/1.png><iframe src=/inner></iframe><iframe src={site.url('/')}></iframe>"
    other.routes |= {
        "/frame": html("/link", text=inner),
        "/inner": html(text="<iframe src=/frame></iframe><img src=/2.png>"),
        "/sorry": loads("/3.png"),
        **dict.fromkeys(("/1.png", "/2.png", "/3.png"), PNG),
    }
    done = crawl(*ANYWHERE, seeds=site.url(), requisites="yes")
    assert set(kinds(done, "crawl")) == {"", "own"}
    assert set(kinds(done)) == {"frame", "inner", "1.png", "2.png", "gone.png", "sorry"}
    assert {record["links"] for record in done.records if record["origin"] == "requisite"} == {0}


@pytest.mark.long
def test_a_second_crawl_asks_for_what_is_not_fresh_and_only_if_it_changed(
    site: MockServer, crawl: Crawl
) -> None:
    def tagged(asked: Asked) -> Reply:
        tag = (("ETag", '"1"'),)
        known = asked.headers.get("If-None-Match") == '"1"'
        return Reply(status=304, headers=tag) if known else sheet("p { mask: url(/m.png) }", *tag)

    site.routes |= {
        "/": html(head="<link rel=stylesheet href=/a.css>", text="<img src=/f.png><img src=/old.png>"),
        "/a.css": tagged,
        "/m.png": PNG,
        "/f.png": Reply(PNG.body, type="image/png", headers=(("Cache-Control", "max-age=3600"),)),
        "/old.png": Reply(PNG.body, type="image/png", headers=(("Expires", "0"),)),
    }
    assert len(kinds(crawl(seeds=site.url(), requisites="yes"))) == 4
    site.asked.clear()
    site.routes["/m.png"] = Reply(PNG.body + b"new", type="image/png")
    again = crawl(seeds=site.url(), requisites="yes")
    assert kinds(again) == {"a.css": "revisit", "m.png": "changed", "old.png": "revisit"}
    assert again.of(site.url("/a.css"))["status"] == 304
    assert "/f.png" not in site.paths()
    assert rejected(crawl, site.url("/f.png")) == "fresh"
    assert again.stat("requisites/fresh") == 1


def test_requisites_are_not_listed_among_the_pages(site: MockServer, crawl: Crawl) -> None:
    site.routes |= {"/": loads("/1.png"), "/1.png": PNG}
    crawl(seeds=site.url(), requisites="yes")
    assert [page["url"] for page in crawl.ask("changes", "--since", "2000")] == [site.url()]
    assert [page["url"] for page in crawl.ask("list", "--pages")] == [site.url()]
    with Archive.reader(ArchiveConfig(uri=crawl.uri)) as archive:
        assert [event.url for event in events(archive, site.url())] == [site.url()]
    both = crawl.ask("list", "--requisites")
    assert {page["url"] for page in both} == {site.url(), site.url("/1.png")}


@pytest.mark.long
def test_mongodb_holds_a_body_once_and_asks_whether_it_changed(
    site: MockServer, crawl: Crawl, mongo_uri: str
) -> None:
    def tagged(asked: Asked) -> Reply:
        tag = (("ETag", '"1"'),)
        known = asked.headers.get("If-None-Match") == '"1"'
        return Reply(status=304, headers=tag) if known else replace(PNG, headers=tag)

    site.routes |= {"/": loads("/1.png", "/2.png"), "/1.png": tagged, "/2.png": tagged}
    given = ("-s", f"ARCHIVE_URI={mongo_uri}")
    first = crawl(*given, seeds=site.url(), requisites="yes")
    assert kinds(first) == {"1.png": "new", "2.png": "new"}
    sizes = sorted(record["stored_bytes"] for record in first.records if record["origin"] == "requisite")
    assert sizes[0] < 100 < sizes[1]
    again = crawl(*given, seeds=site.url(), requisites="yes")
    assert kinds(again) == {"1.png": "revisit", "2.png": "revisit"}
    assert again.of(site.url("/1.png"))["status"] == 304
    with closing(Archive.open(ArchiveConfig(uri=mongo_uri))) as archive:
        for path in ("/1.png", "/2.png"):
            assert archive.body(archive.captures(site.url(path))[1]) == PNG.body


@pytest.mark.long
def test_requisites_keep_the_delay_of_their_host(site: MockServer, crawl: Crawl) -> None:
    site.routes |= {"/": loads("/1.png", "/2.png"), "/1.png": PNG, "/2.png": PNG}
    site.routes["/robots.txt"] = robots("User-agent: *\nCrawl-delay: 0.4")
    crawl(seeds=site.url(), requisites="yes")
    first, second = site.times("/1.png")[0], site.times("/2.png")[0]
    assert abs(second - first) > 0.15


def test_a_crawl_by_topic_takes_the_requisites_of_pages_that_it_keeps(site: MockServer, crawl: Crawl) -> None:
    text = "The tern dives for fish, and terns nest on the shore of the sea. " * 20
    site.routes |= {
        "/": html("/on", "/off", text=f"{text}<img src=/seed.png>"),
        "/on": html(text=f"{text} Terns.<img src=/on.png>"),
        "/off": html(text=f"{'The bank lends money to firms at a rate. ' * 20}<img src=/off.png>"),
        **dict.fromkeys(("/seed.png", "/on.png", "/off.png"), PNG),
    }
    topic = Crawl(crawl.folder, "topic")
    done = topic(
        seeds=site.url(), topic="tern, fish, sea, nest, shore", focus="hard", threshold=0, tunnel=5,
        scope="host", requisites="yes",
    )  # fmt: skip
    assert set(kinds(done)) == {"seed.png", "on.png"}
    assert done.stat("topic/judged") == 3


def test_the_requisites_of_a_page_that_is_not_stored_are_not_fetched(site: MockServer, crawl: Crawl) -> None:
    site.routes |= {
        "/": loads("/1.png", links=("/b", "/c")),
        "/b": loads("/2.png"),
        "/c": html(head="<meta name=robots content=noindex>", text="<img src=/3.png>"),
        "/1.png": PNG,
    }
    done = crawl(seeds=site.url(), requisites="yes", types="document")
    assert set(kinds(done)) == {"1.png"}  # the seed is exempt from the limit


@pytest.mark.long
def test_a_resumed_crawl_goes_on_with_the_requisites(site: MockServer, crawl: Crawl) -> None:
    names = [f"/{number}.png" for number in range(20)]
    site.routes |= {"/": loads(*names)}
    site.routes |= {name: Reply(PNG.body, type="image/png", delay=0.3) for name in names}
    process = crawl.start("-s", "ARCHIVE_LOCAL_CONCURRENCY=2", seeds=site.url(), requisites="yes")
    deadline = time.monotonic() + 60
    while len(site.paths()) < 4 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.terminate()
    crawl.finish(process)
    done = crawl(seeds=site.url(), requisites="yes")
    assert done.code == 0
    assert kinds(done, "crawl") == {}
    assert crawl.ask("frontier")["states"]["done"] == 21


def test_what_a_declarative_shadow_root_loads_is_a_requisite() -> None:
    page = (
        b"<div><template shadowrootmode=open><link rel=stylesheet href=s.css><img src=i.png></template></div>"
    )
    found = page_requisites(ParsedPage(page, "utf-8").document, "http://a.example/")
    assert found == ("http://a.example/s.css", "http://a.example/i.png")
