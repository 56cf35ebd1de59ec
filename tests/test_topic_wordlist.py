"""Words with weights are read as they are written."""

from __future__ import annotations

import pytest

from archivebot.exceptions import UsageError
from archivebot.topic.wordlist import weighted_words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("reef, -casino, diving:2", {"reef": 1, "casino": -1, "diving": 2}),
        (" coral reef : 0.5 ,, ", {"coral reef": 0.5}),
        ("coral reef", {"coral": 1, "reef": 1}),
        ("coral reef,", {"coral reef": 1}),
        ("-casino:3 reef:", {"casino": -3, "reef": 1}),
        ("潜水,珊瑚:2", {"潜水": 1, "珊瑚": 2}),
        (" , ", {}),
    ],
)
def test_commas_part_phrases_and_spaces_part_words_where_there_is_none(
    text: str, found: dict[str, float]
) -> None:
    assert weighted_words(text) == found


@pytest.mark.parametrize("weight", ["much", "inf", "-inf", "nan", "1e999", "2:3"])
def test_a_weight_that_is_no_finite_number_is_refused(weight: str) -> None:
    with pytest.raises(UsageError, match="the weight of 'reef' is"):
        weighted_words(f"diving, reef:{weight}")
