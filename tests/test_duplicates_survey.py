"""What counts between the pages of an archive, and what is furniture of their site."""

from __future__ import annotations

import random

import pytest

from archivebot.duplicates.rule import fingerprint
from archivebot.duplicates.survey import MOST_OF_SITE, Reading, Survey, content_blocks, known_blocks
from archivebot.models import PlacedBlock

CHANCE = random.Random(20261122)
WORDS = [f"word{number}" for number in range(500)]


def prose(count: int = 50) -> str:
    return " ".join(CHANCE.choices(WORDS, k=count))


def placed(lineage: str, start: int = 0, end: int = 1) -> PlacedBlock:
    return PlacedBlock(lineage, 1, start, end, "topic")


def survey_of(pages: dict[str, list[str]]) -> Survey:
    """Survey pages of blocks, whose main texts are all of them."""
    readings = {
        url: Reading("\n".join(texts), [(placed(f"{url}-{n}"), text) for n, text in enumerate(texts)])
        for url, texts in pages.items()
    }
    survey = Survey(readings.__getitem__)
    for url, reading in readings.items():
        survey.add(url, fingerprint(reading.text), known_blocks(reading.blocks))
    return survey


def told(survey: Survey, url: str | None = None) -> list[tuple[str, str, str]]:
    return [(match.a.scope, match.a.url, match.b.url) for match in survey.matches(url)]


@pytest.mark.parametrize(
    ("start", "end", "is_content"),
    [(0, 10, False), (10, 20, True), (5, 15, True), (4, 15, False), (18, 32, False), (18, 50, True)],
)
def test_a_block_is_content_where_half_of_it_is_in_the_main_text(
    start: int, end: int, is_content: bool
) -> None:
    block = placed("a-1", start, end), "text"
    assert content_blocks([block], [(10, 20), (30, 60)]) == ([block] if is_content else [])


def test_a_page_without_main_text_has_no_block_of_content() -> None:
    assert content_blocks([(placed("a-1"), "text")], []) == []


def test_blocks_of_pages_that_are_near_are_not_told_twice() -> None:
    texts = [prose() for _ in range(5)]
    pages = {"http://a.org/": texts, "http://b.org/": [*texts, "printed"], "http://c.org/": [texts[0]]}
    assert told(survey_of(pages)) == [
        ("page", "http://a.org/", "http://b.org/"),
        ("block", "http://a.org/", "http://c.org/"),
        ("block", "http://b.org/", "http://c.org/"),
    ]


def test_a_block_that_is_twice_on_a_page_is_none() -> None:
    text = prose()
    assert told(survey_of({"http://a.org/": [text, text]})) == []


def test_a_block_of_few_words_is_none() -> None:
    few, enough = prose(31), prose(32)
    pages = {"http://a.org/": [few, enough, prose(200)], "http://b.org/": [few, enough, prose(200)]}
    assert [match.a.words for match in survey_of(pages).matches()] == [32]


def test_a_block_that_more_than_three_pages_of_a_site_have_is_its_furniture() -> None:
    text = prose()
    pages = {f"http://a.org/{n}": [text, prose(200)] for n in range(MOST_OF_SITE)}
    assert len(told(survey_of(pages))) == 3
    pages["http://a.org/more"] = [text, prose(200)]
    assert told(survey_of(pages)) == []
    assert told(survey_of(pages), "http://a.org/1") == []


def test_furniture_of_a_site_is_told_where_another_site_has_it() -> None:
    text = prose()
    pages = {f"http://a.org/{n}": [text, prose(200)] for n in range(4)}
    pages["http://b.org/"] = [text, prose(200)]
    assert told(survey_of(pages), "http://b.org/") == [
        ("block", "http://b.org/", f"http://a.org/{n}") for n in range(4)
    ]
    assert len(told(survey_of(pages))) == 4


def test_a_page_that_is_not_there_is_like_none() -> None:
    assert told(survey_of({"http://a.org/": [prose()]}), "http://b.org/") == []
