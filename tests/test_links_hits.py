"""HITS and ARC: the worked figures, and networkx beside."""

from __future__ import annotations

import random

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.links.arc import arc, augmented_set
from archivebot.links.graph import LinkGraph, parse
from archivebot.links.hits import Hits, base_set, hits

GRAPHS = {
    "karate club": networkx.karate_club_graph().to_directed(),
    "scale-free": networkx.DiGraph(networkx.scale_free_graph(120, seed=2)),
    "random": networkx.gnp_random_graph(80, 0.08, seed=4, directed=True),
}


def graph_of(graph: networkx.DiGraph) -> LinkGraph:
    edges = ((str(a), str(b), data.get("weight", 1.0)) for a, b, data in graph.edges(data=True))
    return LinkGraph.of(edges, map(str, graph))


def indiscriminate(hubs: int) -> LinkGraph:
    """Hubs that link to the first authority only, and a last one that links to all authorities."""
    lines = [f"hub{number} -> authority0" for number in range(hubs)]
    return parse([*lines, *(f"last -> authority{number}" for number in range(hubs + 1))])


def values(graph: LinkGraph, found: Hits) -> tuple[float, float, float]:
    last, other, first = (graph.numbers[name] for name in ("last", "hub0", "authority0"))
    return float(found.hubs[last]), float(found.hubs[other]), float(found.authorities[first])


def topical_graph() -> LinkGraph:
    """300 pages of which some link to many, with weights as the words around links give them."""
    chance = random.Random(8)
    edges = [
        (
            f"p{chance.randrange(300)}",
            f"p{int(300 * chance.random() ** 3)}",
            1.0 + chance.choice([0, 0, 0, 1, 2, 4]),
        )
        for _ in range(2000)
    ]
    return LinkGraph.of(edges)


@pytest.mark.parametrize("name", GRAPHS)
def test_hubs_and_authorities_are_those_of_networkx(name: str) -> None:
    graph = GRAPHS[name]
    hubs, authorities = networkx.hits(graph, max_iter=5000, tol=1e-14)
    found = hits(graph_of(graph), rounds=2000)
    assert (found.hubs / found.hubs.sum()).tolist() == pytest.approx([hubs[n] for n in graph], abs=1e-6)
    assert (found.authorities / found.authorities.sum()).tolist() == pytest.approx(
        [authorities[n] for n in graph], abs=1e-6
    )


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef")), min_size=1, max_size=20))
def test_the_squares_sum_to_one(links: list[tuple[str, str]]) -> None:
    found = hits(LinkGraph.of((source, target, 1.0) for source, target in links))
    assert (found.hubs**2).sum() == pytest.approx(1)
    assert (found.authorities**2).sum() == pytest.approx(1)


def test_a_graph_without_links_has_neither() -> None:
    found = hits(parse(["a", "b"]))
    assert found.hubs.tolist() == found.authorities.tolist() == [0, 0]
    assert hits(parse([])).hubs.tolist() == []


def test_a_link_counts_with_its_weight() -> None:
    graph = parse(["a -> x 3", "a -> y 1", "b -> y 1"])
    x, y = (graph.numbers[name] for name in "xy")
    assert hits(graph).authorities[x] > hits(graph).authorities[y]


@pytest.mark.parametrize(("hubs", "found"), [(4, (0.7882, 0.3077, 0.7882)), (5, (0.7805, 0.2796, 0.7805))])
def test_the_figures_of_the_example(hubs: int, found: tuple[float, float, float]) -> None:
    graph = indiscriminate(hubs)
    assert values(graph, hits(graph)) == pytest.approx(found, abs=0.0001)


def test_the_base_set_has_200_roots_and_50_pages_that_link_to_each() -> None:
    lines = [f"fan{number} -> root0" for number in range(80)]
    lines += [f"root0 -> target{number}" for number in range(70)]
    lines += [f"root{number}" for number in range(300)]
    graph = parse(lines)
    base = base_set(graph, [f"root{number}" for number in range(300)])
    kinds = [url.rstrip("0123456789") for url in base.urls]
    assert {kind: kinds.count(kind) for kind in kinds} == {"root": 200, "fan": 50, "target": 70}


def test_pages_of_the_root_that_nobody_knows_are_left_out() -> None:
    assert base_set(parse(["a -> b"]), ["nowhere", "b"]).urls == ("a", "b")
    assert base_set(parse(["a -> b"]), ["nowhere"]).urls == ()


def test_links_inside_a_site_are_dropped_from_the_base_set() -> None:
    graph = parse(["a.x -> b.x", "a.x -> c.y"])
    base = base_set(graph, ["a.x"]).external(lambda url: url.partition(".")[2])
    assert len(base) == 3
    assert base.weight("a.x", "b.x") == 0
    assert base.weight("a.x", "c.y") == 1


def test_the_augmented_set_is_two_links_wide() -> None:
    graph = parse([f"p{number} -> p{number + 1}" for number in range(9)])
    assert augmented_set(graph, ["p4"]).urls == ("p2", "p3", "p4", "p5", "p6")


def test_the_first_fifteen_of_arc_stand_after_five_rounds() -> None:
    graph = topical_graph()
    few, many = arc(graph), arc(graph, rounds=50)
    assert np.argsort(-few.authorities)[:15].tolist() == np.argsort(-many.authorities)[:15].tolist()
    assert np.argsort(-few.hubs)[:15].tolist() == np.argsort(-many.hubs)[:15].tolist()


def test_arc_is_the_product_with_the_matrix_and_its_transpose() -> None:
    graph = topical_graph()
    weights = graph.matrix.toarray()
    hub = np.ones(len(graph))
    for _ in range(5):
        authority = weights.T @ hub
        authority /= np.linalg.norm(authority)
        hub = weights @ authority
        hub /= np.linalg.norm(hub)
    assert arc(graph).hubs.tolist() == pytest.approx(hub.tolist())
    assert arc(graph).authorities.tolist() == pytest.approx(authority.tolist())
