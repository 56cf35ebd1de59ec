"""The spider recrawl: what is due is asked for by conditional requests, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from archivebot.exceptions import NotArchived, UsageError
from tests.conftest import Crawl
from tests.mockserver import MockServer, Reply, html

OFTEN = "1000/minute"  # a page is due again within a second
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
        assert "No page is due" in none.log
        assert Crawl(tmp_path, "recrawl")(budget=OFTEN, pages=2).code == 0
        assert len(asked(site)) == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"budget": "many"}, "the budget is 'many'"),
        ({"policy": "best"}, "policy is 'best'"),
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
