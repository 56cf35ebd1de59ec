"""IPageRank: links count by their relevance."""

from __future__ import annotations

import pytest

from archivebot.links.graph import LinkGraph, parse
from archivebot.links.ipagerank import ipagerank
from archivebot.links.pagerank import pagerank


def test_a_page_that_many_off_topic_pages_link_to_ranks_high_only_by_pagerank() -> None:
    links = [f"page{number} -> popular" for number in range(8)] + [
        f"page{number} -> topical" for number in range(2)
    ]
    relevance = [f"{link} {1 if link.endswith('topical') else 0.05}" for link in links]
    plain, weighted = parse(links), parse(relevance)
    popular, topical = plain.numbers["popular"], plain.numbers["topical"]
    assert pagerank(plain)[popular] > pagerank(plain)[topical]
    # Only the two pages that have the choice make it; the others have one link each.
    choosing = parse([*relevance, *(f"page{number} -> topical 1" for number in range(8))])
    assert ipagerank(choosing)[choosing.numbers["topical"]] > ipagerank(choosing)[choosing.numbers["popular"]]
    assert ipagerank(weighted)[popular] < pagerank(plain)[popular] + 1


def test_rank_is_passed_on_in_proportion_to_relevance() -> None:
    graph = parse(["a -> b 0.75", "a -> c 0.25", "b -> a", "c -> a"])
    ranks = ipagerank(graph, rounds=200)
    a, b, c = ranks
    assert (b - 0.15) / (c - 0.15) == pytest.approx(3)
    assert a == pytest.approx(0.15 + 0.85 * (b + c), abs=1e-4)


def test_a_page_whose_links_are_all_irrelevant_is_as_one_without_links() -> None:
    zero = LinkGraph.of([("a", "b", 0.0), ("b", "a", 1.0)])
    none = LinkGraph.of([("b", "a", 1.0)], ["a", "b"])
    assert ipagerank(zero).tolist() == pytest.approx(pagerank(none).tolist())
    assert ipagerank(zero).sum() == pytest.approx(2)


def test_equal_relevance_gives_pagerank() -> None:
    links = ["a b c", "b c", "c a", "d"]
    half = LinkGraph.of(
        [(line[0], target, 0.5) for line in links for target in line[2:].split()], [line[0] for line in links]
    )
    assert ipagerank(half).tolist() == pytest.approx(pagerank(parse(links)).tolist())
