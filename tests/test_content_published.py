"""Where a page states its date of publication."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from turbohtml import parse

from archivebot.content.days import days
from archivebot.content.lines import LineWalk
from archivebot.content.published import LINES_AFTER, published


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
        '<link rel=canonical href="https://bay.example/news/2024/05/06/ferry.html">',
        '<script>window.state = {"article": {"publishDate": "2024-05-06T10:00:00"}}</script>',
        r'<script>push("{\"datePublished\":\"2024-05-06\"}")</script>',
        '<script type="application/ld+json">/*<![CDATA[*/ {"datePublished": "2024-05-06"} /*]]>*/</script>',
        '<meta property="article:modified_time" content="2024-05-06">',
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
        f'<script type="application/ld+json">{"[" * 20_000}</script>',
        '<meta name="date" content="0000-00-00">',
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


PROSE = f"<p>{'The ferry runs again from the north quay. ' * 5}</p>"


def shown(markup: str, language: str = "en") -> date | None:
    document = parse(markup)
    return published(document, LineWalk(document).lines, "Ferry", language)


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("en", "By Ann Quay • May 6, 2024 • 3 min read"),
        ("en", "Published 6th May 2024, updated 7 May 2024"),
        ("de", "Montag, 6. Mai 2024"),
        ("fr", "Publié le 6 mai 2024 à 10h"),
        ("es", "6 de mayo de 2024"),
        ("pt", "6 de maio de 2024"),
        ("ru", "6 мая 2024 г."),
        ("cs", "6. května 2024"),
        ("zh", "2024年5月6日 10:00"),
        ("ja", "2024年5月6日(月)"),
        ("ko", "2024년 5월 6일"),
        ("de", "06.05.2024"),
        ("fr", "06/05/2024"),
        ("en", "05/06/2024"),
        ("xx", "2024-05-06"),
    ],
)
def test_a_date_below_the_heading_is_read_in_the_language_of_the_page(language: str, line: str) -> None:
    assert shown(f"<h1>Ferry</h1><div>{line}</div>{PROSE}", language) == date(2024, 5, 6)
    assert shown(f"<div>{line}</div><h1>Ferry</h1>{PROSE}", language) == date(2024, 5, 6)


@pytest.mark.parametrize(
    "markup",
    [
        f"<h1>Ferry</h1>{PROSE}{PROSE}<div>May 6, 2024</div>",
        f"<h1>Ferry</h1>{'<p>word</p>' * LINES_AFTER}<div>May 6, 2024</div>",
        "<h1>Ferry</h1><p>© May 6, 2024 Example</p>",
        f"<h1>Ferry</h1><p>{'The ferry ran for the last time. ' * 5} It was May 6, 2024.</p>",
        "<h1>Ferry</h1><p>May 6, 2999",
        "<h1>Ferry</h1><p>version 1.2.3.2024",
        "<p>May 6, 2024",
    ],
)
def test_a_date_elsewhere_or_in_the_future_is_none(markup: str) -> None:
    assert shown(markup) is None


def test_the_date_of_publication_comes_before_that_of_a_change() -> None:
    both = "<h1>Ferry</h1><p>Updated May 7, 2024</p><p>May 6, 2024</p>"
    assert shown(both) == date(2024, 5, 6)
    assert shown("<h1>Ferry</h1><p>Last updated on: May 7, 2024</p>") == date(2024, 5, 7)


def test_an_unknown_language_knows_the_months_of_english() -> None:
    assert days("6 May 2024", "tlh") == days("6 May 2024", "") == [date(2024, 5, 6)]


def test_a_day_in_the_future_is_not_read_as_another_day_in_the_past(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("archivebot.content.days._AHEAD", date(2020, 11, 27) - datetime.now(UTC).date())
    assert days("12/5/2020") == days("5.12.2020", "de") == days("5/12/2020", "fr") == []
    assert days("5/12/2020") == [date(2020, 5, 12)]
    assert days("25/10/2020") == days("10/25/2020", "fr") == [date(2020, 10, 25)]
