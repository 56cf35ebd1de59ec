"""Term vectors: the weighted count of the thesis, and the cosine."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.topic.vectors import centroid, cosine, damped, dot, frequencies, idf, unit, weighted_count

NINE = dict(zip("abcdefghi", (10, 10, 10, 10, 10, 8, 8, 5, 9), strict=True))
vectors = st.dictionaries(st.sampled_from("abcdef"), st.floats(0.01, 100), max_size=6)


def test_one_hit_of_each_of_nine_terms_counts_80() -> None:
    assert weighted_count(NINE, [], list(NINE)) == 80


def test_a_hit_in_the_title_counts_more_than_one_in_the_body() -> None:
    assert weighted_count({"reef": 1}, ["reef"], []) > weighted_count({"reef": 1}, [], ["reef"]) == 1


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


def test_tf_idf_is_that_of_scikit_learn() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    documents = [["a", "a", "b"], ["b", "c"], ["a", "c", "c", "c"]]
    model = TfidfVectorizer(analyzer=lambda terms: terms, sublinear_tf=True)
    expected = model.fit_transform(documents).toarray()
    rarity = idf(documents)
    for document, row in zip(documents, expected, strict=True):
        tf = damped(frequencies([], document))
        ours = unit({term: weight * rarity[term] for term, weight in tf.items()})
        assert [ours.get(term, 0.0) for term in model.get_feature_names_out()] == pytest.approx(list(row))


def test_a_centroid_counts_each_vector_alike() -> None:
    assert centroid([{"a": 1}, {"a": 100}, {"b": 5}]) == pytest.approx({"a": 2 / 3, "b": 1 / 3})
    assert centroid([]) == {}
