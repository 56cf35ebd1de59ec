"""Features: the words of texts as numbers, the same as one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archivebot.fingerprint import features
from archivebot.fingerprint.features import feature_hash, feature_hashes, word_hashes
from archivebot.text import words

# Letters, marks, apostrophes, signs without spaces, what folds to more signs, what is no letter.
SIGNS = "abzZ09_'’ \n.-éÉßİﬁΣςक्िह中文字カなー々〇한국\u0301\u0e34①Ⅷ\x00\ud800😀"


def hashes_of(text: str) -> list[int]:
    return word_hashes([text])[0].tolist()


@settings(deadline=None)  # the first call makes tables
@given(st.text(st.sampled_from(SIGNS)) | st.text())
def test_the_features_are_the_words_of_the_tokeniser(text: str) -> None:
    assert hashes_of(text) == [feature_hash(word) for word in words(text)]


@settings(deadline=None)
@given(st.lists(st.text(st.sampled_from(SIGNS), max_size=8), max_size=6))
def test_texts_together_give_what_each_gives_alone(texts: list[str]) -> None:
    assert [found.tolist() for found in word_hashes(texts)] == [hashes_of(text) for text in texts]


def test_texts_beyond_one_chunk_keep_their_borders(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["to be", "", "or not", "x" * 50, "中文字", "", "end"]
    whole = [found.tolist() for found in word_hashes(texts)]
    monkeypatch.setattr(features, "CHUNK", 8)
    assert [found.tolist() for found in word_hashes(texts)] == whole
    assert [len(found) for found in whole] == [2, 0, 2, 1, 2, 0, 1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("don't 'quoted' a''b", ["don't", "quoted", "a", "b"]),
        ("中'a", ["中", "a"]),
        ("北京大学x東", ["北京", "京大", "大学", "x", "東"]),
        ("", []),
    ],
)
def test_apostrophes_and_scripts_without_spaces(text: str, expected: list[str]) -> None:
    assert hashes_of(text) == [feature_hash(word) for word in expected]


@settings(deadline=None)
@given(st.text(st.sampled_from(SIGNS)))
def test_a_long_text_is_cut_where_no_word_is(text: str) -> None:
    whole = hashes_of(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(features, "CHUNK", 3)
        patch.setattr(features, "TABLE", 4)
        assert hashes_of(text) == whole


def test_a_word_has_the_same_hash_wherever_it_stands() -> None:
    text = "word " * 40_000
    assert hashes_of(text) == [feature_hash("word")] * 40_000
    letters = "long" * 40_000
    assert hashes_of(f"{letters} word {letters}") == [
        feature_hashes([letters])[0],
        feature_hash("word"),
        feature_hashes([letters])[0],
    ]


def balance(hashes: np.ndarray) -> np.ndarray:
    """Return the share of ones in each of the 64 bits."""
    return np.unpackbits(hashes.astype(">u8").view(np.uint8)).reshape(-1, 64).mean(axis=0)


@pytest.mark.parametrize("kind", ["two signs", "short words", "numbers"])
def test_every_bit_is_balanced(kind: str) -> None:
    signs = [chr(0x4E00 + number) for number in range(0, 20_000, 150)]
    tokens = {
        "two signs": [one + other for one in signs for other in signs],
        "short words": [
            f"{a}{b}{c}" for a in "bcdfghjklmnprstvw" for b in "aeiou" for c in map(str, range(150))
        ],
        "numbers": [str(number) for number in range(20_000)],
    }[kind]
    hashes = feature_hashes(tokens)
    assert len(np.unique(hashes)) == len(tokens) >= 10_000
    assert 0.48 < balance(hashes).min() <= balance(hashes).max() < 0.52
    assert ((hashes >> np.uint64(32)) != (hashes & np.uint64(0xFFFFFFFF))).all()


def test_one_other_sign_turns_half_of_the_bits() -> None:
    pairs = [(f"word{number}", f"word{number + 1}") for number in range(2000)]
    turned = [(feature_hash(one) ^ feature_hash(other)).bit_count() for one, other in pairs]
    assert np.mean(turned) == pytest.approx(32, abs=0.5)
    assert min(turned) > 12
