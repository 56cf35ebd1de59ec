"""Term vectors: the cosine, and the mean of some."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.topic.vectors import centroid, cosine, dot, unit

vectors = st.dictionaries(st.sampled_from("abcdef"), st.floats(0.01, 100), max_size=6)


@given(vectors, vectors)
def test_the_cosine_is_symmetric_and_between_0_and_1(one: dict[str, float], other: dict[str, float]) -> None:
    value = cosine(one, other)
    assert value == pytest.approx(cosine(other, one))
    assert -1e-9 <= value <= 1 + 1e-9
    if one:
        assert cosine(one, {term: 7 * weight for term, weight in one.items()}) == pytest.approx(1.0)


@given(vectors)
def test_a_unit_vector_has_length_1(vector: dict[str, float]) -> None:
    if vector:
        assert dot(unit(vector), unit(vector)) == pytest.approx(1.0)


def test_a_centroid_counts_each_vector_alike() -> None:
    assert centroid([{"a": 1}, {"a": 100}, {"b": 5}]) == pytest.approx({"a": 2 / 3, "b": 1 / 3})
    assert centroid([]) == {}
