"""Words are similar to a topic by rings of synonyms, by stem, and by the company they keep."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.terms import terms
from archivebot.topic.similarity import LEAST_COUNT, MOST_NEIGHBOURS, Similarity


@pytest.fixture(scope="module")
def learnt() -> Similarity:
    """Car and truck keep the same company, violin keeps another."""
    chance = random.Random(20261121)
    motor = ["engine", "fuel", "brake", "garage", "wheel"]
    music = ["orchestra", "concert", "melody", "string", "bow"]
    texts = [
        " ".join([*chance.sample(company, 2), word, *chance.sample(company, 2)])
        for word, company in (("car", motor), ("truck", motor), ("violin", music))
        for _ in range(30)
    ]
    return Similarity.learn(["car"], texts)


def test_words_in_the_same_company_are_near(learnt: Similarity) -> None:
    assert learnt.of("truck") > 0.9 > learnt.of("engin") > learnt.of("violin") == 0


def test_a_near_word_is_enough_for_the_threshold(learnt: Similarity) -> None:
    assert learnt.weight(terms("an old truck"), threshold=0.9) == 1
    assert learnt.weight(terms("the violins"), threshold=0.9) == 0


def test_a_ring_that_holds_a_topic_word_makes_all_its_words_synonyms() -> None:
    found = Similarity.learn(["car"], rings=[["Cars", "automobiles"], ["ship", "boat"], ["轿车", "car"]])
    assert [found.of(word) for word in ("car", "automobil", "轿车", "boat")] == [1, 1, 1, 0]


def test_other_forms_of_a_topic_word_are_the_same() -> None:
    found = Similarity.learn(terms("courses"))
    assert found.weight(terms("a course")) == 1


@pytest.mark.parametrize("texts", [[], [""], ["car"], ["car engine"] * (LEAST_COUNT - 1), ["ship boat"] * 9])
def test_texts_that_say_too_little_leave_the_topic_alone(texts: list[str]) -> None:
    assert Similarity.learn(["car"], texts).similarities == {"car": 1.0}


def test_words_do_not_meet_across_the_border_of_two_texts() -> None:
    together = Similarity.learn(["car"], ["car road", "bridge road"] * 5)
    apart = Similarity.learn(["car"], ["car", "road", "bridge", "road"] * 5)
    assert together.of("bridg") == pytest.approx(1)
    assert apart.of("bridg") == 0


def test_only_the_nearest_words_are_kept() -> None:
    text = " ".join(f"car word{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(26 * 26)) + " "
    assert len(Similarity.learn(["car"], [text * LEAST_COUNT]).similarities) == MOST_NEIGHBOURS


def test_what_is_saved_as_json_comes_back(learnt: Similarity) -> None:
    again = Similarity.from_dict(json.loads(json.dumps(learnt.as_dict())))
    assert again.similarities == pytest.approx(learnt.similarities, abs=1e-4)


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 1)),
    st.lists(st.sampled_from("abcdefgh")),
    st.floats(0.01, 1),
)
def test_the_relevance_weight_is_one_from_the_threshold_on(
    known: dict[str, float], words: list[str], c: float
) -> None:
    most = max((known.get(word, 0) for word in words), default=0)
    assert Similarity(known).weight(words, c) == (1 if most >= c else most)
