"""Where a page states its date of publication."""

from __future__ import annotations

from datetime import date

import pytest
from turbohtml import parse

from archivebot.content.published import published


@pytest.mark.parametrize(
    "markup",
    [
        '<script type="application/ld+json">{"@graph": [{"datePublished": "2024-05-06"}]}</script>',
        '<meta property="article:published_time" content="2024-05-06T23:30:00Z">',
        '<meta name="DC.date.issued" content="2024-05-06">',
        '<meta name="pubdate" content="20240506">',
        '<article><time datetime="2024-05-06T08:00">yesterday</time></article>',
        "<article><time>May 6th, 2024</time></article>",
        '<p itemprop="datePublished" content="2024-05-06">',
    ],
)
def test_a_stated_date_is_found(markup: str) -> None:
    assert published(parse(markup)) == date(2024, 5, 6)


@pytest.mark.parametrize(
    "markup",
    [
        "<p>2024-05-06",
        "<footer><time datetime=2024-05-06>now</time></footer>",
        '<script type="application/ld+json">{"datePublished": {"broken"</script>',
        '<script type="application/ld+json">{"datePublished": 20240506}</script>',
        '<meta name="date" content="0000-00-00">',
        '<meta property="article:modified_time" content="2024-05-06">',
    ],
)
def test_a_date_that_is_no_statement_of_publication_is_none(markup: str) -> None:
    assert published(parse(markup)) is None


def test_what_the_page_says_of_itself_for_machines_comes_first() -> None:
    first = '<script type="application/ld+json">{"datePublished": "2020-01-02"}</script>'
    then = '<meta name="date" content="2021-03-04"><article><time datetime="2022-05-06"></time></article>'
    assert published(parse(first + then)) == date(2020, 1, 2)
    assert published(parse(then)) == date(2021, 3, 4)


def test_the_date_of_a_review_is_not_that_of_the_page() -> None:
    product = '{"@type": "Product", "review": [{"datePublished": "2020-01-02"}]}'
    assert published(parse(f'<script type="application/ld+json">{product}</script>')) is None
