"""Naive Bayes: the same figures as scikit-learn, whatever was learnt and in whatever order."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archivebot.text.bayes import NaiveBayes

TERMS = ("reef", "dive", "boat", "shop", "price", "潜水")
texts = st.lists(st.sampled_from(TERMS), max_size=20)
corpora = st.lists(st.tuples(st.sampled_from("abc"), texts), min_size=1, max_size=12)


def taught(corpus: list[tuple[str, list[str]]]) -> NaiveBayes:
    model = NaiveBayes(vocabulary=TERMS)
    for label, text in corpus:
        model.learn(label, text)
    return model


def reference(corpus: list[tuple[str, list[str]]], text: list[str]) -> Mapping[str, float]:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB

    vectors = CountVectorizer(vocabulary=TERMS, analyzer=lambda terms: terms)
    model = MultinomialNB(alpha=1.0).fit(
        vectors.transform([text for _, text in corpus]), [label for label, _ in corpus]
    )
    return dict(zip(model.classes_, model.predict_proba(vectors.transform([text]))[0], strict=True))


@settings(max_examples=40, deadline=None)
@given(corpora, texts)
def test_posteriors_are_those_of_scikit_learn_and_sum_to_1(
    corpus: list[tuple[str, list[str]]], text: list[str]
) -> None:
    posterior = taught(corpus).posterior(text)
    assert sum(posterior.values()) == pytest.approx(1.0, abs=1e-12)
    assert posterior == pytest.approx(reference(corpus, text), abs=1e-9)


@given(corpora, texts)
def test_log_odds_are_those_of_the_posterior(corpus: list[tuple[str, list[str]]], text: list[str]) -> None:
    model = taught(corpus)
    for label, share in model.posterior(text).items():
        if 1e-6 < share < 1 - 1e-6:
            assert model.log_odds(text, label) == pytest.approx(math.log(share / (1 - share)), abs=1e-6)


@given(corpora, texts)
def test_a_model_comes_back_from_json_as_it_was(corpus: list[tuple[str, list[str]]], text: list[str]) -> None:
    model = taught(corpus)
    again = NaiveBayes.from_dict(json.loads(json.dumps(model.as_dict())))
    assert again.scores(text) == pytest.approx(model.scores(text))
    assert again.as_dict() == model.as_dict()


@given(corpora, texts)
def test_the_order_of_learning_does_not_matter(corpus: list[tuple[str, list[str]]], text: list[str]) -> None:
    assert taught(corpus).posterior(text) == pytest.approx(taught(corpus[::-1]).posterior(text))


def test_contributions_and_the_odds_of_an_empty_text_add_up() -> None:
    model = taught([("a", ["reef", "dive"]), ("b", ["shop"]), ("b", ["price", "boat"])])
    text = ["reef", "reef", "shop", "unknown"]
    parts = model.contributions(text, "a")
    assert {term for term, _ in parts} == {"reef", "shop"}
    assert sum(value for _, value in parts) + model.log_odds([], "a") == pytest.approx(
        model.log_odds(text, "a")
    )


def test_a_text_of_100000_terms_neither_underflows_nor_saturates_its_log_odds() -> None:
    model = taught([("a", ["reef"]), ("b", ["shop"])])
    long, longer = ["reef"] * 100_000, ["reef"] * 100_001
    assert sum(model.posterior(long).values()) == pytest.approx(1.0)
    assert math.isfinite(model.log_odds(long, "a"))
    assert model.log_odds(long, "a") < model.log_odds(longer, "a")


def test_a_length_bounds_what_a_long_text_says() -> None:
    model = NaiveBayes(length=10)
    model.learn("a", ["reef"])
    model.learn("b", ["shop"])
    assert model.log_odds(["reef"] * 10, "a") == pytest.approx(model.log_odds(["reef"] * 1000, "a"))
    assert model.log_odds(["reef"] * 9, "a") < model.log_odds(["reef"] * 10, "a")


def test_what_is_learnt_later_changes_the_odds() -> None:
    model = taught([("a", ["reef"]), ("b", ["shop"])])
    before = model.log_odds(["boat"], "a")
    model.learn("a", {"boat": 4})
    assert model.log_odds(["boat"], "a") > before
    assert model.as_dict()["classes"]["a"]["terms"]["boat"] == 4


def test_without_a_class_to_compare_with_the_odds_are_even() -> None:
    model = NaiveBayes()
    assert model.log_odds(["reef"], "a") == 0.0
    assert model.posterior(["reef"]) == {}
    model.learn("a", ["reef"])
    assert model.log_odds(["reef"], "a") == 0.0
    assert model.contributions(["reef"], "a") == []


def test_without_priors_the_number_of_texts_says_nothing() -> None:
    model = NaiveBayes(priors=False)
    for _ in range(9):
        model.learn("a", ["reef"])
    model.learn("b", ["reef"] * 9)
    assert model.log_odds([], "a") == pytest.approx(0.0)
