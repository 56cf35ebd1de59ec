"""The limits of a crawl: types, size and dates, at the headers or after the body, each with its reason."""

from __future__ import annotations

import gzip
from typing import Any

import pytest

from archivebot.crawl.arguments import Arguments
from archivebot.exceptions import UsageError
from tests.conftest import Crawl, Crawled
from tests.mockserver import MockServer, Reply, html, markup

PNG = b"\x89PNG\r\n\x1a\n" + bytes(2_000_000)
PDF = b"%PDF-1.4\n" + b"1 0 obj\n" * 1000
OLD = ("Last-Modified", "Sat, 02 Jan 2010 03:04:05 GMT")
NEW = ("Last-Modified", "Sun, 05 Jan 2025 03:04:05 GMT")
STATED = b'<meta property="article:published_time" content="2015-06-07">'


@pytest.fixture
def files(site: MockServer) -> MockServer:
    """A page with links to bodies of several types; /page leads to one more."""
    site.routes |= {
        "/": html("/page", "/a.png", "/b.pdf", "/c", "/d.txt", "/e.png", "/f.svg", "/no.png"),
        "/page": html("/deeper.pdf"),
        "/deeper.pdf": Reply(PDF, type="application/pdf"),
        "/a.png": Reply(PNG, type="image/png"),
        "/b.pdf": Reply(PDF, type="application/pdf"),
        "/c": Reply(PDF, type="application/octet-stream"),
        "/d.txt": Reply(b"A text of several words.", type="text/plain"),
        "/e.png": Reply(PNG, type="text/html"),
        "/f.svg": Reply(b"<svg xmlns='http://www.w3.org/2000/svg'></svg>", type="image/svg+xml"),
        "/no.png": Reply(PNG, status=404, type="image/png"),
    }
    return site


def told(site: MockServer, crawled: Crawled) -> dict[str, tuple[str, str]]:
    """The outcome and the reason of each path."""
    assert crawled.code == 0, crawled.log
    start = len(site.url()) - 1
    return {record["url"][start:]: (record["outcome"], record["reason"]) for record in crawled.records}


def test_only_bodies_of_the_wanted_types_are_stored(files: MockServer, crawl: Crawl) -> None:
    crawled = crawl(seeds=files.url(), types="document,text")
    found = told(files, crawled)
    assert {path for path, (outcome, _) in found.items() if outcome == "fetched"} == {
        *("/", "/b.pdf", "/c", "/d.txt", "/deeper.pdf")
    }
    assert found["/a.png"] == ("excluded", "its type is image/png")
    assert found["/e.png"] == ("excluded", "it is a PNG picture")
    assert found["/page"] == ("excluded", "it is an HTML page")
    assert found["/f.svg"] == ("excluded", "it is an SVG picture")
    assert found["/no.png"] == ("not_found", "")
    assert {record["kind"] for record in crawled.records if record["outcome"] == "excluded"} == {"excluded"}
    assert "'limits/types': 4" in crawled.log


def test_a_type_may_be_a_mime_type(files: MockServer, crawl: Crawl) -> None:
    found = told(files, crawl(seeds=files.url(), types="image/*, application/pdf"))
    kept = {path for path, (outcome, _) in found.items() if outcome == "fetched"}
    assert kept == {"/", "/a.png", "/b.pdf", "/c", "/deeper.pdf", "/e.png", "/f.svg"}
    accepted = {asked.headers["Accept"] for asked in files.asked if asked.path != "/robots.txt"}
    assert accepted == {"image/*, application/pdf, text/html;q=0.9, */*;q=0.1"}


def test_an_unwanted_body_is_not_received(files: MockServer, crawl: Crawl) -> None:
    crawled = crawl(seeds=files.url(), types="page")
    wire = crawled.of(files.url("/a.png"))["wire"]
    assert (crawled.of(files.url("/a.png"))["status"], wire["length"]) == (200, 0)
    assert "'limits/types'" in crawled.log


@pytest.mark.parametrize("coding", ["", "gzip"])
def test_a_body_beyond_the_size_is_too_large_but_not_robots_txt(
    site: MockServer, crawl: Crawl, coding: str
) -> None:
    large = markup([], "many words " * 20_000)
    body = gzip.compress(large) if coding else large
    headers = (("Content-Encoding", coding),) if coding else ()
    site.routes |= {
        "/": html("/large", "/small"),
        "/small": html(text="few words"),
        "/large": Reply(body, headers=headers),
        "/robots.txt": Reply(b"# a comment\n" * 10_000 + b"User-agent: *\nAllow: /\n", type="text/plain"),
    }
    found = told(site, crawl(seeds=site.url(), size="20kB"))
    assert {path: outcome for path, (outcome, _) in found.items()} == {
        "/": "fetched",
        "/small": "fetched",
        "/large": "too_large",
    }
    assert found["/large"][1]


@pytest.fixture
def dated(site: MockServer) -> MockServer:
    site.routes |= {
        "/": Reply(markup(["/old", "/new", "/stated", "/none", "/old.txt"], "seed"), headers=(OLD,)),
        "/old": Reply(markup(["/behind"], "old"), headers=(OLD,)),
        "/new": Reply(markup([], "new"), headers=(NEW,)),
        "/stated": Reply(STATED + markup(["/after"], "stated"), headers=(NEW,)),
        "/none": Reply(markup([], "none"), headers=(("Last-Modified", "yesterday"),)),
        "/old.txt": Reply(b"An old text.", type="text/plain", headers=(OLD,)),
        "/after": html(text="after"),
        "/behind": html(text="behind"),
    }
    return site


def test_pages_from_a_day_on(dated: MockServer, crawl: Crawl) -> None:
    crawled = crawl(seeds=dated.url(), since="2020")
    found = told(dated, crawled)
    kept = {path for path, (outcome, _) in found.items() if outcome == "fetched"}
    assert kept == {"/", "/new", "/none", "/after"}
    assert found["/old"] == found["/old.txt"] == ("excluded", "last modified on 2010-01-02")
    assert found["/stated"] == ("excluded", "published on 2015-06-07")
    assert crawled.of(dated.url("/old"))["wire"]["length"] == 0
    assert "/behind" not in found
    assert "'limits/since': 3" in crawled.log


def test_pages_up_to_a_day(dated: MockServer, crawl: Crawl) -> None:
    crawled = crawl(seeds=dated.url(), until="2015-06")
    found = told(dated, crawled)
    assert {path for path, (outcome, _) in found.items() if outcome == "excluded"} == {"/new"}
    assert found["/new"][1] == "last modified on 2025-01-05"
    assert "'limits/until': 1" in crawled.log


def test_a_focused_crawl_has_the_same_limits(dated: MockServer, crawl: Crawl, tmp_path: Any) -> None:
    crawled = Crawl(tmp_path, "topic")(seeds=dated.url(), topic="seed", since="2020-01-01")
    assert told(dated, crawled)["/stated"] == ("excluded", "published on 2015-06-07")


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ({"types": "page,pictures"}, "any of page, xml, text"),
        ({"types": " , "}, "give MIME types"),
        ({"size": "big"}, "size is 'big'"),
        ({"since": "yesterday"}, "since is 'yesterday': give a day"),
        ({"since": "2024-13"}, "since is '2024-13': give a day"),
        ({"until": "2024-02-30"}, "until is '2024-02-30': give a day"),
        ({"since": "2024-05", "until": "2024-04"}, "since is after until"),
    ],
)
def test_wrong_limits_say_what_to_give(argument: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Arguments.parse({"seeds": "a.example", **argument})


def test_a_crawl_without_limits_keeps_its_identity_and_a_limit_makes_another() -> None:
    plain = Arguments.parse({"seeds": "a.example"})
    assert not {"types", "size", "since", "until"} & plain.identity.keys()
    assert Arguments.parse({"seeds": "a.example", "types": "page"}).identity["types"] == ("page",)
