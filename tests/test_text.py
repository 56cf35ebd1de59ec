"""Words of texts in any script, and white space that says nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.text import normalise, words


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


@given(st.text(alphabet="ab \t\r\n\xa0\u2028"))
def test_normalising_twice_changes_nothing_more(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(st.text(alphabet="ab \t\r\n\xa0\u2028"))
def test_normalising_keeps_every_word(text: str) -> None:
    assert normalise(text).split() == text.split()
