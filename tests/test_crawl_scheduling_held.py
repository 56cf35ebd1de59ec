"""The leases of a crawl: how many it may hold, and how many whose pages it has not judged."""

from __future__ import annotations

from dataclasses import replace

import pytest

from archivebot.crawl.scheduling.held import FEWEST, SHARE, UNSETTLED, HeldLeases
from archivebot.frontier import HOLD
from tests.conftest import Crawl
from tests.mockserver import MockServer, Reply, html


def leased(held: HeldLeases) -> list[str]:
    """Lease URLs until there is no room."""
    urls = []
    while not held.is_full:
        urls.append(f"u{len(urls)}")
        held.add(urls[-1])
    return urls


def test_as_many_are_held_as_may_wait_to_be_stored() -> None:
    assert len(leased(HeldLeases(8, lambda: 0.0))) == UNSETTLED * 8


def test_a_crawl_that_learns_awaits_no_judgement_of_a_requisite() -> None:
    held = HeldLeases(8, lambda: 0.0)
    held.learns = True
    for number in range(FEWEST):
        held.add(f"{number}.png", judged=True)
    assert not held.is_full
    assert len(leased(held)) == FEWEST


def test_a_crawl_that_learns_begins_with_few_until_their_pages_are_judged() -> None:
    held = HeldLeases(8, lambda: 0.0)
    held.learns = True
    first = leased(held)
    assert len(first) == FEWEST
    assert held.judged(first[0])  # there is room, though the page is not stored
    assert not held.is_full
    assert not held.judged(first[0])
    held.add("another")
    assert held.is_full
    held.remove(first[1])  # no answer came: it is settled without a judgement
    assert not held.is_full


def test_hosts_that_do_not_answer_hold_up_nothing() -> None:
    times = {"now": 0.0}
    held = HeldLeases(8, lambda: times["now"])
    held.learns = True
    assert len(leased(held)) == FEWEST
    times["now"] = HOLD
    assert held.is_full
    times["now"] = HOLD + 0.1
    assert len(leased(held)) == FEWEST


def test_the_more_pages_are_judged_the_more_may_be_under_way() -> None:
    held = HeldLeases(100, lambda: 0.0)
    held.learns = True
    for number in range(int(10 / SHARE)):
        held.add(f"page {number}")
        held.judged(f"page {number}")
        held.remove(f"page {number}")
    assert len(leased(held)) == 10


@pytest.mark.long
def test_a_focused_crawl_goes_on_beside_pages_that_do_not_come(site: MockServer, crawl: Crawl) -> None:
    silent = [f"/tides-{number}" for number in range(FEWEST)]  # the best links
    others = [f"/{number}" for number in range(8)]
    site.routes |= {"/": html(*silent, *others), **dict.fromkeys(others, html(text="The tides of the sea."))}
    site.routes |= dict.fromkeys(silent, Reply(b"<p>late", delay=20.0))
    crawled = replace(crawl, spider="topic")(
        "-s", "ARCHIVE_LOCAL_CONCURRENCY=16", seeds=site.url(), topic="tides"
    )
    assert len(crawled.records) == 13
    first, last = site.times(silent[0])[0], max(site.times(path)[0] for path in others)
    assert last - first < 15
