"""MinHash: the estimate of the Jaccard coefficient, and what it finds beside SimHash."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import pytest

from archivebot.exceptions import UsageError
from archivebot.fingerprint.minhash import MinHashIndex, jaccard, minhash
from archivebot.fingerprint.simhash import distance, text_simhashes
from archivebot.text import words

VOCABULARY = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in ("na", "ro", "li", "tus", "ken")]


def prose(chance: random.Random, size: int) -> list[str]:
    return chance.choices(VOCABULARY, range(len(VOCABULARY), 0, -1), k=size)


def edited(chance: random.Random, text: list[str], changes: int) -> list[str]:
    copy = list(text)
    for place in chance.sample(range(len(copy)), changes):
        copy[place] = f"edit{chance.randrange(10**6)}"
    return copy


def shingles(text: str) -> set[tuple[str, ...]]:
    found = words(text)
    return set(zip(found, found[1:], found[2:], strict=False))


def test_the_exact_coefficient_is_that_of_the_sets_of_shingles() -> None:
    chance = random.Random(3)
    for changes in (0, 3, 30, 100):
        text = prose(chance, 200)
        one, other = " ".join(text), " ".join(edited(chance, text, changes))
        a, b = shingles(one), shingles(other)
        assert jaccard(one, other) == len(a & b) / len(a | b)
    assert jaccard("to be", "to be") == 1
    assert jaccard("to be", "or not to be") == 0


def test_the_estimate_is_near_the_coefficient() -> None:
    chance = random.Random(5)
    errors = []
    for _ in range(100):
        text = prose(chance, 300)
        one, other = " ".join(text), " ".join(edited(chance, text, chance.randrange(1, 60)))
        first, second = minhash(one), minhash(other)
        assert first is not None
        assert second is not None
        errors.append(first.jaccard(second) - jaccard(one, other))
    assert abs(np.mean(errors)) < 0.015
    assert np.std(errors) < 0.05


def test_the_index_finds_what_is_alike_and_nothing_else() -> None:
    chance = random.Random(7)
    index = MinHashIndex()
    texts: list[str] = []
    for _ in range(40):
        text = prose(chance, 200)
        texts += [" ".join(text), " ".join(edited(chance, text, 10))]
    for number, told in enumerate(texts):
        index.add(number, minhash(told))
    assert sorted((a, b) for a, b, _ in index.pairs(9)) == [(n, n + 1) for n in range(0, 80, 2)]
    [itself, other] = index.near(minhash(texts[7]))
    assert (itself.number, itself.jaccard, other.number) == (7, 1.0, 6)
    assert 0.6 < other.jaccard < 0.9


def test_a_higher_limit_finds_less() -> None:
    text = prose(random.Random(1), 200)
    strict = MinHashIndex(least=0.95)
    strict.add(0, minhash(" ".join(text)))
    assert strict.near(minhash(" ".join(edited(random.Random(2), text, 10)))) == []
    assert len(strict.near(minhash(" ".join(text)))) == 1


def test_what_the_index_refuses() -> None:
    index = MinHashIndex()
    index.add(1, minhash("one text"))
    with pytest.raises(UsageError, match="of 1 already"):
        index.add(1, minhash("another"))
    with pytest.raises(UsageError, match=r"of 0.4 to 1, not 0.3"):
        MinHashIndex(least=0.3)
    assert minhash("...") is None


def site(chance: random.Random) -> list[tuple[int, str]]:
    """Return pages of one template, labelled with their story: a frame of 200 words around 30 to 400.

    Each story comes twice, the second time with a few words changed.
    """
    frame = prose(chance, 200)
    pages = []
    for story in range(60):
        text = prose(chance, chance.choice((30, 60, 120, 400)))
        tellings = (text, edited(chance, text, 2))
        pages += [(story, " ".join([*frame[:100], *told, *frame[100:]])) for told in tellings]
    return pages


def test_both_signals_together_are_more_precise_than_each_on_pages_of_one_template() -> None:
    pages = site(random.Random(13))
    prints = [found or 0 for found in text_simhashes([text for _, text in pages])]
    signatures = [minhash(text) for _, text in pages]
    pairs = list(combinations(range(len(pages)), 2))
    same = {(a, b) for a, b in pairs if pages[a][0] == pages[b][0]}
    near = {(a, b) for a, b in pairs if distance(prints[a], prints[b]) <= 6}
    alike = {(a, b) for a, b in pairs if signatures[a].jaccard(signatures[b]) >= 0.8}

    def precision(found: set[tuple[int, int]]) -> float:
        return len(found & same) / len(found)

    both = near & alike
    assert precision(near) < 1
    assert precision(alike) < 1
    assert precision(both) >= max(precision(near), precision(alike))
    kept = len(both & same) / len(near & same)
    assert kept >= 0.79  # what Henzinger found: "Finding near-duplicate web pages", 2006
