"""Requests as entries: what the frontier keeps apart comes back, what it must not see stays out."""

from __future__ import annotations

import json

import pytest
from scrapy import Request

from archivebot.crawl.scheduling.entries import (
    DISTANCE,
    LINK,
    ORDER,
    PARTS,
    READING,
    SCORE,
    SOURCE,
    entry_of,
    request_of,
)
from archivebot.frontier import Lease
from archivebot.hypertext import Hypertext
from archivebot.models import Link
from archivebot.urls import canonical_url


def test_a_request_comes_back_from_the_frontier_with_what_is_known_of_it() -> None:
    meta = {"depth": 2, SCORE: 0.5, DISTANCE: 1, SOURCE: "http://a.example/", PARTS: {"anchor": "x"}}
    hidden = {LINK: Link("http://a.example/x"), READING: Hypertext()}
    entry = entry_of(Request("http://a.example:8080/x", meta={**meta, **hidden}), None, "tunnel")
    assert (entry.host, entry.score, entry.distance) == ("a.example", 0.5, 1)
    assert (entry.source, json.loads(entry.parts), entry.reason) == (
        "http://a.example/",
        {"anchor": "x"},
        "tunnel",
    )
    again = request_of(Lease(entry, 7), None)
    assert again.url == "http://a.example:8080/x"
    assert again.meta == {"depth": 2, SCORE: 0.5, DISTANCE: 1, SOURCE: "http://a.example/", ORDER: 7}


def test_without_a_score_the_priority_counts() -> None:
    assert entry_of(Request("http://a.example/", priority=-3), None).score == -3.0


@pytest.mark.parametrize(
    "url",
    [
        "http://a.example/a|b[c]",
        "http://a.example/ü?q=ä b|c[1]",
        "http://BÜCHER.example/%7euser/{x}",
        "http://a.example/?a;b&c='\"<>",
    ],
)
def test_a_request_keeps_a_canonical_url_as_it_is(url: str) -> None:
    canonical = canonical_url(url)
    assert Request(canonical).url == canonical
