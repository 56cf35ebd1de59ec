"""Words of texts in any script, and white space that says nothing."""

from __future__ import annotations

from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.text import collapse, compatible, normalise, pieces, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \t\n", []),
        ("One, two; THREE.", ["one", "two", "three"]),
        ("'quoted' rock'n'roll d’accord", ["quoted", "rock'n'roll", "d’accord"]),
        ("snake_case x2 3.14", ["snake", "case", "x2", "3", "14"]),
        ("STRASSE straße", ["strasse", "strasse"]),
        ("\ufb01ne \uff21\uff22\uff23 \u2167", ["fine", "abc", "viii"]),
        ("e\u0301te\u0301", ["\xe9t\xe9"]),
        ("Ελλάδα Россия", ["ελλάδα", "россия"]),
    ],
)
def test_spaced_scripts_are_split_at_blanks_and_signs(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("北京大学", ["北京", "京大", "大学"]),
        ("東", ["東"]),
        ("中a文", ["中", "a", "文"]),
        ("ひらがな", ["ひら", "らが", "がな"]),
        ("ｶﾞｽ", ["ガス"]),
        ("ニュース・トピック", ["ニュ", "ュー", "ース", "トピ", "ピッ", "ック"]),
        ("我们，你们。", ["我们", "你们"]),
        ("\U00020000\U00020001", ["\U00020000\U00020001"]),
        ("Python 3の本", ["python", "3", "の本"]),
    ],
)
def test_scripts_without_spaces_give_bigrams_of_each_run(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_korean_words_stand_between_spaces() -> None:
    assert words("한국어 뉴스, 오늘") == ["한국어", "뉴스", "오늘"]


def test_half_of_a_character_belongs_to_no_word() -> None:
    assert words("\ud800 x") == ["x"]


@given(st.text())
def test_words_are_lower_case_and_hold_no_blanks(text: str) -> None:
    assert all(word and not any(map(str.isspace, word)) and word == word.casefold() for word in words(text))


@given(st.lists(st.sampled_from("cat dog Haus été 42 北京 ニュース 한국".split())))
def test_words_of_a_line_are_those_of_its_parts_in_order(parts: list[str]) -> None:
    assert words(" ".join(parts)) == [word for part in parts for word in words(part)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        (" \n\t\n ", ""),
        ("  a \t b  ", "a b"),
        ("a\r\n\r\n\r\nb\rc", "a\nb\nc"),
        ("a\xa0b\u3000c", "a b c"),
        ("a\x0bb\x0cc\u2028d\x85e", "a\nb\nc\nd\ne"),
    ],
)
def test_blanks_collapse_inside_lines_and_blank_lines_go(text: str, expected: str) -> None:
    assert normalise(text) == expected


@pytest.mark.parametrize(
    "blank", ["\x20", "\t", "\x0c", "\u200b", "\xa0", "\r", "\n", "\r\n", "\u3000", "\ufeff"], ids=ascii
)
def test_every_kind_of_blank_is_one_space_and_none_at_the_start(blank: str) -> None:
    assert collapse(f"{blank}a{blank}b{blank * 3}c{blank}") == "a b c"
    assert pieces(f"{blank * 2}a{blank} {blank}b") == ["a", "b"]
    assert collapse(blank * 3) == ""
    assert normalise(f"a\n{blank}b{blank} \n{blank}\n") == "a\nb"


def test_a_run_of_all_kinds_of_blanks_is_one_space() -> None:
    blanks = " \t\x0c\u200b\xa0\r\n\u3000\ufeff"
    assert collapse(f"{blanks}a{blanks}b") == "a b"
    assert collapse("\ufeffa\u200b \u200bb") == "a b"


@pytest.mark.parametrize("sign", ["\u200c", "\u200d", "\u2060", "\xad"], ids=ascii)
def test_signs_that_join_or_shape_letters_are_no_blanks(sign: str) -> None:
    assert collapse(f"a{sign}b") == f"a{sign}b"


def test_blanks_that_were_taken_for_signs_never_made_words() -> None:
    assert words("one\u200btwo \ufeffthree") == words(collapse("one\u200btwo \ufeffthree"))


BLANKS_AND_LETTERS = "ab \t\r\n\xa0\u2028\u200b\ufeff\u3000"


@given(st.text(alphabet=BLANKS_AND_LETTERS))
def test_normalising_twice_changes_nothing_more(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(st.text(alphabet=BLANKS_AND_LETTERS))
def test_normalising_and_collapsing_keep_every_word(text: str) -> None:
    assert normalise(text).split() == pieces(text) == collapse(text).split()


@given(st.text(alphabet=BLANKS_AND_LETTERS))
def test_no_run_of_blanks_is_left(text: str) -> None:
    assert set(collapse(text)) <= set("ab ")
    assert "  " not in collapse(text)
    assert collapse(text) == collapse(text).strip()


def test_many_marks_on_a_letter_are_cut_and_few_are_kept() -> None:
    few, many = "a" + "\u0315\u0323" * 15, "a" + "\u0315\u0323" * 99 + "b"
    assert compatible(few) == normalize("NFKC", few)
    assert compatible(many) == normalize("NFKC", few + "b")
