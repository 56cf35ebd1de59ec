"""The worth of a host follows the relevance of its pages, and falls with pages in vain."""

from __future__ import annotations

import pytest

from archivebot.topic.hostworth import BURDEN, EVEN, MEAN, PAGES, HostWorth


def worth_after(*relevances: float | None) -> float:
    hosts = HostWorth()
    for relevance in relevances:
        hosts.add("a.example", relevance)
    return hosts.of("a.example")


def test_a_host_of_the_usual_mean_is_worth_as_much_as_an_unknown_one_less_its_shortfall() -> None:
    assert worth_after() == 0.0
    assert worth_after(MEAN) == pytest.approx(-BURDEN * (EVEN - MEAN))


def test_more_pages_make_a_mean_more_certain() -> None:
    assert worth_after(1.0) < worth_after(*[1.0] * 10) < worth_after(*[1.0] * 100)
    assert worth_after(0.0) > worth_after(*[0.0] * 10) > worth_after(*[0.0] * 100)


def test_pages_that_cannot_be_judged_cost_their_shortfall_alone() -> None:
    assert worth_after(None, None) == pytest.approx(-BURDEN * 2 * EVEN)


def test_a_shortfall_is_made_up_for_by_later_pages() -> None:
    pages = int(20 * PAGES)
    late = worth_after(*[0.0] * pages, *[1.0] * pages)
    early = worth_after(*[1.0] * pages, *[0.0] * pages)
    assert late - early == pytest.approx(BURDEN * EVEN * pages)
