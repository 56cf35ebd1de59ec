"""META robots and X-Robots-Tag: storing and following are independent."""

import pytest

from archivebot.crawl.reading.metarobots import directives
from tests.conftest import Crawl
from tests.mockserver import MockServer, Reply, html, markup


@pytest.mark.parametrize(
    ("content", "store", "follow"),
    [
        ("all", True, True),
        ("none", False, False),
        ("index, follow", True, True),
        ("index,nofollow", True, False),
        ("NoIndex , Follow", False, True),
        ("noindex nofollow", False, False),
        ("index, follow, noarchive", False, True),
        ("nosnippet", True, True),
        ("", True, True),
    ],
)
def test_values(content: str, store: bool, follow: bool) -> None:
    for found in (
        directives([("robots", content)], [], "archivebot"),
        directives([], [content], "archivebot"),
        directives([], [f"archivebot: {content}"], "archivebot"),
    ):
        assert (found.store, found.follow) == (store, follow)
        assert bool(found.reason) is not store


def test_a_tag_for_our_agent_overrides_the_generic_one() -> None:
    assert directives([("robots", "none"), ("archivebot", "all")], [], "archivebot").store
    assert not directives([("robots", "all"), ("archivebot", "noindex")], [], "archivebot").store
    assert directives([("robots", "all"), ("otherbot", "none")], [], "archivebot").follow
    assert directives([], ["otherbot: noindex, nofollow"], "archivebot").store


def test_the_name_of_our_agent_is_compared_without_case() -> None:
    assert not directives([("mybot", "noindex")], [], "MyBot").store
    assert not directives([], ["MYBOT: nofollow"], "MyBot").follow
    assert directives([("robots", "none"), ("mybot", "all")], [], "MyBot").store


def test_dates_and_limits_in_the_header_name_no_agent() -> None:
    assert not directives([], ["max-snippet: 20, noindex"], "archivebot").store
    assert not directives([], ["unavailable_after: 25 Jun 2026 15:00:00 PST, noindex"], "archivebot").store


def test_the_strictest_of_equals_wins() -> None:
    assert not directives([("robots", "index"), ("robots", "noindex")], [], "archivebot").store
    assert not directives([("robots", "index")], ["noindex"], "archivebot").store


def meta(content: str, name: str = "robots") -> str:
    return f'<META NAME="{name}" CONTENT="{content}">'


@pytest.fixture
def marked(site: MockServer) -> MockServer:
    site.routes |= {
        "/": html("/all", "/none", "/noindex", "/nofollow", "/noarchive", "/header", "/named", "/rel"),
        "/all": html("/all/x", head=meta("ALL")),
        "/none": html("/none/x", head=meta("None")),
        "/noindex": html("/noindex/x", head=meta("NOINDEX,FOLLOW")),
        "/nofollow": html("/nofollow/x", head=meta("index,nofollow")),
        "/noarchive": html("/noarchive/x", head=meta("index, follow, noarchive")),
        "/header": Reply(markup(["/header/x"]), headers=(("X-Robots-Tag", "none"),)),
        "/named": html("/named/x", head=meta("none") + meta("all", "ArchiveBot")),
        "/rel": Reply(b'<a rel="nofollow" href="/rel/x">x</a>'),
    }
    return site


def test_pages_are_recorded_without_a_body_and_links_followed_as_they_ask(
    marked: MockServer, crawl: Crawl
) -> None:
    crawled = crawl(seeds=marked.url())
    outcomes = {record["url"].removeprefix(marked.url()): record["outcome"] for record in crawled.records}
    followed = {path for path in marked.paths() if path.endswith("/x")}
    assert followed == {"/all/x", "/noindex/x", "/noarchive/x", "/named/x"}
    excluded = {path for path, outcome in outcomes.items() if outcome == "excluded"}
    assert excluded == {"none", "noindex", "noarchive", "header"}
    record = crawled.of(marked.url("/noarchive"))
    assert (record["kind"], record["status"], record["digest"], record["size"]) == ("excluded", 200, None, 0)
    assert record["reason"] == "META robots: noarchive"


def test_the_operator_may_override(marked: MockServer, crawl: Crawl) -> None:
    crawled = crawl("-s", "ARCHIVE_OBEY_META_ROBOTS=0", seeds=marked.url())
    assert len([path for path in marked.paths() if path.endswith("/x")]) == 8
    assert crawled.of(marked.url("/none"))["outcome"] == "fetched"


def test_another_agent_is_named_in_any_case(marked: MockServer, crawl: Crawl) -> None:
    marked.routes["/all"] = html("/all/x", head=meta("noindex", "OtherBot"))
    crawled = crawl("-s", "ROBOTSTXT_USER_AGENT=OtherBot", seeds=marked.url())
    assert crawled.of(marked.url("/all"))["outcome"] == "excluded"
    assert crawled.of(marked.url("/named"))["outcome"] == "excluded"
