"""Terms: stems of the words that tell something."""

from __future__ import annotations

import pytest

from archivebot.text.terms import stem, terms


@pytest.mark.parametrize(
    ("word", "expected"), [("running", "run"), ("cities", "citi"), ("été", "été"), ("図書", "図書")]
)
def test_only_ascii_words_are_stemmed(word: str, expected: str) -> None:
    assert stem(word) == expected


def test_stop_words_and_numbers_are_left_out_and_repetitions_are_kept() -> None:
    assert terms("The course of 1996: courses") == ["cours", "cours"]
