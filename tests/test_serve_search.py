"""The page of a search and its JSON: what they show, and what they say if there is nothing to show."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from html import unescape
from http.client import HTTPConnection
from pathlib import Path
from time import perf_counter
from urllib.parse import urlencode

import pytest

from archivebot.models import Outcome
from tests.commands import run_scrapy
from tests.factories import URL, html, make_page
from tests.served import WAIT, Answer, Served, archived, serving

EVIL = "&lt;script&gt;alert(1)&lt;/script&gt; &quot;&gt;&lt;img src=x onerror=alert(1)&gt;"
EVIL_URL = "http://example.com/?a=%22%3E%3Cscript%3Ealert(1)%3C/script%3E"


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> str:
    uri = f"sqlite:///{tmp_path_factory.mktemp('search')}/archive.db"
    pages = [
        make_page(html("The free plan has three seats", "Second"), 0),
        make_page(html("All plans are paid", "Second"), 10),
        make_page(html(f"evil words {EVIL}"), 1, url=EVIL_URL),
        make_page(html("fleeting words"), 2, url="http://example.com/gone"),
        make_page(b"", 3, url="http://example.com/gone", outcome=Outcome.GONE, status=410),
        *(make_page(html("many words"), 4, url=f"http://many.example/{number:03}") for number in range(45)),
    ]
    archived(uri, pages)
    assert run_scrapy(["index", "-s", f"ARCHIVE_URI={uri}"]).returncode == 0
    return uri


@pytest.fixture(scope="module")
def server(uri: str) -> Iterator[Served]:
    with serving(uri, "-s", "ARCHIVE_API_RATE=0") as served:
        yield served


def ask(server: Served, **parameters: str) -> Answer:
    return server.get(f"/search?{urlencode(parameters)}")


def text(answer: Answer) -> str:
    """Return the text of a page without its tags."""
    return re.sub(r"\s+", " ", unescape(re.sub("<[^>]*>", " ", answer.text)))


def test_the_start_leads_to_the_search(server: Served) -> None:
    start = server.get("/").text
    assert 'action="/search"' in start
    assert '<a href="/search">Search</a>' in start
    form = ask(server)
    assert form.status == 200
    assert "Results" not in text(form)


def test_the_page_shows_events_with_their_words_marked(server: Served) -> None:
    page = ask(server, q='"free plan"', **{"from": "", "site": " "})
    shown = text(page)
    assert re.search("2026-01-01 00:00:00 [^:]* added http://example.com/page", shown)
    assert re.search("2026-01-11 00:00:00 [^:]* removed http://example.com/page", shown)
    assert "The <mark>free plan</mark> has three seats" in page.text
    assert "what changed in version 2" in shown
    assert 'value="&#34;free plan&#34;"' in page.text
    for href in re.findall(r'<li class="block">.*?</li>', page.text, re.DOTALL):
        for link in re.findall(r'href="([^"]*)"', href):
            assert server.get(unescape(link)).status == 200
    assert "the page was gone" in text(ask(server, q="fleeting", change="removed"))


def test_json_is_that_of_the_api(server: Served) -> None:
    found = ask(server, q='"free plan"', change="removed", format="json")
    assert found.header("Content-Type") == "application/json"
    (record,) = found.json
    assert record.pop("lineage").endswith("-1")
    assert record == {
        "url": URL,
        "version": 2,
        "captured_at": "20260111000000",
        "text": "The free plan has three seats",
        "change": "removed",
    }
    assert found.json == server.get("/api/search?q=%22free+plan%22&change=removed").json
    assert ask(server, q='"plan free"', format="json").json == []


def test_results_come_in_parts(server: Served) -> None:
    page, seen = ask(server, q="many"), 0
    while True:
        seen += page.text.count('<li class="block">')
        following = re.search(r'rel="next" href="([^"]*)"', page.text)
        if following is None:
            break
        page = server.get(unescape(following[1]))
    assert seen == 45
    assert "Results 41 to 45" in text(page)
    part = ask(server, q="many", format="json", limit="40")
    ((address, relation, _),) = part.links
    assert relation == "next"
    assert len(server.get(address.removeprefix(server.host)).json) == 5


def test_nothing_of_the_archive_or_of_the_request_is_markup(server: Served) -> None:
    assert '<script>alert(1)</script> "><img src=x' in text(ask(server, q="evil words"))
    for parameters in (
        {"q": "evil words"},
        {"q": '"><script>alert(1)</script>'},
        {"q": "evil", "site": '"><script>alert(1)</script>'},
        {"q": "evil", "label": '"><script>alert(1)</script>'},
        {"q": "evil", "from": '"><script>alert(1)</script>'},
        {"q": "evil", '"><script>alert(1)</script>': "1"},
    ):
        page = ask(server, **parameters)
        assert page.status in (200, 400, 404)
        assert "<script" not in page.text
        assert "<img src=x" not in page.text
        assert page.header("Content-Security-Policy")


@pytest.mark.parametrize(
    "words",
    ["!!!", '"', "* *", "AND OR", 'a" OR "b', "NEAR(a b, 2)", "a\0b", "x" * 501, "(((", "a\u202eb", "{a}:b"],
)
def test_no_words_lead_to_an_error_of_the_server(server: Served, words: str) -> None:
    for format_ in ("html", "json"):
        answer = ask(server, q=words, format=format_)
        assert answer.status in (200, 400), answer.text
        assert answer.status == 200 or words in ("!!!", '"', "* *", "(((", "x" * 501)
    assert server.get(f"/search?q={'%FF'}").status == 400
    assert server.get("/search?q=a&q=b&format=json").status == 400


def test_a_wrong_parameter_is_explained_in_the_form(server: Served) -> None:
    page = ask(server, q="plan", **{"from": "soon"})
    assert page.status == 400
    assert "'soon' is no time" in text(page)
    assert 'value="soon"' in page.text
    error = ask(server, q="plan", format="json", **{"from": "soon"})
    assert (error.status, error.header("Content-Type")) == (400, "application/problem+json")


@pytest.mark.long
def test_the_page_says_that_the_index_is_missing_or_behind(tmp_path: Path) -> None:
    uri = archived(f"sqlite:///{tmp_path}/archive.db", [make_page(html("some words"))])
    environment = {**os.environ, "ARCHIVE_URI": uri}
    with serving(uri) as server:
        page = ask(server, q="words")
        assert page.status == 404
        assert "scrapy index makes it" in text(page)
        assert ask(server, q="words", format="json").status == 404
        assert run_scrapy(["index"], environment=environment).returncode == 0
        assert "some words" in text(ask(server, q="words"))
        archived(uri, [make_page(html("other words"), 1)])
        behind = "the index is behind the archive: scrapy index updates it"
        assert behind in text(ask(server, q="words"))
        assert ask(server, q="words", format="json").header("X-Archive-Note") == behind
        (tmp_path / "archive.search.db").write_bytes(b"no index")
        page = ask(server, q="words")
        assert page.status == 503
        assert "scrapy index --rebuild" in text(page)


def test_the_answers_of_one_connection_do_not_wait_for_the_client(server: Served) -> None:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=WAIT)
    times = []
    for _ in range(20):
        started = perf_counter()
        connection.request("GET", "/search?q=plan&format=json")
        assert connection.getresponse().read()
        times.append(perf_counter() - started)
    connection.close()
    assert sorted(times)[10] < 0.035  # the client delays its acknowledgements by 40 ms
