"""The link graph: how it is made, asked, read and cleaned."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.exceptions import UsageError
from archivebot.links.graph import LinkGraph, parse

EDGES = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef"), st.floats(0, 100)), max_size=40
)


def site(url: str) -> str:
    """The part of a name after its dot."""
    return url.partition(".")[2]


def pairs(graph: LinkGraph) -> set[tuple[str, str, float]]:
    sources, targets, weights = graph.edges
    return {
        (graph.urls[source], graph.urls[target], float(weight))
        for source, target, weight in zip(sources, targets, weights, strict=True)
    }


def test_a_repeated_edge_keeps_the_larger_weight() -> None:
    edges = [("a", "b", 0.5), ("a", "b", 2.0)]
    assert LinkGraph.of(edges).weight("a", "b") == 2.0
    assert LinkGraph.of([*edges, ("a", "b", 1.0)]).weight("a", "b") == 2.0


def test_an_absent_edge_weighs_0() -> None:
    graph = LinkGraph.of([("a", "b", 2.0)])
    assert graph.weight("b", "a") == graph.weight("a", "nowhere") == graph.weight("nowhere", "a") == 0.0


def test_an_edge_is_asked_for_by_url_and_by_number() -> None:
    graph = LinkGraph.of([("a", "b", 2.0)])
    assert graph.weight(0, 1) == graph.weight("a", 1) == graph.weight(graph.numbers["a"], "b") == 2.0


def test_a_graph_without_anything_can_be_asked() -> None:
    graph = LinkGraph.of([])
    assert len(graph) == 0
    assert pairs(graph.external(site).unweighted().among([])) == set()
    assert graph.in_links().tolist() == graph.linking_sites(site).tolist() == []


def test_a_link_of_weight_0_is_a_link() -> None:
    graph = LinkGraph.of([("a", "b", 0.0)])
    assert graph.in_links().tolist() == [0, 1]
    assert pairs(graph.among([0, 1])) == {("a", "b", 0.0)}


@given(EDGES)
def test_a_graph_has_the_largest_weight_of_each_edge(edges: list[tuple[str, str, float]]) -> None:
    graph = LinkGraph.of(edges)
    largest: dict[tuple[str, str], float] = {}
    for source, target, weight in edges:
        largest[source, target] = max(weight, largest.get((source, target), 0.0))
    assert pairs(graph) == {(*pair, weight) for pair, weight in largest.items()}
    assert graph.in_links().sum() == len(largest)


def test_edges_inside_a_site_go_and_those_between_sites_stay() -> None:
    graph = parse(["a.x -> b.x", "b.x -> a.x", "a.x -> a.y 3", "a.y -> a.y"])
    assert pairs(graph.external(site)) == {("a.x", "a.y", 3.0)}
    assert len(graph.external(site)) == 3


def test_sites_that_link_are_counted_once_each() -> None:
    graph = parse(["a.x -> t", "b.x -> t", "a.y -> t", "t -> a.x"])
    assert graph.linking_sites(site)[graph.numbers["t"]] == 2
    assert graph.in_links()[graph.numbers["t"]] == 3


def test_a_part_of_a_graph_has_the_edges_between_its_nodes() -> None:
    part = parse(["a -> b 2", "b -> c", "c -> a", "c -> b 5"]).among([1, 2])
    assert part.urls == ("b", "c")
    assert pairs(part) == {("b", "c", 1.0), ("c", "b", 5.0)}


def test_a_text_is_read_with_weights_nodes_and_lists_of_links() -> None:
    graph = parse(["a -> b 2.5", "a -> c", "d", "", "e a d  b\n", "a -> b 1"])
    assert pairs(graph) == {
        ("a", "b", 2.5), ("a", "c", 1.0), ("e", "a", 1.0), ("e", "d", 1.0), ("e", "b", 1.0),
    }  # fmt: skip
    assert set(graph.urls) == set("abcde")


@pytest.mark.parametrize("line", ["a ->", "-> b", "a -> b c", "a -> b 1 2", "a -> b -1", "a b -> c", "->"])
def test_a_line_that_is_no_link_is_named(line: str) -> None:
    with pytest.raises(UsageError, match="write a -> b") as raised:
        parse(["a -> b", line])
    assert repr(line) in str(raised.value)
