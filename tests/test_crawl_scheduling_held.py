"""The leases of a crawl: how many it may hold, and how many whose pages it has not judged."""

from __future__ import annotations

from archivebot.crawl.scheduling.held import FEWEST, SHARE, UNSETTLED, HeldLeases


def leased(held: HeldLeases) -> list[str]:
    """Lease URLs until there is no room."""
    urls = []
    while not held.is_full:
        urls.append(f"u{len(urls)}")
        held.add(urls[-1])
    return urls


def test_as_many_are_held_as_may_wait_to_be_stored() -> None:
    assert len(leased(HeldLeases(8, lambda: 0.0))) == UNSETTLED * 8


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


def test_the_more_pages_are_judged_the_more_may_be_under_way() -> None:
    held = HeldLeases(100, lambda: 0.0)
    held.learns = True
    for number in range(int(10 / SHARE)):
        held.add(f"page {number}")
        held.judged(f"page {number}")
        held.remove(f"page {number}")
    assert len(leased(held)) == 10
