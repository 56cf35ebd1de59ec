"""Title and text agree as far as the terms of the title are said in the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.content.agreement import agreement
from archivebot.content.page import content

WORDS = "harbour ferry island winter bridge 北京大学 été 1984".split()


@pytest.mark.parametrize(
    ("title", "text", "expected"),
    [
        ("Winter ferry", "The ferry to the island runs in winter", 1.0),
        ("Winter ferry", "The ferry to the island", 0.5),
        ("Winter ferry", "Home, contact, imprint", 0.0),
        ("Ferries of winter", "The ferry runs in Winter", 1.0),  # stems, whatever the case
        ("The ferry and the island", "ferry island", 1.0),  # stop words do not count
        ("What is it?", "what it is", 1.0),  # but where there is nothing else
        ("1984", "A novel", 0.0),
        ("ferry ferry ferry winter", "ferry", 0.5),  # each term once
        ("大学", "大的学校", 0.0),  # both characters are there, the word is not
        ("北京大学", "北京大学在北京", 1.0),
    ],
)
def test_it_is_the_share_of_the_terms_of_the_title_that_the_text_says(
    title: str, text: str, expected: float
) -> None:
    assert agreement(title, text) == expected


def test_the_heading_that_is_the_title_does_not_bear_itself_out() -> None:
    assert agreement("Winter ferry", "Winter ferry\nHome\nContact") == 0
    assert agreement("Winter ferry", "WINTER FERRY!\nThe ferry runs") == 0.5
    assert agreement("Winter ferry", "Winter ferry") == 1


@pytest.mark.parametrize("title", ["", " ", "|", "…"])
def test_a_title_without_words_says_nothing(title: str) -> None:
    assert agreement(title, "Some text") is None


@given(st.lists(st.sampled_from(WORDS), min_size=1), st.lists(st.sampled_from(WORDS)))
def test_all_terms_present_give_one_and_none_present_zero(title: list[str], more: list[str]) -> None:
    assert agreement(" ".join(title), " x ".join([*more, *title])) == 1
    found = agreement(" ".join(title), " ".join(more))
    assert found is not None
    assert 0 <= found <= 1
    if set(title).isdisjoint(more):
        assert found == 0


def test_the_main_text_of_a_page_bears_its_title_out_and_its_furniture_does_not() -> None:
    story = "The ferry crosses to the island all winter, six times a day. " * 6
    page = content(
        f"<html><title>The winter ferry | Bay News</title><nav><a href=/>Home</a> <a href=/sea>Sea</a></nav>"
        f"<h1>The winter ferry</h1><p>{story}</p><footer>Bay News, 4 Quay Street</footer>".encode()
    )
    assert agreement(page.title, page.text) == 1
    assert agreement(page.title, "Home Sea\nBay News, 4 Quay Street") == 0
