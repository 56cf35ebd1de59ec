"""Pairs of a collection are those that the rule gives for all pairs of its texts."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from archivebot.duplicates import pairs
from archivebot.duplicates.pairs import Collection, Pair
from archivebot.duplicates.rule import Likeness, fingerprint, judge
from archivebot.duplicates.survey import Match, Member
from archivebot.jobs.duplicates import groups_of

CHANCE = random.Random(20261122)
WORDS = [f"word{number}" for number in range(500)]


def versions(count: int) -> list[str]:
    """Return a text of 200 words, with a few more words changed in each that follows."""
    words = CHANCE.choices(WORDS, k=200)
    texts = []
    for _ in range(count):
        texts.append(" ".join(words))
        words = [*words[6:], *CHANCE.choices(WORDS, k=6)]
    return texts


LONG = [text for _ in range(12) for text in versions(8)]
SHORT = ["To be, or not to be", "that is the question", "to be or not to be", "", "..."]
TEXTS = [*SHORT, *LONG, LONG[3], LONG[3].upper(), LONG[40]]
CHANCE.shuffle(TEXTS)
PRINTS = list(map(fingerprint, TEXTS))


def judged(one: int, other: int) -> Likeness | None:
    return judge(PRINTS[one], PRINTS[other], lambda: (TEXTS[one], TEXTS[other]))


EVERY = [
    Pair(one, other, found)
    for one, other in combinations(range(len(TEXTS)), 2)
    if (found := judged(one, other)) is not None
]


def collection(texts: list[str]) -> Collection:
    made = Collection(texts.__getitem__)
    assert [made.add(fingerprint(text)) for text in texts] == list(range(len(texts)))
    return made


def test_the_pairs_are_those_of_judging_all() -> None:
    """Keys miss a pair with probability 0.015 at most; of these texts they miss none."""
    assert len(EVERY) > 200
    assert list(collection(TEXTS).pairs()) == EVERY


def test_one_text_has_the_pairs_that_it_has_among_all() -> None:
    made = collection(TEXTS)
    for number in range(len(TEXTS)):
        assert list(made.near(number)) == [pair for pair in EVERY if number in pair[:2]]


def test_it_is_joined_in_parts_as_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "PART", 17)
    assert list(collection(TEXTS).pairs()) == EVERY


def test_few_texts_are_read() -> None:
    read: list[int] = []

    def text(number: int) -> str:
        read.append(number)
        return TEXTS[number]

    made = Collection(text)
    for found in PRINTS:
        made.add(found)
    near = list(made.pairs())
    assert len(read) <= 2 * 1.2 * len(near)


def test_pairs_that_are_skipped_are_not_read() -> None:
    made = Collection([].__getitem__, skip=lambda one, other: True)
    for found in PRINTS:
        made.add(found)
    assert list(made.pairs()) == []


@pytest.mark.parametrize("text", [SHORT[0], LONG[0]])
def test_pairs_of_many_copies_grow_with_their_number_and_are_one_cluster(text: str) -> None:
    made = collection([text] * 500)
    found = list(made.pairs())
    assert len(found) < 500 * pairs.WINDOW
    assert {pair.likeness for pair in found} == {Likeness(0, 1.0)}
    members = [Member(str(number), 1) for number in range(500)]
    [group] = groups_of([Match(members[one], members[other], likeness) for one, other, likeness in found])
    assert set(group) == set(members)
    assert len(list(made.near(250))) == 499


def test_a_near_text_is_found_among_many_copies() -> None:
    one, other = versions(2)
    found = {pair[:2] for pair in collection([*[one] * 100, other]).pairs()}
    assert any(second == 100 for _, second in found)
