"""The first two stages on the way to a query form: what a link promises, whether a page is on topic."""

from __future__ import annotations

import pytest

from archivebot import settings
from archivebot.crawl.arguments import DeepWebArguments
from archivebot.forms.stages import feature_words, is_relevant

PLAIN = "http://a.example/"


@pytest.mark.parametrize(
    "anchor",
    ["Search", "advanced search", "click here to search", "\u641c\u7d22", "\u9ad8\u7ea7\u641c\u7d22",
     "\u70b9\u51fb\u8fd9\u91cc\u641c\u7d22", "Erweiterte Suche", "\u041f\u043e\u0438\u0441\u043a"],
)  # fmt: skip
def test_each_anchor_phrase_promises_a_form(anchor: str) -> None:
    assert feature_words(anchor, PLAIN)


@pytest.mark.parametrize(
    "path", ["search", "bookfinder.asp", "seek.cgi?by=title", "q?mode=Search", "%73earch"]
)
def test_each_word_in_a_url_promises_a_form(path: str) -> None:
    assert feature_words("Books", PLAIN + path)


@pytest.mark.parametrize(
    ("anchor", "url"),
    [
        ("Contact", PLAIN),
        ("Research", "http://a.example/research/"),
        ("News", "http://search.example/news"),
        ("", PLAIN),
    ],
)
def test_other_links_promise_none(anchor: str, url: str) -> None:
    assert feature_words(anchor, url) == ()


def test_a_page_of_the_topic_has_a_posterior_above_one_half() -> None:
    assert [is_relevant(posterior) for posterior in (0.49, 0.5, 0.51, None)] == [False, False, True, True]


def test_a_search_goes_three_links_deep_and_leaves_a_site_after_more_than_five_forms_or_100_pages() -> None:
    assert DeepWebArguments.parse({"seeds": PLAIN}).depth == 3
    assert (settings.ARCHIVE_SITE_FORMS, settings.ARCHIVE_SITE_PAGES) == (5, 100)
