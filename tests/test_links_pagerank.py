"""PageRank: the worked example, what must always hold, and networkx beside."""

from __future__ import annotations

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.links.graph import LinkGraph, parse
from archivebot.links.pagerank import pagerank

TRIANGLE = parse(["A -> B", "A -> C", "B -> C", "C -> A"])
LIMIT = [14 / 13, 10 / 13, 15 / 13]
LIMIT_085 = [1.163369, 0.644432, 1.192199]

GRAPHS = {
    "karate club": networkx.karate_club_graph().to_directed(),
    "scale-free, with dangling pages": networkx.DiGraph(networkx.scale_free_graph(200, seed=3)),
    "random, sparse": networkx.gnp_random_graph(150, 0.01, seed=5, directed=True),
    "two islands": networkx.DiGraph([(0, 1), (1, 0), (2, 3), (3, 4), (4, 2), (4, 3)]),
}


def graph_of(graph: networkx.DiGraph, weight: str = "weight") -> LinkGraph:
    edges = ((str(a), str(b), data.get(weight, 1.0)) for a, b, data in graph.edges(data=True))
    return LinkGraph.of(edges, map(str, graph))


@pytest.fixture
def to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make all rounds, whatever little they move."""
    monkeypatch.setattr("archivebot.links.pagerank.MOVEMENT", 0)


def near(expected: list[float], digits: int) -> object:
    return pytest.approx(expected, abs=0.5 * 10**-digits)


def test_the_example_has_its_limit_in_fractions() -> None:
    assert pagerank(TRIANGLE, damping=0.5).tolist() == near(LIMIT, 5)


def test_the_first_round_of_the_example() -> None:
    assert pagerank(TRIANGLE, damping=0.5, rounds=1).tolist() == [1, 0.75, 1.25]


@pytest.mark.usefixtures("to_the_end")
def test_the_example_as_shares_and_with_other_damping() -> None:
    ranks = pagerank(TRIANGLE, damping=0.5)
    assert (ranks / 3).tolist() == near([0.358974, 0.256410, 0.384615], 6)
    assert pagerank(TRIANGLE, rounds=100).tolist() == near(LIMIT_085, 6)
    assert pagerank(TRIANGLE, damping=1).tolist() == near([1.2, 0.6, 1.2], 6)


@pytest.mark.parametrize("name", GRAPHS)
def test_the_ranks_are_those_of_networkx(name: str) -> None:
    graph = GRAPHS[name]
    expected = networkx.pagerank(graph, tol=1e-12, max_iter=1000)
    ranks = pagerank(graph_of(graph), rounds=200)
    assert ranks.tolist() == pytest.approx([len(graph) * expected[node] for node in graph], abs=1e-3)
    assert (
        np.argsort(-ranks)[:5].tolist() == np.argsort([-expected[node] for node in graph])[:5].tolist()
        or name == "two islands"
    )


def test_weights_and_wishes_are_those_of_networkx() -> None:
    graph = GRAPHS["karate club"]
    towards = {0: 1.0, 5: 3.0}
    expected = networkx.pagerank(graph, personalization=towards, dangling=towards, tol=1e-12, max_iter=1000)
    ranks = pagerank(graph_of(graph), towards={"0": 1.0, "5": 3.0, "elsewhere": 9.0}, rounds=200)
    assert ranks.tolist() == pytest.approx([34 * expected[node] for node in graph], abs=1e-3)


def test_a_wish_for_nothing_in_the_graph_is_none() -> None:
    assert pagerank(TRIANGLE, towards={"elsewhere": 1.0}).tolist() == pagerank(TRIANGLE).tolist()


@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh")), min_size=1, max_size=30))
def test_the_ranks_sum_to_the_number_of_pages_and_none_is_below_what_all_get(
    links: list[tuple[str, str]],
) -> None:
    ranks = pagerank(LinkGraph.of((source, target, 1.0) for source, target in links))
    assert ranks.sum() == pytest.approx(len(ranks))
    assert ranks.min() >= 0.15 - 1e-9
    assert ranks.max() <= 0.85 * len(ranks) + 0.15 + 1e-9


def test_a_page_that_nothing_links_to_has_the_least_rank_there_is() -> None:
    assert pagerank(parse(["a -> b", "b -> c", "c -> b"]))[0] == pytest.approx(0.15)


def test_a_dangling_page_loses_no_rank() -> None:
    c, a, b = pagerank(parse(["a -> b", "c"]))
    assert a + b + c == pytest.approx(3)
    assert a == c > 0.15
    assert b == pytest.approx(a * 1.85)


@pytest.mark.usefixtures("to_the_end")
def test_at_most_fifty_rounds_are_made() -> None:
    ring = parse([f"{number} -> {(number + 1) % 90}" for number in range(90)] + ["0 -> 45"])
    assert pagerank(ring).tolist() == pagerank(ring, rounds=50).tolist()
    assert pagerank(ring).tolist() != pagerank(ring, rounds=51).tolist()


def test_it_stops_early_only_when_order_and_ranks_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = [pagerank(TRIANGLE, rounds=number) for number in range(12)]
    orders = [np.argsort(-ranks, kind="stable").tolist() for ranks in rounds]
    stands = next(number for number in range(1, 12) if orders[number] == orders[number - 1])
    assert 2 < stands < 12
    monkeypatch.setattr("archivebot.links.pagerank.MOVEMENT", 10)  # a page never moves that much
    assert pagerank(TRIANGLE).tolist() == rounds[stands].tolist()
    assert np.abs(pagerank(TRIANGLE) - LIMIT_085).sum() > 0.01


def test_a_farm_of_links_lifts_a_page() -> None:
    farm = [f"farm{number} -> shop" for number in range(20)]
    plain, farmed = parse(["a -> shop", "a -> b", "b -> a"]), parse(["a -> shop", "a -> b", "b -> a", *farm])
    assert pagerank(farmed)[farmed.numbers["shop"]] > 2 * pagerank(plain)[plain.numbers["shop"]]
