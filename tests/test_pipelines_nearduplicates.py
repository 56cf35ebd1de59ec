"""Near-duplicates in a crawl: pages that repeat another one are marked, and their links are put off."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from tests.conftest import Crawl, Crawled
from tests.mockserver import MockServer, Reply

SLOW = 0.3  # seconds: the pages before are stored by then
MENU = "".join(
    f'<li><a href="/">{name}</a></li>' for name in "Home News Sport Weather Ships Tides Contact".split()
)
STORY = """
    The ferry to the northern islands will run all year from this winter on, the harbour board said on
    Friday. Two ships built in the eighties are overhauled for it, and a third one waits for a new
    engine, which a yard in the south has promised for spring. Until now the line has closed from
    November to March, when storms keep the piers wet and few visitors come. Shopkeepers had asked for
    years that the timetable be kept through the dark months. The board expects forty passengers a day,
    hardly enough to pay for the fuel, and the county adds the rest. Tickets cost the same as in summer,
    children travel free, and bicycles need a place booked by phone.
"""
OTHER = """
    A library that lends tools has opened behind the town hall, with drills, ladders and a press for
    apple juice. Members pay once a year and may keep what they borrow for five days. Volunteers repair
    what comes back broken on Thursday evenings, and show whoever asks how it is done. The shelves were
    given by a school that closed.
"""


def page(text: str, links: Iterable[str] = (), *, delay: float = 0.0) -> Reply:
    """An article in the frame of its site."""
    told = "".join(f"<p>{sentence.strip()}</p>" for sentence in text.split(". "))
    anchors = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    body = f"<nav><ul>{MENU}</ul></nav><main><article><h1>News</h1>{told}</article></main><ul>{anchors}</ul>"
    return Reply(f"<html><head><title>News</title></head><body>{body}</body></html>".encode(), delay=delay)


@pytest.fixture
def mirrored(site: MockServer) -> MockServer:
    """A site with a story, its print version, which comes later, and a page that comes last."""
    site.routes |= {
        "/": page("Harbour news", ("/story", "/print", "/tools")),
        "/story": page(STORY, ("/of-story",)),
        "/print": page(STORY.replace("Friday", "Saturday"), ("/of-print", "/shared"), delay=SLOW),
        "/tools": page(OTHER, ("/of-tools", "/shared"), delay=2 * SLOW),
        **{f"/{name}": page(name) for name in ("of-story", "of-print", "of-tools", "shared")},
    }
    return site


def crawled(crawl: Crawl, site: MockServer, penalty: float = 10) -> Crawled:
    """Crawl one page at a time, those found first before others."""
    one = ("-s", "CONCURRENT_REQUESTS=1", "-s", "ARCHIVE_LOCAL_CONCURRENCY=1")
    return crawl(*one, "-s", f"ARCHIVE_DUPLICATE_PENALTY={penalty}", seeds=site.url())


@pytest.mark.long
def test_a_print_version_is_marked_and_kept_and_its_links_come_last(
    mirrored: MockServer, crawl: Crawl
) -> None:
    found = crawled(crawl, mirrored)
    mark = found.of(mirrored.url("/print"))["duplicate"]
    assert (mark["of"], mark["version"]) == (mirrored.url("/story"), 1)
    assert mark["jaccard"] > 0.9
    assert [record["url"] for record in found.records if record["duplicate"]] == [mirrored.url("/print")]
    assert found.stat("archive/near_duplicates") == 1
    assert found.of(mirrored.url("/print"))["kind"] == "new"
    assert mirrored.paths()[-4:] == ["/of-story", "/shared", "/of-tools", "/of-print"]


@pytest.mark.long
def test_without_a_penalty_links_keep_their_places(mirrored: MockServer, crawl: Crawl) -> None:
    found = crawled(crawl, mirrored, penalty=0)
    assert found.stat("archive/near_duplicates") == 1
    assert mirrored.paths()[-4:] == ["/of-story", "/of-print", "/shared", "/of-tools"]
