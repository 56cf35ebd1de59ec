"""Words are similar to a topic by rings of synonyms, by stem, and by the company they keep."""

from __future__ import annotations

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.text.terms import terms
from archivebot.topic.similarity import LEAST_COUNT, MOST_NEIGHBOURS, Similarity, neighbours, stands_for


def companies() -> list[list[str]]:
    """Car and truck keep the same company, violin keeps another."""
    chance = random.Random(20261121)
    motor = ["engine", "fuel", "brake", "garage", "wheel"]
    music = ["orchestra", "concert", "melody", "string", "bow"]
    return [
        [*chance.sample(company, 2), word, *chance.sample(company, 2)]
        for word, company in (("car", motor), ("truck", motor), ("violin", music))
        for _ in range(30)
    ]


def test_words_in_the_same_company_are_near_and_the_nearest_first() -> None:
    found = neighbours({"car": 1.0}, companies())
    assert next(iter(found)) == "truck"
    assert found["truck"] > 0.9 > found["engine"]
    assert "violin" not in found


def test_a_neighbour_is_worth_less_beside_a_word_of_less_weight() -> None:
    whole, half = (neighbours({"car": weight}, companies())["truck"] for weight in (1.0, 0.5))
    assert half == pytest.approx(whole / 2, abs=1e-4)


def test_words_of_the_topic_and_words_that_are_known_are_no_neighbours() -> None:
    found = neighbours({"car": 1.0, "violin": 0.1}, companies(), known=["truck"])
    assert found.keys().isdisjoint({"car", "violin", "truck"})


@pytest.mark.parametrize("texts", [[], [""], ["car"], ["car engine"] * (LEAST_COUNT - 1), ["ship boat"] * 9])
def test_texts_that_say_too_little_teach_nothing(texts: list[str]) -> None:
    assert neighbours({"car": 1.0}, [terms(text) for text in texts]) == {}


def test_words_do_not_meet_across_the_border_of_two_texts() -> None:
    together = neighbours({"car": 1.0}, [["car", "road"], ["bridge", "road"]] * 5)
    apart = neighbours({"car": 1.0}, [["car"], ["road"], ["bridge"], ["road"]] * 5)
    assert together["bridge"] == pytest.approx(1)
    assert apart == {}


def test_only_the_nearest_words_are_kept() -> None:
    letters = string.ascii_lowercase
    text = [word for first in letters for second in letters for word in ("car", f"word{first}{second}")]
    assert len(neighbours({"car": 1.0}, [text * LEAST_COUNT])) == MOST_NEIGHBOURS


def test_a_ring_that_holds_a_topic_word_makes_all_its_words_stand_for_it() -> None:
    rings = [["Cars", "automobiles"], ["ship", "boat"], ["轿车", "car"]]
    assert stands_for({"car": 1.0}, rings) == {"automobil": "car", "轿车": "car"}


@given(st.permutations([("car", "auto"), ("auto", "jeep"), ("jeep", "suv"), ("ship", "boat")]))
def test_rings_that_share_a_word_are_one_in_whatever_order_they_come(rings: list[tuple[str, ...]]) -> None:
    assert stands_for({"car": 1.0}, rings) == {"auto": "car", "jeep": "car", "suv": "car"}


def test_a_ring_of_several_words_of_the_topic_counts_as_the_best_of_them() -> None:
    assert stands_for({"car": 1.0, "auto": 2.0, "jeep": -1.0}, [["car", "auto", "jeep"]]) == {
        "car": "auto",
        "jeep": "auto",
    }


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
