"""The priority is linear in its evidence, and its parts add up."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.exceptions import UsageError
from archivebot.topic.priority import Evidence, Weights, depth, parts, url_weight, weights_of

numbers = st.integers(-100, 100)


def priority(evidence: Evidence, weights: Weights | None = None) -> float:
    return sum(parts(evidence, weights).values())


def test_the_worked_example() -> None:
    evidence = Evidence(domain=2, popularity=3, parent=4, depth=-1, topic=5)
    assert priority(evidence) == 13
    assert priority(evidence, Weights(topic=0)) == 8
    assert priority(Evidence()) == 1


@given(*[st.builds(Evidence, *[numbers] * 5)] * 2, st.builds(Weights, *[numbers] * 5))
def test_the_priority_is_linear(a: Evidence, b: Evidence, weights: Weights) -> None:
    both = Evidence(*(getattr(a, name) + getattr(b, name) for name in Evidence.__slots__))
    assert priority(both, weights) == priority(a, weights) + priority(b, weights)


@given(st.integers(0, 10_000), st.floats(0, 1e6))
def test_gathered_evidence_lies_between_minus_one_and_one(hosts: int, topic: float) -> None:
    gathered = Evidence.of("http://a.example/x/y/z", hosts, 1.0, topic)
    assert all(-1 <= getattr(gathered, name) <= 1 for name in Evidence.__slots__)


@pytest.mark.parametrize(
    ("better", "worse"), [("http://a.com/", "http://a.cc/"), ("http://a.de/home", "http://a.de/map")]
)
def test_some_urls_speak_for_their_page(better: str, worse: str) -> None:
    assert url_weight(better) > url_weight(worse)


@pytest.mark.parametrize(
    ("given", "said"),
    [({"dept": 0}, "no 'dept'"), ({"depth": "much"}, "not a number"), ({"topic": math.nan}, "not a number")],
)
def test_weights_of_what_does_not_count_are_told(given: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        weights_of(given)


def test_depth_counts_the_parts_of_the_path() -> None:
    paths = ("", "/", "/a", "/a/", "/a/b.html")
    assert [depth(f"http://a.example{path}") for path in paths] == [0, 0, 1, 1, 2]
