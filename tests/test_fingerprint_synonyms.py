"""Synonyms: the longest variant is replaced, and what was written is not read again."""

from __future__ import annotations

import pytest

from archivebot.exceptions import UsageError
from archivebot.fingerprint.synonyms import Synonyms


def test_the_longest_variant_is_taken() -> None:
    table = Synonyms(["x, new", "y, new york", "z, new york times"])
    assert table.replace("new york times, new york time, new yor") == "z, y time, x yor"


def test_what_was_written_is_not_read_again() -> None:
    table = Synonyms(["b, a", "c, b", "d, b c"])
    assert table.replace("a b c a c") == "b d b c"
    assert Synonyms(["大大, 大"]).replace("大大大") == "大大大大大大"


def test_what_was_read_is_not_read_again() -> None:
    assert Synonyms(["x, 中文", "y, 文字"]).replace("中文字") == "x字"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cats concatenate a cat", "cats concatenate a pet"),
        ("cat's", "pet's"),
        ("一只cat猫", "一只petpet"),
        ("ＣＡＴ Cat", "pet pet"),
        ("cat", "pet"),
        ("", ""),
    ],
)
def test_a_variant_is_a_whole_word_where_words_are_spaced(text: str, expected: str) -> None:
    assert Synonyms(["pet, cat, 猫"]).replace(text) == expected


def test_remarks_and_empty_lines_mean_nothing() -> None:
    table = Synonyms(["# names of shops", "", "  ", "shop, store,, # not a warehouse", "alone"])
    assert table.replace("store alone warehouse") == "shop alone warehouse"


def test_a_variant_of_two_senses_is_refused() -> None:
    with pytest.raises(UsageError, match="'bank' stands for 'shore' and for 'lender'"):
        Synonyms(["shore, bank", "lender, bank"])


def test_another_table_has_another_version() -> None:
    assert Synonyms(["a, b", "c, d"]).version == Synonyms(["C, D # same", "a, b"]).version
    assert Synonyms(["a, b"]).version != Synonyms(["b, a"]).version
